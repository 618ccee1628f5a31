"""Regression: leave-200-out for all k ≤ 50, n = 20,000, beside the neighbour search itself."""

from __future__ import annotations

from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, KFold, LeavePOut
from sklearn.neighbors import KNeighborsRegressor

from allsplits import order_neighbors, validation_curve
from benchmarks._timing import Result, interleaved, needed_depth, print_results

N = 20_000
P = 200
K_MAX = 50


def measure() -> list[Result]:
    X, y = make_friedman1(N, n_features=10, noise=1.0, random_state=0)
    ks = list(range(1, K_MAX + 1))
    depth = needed_depth(N, N - P, K_MAX)
    order = order_neighbors(X, depth=depth)

    def exact(data):
        return validation_curve(KNeighborsRegressor(), data, y, n_neighbors=ks, cv=LeavePOut(P))

    def sampled():
        grid = {"n_neighbors": [1, 10, 25, 50]}
        return GridSearchCV(KNeighborsRegressor(), grid, cv=KFold(5), refit=False).fit(X, y)

    after, search = interleaved(
        [lambda: exact(order), lambda: order_neighbors(X, depth=depth)], repeats=3
    )
    ours, peer = interleaved([lambda: exact(X), sampled], repeats=1)
    what = f"regression, n = {N:,}, leave-{P}-out, all k ≤ {K_MAX}"
    return [
        Result(f"{what}: after the search / search (depth {depth})", after, search, 1.0),
        Result(f"{what} / GridSearchCV over 4 values of k, one 5-fold", ours, peer),
    ]


if __name__ == "__main__":
    print_results(measure())

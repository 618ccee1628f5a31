"""Regression: leave-200-out for all k ≤ 50, n = 20,000, beside the neighbour search itself.

Weighted means: the ordinary grid of k and weights, every split beside one of scikit-learn's.
"""

from __future__ import annotations

from sklearn.datasets import make_friedman1
from sklearn.model_selection import GridSearchCV, KFold, LeavePOut
from sklearn.neighbors import KNeighborsRegressor

from allsplits import KNeighborsRegressorCV, order_neighbors, validation_curve
from benchmarks._data import regression_table
from benchmarks._timing import Result, interleaved, needed_depth, print_results

N = 20_000
P = 200
K_MAX = 50
TABLES = {"concrete": 1030, "abalone": 4177}


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
        *(weighted_grid(name, size) for name, size in TABLES.items()),
    ]


def weighted_grid(name: str, n_samples: int) -> Result:
    """Uniform and distance weights, all k ≤ 30: all 5-fold splits beside one of them."""
    title, X, y = regression_table(name, n_samples)
    ks, weights = list(range(1, 31)), ["uniform", "distance"]
    grid = GridSearchCV(
        KNeighborsRegressor(),
        {"n_neighbors": ks, "weights": weights},
        cv=KFold(5, shuffle=True, random_state=0),
        scoring="neg_mean_squared_error",
        refit=False,
    )
    model = KNeighborsRegressorCV(ks, weights=weights, cv=KFold(5))
    ours, peer = interleaved([lambda: model.fit(X, y), lambda: grid.fit(X, y)], repeats=3)
    what = f"{title}, {X.shape[0]:,} × {X.shape[1]}, all k ≤ 30, two weights"
    return Result(f"regression, {what}: all 5-fold splits / GridSearchCV, one", ours, peer, 1.0)


if __name__ == "__main__":
    print_results(measure())

"""26 classes: all 5-fold splits of letter-recognition for every k ≤ 15 beside GridSearchCV.

Without the data folder a synthetic stand-in of the same size and difficulty takes its place.
"""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import order_neighbors, validation_curve
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, needed_depth, print_results

K_MAX = 15


def measure() -> list[Result]:
    name, X, y = letters()
    ks = list(range(1, K_MAX + 1))
    depth = needed_depth(len(X), len(X) * 4 // 5, K_MAX)
    order = order_neighbors(X, depth=depth)

    def exact(data):
        return validation_curve(KNeighborsClassifier(), data, y, n_neighbors=ks, cv=KFold(5))

    def sampled():
        folds = KFold(5, shuffle=True, random_state=0)
        search = GridSearchCV(
            KNeighborsClassifier(), {"n_neighbors": ks}, cv=folds, refit=False
        )  # fmt: skip
        return search.fit(X, y)

    ours, peer = interleaved([lambda: exact(X), sampled], repeats=3)
    after, search = interleaved([lambda: exact(order), lambda: order_neighbors(X, depth=depth)])
    what = f"{name}, KFold(5), all k ≤ {K_MAX}"
    return [
        Result(f"{what} / GridSearchCV, one 5-fold", ours, peer, 0.25),
        Result(f"{what}: after the search / search (depth {depth})", after, search, 1.0),
    ]


if __name__ == "__main__":
    print_results(measure())

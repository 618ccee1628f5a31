"""Two classes: exact leave-200-out for every k ≤ 51 beside one sampled 5-fold at k = 51.

n = 5000, d = 10: the size for which Celisse & Mary-Huard (2011) report "within a minute" for one k.
"""

from __future__ import annotations

from sklearn.model_selection import KFold, LeavePOut, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import order_neighbors, validation_curve
from benchmarks._data import two_classes
from benchmarks._timing import Result, interleaved, needed_depth, print_results

P, K_MAX = 200, 51


def measure() -> list[Result]:
    X, y = two_classes()
    folds = KFold(5, shuffle=True, random_state=0)
    depth = needed_depth(len(X), len(X) - P, K_MAX)
    order = order_neighbors(X, depth=depth)

    def exact(data):
        ks = range(1, K_MAX + 1)
        return validation_curve(
            KNeighborsClassifier(), data, y, n_neighbors=ks, cv=LeavePOut(P)
        )  # fmt: skip

    def sampled(algorithm):
        classifier = KNeighborsClassifier(K_MAX, algorithm=algorithm)
        return cross_val_score(classifier, X, y, cv=folds)

    ours, auto, brute, after, search = interleaved(
        [
            lambda: exact(X),
            lambda: sampled("auto"),
            lambda: sampled("brute"),
            lambda: exact(order),
            lambda: order_neighbors(X, depth=depth),
        ],
        repeats=9,
    )
    what = f"leave-{P}-out, all k ≤ {K_MAX}, n = {len(X)}"
    return [
        Result(f"{what} / one 5-fold at k = {K_MAX}", ours, auto, 1.5),
        Result(f"{what} / the same with algorithm='brute'", ours, brute),
        Result(f"{what}: after the search / search (depth {depth})", after, search, 1.0),
    ]


if __name__ == "__main__":
    print_results(measure())

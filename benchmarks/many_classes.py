"""Many classes: votes beside the search, one k beside all, a hundred classes beside ten.

Letter-recognition has 26; without the data folder a synthetic stand-in of the same size and
difficulty takes its place.
"""

from __future__ import annotations

from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors, validation_curve
from benchmarks._data import gaussian_classes, letters, two_classes
from benchmarks._timing import Result, interleaved, needed_depth, print_results

K_MAX = 15


def measure_letters() -> list[Result]:
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
        Result(f"{what}: after the search / search (depth {depth})", after, search, 0.5),
    ]


def curve(order, y, cv, k_max: int):
    return validation_curve(
        KNeighborsClassifier(), order, y, n_neighbors=range(1, k_max + 1), cv=cv
    )


def measure_ten() -> Result:
    X, y = gaussian_classes(5000, 10, 10)
    depth = needed_depth(5000, 4000, 51)
    order = order_neighbors(X, depth=depth)
    after, search = interleaved(
        [lambda: curve(order, y, KFold(5), 51), lambda: order_neighbors(X, depth=depth)]
    )
    what = f"10 classes, n = 5000, KFold(5), all k ≤ 51: after the search / search (depth {depth})"
    return Result(what, after, search, 3.0)


def measure_one_k() -> list[Result]:
    results = []
    for n_classes, (X, y) in ((2, two_classes()), (10, gaussian_classes(5000, 10, 10))):
        order = order_neighbors(X, depth=needed_depth(5000, 4000, 51) + 40)
        for cv in (KFold(5), StratifiedKFold(5)):
            one, every = interleaved(
                [
                    lambda order=order, y=y, cv=cv: evaluate(
                        KNeighborsClassifier(51), order, y, cv=cv
                    ),
                    lambda order=order, y=y, cv=cv: curve(order, y, cv, 51),
                ]
            )
            what = f"{n_classes} classes, n = 5000, {type(cv).__name__}(5): one k = 51 / all k ≤ 51"
            results.append(Result(what, one, every, 1.0))
    return results


def measure_hundred() -> list[Result]:
    results = []
    for cv in (KFold(5), StratifiedKFold(5)):
        runs = []
        for n_classes in (100, 10):
            X, y = gaussian_classes(5000, 10, n_classes)
            order = order_neighbors(X, depth=needed_depth(5000, 4000, 15) + 40)
            runs.append(lambda order=order, y=y, cv=cv: curve(order, y, cv, 15))
        hundred, ten = interleaved(runs)
        what = f"n = 5000, {type(cv).__name__}(5), all k ≤ 15: 100 classes / 10 classes"
        results.append(Result(what, hundred, ten, 2.0))
    return results


def measure() -> list[Result]:
    return [*measure_letters(), measure_ten(), *measure_one_k(), *measure_hundred()]


if __name__ == "__main__":
    print_results(measure())

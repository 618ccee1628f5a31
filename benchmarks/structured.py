"""Splits with structure: stratified folds and few shots beside scikit-learn's sampled trials.

ORL faces (400 images, 40 people, averaged down to 16 × 16): Mullin & Sukthankar 2000 needed the
time of about 4.5 trials for 1-NN and 6 for R = 3. Without the data folder stand-ins of the same
size take the place of both data sets.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, evaluate, validation_curve
from benchmarks._data import faces, letters
from benchmarks._timing import Result, interleaved, print_results

K_MAX = 15
SHOTS = 3
TRIALS = 5


def measure() -> list[Result]:
    return [_letters(), *_faces()]


def _letters() -> Result:
    name, X, y = letters()
    ks = list(range(1, K_MAX + 1))

    def exact():
        return validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks, cv=StratifiedKFold(5))

    def sampled():
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": ks}, cv=folds, refit=False)
        return search.fit(X, y)

    ours, peer = interleaved([exact, sampled], repeats=2)
    what = f"{name}, StratifiedKFold(5), all k ≤ {K_MAX} / GridSearchCV, one 5-fold"
    return Result(what, ours, peer, 0.3)


def _faces() -> list[Result]:
    name, X, y = faces()

    def trials(rank: int):
        """Random splits with three items of each class, as one would write them."""
        rng = np.random.default_rng(0)
        for _ in range(TRIALS):
            order = rng.permutation(len(y))
            train = np.concatenate([order[y[order] == c][:SHOTS] for c in np.unique(y)])
            test = np.setdiff1d(np.arange(len(y)), train)
            knn = KNeighborsClassifier(rank).fit(X[train], y[train])
            if rank == 1:
                np.mean(knn.predict(X[test]) == y[test])
            else:
                near = y[train][knn.kneighbors(X[test], return_distance=False)]
                np.mean((near == y[test][:, None]).any(axis=1))

    def exact(scoring: str):
        return evaluate(KNeighborsClassifier(1), X, y, cv=ClassCounts(SHOTS), scoring=scoring)

    results = []
    for scoring, rank in (("accuracy", 1), ("recall@3", 3)):
        ours, peer = interleaved([lambda s=scoring: exact(s), lambda r=rank: trials(r)], repeats=40)
        what = f"{name}, {SHOTS} of each class, {scoring} / {TRIALS} random trials"
        results.append(Result(what, ours, peer, 1.0))
    return results


if __name__ == "__main__":
    print_results(measure())

"""The spread between splits: counted over all of them, beside 200 runs of scikit-learn.

n = 2000 samples of two classes. The standard deviation of 200 runs is itself known within 5 % only.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import ShuffleSplit, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate
from benchmarks._data import two_classes
from benchmarks._timing import Result, print_results, seconds

N_SAMPLES, N_RUNS = 2000, 200


def measure() -> list[Result]:
    X, y = two_classes(N_SAMPLES)
    cases = [
        ("1-NN, a split of 20 %", 1, ShuffleSplit(N_RUNS, test_size=0.2, random_state=0), 5.0),
        ("1-NN, the mean of 5 stratified folds", 1, StratifiedKFold(5), 5.0),
        ("k = 5, a split of 20 %", 5, ShuffleSplit(N_RUNS, test_size=0.2, random_state=0), 60.0),
    ]
    results = []
    for what, k, cv, goal in cases:
        # Once on few samples, so that its compiled code is loaded.
        evaluate(KNeighborsClassifier(k), X[:60], y[:60], cv=cv).split_spread(method="exact")
        evaluation = evaluate(KNeighborsClassifier(k), X, y, cv=cv)
        found: list[float] = []
        ours = seconds(lambda e=evaluation, out=found: out.append(e.split_std))
        sampled: list[float] = []
        theirs = seconds(lambda k=k, cv=cv, out=sampled: out.append(_runs(X, y, cv, k)))
        name = f"spread of {what}, n = {N_SAMPLES}"
        apart = 100 * abs(sampled[0] / found[0] - 1)
        results += [
            Result(name, ours, None, goal),
            Result(f"{name} / {N_RUNS} runs of scikit-learn", ours, theirs),
            Result(f"{name}: {N_RUNS} runs are off by", apart, None, None, "%"),
        ]
    return results


def _runs(X: np.ndarray, y: np.ndarray, cv: ShuffleSplit | StratifiedKFold, k: int) -> float:
    """Standard deviation of the scores of scikit-learn's runs."""
    knn = KNeighborsClassifier(k)
    if isinstance(cv, ShuffleSplit):
        return float(np.std(cross_val_score(knn, X, y, cv=cv), ddof=1))
    folds = [StratifiedKFold(cv.n_splits, shuffle=True, random_state=s) for s in range(N_RUNS)]
    return float(np.std([cross_val_score(knn, X, y, cv=one).mean() for one in folds], ddof=1))


if __name__ == "__main__":
    print_results(measure())

"""The honest interval beside the evaluation that it belongs to, in processor time.

All samples are taken out of the data in one pass: two classes with every k ≤ 51, and 26 classes.
Without the data folder a synthetic stand-in of the letters takes their place.
"""

from __future__ import annotations

from collections.abc import Callable
from time import process_time
from typing import Any

from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, validation_curve
from benchmarks._data import letters, two_classes
from benchmarks._timing import Result, print_results

N_SAMPLES, K_MAX, K = 5000, 51, 5


def measure() -> list[Result]:
    X, y = two_classes(N_SAMPLES)
    ks = list(range(1, K_MAX + 1))
    results = []
    for cv in (KFold(5), StratifiedKFold(5)):

        def curve(X=X, y=y, cv=cv):
            return validation_curve(
                KNeighborsClassifier(), X, y, n_neighbors=ks, cv=cv, n_jobs=1
            )  # fmt: skip

        # Once on few samples, so that its compiled code is loaded.
        curve(X[:200], y[:200]).interval()
        what = f"two classes, n = {N_SAMPLES}, all k ≤ {K_MAX}, {_short(cv)}"
        results.append(_result(what, curve, 3.0))
    name, X, y = letters()
    for cv in (KFold(5), StratifiedKFold(5)):

        def one(X=X, y=y, cv=cv):
            return evaluate(KNeighborsClassifier(K), X, y, cv=cv, n_jobs=1)

        one(X[:800], y[:800]).interval()
        results.append(_result(f"{name}, k = {K}, {_short(cv)}", one, 5.0))
    return results


def _result(what: str, ask: Callable[[], Any], goal: float, repeats: int = 2) -> Result:
    """Fastest turns of the question, and of the interval of its answer."""
    turns = []
    for _ in range(repeats):
        start = process_time()
        found = ask()
        asked = process_time()
        found.interval()
        turns.append((asked - start, process_time() - asked))
    evaluation, interval = (min(times) for times in zip(*turns, strict=True))
    return Result(f"interval / evaluation: {what}", interval, evaluation, goal)


def _short(cv: Any) -> str:
    return f"{type(cv).__name__}({cv.n_splits})"


if __name__ == "__main__":
    print_results(measure())

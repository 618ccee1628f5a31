"""Ten scores at once beside one: the same search, and votes that are counted once.

The one is the accuracy. Letter-recognition has 26 classes; a synthetic set stands for the usual
size of features extracted by a network. Both with the search and after it.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import CostMatrix, evaluate
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, print_results

K = 5


def ten(classes):
    """As people would ask for them."""
    C = len(classes)
    return [
        "accuracy", "balanced_accuracy", "neg_log_loss", "neg_log_loss+1", "neg_brier_score",
        "top_2_accuracy", "top_3_accuracy", f"recall_of:{classes[0]}", f"recall_of:{classes[1]}",
        CostMatrix(np.abs(np.arange(C)[:, None] - np.arange(C))),
    ]  # fmt: skip


def blobs(n: int = 20_000, n_features: int = 64, n_classes: int = 10):
    """Ten overlapping classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, n_features)) + 0.35 * rng.normal(size=(n_classes, n_features))[y], y


def measure() -> list[Result]:
    name, X, y = letters()
    results = []
    for what, points, labels in ((name, X, y), ("20,000 × 64, 10 classes", *blobs())):
        scores = ten(sorted(set(labels.tolist())))
        for cv in (StratifiedKFold(5), KFold(5)):

            def asked(scoring=scores, cv=cv, points=points, labels=labels):
                return evaluate(KNeighborsClassifier(K), points, labels, cv=cv, scoring=scoring)

            one, many = interleaved([partial(asked, "accuracy"), asked], repeats=3)
            law = f"{type(cv).__name__}(5), k = {K}"
            results.append(Result(f"{what}, {law}: ten scores / one", many, one, 1.5))
    return results


if __name__ == "__main__":
    print_results(measure())

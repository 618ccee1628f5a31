"""One question asked twice: of the library and of the enumeration."""

from itertools import product

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, validation_curve
from oracle import enumerate as oracle
from oracle.compare import (
    TOLERANCE,
    assert_close,
    assert_matches,
    assert_matches_exactly,
    assert_within_bound,
)
from oracle.datasets import GEOMETRIES, Dataset

TIES = [
    {"distance_ties": distance_ties, "label_ties": label_ties}
    for distance_ties, label_ties in product(["average", "index"], ["first", "share"])
]

every_tie = pytest.mark.parametrize("ties", TIES, ids=lambda ties: "-".join(ties.values()))
every_geometry = pytest.mark.parametrize("points", GEOMETRIES)
every_distance_tie = pytest.mark.parametrize("distance_ties", ["average", "index"])


def smallest_train(law: oracle.Law) -> int:
    return min(len(split.train) for split in law)


def ks_to_try(law: oracle.Law) -> list[int]:
    """Few and many voters, even and odd, and the most that the law allows."""
    largest = smallest_train(law)
    return sorted({k for k in (1, 2, 3, 4, largest) if k <= largest})


def check_accuracy(data: Dataset, cv, law: oracle.Law, k: int, *, groups=None, **ties):
    """Every field of an evaluation, in floats and in fractions; returns the float evaluation."""
    answer = oracle.classify(data.distances, data.labels, law, k, **ties)
    knn = KNeighborsClassifier(k)
    options = {"cv": cv, "groups": groups, **ties}
    found = evaluate(knn, data.X, data.y, **options)
    assert_matches(found, answer, f"k={k}")
    assert found.fraction is None
    exact = evaluate(knn, data.X, data.y, exact=True, **options)
    assert_matches_exactly(exact, answer, f"k={k}")
    return found


def check_recall(data: Dataset, cv, law: oracle.Law, rank: int, *, distance_ties, groups=None):
    answer = oracle.recall(data.distances, data.labels, law, rank, distance_ties=distance_ties)
    options = {"cv": cv, "scoring": f"recall@{rank}", "distance_ties": distance_ties}
    options["groups"] = groups
    knn = KNeighborsClassifier(1)
    assert_matches(evaluate(knn, data.X, data.y, **options), answer, f"R={rank}")
    exact = evaluate(knn, data.X, data.y, exact=True, **options)
    assert_matches_exactly(exact, answer, f"R={rank}")


def check_balanced_accuracy(data: Dataset, cv, expected, k: int, **ties):
    knn = KNeighborsClassifier(k)
    options = {"cv": cv, "scoring": "balanced_accuracy", **ties}
    found = evaluate(knn, data.X, data.y, **options)
    assert_close(found.score, expected, "balanced accuracy")
    assert_within_bound(found.score, expected, found.error_bound, "balanced accuracy")
    assert evaluate(knn, data.X, data.y, exact=True, **options).fraction == expected


def check_validation_curve(data: Dataset, cv, law: oracle.Law, *, groups=None, **ties):
    """Every k that the law allows, at once."""
    ks = range(1, smallest_train(law) + 1)
    expected = [oracle.classify(data.distances, data.labels, law, k, **ties).score for k in ks]
    options = {"n_neighbors": ks, "cv": cv, "groups": groups, **ties}

    curve = validation_curve(KNeighborsClassifier(), data.X, data.y, **options)
    check_curve(curve, ks, expected)

    exact = validation_curve(KNeighborsClassifier(), data.X, data.y, exact=True, **options)
    assert list(exact.fractions) == expected
    best = expected.index(max(expected))
    assert exact.best == ks[best]
    assert exact.best_score == float(expected[best])


def check_curve(curve, x, expected, largest_bound: float = TOLERANCE) -> None:
    """The points of a curve in floats."""
    assert list(curve.x) == list(x)
    assert_close(curve.scores, expected, "scores")
    bounds = np.broadcast_to(curve.error_bound, curve.scores.shape)
    for score, fraction, bound in zip(curve.scores, expected, bounds, strict=True):
        assert_within_bound(score, fraction, float(bound), "scores", largest_bound)

"""Scores of votes by runs and cases that wait, on both sides of each size inside, in Fractions."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, evaluate

SCORES = [
    "accuracy", "balanced_accuracy", "neg_log_loss+1", "neg_brier_score", "top_2_accuracy",
    "recall_of:0",
]  # fmt: skip


def check(X, y, cv, k, ties="average"):
    """Floats against Fractions, sample by sample."""
    knn = KNeighborsClassifier(k)
    scores = [name for name in SCORES if "top_2" not in name or len(set(y)) > 2]
    options = {"cv": cv, "scoring": scores, "distance_ties": ties}
    found, exact = evaluate(knn, X, y, **options), evaluate(knn, X, y, exact=True, **options)
    for name in scores:
        assert abs(found[name].score - exact[name].score) <= found[name].error_bound, name
        assert found[name].error_bound < 1e-11
        np.testing.assert_allclose(
            found[name].sample_scores, exact[name].sample_scores, rtol=1e-10, atol=1e-12
        )


# All equally far: a tie group has (γ_1 + 1) ⋯ runs of its largest class, 24 at most side by side.
@pytest.mark.parametrize("cv", [KFold(3), StratifiedKFold(2), ClassCounts(1)])
@pytest.mark.parametrize(
    "sizes", [(9, 3), (6, 4, 4), (6, 5, 5), (5, 3, 3, 3), (12, 2, 2, 2), (15, 1), (1, 7, 8)]
)
def test_one_large_tie_group(sizes, cv):
    if min(sizes) < 2 and not isinstance(cv, KFold):
        return
    y = np.repeat(np.arange(len(sizes)), sizes)
    check(np.zeros((len(y), 1)), y, cv, 2)


@pytest.mark.parametrize("cv", [KFold(5), StratifiedKFold(5), StratifiedKFold(3)])
@pytest.mark.parametrize("k", [2, 5])
def test_runs_between_tie_groups(cv, k):
    """Long runs of a class, broken by groups of several and by single items, and by duplicates."""
    rng = np.random.default_rng(k)
    y = np.sort(rng.integers(3, size=34))
    X = np.round(y[:, None] * 1.5 + rng.normal(size=(34, 1)), 1)
    X[:6] = X[0]
    y[2:4] = 2
    check(X, y, cv, k)
    check(X, y, cv, k, ties="index")


@pytest.mark.parametrize("cv", [KFold(2), StratifiedKFold(2)])
def test_more_runs_than_lanes(cv):
    """Two classes in turn: every item is a run; a few training items, so that rows are long."""
    y = np.arange(80) % 2
    check(np.arange(80.0)[:, None] ** 1.01, y, cv, 3)


@pytest.mark.parametrize("cv", [KFold(3), StratifiedKFold(2)])
def test_a_row_of_one_class_and_the_rest_far_away(cv):
    y = np.repeat([0, 1, 2], (10, 8, 2))
    X = np.concatenate([np.zeros(10), 1e15 + np.arange(8) * 1e-15, [1e30, -1e30]])[:, None]
    check(X, y, cv, 3)

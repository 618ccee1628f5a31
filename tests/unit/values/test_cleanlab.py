"""Shares of all splits as cleanlab's ``pred_probs``."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate

rank = pytest.importorskip("cleanlab.rank", reason="cleanlab is not installed")
filters = pytest.importorskip("cleanlab.filter", reason="cleanlab is not installed")


def test_prediction_proba_are_pred_probs():
    """Rows sum to one, every row is held out, columns are the sorted classes: as cleanlab asks."""
    X, y = load_digits(return_X_y=True)
    X, y = X[:600], y[:600].copy()
    planted = np.arange(0, 600, 20)
    y[planted] = (y[planted] + 3) % 10
    evaluation = evaluate(KNeighborsClassifier(5), X, y)
    shares = evaluation.prediction_proba
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-9)
    found = filters.find_label_issues(
        labels=y, pred_probs=shares, return_indices_ranked_by="self_confidence", n_jobs=1
    )
    assert len(set(found) & set(planted)) >= 24
    quality = rank.get_label_quality_scores(labels=y, pred_probs=shares)
    assert quality[planted].max() < np.median(quality)

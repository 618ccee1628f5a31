"""Our strategy in scikit-activeml's place: its loop, its labels, its conventions."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.neighbors import KNeighborsClassifier

from allsplits import CommitteeQuery

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # about optional parts that are not installed
    pool = pytest.importorskip("skactiveml.pool")
    classifier = pytest.importorskip("skactiveml.classifier")
    utils = pytest.importorskip("skactiveml.utils")

X, TRUTH = make_blobs(200, centers=3, cluster_std=1.3, random_state=0)


def run_loop(strategy, rounds=15, **arguments):
    """The loop of scikit-activeml's own tutorials."""
    y = np.full(len(X), utils.MISSING_LABEL)
    y[:10] = TRUTH[:10]
    clf = classifier.SklearnClassifier(KNeighborsClassifier(3), classes=[0, 1, 2])
    for _ in range(rounds):
        chosen = strategy.query(X=X, y=y, batch_size=2, **arguments)
        assert utils.is_unlabeled(y)[chosen].all()
        y[chosen] = TRUTH[chosen]
        clf.fit(X, y)
    return y, clf.score(X, TRUTH)


def test_the_same_loop_runs_both():
    ours, score = run_loop(CommitteeQuery(3, random_state=0))
    members = [
        classifier.SklearnClassifier(KNeighborsClassifier(k), classes=[0, 1, 2]) for k in (1, 3, 5)
    ]
    theirs, _ = run_loop(pool.QueryByCommittee(random_state=0), ensemble=members)
    assert utils.is_labeled(ours).sum() == utils.is_labeled(theirs).sum() == 40
    assert score > 0.8


@pytest.mark.parametrize("candidates", ["none", "rows", "points"])
def test_answers_have_the_same_form(candidates):
    y = np.full(len(X), utils.MISSING_LABEL)
    y[:10] = TRUTH[:10]
    given = {"none": None, "rows": np.arange(20, 60), "points": X[20:60]}[candidates]
    arguments = {"candidates": given, "batch_size": 3, "return_utilities": True}
    reference = pool.RandomSampling(random_state=0).query(X, y, **arguments)
    found = CommitteeQuery(3, random_state=0).query(X, y, **arguments)
    for ours, theirs in zip(found, reference, strict=True):
        assert ours.shape == theirs.shape
        assert ours.dtype.kind == theirs.dtype.kind
    np.testing.assert_array_equal(np.isnan(found[1]).sum(1), np.isnan(reference[1]).sum(1))


def test_text_labels_with_none():
    y = np.array([None] * len(X), dtype=object)
    y[:10] = np.array(["a", "b", "c"])[TRUTH[:10]]
    assert utils.is_unlabeled(y, missing_label=None).sum() == 190
    chosen = CommitteeQuery(3).query(X, y, batch_size=5)
    assert len(set(chosen)) == 5
    assert chosen.min() >= 10

"""Weighted votes by drawing: means that agree with the truth within the error they state."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bernoulli, ClassCounts, KNeighborsClassifierCV, evaluate, validation_curve
from allsplits.exact.weighted import sampled as sampled_votes
from allsplits.exact.weighted import votes as weighted_votes
from unit.refused import refused

RNG = np.random.default_rng(5)
X, Y = RNG.integers(0, 6, (16, 2)) + 0.0, np.repeat([0, 1, 2], [7, 6, 3])
LAWS = [KFold(4), ClassCounts({0: 4, 1: 3, 2: 2}), Bernoulli(Fraction(1, 2))]


@pytest.fixture
def nothing_is_counted(monkeypatch):
    """Every interval is as wide as can be, so that everything has to be drawn."""

    def wide(self, rows, ks, n_threads, scale):
        every, parts = self.question.want_samples, self.law.n_components
        n_classes = self.question.n_classes if every else 1
        found = np.zeros((len(rows.own), 2, n_classes, parts, len(ks)))
        found[:, 1] = 1
        return found

    monkeypatch.setattr(weighted_votes.WeightedVote, "_bounds", wide)


@pytest.mark.usefixtures("nothing_is_counted")
@pytest.mark.parametrize("cv", LAWS, ids=["fixed size", "class counts", "draws"])
@pytest.mark.parametrize("distance_ties", ["average", "index"])
@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("weights", ["distance", lambda d: 1 / (1 + d)], ids=["1/d", "1/(1+d)"])
def test_draws_agree_with_the_fractions(cv, distance_ties, label_ties, weights):
    """Tied distances, zero distances, even and odd k; six values within four standard errors."""
    options = {"cv": cv, "distance_ties": distance_ties, "label_ties": label_ties}
    for k in (2, 3, 5):
        knn = KNeighborsClassifier(k, weights=weights)
        exact = evaluate(knn, X, Y, exact=True, **options)
        found = evaluate(knn, X, Y, allow_sampling=True, **options)
        assert 0 < found.standard_error < 0.01
        assert abs(found.score - float(exact.fraction)) < 4 * found.standard_error
        np.testing.assert_allclose(found.sample_scores, exact.sample_scores, atol=0.06)
        np.testing.assert_allclose(found.prediction_proba.sum(axis=1), 1, atol=1e-12)
        assert "sampled votes" in repr(found)
        assert "±" not in repr(found)
        curve = validation_curve(
            KNeighborsClassifier(weights=weights), X, Y, n_neighbors=[1, k, 6], allow_sampling=True,
            **options,
        )  # fmt: skip
        assert abs(curve.scores[1] - float(exact.fraction)) < 4 * curve.standard_errors[1]
        assert "sampled" in repr(curve)


@pytest.mark.usefixtures("nothing_is_counted")
def test_standard_errors_cover():
    """Over many data sets the true value is within two standard errors about as often as said."""
    inside, n = 0, 60
    for seed in range(n):
        rng = np.random.default_rng(seed)
        points, labels = rng.normal(size=(14, 2)), rng.permutation(np.repeat([0, 1], 7))
        knn = KNeighborsClassifier(3, weights="distance")
        exact = evaluate(knn, points, labels, cv=KFold(2), exact=True)
        found = evaluate(knn, points, labels, cv=KFold(2), allow_sampling=True)
        inside += abs(found.score - float(exact.fraction)) <= 2 * found.standard_error
    assert 0.88 * n <= inside


@pytest.mark.usefixtures("nothing_is_counted")
def test_rows_that_are_alike_share_their_draws():
    """Twelve samples in two places: the error is that of two rows, not of twelve."""
    points, labels = np.repeat([[0.0], [1.0]], 6, axis=0), np.tile([0, 1], 6)
    knn = KNeighborsClassifier(3, weights=lambda d: 1 / (1 + d))
    found = evaluate(knn, points, labels, cv=KFold(2), allow_sampling=True)
    rows = len(np.unique(found.sample_scores))
    assert rows == 2  # the places look alike, the classes do not
    p = found.sample_scores[:2]
    expected = np.sqrt((p * (1 - p) / sampled_votes.N_DRAWS).mean() / rows)
    assert found.standard_error == pytest.approx(expected, rel=0.2)


def test_what_can_be_counted_is_not_drawn():
    knn = KNeighborsClassifier(3, weights="distance")
    found = evaluate(knn, X, Y, cv=KFold(4), allow_sampling=True)
    assert found.standard_error == 0
    assert found.score == evaluate(knn, X, Y, cv=KFold(4)).score


def test_wide_intervals_are_drawn_only_by_permission():
    points = RNG.normal(size=(60, 5))
    labels = np.arange(60) % 3
    knn = KNeighborsClassifier(15, weights="distance")
    hard = {"cv": KFold(2), "max_states": 64}
    bounded = evaluate(knn, points, labels, **hard)
    drawn = evaluate(knn, points, labels, allow_sampling=True, **hard)
    assert bounded.standard_error == 0 < drawn.standard_error < 0.01
    assert drawn.error_bound < 1e-4 < bounded.error_bound
    slack = bounded.error_bound + 4 * drawn.standard_error
    assert abs(bounded.score - drawn.score) <= slack
    again = evaluate(knn, points, labels, allow_sampling=True, **hard)
    assert again.score == drawn.score


@pytest.mark.usefixtures("nothing_is_counted")
def test_weights_that_floats_cannot_add_keep_their_interval():
    points = np.array([[0.0], [1e-15], [1.0], [2.0], [4.0], [8.0]])
    labels = np.array([0, 1, 0, 1, 0, 1])
    knn = KNeighborsClassifier(2, weights="distance")
    found = evaluate(knn, points, labels, cv=KFold(2), allow_sampling=True)
    assert found.error_bound > 0.1


@pytest.mark.usefixtures("nothing_is_counted")
def test_the_choice_knows_what_was_drawn():
    model = KNeighborsClassifierCV(
        range(1, 5), weights=("uniform", "distance"), cv=KFold(4), allow_sampling=True
    ).fit(X, Y)
    assert model.curves_["distance", "minkowski"].standard_errors.max() > 0
    assert model.curves_["uniform", "minkowski"].standard_errors.max() == 0
    assert "standard_error" in model.curves_["distance", "minkowski"].frame().columns


def test_the_permission_is_true_or_false():
    refused(lambda: evaluate(KNeighborsClassifier(1), X, Y, allow_sampling="yes"), "allow_sampling")

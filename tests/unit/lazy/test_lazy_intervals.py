"""LazyRegressor.predict_interval: calibrated by leaving out each training sample."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.metrics import pairwise_distances

from allsplits import LazyRegressor
from allsplits.lazy import _regressor
from unit.refused import refused


def reach_by_hand(residuals, left_out_std, std, confidence):
    """Half widths: the ⌈c (n + 1)⌉-th smallest |residual| / (std + a quarter of the mean residual).

    Where a std is 0 the mean takes its place.
    """

    def scale(value):
        return (value or np.mean(left_out_std)) + np.abs(residuals).mean() / 4

    scores = sorted(abs(r) / scale(s) for r, s in zip(residuals, left_out_std, strict=True))
    score = scores[math.ceil(confidence * (len(scores) + 1)) - 1]
    return np.array([score * scale(value) for value in std])


def left_out(model, X, y, **changed):
    """Predictions and stds of each sample by a model that is fitted to all others."""
    found = []
    for i in range(len(X)):
        others = np.arange(len(X)) != i
        alone = clone(model).set_params(**changed).fit(X[others], y[others])
        found.append(np.ravel(alone.predict(X[i : i + 1], return_std=True)))
    return np.transpose(found)


def grid():
    """Whole numbers: duplicates, ties, equal targets."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 4, size=(60, 2)).astype(float)
    return X, X[:, 0] + rng.integers(0, 2, 60), X[:8] + 0.25


def smooth():
    X, y = make_friedman1(70, n_features=5, noise=0.5, random_state=0)
    return X[:60], y[:60], X[60:]


@pytest.mark.parametrize("data", [grid, smooth])
@pytest.mark.parametrize(
    ("model", "changed"),
    [
        (LazyRegressor(), {}),
        (LazyRegressor(combine="best"), {}),
        (LazyRegressor(0, k_max=12, metric="manhattan"), {}),
        (LazyRegressor((0, 1), ridge=0.1, penalize_intercept=True, combine=3), {}),
        # With one sample less the largest size is one less.
        (LazyRegressor(0, k_max=60), {"k_max": 59}),
        (LazyRegressor(1, k_min=60), {"k_min": 59}),
    ],
    ids=str,
)
def test_the_intervals_are_those_of_refitting_without_each_sample(data, model, changed):
    X, y, queries = data()
    predictions, intervals = clone(model).fit(X, y).predict_interval(queries, 0.9)
    expected, std = clone(model).fit(X, y).predict(queries, return_std=True)
    np.testing.assert_array_equal(predictions, expected)
    without, left_out_std = left_out(model, X, y, **changed)
    reach = reach_by_hand(y - without, left_out_std, std, 0.9)
    ends = np.column_stack([expected - reach, expected + reach])
    np.testing.assert_allclose(intervals, ends, rtol=1e-9, atol=1e-9)


def means_by_hand(distances, y, sizes, n_combined):
    """Prediction and std of one query: means, their errors left out one by one, weights 1/error."""
    near = y[np.argsort(distances, kind="stable")]
    means, errors = [], []
    for k in sizes:
        head = near[:k]
        means.append(head.mean())
        errors.append(np.mean([(head[j] - np.delete(head, j).mean()) ** 2 for j in range(k)]))
    best = np.argsort(errors, kind="stable")[:n_combined]
    weights = 1 / np.array(errors)[best]
    return np.average(np.array(means)[best], weights=weights), np.sqrt(len(best) / weights.sum())


def test_constant_models_by_hand():
    """From the definitions alone, with no model of the library."""
    X, y = make_friedman1(60, n_features=5, noise=0.5, random_state=1)
    distances = pairwise_distances(X)
    X, queries, y = X[:50], X[50:], y[:50]
    sizes = range(3, 21)
    without = []
    for i in range(50):
        others = np.arange(50) != i
        without.append(means_by_hand(distances[i, :50][others], y[others], sizes, 10))
    residual = y - np.array(without)[:, 0]
    found = np.array([means_by_hand(distances[q, :50], y, sizes, 10) for q in range(50, 60)])
    reach = reach_by_hand(residual, np.array(without)[:, 1], found[:, 1], 0.8)
    ends = np.column_stack([found[:, 0] - reach, found[:, 0] + reach])
    model = LazyRegressor(0, k_max=20, combine=10).fit(X, y)
    np.testing.assert_allclose(model.predict_interval(queries, 0.8)[1], ends, rtol=1e-9)
    given = LazyRegressor(0, k_max=20, combine=10, metric="precomputed").fit(distances[:50, :50], y)
    found = given.predict_interval(distances[50:, :50], 0.8)[1]
    np.testing.assert_allclose(found, ends, rtol=1e-9)


def draw(rng, n):
    """A smooth function with noise that grows tenfold along the first feature."""
    X = rng.uniform(-1, 1, size=(n, 3))
    noise = 0.1 * 10 ** (0.5 + 0.5 * X[:, 0])
    return X, np.sin(2 * X[:, 1]) + X[:, 2] + noise * rng.normal(size=n), X[:, 0]


@pytest.mark.parametrize(("confidence", "combine"), [(0.8, 30), (0.95, 30), (0.95, "best")])
def test_intervals_hold_the_share_that_they_say(confidence, combine):
    """Within 3.5 standard deviations: of the queries drawn, and of the scores of each calibration.

    The share that is held, given the n training samples, has about the variance c (1 - c) / n.
    """
    rng = np.random.default_rng(5)
    n_sets, n_train, n_queries = 20, 400, 300
    held, plain, quiet, loud = [], [], [], []
    for _ in range(n_sets):
        X, y, _ = draw(rng, n_train)
        queries, targets, where = draw(rng, n_queries)
        model = LazyRegressor(combine=combine).fit(X, y)
        predictions, intervals = model.predict_interval(queries, confidence)
        inside = (intervals[:, 0] <= targets) & (targets <= intervals[:, 1])
        held.append(inside.mean())
        std = model.predict(queries, return_std=True)[1]
        plain.append(np.mean(np.abs(targets - predictions) <= 1.96 * std))
        width = intervals[:, 1] - intervals[:, 0]
        quiet.append(width[where < -0.5].mean())
        loud.append(width[where > 0.5].mean())
    variance = confidence * (1 - confidence) * (1 / (n_sets * n_queries) + 1 / (n_sets * n_train))
    assert abs(np.mean(held) - confidence) < 3.5 * math.sqrt(variance)
    if combine == "best":
        assert np.mean(plain) < 0.9, "± 1.96 std is not enough: there is something to calibrate"
    assert np.mean(loud) > 2 * np.mean(quiet), "wider where the noise is larger"


def test_a_std_of_0_has_an_interval():
    X, y = load_diabetes(return_X_y=True)
    y = np.round(y / 40)
    model = LazyRegressor(0, combine="best").fit(X[:300], y[:300])
    _, std = model.predict(X[300:], return_std=True)
    predictions, intervals = model.predict_interval(X[300:])
    assert (std == 0).any(), "these data are to have such queries"
    assert (intervals[:, 0] < predictions).all()
    assert (intervals[:, 1] > predictions).all()


def test_nothing_to_be_wrong_about():
    X = np.arange(30.0)[:, None]
    predictions, intervals = LazyRegressor().fit(X, np.full(30, 7.0)).predict_interval(X)
    np.testing.assert_array_equal(predictions, 7.0)
    np.testing.assert_array_equal(intervals, 7.0)


def test_several_outputs_are_several_problems():
    X, y, queries = smooth()
    Y = np.column_stack([y, X[:, 0] ** 2])
    predictions, intervals = LazyRegressor().fit(X, Y).predict_interval(queries, 0.9)
    assert (predictions.shape, intervals.shape) == ((10, 2), (10, 2, 2))
    for output in range(2):
        alone = LazyRegressor().fit(X, Y[:, output]).predict_interval(queries, 0.9)[1]
        np.testing.assert_array_equal(intervals[:, :, output], alone)


def test_more_confidence_is_wider_and_targets_may_be_scaled():
    X, y, queries = smooth()
    model = LazyRegressor().fit(X, y)
    widths = [np.diff(model.predict_interval(queries, c)[1]) for c in (0.5, 0.8, 0.95)]
    assert (widths[0] < widths[1]).all()
    assert (widths[1] < widths[2]).all()
    scaled = LazyRegressor().fit(X, 4 * y - 100).predict_interval(queries, 0.8)[1]
    np.testing.assert_allclose(scaled, 4 * model.predict_interval(queries, 0.8)[1] - 100, rtol=1e-9)


def test_threads_do_not_matter():
    X, y, queries = smooth()
    one, two = (
        LazyRegressor(n_jobs=n_jobs).fit(X, y).predict_interval(queries)[1] for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_samples_are_left_out_once_and_only_for_intervals(monkeypatch):
    calls = []

    def counted(*arguments, **keywords):
        calls.append(1)
        return original(*arguments, **keywords)

    original = _regressor.leave_one_out
    monkeypatch.setattr(_regressor, "leave_one_out", counted)
    X, y, queries = smooth()
    model = LazyRegressor().fit(X, y)
    model.predict(queries, return_std=True, return_k=True, return_details=True)
    assert len(calls) == 0
    first = model.predict_interval(queries)[1]
    np.testing.assert_array_equal(model.predict_interval(queries)[1], first)
    assert len(calls) == 1
    model.fit(X, -y)
    np.testing.assert_allclose(-model.predict_interval(queries)[1][:, ::-1], first, rtol=1e-12)
    assert len(calls) == 2


def test_progress_bars_on_request(capsys):
    X, y, queries = smooth()
    model = LazyRegressor().fit(X, y)
    model.predict_interval(queries)
    assert capsys.readouterr().out == ""
    model.fit(X, y).predict_interval(queries, progress=True)
    assert "leave-one-out" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("confidence", "words"),
    [
        (0, ["0"]),
        (1, ["between 0 and 1", "1"]),
        (95, ["between 0 and 1", "95"]),
        ("high", ["high"]),
        (True, ["True"]),
        (0.99, ["60 / 61 = 0.9836", "60", "0.99"]),
    ],
)
def test_confidences_that_are_refused(confidence, words, monkeypatch):
    X, y, queries = smooth()
    monkeypatch.setattr(_regressor, "leave_one_out", None)
    refused(
        lambda: LazyRegressor().fit(X, y).predict_interval(queries, confidence),
        "confidence",
        *words,
    )


def test_the_smallest_samples():
    X = np.arange(19.0)[:, None]
    assert np.isfinite(LazyRegressor().fit(X, X[:, 0] ** 2).predict_interval(X, 0.95)[1]).all()
    three = LazyRegressor().fit(X[:3], X[:3, 0])
    assert np.isfinite(three.predict_interval(X[:3], 0.75)[1]).all()
    two = LazyRegressor().fit(X[:2], X[:2, 0])
    refused(lambda: two.predict_interval(X[:2], 0.5), "X", "3", "2")

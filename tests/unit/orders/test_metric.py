"""Metrics: parameters that cannot work are named before any work, values are scikit-learn's."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors

from allsplits import (
    LazyRegressor,
    UNNClassifier,
    cmc_curve,
    evaluate,
    learning_curve,
    order_from_graph,
    order_from_index,
    order_neighbors,
    report,
    validation_curve,
)
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import Metric

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3))
Y = (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("p", ["2", [2], None, True, 1j])
def test_p_must_be_a_number(p):
    with pytest.raises(InvalidTypeError, match="p must be a number greater than 0; got"):
        order_neighbors(X, p=p)
    with pytest.raises(InvalidTypeError, match="p must be a number"):
        evaluate(KNeighborsClassifier(p=p), X, Y)


@pytest.mark.parametrize("p", [0, -1, float("nan"), 10**400])
def test_p_must_be_positive_and_a_float(p):
    with pytest.raises(InvalidInputError, match="p must be greater than 0"):
        order_neighbors(X, p=p)


@pytest.mark.parametrize("params", [5, "w", [1.0, 2.0, 3.0]])
def test_metric_params_must_be_a_dict(params):
    with pytest.raises(InvalidTypeError, match="metric_params must be None or a dict; got"):
        evaluate(KNeighborsClassifier(metric_params=params), X, Y)


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (
            "cosine",
            {"w": [1, 1, 1]},
            r"metric_params of metric 'cosine' may hold none; got \['w'\]",
        ),
        ("minkowski", {"V": 1}, r"'minkowski' may hold only p, w; got \['V'\]"),
        ("minkowski", {"w": [1, 1]}, r"metric_params\['w'\] must have shape \(3,\) .*got \(2,\)"),
        ("minkowski", {"w": [1, -1, 1]}, r"metric_params\['w'\] must hold weights of at least 0"),
        ("minkowski", {"w": "many"}, r"metric_params\['w'\] must hold numbers"),
        ("minkowski", {"w": [1, np.nan, 1]}, r"metric_params\['w'\] must be finite"),
        ("seuclidean", {"V": [1, 0, 1]}, r"metric_params\['V'\] must hold variances greater"),
        ("mahalanobis", {"V": np.ones((3, 3))}, "can be inverted; got one of rank 1 for 3"),
        ("mahalanobis", {"VI": np.ones(3)}, r"metric_params\['VI'\] must be a square matrix"),
        ("mahalanobis", {"VI": -np.eye(3)}, "must not make squared distances negative"),
        ("mahalanobis", {"VI": np.eye(2)}, r"shape \(3, 3\) for X with 3 features; got \(2, 2\)"),
        ("haversine", None, "'haversine' needs X with 2 features.*got 3"),
    ],
)
def test_parameters_that_cannot_work_are_named(metric, params, message):
    with pytest.raises(InvalidInputError, match=message):
        order_neighbors(X, metric=metric, metric_params=params)
    for model in (LazyRegressor, UNNClassifier):
        with pytest.raises(InvalidInputError, match=message):
            model(metric=metric, metric_params=params).fit(X, Y)


def test_scalings_that_the_sample_does_not_give():
    dependent = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(InvalidInputError, match="rank 3 for 4 features"):
        order_neighbors(dependent, metric="mahalanobis")
    constant = np.column_stack([X, np.ones(len(X))])
    with pytest.raises(InvalidInputError, match=r"'seuclidean'.* constant feature 3"):
        order_neighbors(constant, metric="seuclidean")


def test_integers_beyond_float():
    with pytest.raises(InvalidInputError, match="X must be a numeric array"):
        order_neighbors([[10**400], [1], [2]])


def test_rows_without_a_common_feature():
    with pytest.raises(InvalidInputError, match="two that have none in common"):
        order_neighbors([[np.nan, 1.0], [1.0, np.nan], [1.0, 1.0]], metric="nan_euclidean")


def test_values_that_are_made_true_or_false_are_mentioned_once():
    with pytest.warns(DataConversionWarning, match="'jaccard' takes every value") as caught:
        order_neighbors(X, metric="jaccard", block_size=3)
    assert len(caught) == 1
    order_neighbors((X > 0).astype(float), metric="jaccard")


def by_scikit_learn(points, **options):
    found = NearestNeighbors(n_neighbors=len(points), algorithm="brute", **options).fit(points)
    distances, items = found.kneighbors(points)
    full = np.empty_like(distances)
    np.put_along_axis(full, items, distances, axis=1)
    return full


@pytest.mark.parametrize(
    "options",
    [
        {"metric": "braycurtis"},
        {"metric": "canberra"},
        {"metric": "minkowski", "p": 3},
        {"metric": "minkowski", "p": 1.5, "metric_params": {"w": [0.5, 0.0, 2.0]}},
        {"metric": "seuclidean", "metric_params": {"V": [0.5, 1.0, 2.0]}},
        {"metric": "mahalanobis", "metric_params": {"VI": np.diag([1.0, 2.0, 3.0])}},
        {"metric": "nan_euclidean"},
        {"metric": "correlation"},
        {"metric": "cosine"},
    ],
    ids=lambda options: options["metric"],
)
def test_distances_are_those_of_scikit_learns_estimators(options):
    order = order_neighbors(X, **options)
    full = by_scikit_learn(X, **options)
    rows = np.arange(len(X))[:, None]
    np.testing.assert_allclose(order.distances, full[rows, order.indices], rtol=1e-9, atol=1e-12)


def test_distances_with_missing_values_are_scikit_learns():
    points = X.copy()
    points[RNG.random(X.shape) < 0.2] = np.nan
    points[:, 0] = X[:, 0]
    order = order_neighbors(points, metric="nan_euclidean")
    full = pairwise_distances(points, metric="nan_euclidean")
    rows = np.arange(len(X))[:, None]
    np.testing.assert_allclose(order.distances, full[rows, order.indices], rtol=1e-7)


def test_weights_of_correlation_and_squares():
    weights = np.array([0.5, 1.0, 2.0])
    for metric in ("correlation", "sqeuclidean"):
        order = order_neighbors(X, metric=metric, metric_params={"w": weights})
        full = cdist(X, X, metric, w=weights)
        rows = np.arange(len(X))[:, None]
        np.testing.assert_allclose(
            order.distances, full[rows, order.indices], rtol=1e-9, atol=1e-12
        )


def test_a_feature_without_weight_does_not_make_a_row_vary():
    points = np.array([[0.1, 0.1, 0.1, 5.0], [0.7, 0.7, 0.7, -2.0], [0.1, 0.2, 0.4, 1.0]])
    order = order_neighbors(points, metric="correlation", metric_params={"w": [1, 1, 1, 0]})
    assert order.distances.tolist() == [[0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("p", [1.5, 3, 50, 400])
@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e-200])
def test_powers_that_underflow_lose_nothing(p, scale):
    order = order_neighbors(X * scale, p=p, depth=5)
    plain = order_neighbors(X, p=p, depth=5)
    np.testing.assert_array_equal(order.indices, plain.indices)
    np.testing.assert_allclose(order.distances, plain.distances * scale, rtol=1e-12)
    assert (order.distances > 0).all()


@pytest.mark.parametrize("metric", ["seuclidean", "mahalanobis", "nan_euclidean", "euclidean"])
def test_tiny_values_are_told_apart(metric):
    params = {"seuclidean": {"V": [1, 2, 3]}, "mahalanobis": {"VI": np.diag([1, 2, 3])}}
    options = {"metric": metric, "metric_params": params.get(metric)}
    order, plain = order_neighbors(X * 2.0**-600, **options), order_neighbors(X, **options)
    np.testing.assert_array_equal(order.indices, plain.indices)
    assert not order.tied.any()


def test_tiny_values_beside_large_ones_do_no_harm():
    """As in probabilities: rows differ elsewhere, so the fast search serves."""
    points = np.column_stack([X, np.full(len(X), 1e-300) * np.arange(len(X))])
    assert Metric.resolve("euclidean").squares_fit(points)
    points[1, :3] = points[0, :3]
    assert not Metric.resolve("euclidean").squares_fit(points)
    order = order_neighbors(points)
    assert order.distances[0, 0] == 1e-300


def test_tiny_angles_are_refused():
    with pytest.raises(InvalidInputError, match="'haversine', so that squares do not underflow"):
        order_neighbors(X[:, :2] * 1e-150, metric="haversine")


ORDER = order_neighbors(X, metric="euclidean")
OTHER_METRIC = r"NeighborOrder by metric='euclidean', but the estimator has metric='manhattan'"


def test_an_order_of_another_metric_is_refused():
    for function in (evaluate, validation_curve):
        options = {} if function is evaluate else {"n_neighbors": [1, 2]}
        with pytest.raises(InvalidInputError, match=OTHER_METRIC):
            function(KNeighborsClassifier(3, metric="manhattan"), ORDER, Y, **options)
    with pytest.raises(InvalidInputError, match=OTHER_METRIC):
        evaluate(KNeighborsRegressor(3, p=1), ORDER, X[:, 0])
    with pytest.raises(InvalidInputError, match=OTHER_METRIC):
        cmc_curve(ORDER, Y, metric="manhattan")
    cubes = order_neighbors(X, p=3)
    with pytest.raises(InvalidInputError, match=r"by metric='minkowski', p=3.0, but .*euclidean"):
        evaluate(KNeighborsClassifier(3), cubes, Y)
    evaluate(KNeighborsClassifier(3, p=3), cubes, Y)


@pytest.mark.parametrize(
    "ask",
    [
        lambda model, order: evaluate(model, order, Y),
        lambda model, order: validation_curve(model, order, Y, n_neighbors=[1, 2]),
        lambda model, order: learning_curve(model, order, Y),
        lambda model, order: cmc_curve(order, Y, metric=model.metric),
        lambda model, order: report(order, Y, estimator=model),
    ],
    ids=["evaluate", "validation_curve", "learning_curve", "cmc_curve", "report"],
)
def test_every_function_that_takes_an_order_compares_metrics(ask):
    index = NearestNeighbors(metric="euclidean").fit(X)
    found = order_from_index(index, X, depth=39, allow_approximate=True)
    for order in (ORDER, found):
        with pytest.raises(InvalidInputError, match=OTHER_METRIC):
            ask(KNeighborsClassifier(1, metric="manhattan"), order)
    ask(KNeighborsClassifier(1, metric="euclidean"), ORDER)


def test_parameters_of_a_metric_are_compared_by_value():
    weights = {"w": np.array([1.0, 2.0, 3.0])}
    order = order_neighbors(X, metric_params=weights)
    evaluate(KNeighborsClassifier(3, metric_params={"w": [1, 2, 3]}), order, Y)
    with pytest.raises(InvalidInputError, match="the same metric"):
        evaluate(KNeighborsClassifier(3, metric_params={"w": [1, 2, 4]}), order, Y)
    with pytest.raises(InvalidInputError, match="the same metric"):
        evaluate(KNeighborsClassifier(3), order, Y)


def test_blocks_of_an_order_remember_the_metric():
    assert ORDER.metric.same_as(Metric.resolve("minkowski"))
    assert order_neighbors(X, block_size=7).metric.same_as(Metric.resolve("l2"))
    part = ORDER.slice_rows(3, 9).where(ORDER.slice_rows(3, 9).flat_indices != 5)
    assert part.metric is ORDER.metric
    assert part.first_row == 3


def test_orders_of_unknown_metric_are_taken():
    model = KNeighborsClassifier(3, metric="manhattan")
    full = pairwise_distances(X, metric="manhattan")
    expected = evaluate(model, X, Y).score
    given = order_neighbors(full, metric="precomputed")
    index = NearestNeighbors(metric="manhattan").fit(X)
    graph = index.kneighbors(X, 40)
    for order in (given, order_from_graph(graph, allow_approximate=True)):
        assert order.metric is None
        assert evaluate(model, order, Y).score == pytest.approx(expected, abs=1e-12)

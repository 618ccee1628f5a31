"""Neighbours found elsewhere are used by name only and marked as approximate."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer, NearestNeighbors

from allsplits import evaluate, order_from_graph, order_neighbors, validation_curve
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 4))
Y = (X[:, 0] > 0).astype(int)


def test_a_complete_graph_gives_the_exact_order():
    exact = order_neighbors(X, depth=12)
    graph = KNeighborsTransformer(n_neighbors=12).fit_transform(X)
    pair = NearestNeighbors(n_neighbors=13).fit(X).kneighbors(X)
    for given in (graph, pair, pair[::-1], graph.tocoo()):
        order = order_from_graph(given, allow_approximate=True)
        np.testing.assert_array_equal(order.indices, exact.indices)
        np.testing.assert_allclose(order.distances, exact.distances)
        assert order.search.approximate
        assert order.search.backend == "graph"
        assert "APPROXIMATE" in repr(order)


def test_results_say_that_neighbours_are_approximate():
    graph = KNeighborsTransformer(n_neighbors=80).fit_transform(X)
    order = order_from_graph(graph, allow_approximate=True)
    model = KNeighborsClassifier(5)
    result = evaluate(model, order, Y)
    assert result.search.approximate
    assert "APPROXIMATE" in repr(result)
    assert result.score == pytest.approx(evaluate(model, X, Y).score, abs=1e-12)
    curve = validation_curve(model, order, Y, n_neighbors=[1, 3])
    assert curve.search.approximate
    assert "APPROXIMATE" in repr(curve)
    assert "APPROXIMATE" not in repr(evaluate(model, X, Y))


def test_ties_and_missing_entries():
    distances = np.array([[0.0, 1.0, 1.0, 5.0], [0.0, 1.0, 2.0, 0.0], [0.0, 2.0, 1.0, 0.0]])
    indices = np.array([[0, 2, 1, -1], [1, 0, 2, -1], [2, 1, 0, -1]])
    order = order_from_graph((distances, indices), allow_approximate=True)
    assert [list(group) for group in order.tie_groups(0)] == [[1, 2]]
    assert [list(group) for group in order.tie_groups(2)] == [[0], [1]]


def test_the_last_of_a_row_may_be_the_first_of_the_next():
    distances, indices = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]), [[1, 2], [2, 0], [0, 1]]
    order = order_from_graph((distances, np.array(indices)), allow_approximate=True)
    np.testing.assert_array_equal(order.indices, indices)


def test_it_is_a_decision():
    graph = KNeighborsTransformer(n_neighbors=5).fit_transform(X)
    with pytest.raises(UnsupportedError, match="allow_approximate must be True"):
        order_from_graph(graph)
    with pytest.raises(UnsupportedError, match="allow_approximate"):
        order_from_graph(graph, allow_approximate=1)


@pytest.mark.parametrize(
    ("graph", "error", "words"),
    [
        (np.ones((3, 3)), InvalidTypeError, "sparse matrix"),
        ((np.ones((3, 2)), np.ones((3, 2))), InvalidInputError, "integers"),
        ((np.ones((3, 2)), np.ones((3, 1), int)), InvalidInputError, "shape"),
        ((np.ones((3, 1)), np.full((3, 1), 7)), InvalidInputError, "below 3"),
        ((np.full((2, 1), np.nan), np.array([[1], [0]])), InvalidInputError, "finite"),
        ((-np.ones((2, 1)), np.array([[1], [0]])), InvalidInputError, "≥ 0"),
        ((np.ones((2, 1)), np.array([[0], [1]])), InvalidInputError, "at least one neighbour"),
        ((np.ones((3, 2)), np.array([[1, 1], [0, 2], [0, 1]])), InvalidInputError, "twice"),
        ((np.ones((0, 2)), np.ones((0, 2), int)), InvalidInputError, "at least"),
    ],
)
def test_bad_graphs(graph, error, words):
    with pytest.raises(error, match=words):
        order_from_graph(graph, allow_approximate=True)


def test_a_shallow_graph_says_how_deep_it_must_be():
    order = order_from_graph(
        KNeighborsTransformer(n_neighbors=5).fit_transform(X), allow_approximate=True
    )
    with pytest.raises(InvalidInputError, match="depth 5"):
        evaluate(KNeighborsClassifier(5), order, Y)

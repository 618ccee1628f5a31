"""Neighbour orders: own row excluded, ties found, nothing left to blocks, threads or chance."""

from itertools import chain, groupby

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from allsplits import NeighborOrder, order_neighbors
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders.order import physical_memory


@pytest.fixture(scope="module")
def integers():
    """Rows of small integers, many of them duplicated and many distances tied."""
    return np.random.default_rng(0).integers(0, 4, size=(150, 3))


@pytest.fixture(scope="module")
def reals():
    return np.random.default_rng(1).normal(size=(120, 5))


def expected_groups(points, row: int) -> list[list[int]]:
    """All tie groups of a row of integers, nearest first, by exact squared distance."""
    squares = ((points - points[row]) ** 2).sum(axis=1)
    others = sorted((int(squares[i]), i) for i in range(len(points)) if i != row)
    return [[i for _, i in group] for _, group in groupby(others, key=lambda pair: pair[0])]


def groups_of(order: NeighborOrder, row: int) -> list[list[int]]:
    return [group.tolist() for group in order.tie_groups(row)]


def covering(groups: list[list[int]], depth: int) -> list[list[int]]:
    """The first complete groups that hold at least `depth` items."""
    kept: list[list[int]] = []
    while sum(map(len, kept)) < depth:
        kept.append(groups[len(kept)])
    return kept


def assert_same_order(one: NeighborOrder, other: NeighborOrder) -> None:
    np.testing.assert_array_equal(one.indices, other.indices)
    np.testing.assert_array_equal(one.distances, other.distances)
    for row in range(one.n_samples):
        assert groups_of(one, row) == groups_of(other, row)


def test_everyone_else_by_default(reals):
    order = order_neighbors(reals)
    n = len(reals)
    assert isinstance(order, NeighborOrder)
    assert order.n_samples == n
    assert order.depth == n - 1
    assert order.indices.shape == order.distances.shape == (n, n - 1)
    assert order.indices.dtype == np.intp
    for row in range(n):
        assert sorted(order.indices[row]) == [i for i in range(n) if i != row]
    assert (np.diff(order.distances) >= 0).all()


@pytest.mark.parametrize("depth", [1, 2, 7, 40, 149])
def test_tie_groups_are_complete_and_in_row_order(integers, depth):
    order = order_neighbors(integers, depth=depth)
    assert order.depth == depth
    assert order.indices.shape == (len(integers), depth)
    for row in range(len(integers)):
        expected = covering(expected_groups(integers, row), depth)
        assert groups_of(order, row) == expected
        assert order.indices[row].tolist() == list(chain(*expected))[:depth]


def test_distances_are_true_distances(reals):
    order = order_neighbors(reals, depth=10)
    full = pairwise_distances(reals)
    np.testing.assert_allclose(
        order.distances, np.take_along_axis(full, order.indices, axis=1), rtol=1e-13
    )


def test_own_row_is_excluded_among_duplicates():
    order = order_neighbors(np.zeros((6, 2)), depth=2)
    for row in range(6):
        assert groups_of(order, row) == [[i for i in range(6) if i != row]]
        assert (order.distances[row] == 0).all()


@pytest.mark.parametrize("offset", [1e4, 1e6])
def test_ties_survive_a_large_offset(integers, offset):
    """|a|² - 2ab + |b|² would lose them: the digits are gone before the subtraction."""
    shifted = order_neighbors(integers + offset, depth=5)
    assert_same_order(shifted, order_neighbors(integers, depth=5))


def test_ties_survive_rescaling(integers):
    """0.1 is no binary fraction, so equal distances differ in their last digits."""
    scaled = order_neighbors(integers * 0.1, depth=149)
    for row in range(len(integers)):
        assert groups_of(scaled, row) == expected_groups(integers, row)


def test_close_is_not_tied():
    order = order_neighbors([[0.0], [1.0], [-1.0 - 1e-9]])
    assert groups_of(order, 0) == [[1], [2]]


def test_close_beyond_the_digits_of_a_double_is_tied():
    order = order_neighbors([[0.0], [1.0 + 1e-15], [-1.0]])
    assert groups_of(order, 0) == [[1, 2]]


@pytest.mark.parametrize("points", ["integers", "reals"])
@pytest.mark.parametrize("depth", [3, 60, None])
@pytest.mark.parametrize("block_size", [1, 7, 64, 1000])
def test_block_size_changes_nothing(points, depth, block_size, request):
    X = request.getfixturevalue(points)
    assert_same_order(
        order_neighbors(X, depth=depth, block_size=block_size), order_neighbors(X, depth=depth)
    )


@pytest.mark.parametrize("points", ["integers", "reals"])
@pytest.mark.parametrize("n_jobs", [1, 2, -1])
def test_threads_change_nothing(points, n_jobs, request):
    X = request.getfixturevalue(points)
    assert_same_order(
        order_neighbors(X, depth=9, n_jobs=n_jobs, block_size=50), order_neighbors(X, depth=9)
    )


def test_a_shallow_order_is_the_beginning_of_a_deep_one(reals):
    deep = order_neighbors(reals)
    for depth in (1, 5, 50):
        shallow = order_neighbors(reals, depth=depth)
        np.testing.assert_array_equal(shallow.indices, deep.indices[:, :depth])


@pytest.mark.parametrize("n_features", [1, 2, 30, 200])
def test_many_rows_and_features_against_a_full_sort(n_features):
    X = np.random.default_rng(n_features).normal(size=(700, n_features)) + 100
    order = order_neighbors(X, depth=20)
    full = np.sqrt(((X[:50, None] - X[None]) ** 2).sum(axis=2))
    np.fill_diagonal(full[:, :50], np.inf)
    np.testing.assert_array_equal(order.indices[:50], np.argsort(full, axis=1)[:, :20])


@pytest.mark.parametrize(
    "metric",
    [
        "euclidean",
        "sqeuclidean",
        "manhattan",
        "cityblock",
        "l1",
        "l2",
        "chebyshev",
        "canberra",
        "braycurtis",
        "cosine",
        "correlation",
        "hamming",
        "nan_euclidean",
        "seuclidean",
        "mahalanobis",
    ],
)
def test_metrics_by_their_scikit_learn_names(reals, metric):
    X = np.abs(reals)
    if metric == "hamming":
        X = np.round(X)
    order = order_neighbors(X, depth=6, metric=metric)
    full = pairwise_distances(X, metric=metric)
    # where hamming distances tie, only the distances can be compared
    np.testing.assert_allclose(
        order.distances, np.sort(_without_own_row(full), axis=1)[:, :6], rtol=1e-9, atol=1e-9
    )
    if metric != "hamming":
        np.testing.assert_array_equal(order.indices, _full_order(full)[:, :6])


def _without_own_row(full):
    n = len(full)
    return full[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def _full_order(full):
    masked = full.copy()
    np.fill_diagonal(masked, np.inf)
    return np.argsort(masked, axis=1, kind="stable")


@pytest.mark.parametrize("p", [1, 1.5, 2, 3, np.inf])
def test_minkowski_exponents(reals, p):
    order = order_neighbors(reals, depth=6, p=p)
    norms = np.linalg.norm(reals[:, None] - reals[None], ord=p, axis=2)
    np.testing.assert_array_equal(order.indices, _full_order(norms)[:, :6])
    np.testing.assert_allclose(
        order.distances, np.sort(_without_own_row(norms), axis=1)[:, :6], rtol=1e-12
    )


def test_metric_params_are_honoured(reals):
    weights = np.array([1.0, 0.0, 4.0, 0.5, 2.0])
    order = order_neighbors(reals, depth=6, metric_params={"w": weights})
    np.testing.assert_array_equal(
        order.indices, order_neighbors(reals * np.sqrt(weights), depth=6).indices
    )


def test_a_callable_is_a_metric(integers):
    def taxi(a, b):
        return float(np.abs(a - b).sum())

    X = integers[:40]
    assert_same_order(
        order_neighbors(X, depth=5, metric=taxi), order_neighbors(X, depth=5, metric="manhattan")
    )


@pytest.mark.parametrize("depth", [4, None])
def test_precomputed_distances(integers, depth):
    full = pairwise_distances(integers, metric="manhattan")
    assert_same_order(
        order_neighbors(full, depth=depth, metric="precomputed"),
        order_neighbors(integers, depth=depth, metric="manhattan"),
    )


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_are_accepted(reals, library):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({f"x{j}": reals[:, j] for j in range(reals.shape[1])})
    assert_same_order(order_neighbors(frame, depth=5), order_neighbors(reals, depth=5))


def test_the_input_is_left_alone(integers):
    X = integers.astype(float)
    before = X.copy()
    order_neighbors(X, depth=3)
    np.testing.assert_array_equal(X, before)


def test_repr_is_short(reals):
    text = repr(order_neighbors(reals, depth=5))
    assert "NeighborOrder" in text
    assert "120" in text
    assert "5" in text
    assert len(text) < 120


@pytest.mark.parametrize("depth", [0, -1, 120])
def test_depth_out_of_range(reals, depth):
    with pytest.raises(InvalidInputError, match=rf"depth.*119.*{depth}"):
        order_neighbors(reals, depth=depth)


@pytest.mark.parametrize("depth", [2.5, "all"])
def test_depth_of_the_wrong_kind(reals, depth):
    with pytest.raises(InvalidTypeError, match="depth"):
        order_neighbors(reals, depth=depth)


def test_an_unknown_metric_is_named(reals):
    with pytest.raises(InvalidInputError, match=r"metric.*euclidean.*euclidian"):
        order_neighbors(reals, metric="euclidian")


@pytest.mark.parametrize("block_size", [0, -5])
def test_block_size_out_of_range(reals, block_size):
    with pytest.raises(InvalidInputError, match="block_size"):
        order_neighbors(reals, block_size=block_size)


def test_an_order_that_no_memory_holds_is_refused_before_any_work():
    X = np.zeros((400_000, 2), dtype=np.float32)
    with pytest.raises(InvalidInputError, match=r"depth must be at most \d+ for 400000 samples"):
        order_neighbors(X)
    largest = physical_memory() // (400_000 * 26)
    with pytest.raises(InvalidInputError, match=f"at most {largest} .* got depth={largest + 1}"):
        order_neighbors(X, depth=largest + 1)


def test_machines_that_do_not_tell_their_memory_are_trusted(monkeypatch):
    monkeypatch.setattr("os.sysconf", lambda name: _unknown())
    assert physical_memory() is None
    assert order_neighbors([[0.0], [1.0], [3.0]]).depth == 2


def _unknown():
    raise ValueError("unrecognized configuration name")

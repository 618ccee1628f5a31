"""Identical rows are at distance 0 and tie, whatever the metric, backend, blocks and row order."""

from fractions import Fraction
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.metrics.pairwise import PAIRWISE_BOOLEAN_FUNCTIONS, PAIRWISE_DISTANCE_FUNCTIONS
from sklearn.neighbors import VALID_METRICS

from allsplits import order_neighbors

NAMES = set(VALID_METRICS["brute"]) | set(PAIRWISE_DISTANCE_FUNCTIONS) - {"precomputed"}
#: The share of features that are not true in both rows: 0 only where all are true.
NOT_ZERO = {"russellrao"}
METRICS = [*sorted(NAMES - {"precomputed"}), "minkowski 3", "minkowski weights", "a function"]
EUCLIDEAN = ("euclidean", "l2", "sqeuclidean", "cosine", "correlation", "minkowski")


def grid(n_rows=30, n_features=4, seed=0):
    """Tenths, which are no binary fractions; rows of zeros, constant rows, multiples and copies."""
    X = np.random.default_rng(seed).integers(-3, 4, (n_rows, n_features))
    X[0], X[1], X[2] = 0, 2, 3
    X[3] = 3 * X[4]
    return np.vstack([X, X[:9], X[:5]])


def data_of(name):
    X = grid()
    if name in PAIRWISE_BOOLEAN_FUNCTIONS:
        return (X > 0).astype(float)
    if name == "haversine":
        return X[:, :2] * 0.1
    points = X * 0.1
    if name == "nan_euclidean":
        points[X == 3] = np.nan
        points[:, 0] = X[:, 0] * 0.1
    return points


def options_of(name):
    X = data_of(name)
    if name == "minkowski 3":
        return {"metric": "minkowski", "p": 3}
    if name == "minkowski weights":
        return {"metric": "minkowski", "p": 1.5, "metric_params": {"w": [1.0, 0.3, 2.0, 0.1]}}
    if name == "a function":
        return {"metric": taxi}
    if name == "seuclidean":
        return {"metric": name, "metric_params": {"V": np.var(X, axis=0, ddof=1)}}
    if name == "mahalanobis":
        return {"metric": name, "metric_params": {"VI": np.linalg.inv(np.cov(X.T))}}
    return {"metric": name}


def taxi(a, b):
    return float(np.abs(a - b).sum())


def searches(name):
    """The default, and every other search that is installed and knows the metric."""
    found = ["exact"]
    if name in EUCLIDEAN:
        found += [
            backend
            for backend, module in (("faiss", "faiss"), ("torch:cpu", "torch"))
            if find_spec(module)
        ]
    if name != "nan_euclidean" and find_spec("dask"):
        found.append("dask")
    return found


def groups_of(order, rows=None):
    """Tie groups as sets of rows, named by `rows`."""
    rows = np.arange(order.n_samples) if rows is None else rows
    groups = [None] * order.n_samples
    for i in range(order.n_samples):
        groups[rows[i]] = [frozenset(rows[group].tolist()) for group in order.tie_groups(i)]
    return groups


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("name", METRICS)
def test_identical_rows_come_first_in_every_search(name):
    X, options = data_of(name), options_of(name)
    _, place = np.unique(X, axis=0, return_inverse=True, equal_nan=True)
    place = place.ravel()
    shuffled = np.random.default_rng(1).permutation(len(X))
    expected = {depth: groups_of(order_neighbors(X, depth=depth, **options)) for depth in (3, None)}
    for backend in searches(name):
        for rows in (np.arange(len(X)), shuffled):
            for depth, block_size in ((3, None), (3, 1), (3, 7), (None, 5), (None, None)):
                order = order_neighbors(
                    X[rows], depth=depth, backend=backend, block_size=block_size, **options
                )
                assert groups_of(order, rows) == expected[depth], (backend, depth, block_size)
                if name in NOT_ZERO:
                    continue
                for i in range(len(X)):
                    same = set(np.flatnonzero(place[rows] == place[rows[i]]).tolist()) - {i}
                    start = order.indptr[i]
                    if same:
                        assert order.flat_distances[start] == 0
                        assert same <= set(order.tie_groups(i)[0].tolist())


def exact_keys(X, name):
    """Fractions that grow with the distance, from whole numbers."""
    X = [[int(value) for value in row] for row in X]
    if name == "correlation":
        X = [[len(row) * value - sum(row) for value in row] for row in X]

    def key(a, b):
        if name == "euclidean":
            return Fraction(sum((x - y) ** 2 for x, y in zip(a, b, strict=True)))
        product = sum(x * y for x, y in zip(a, b, strict=True))
        lengths = sum(x * x for x in a) * sum(y * y for y in b)
        if lengths == 0:
            return Fraction(0 if any(a) == any(b) else 1)
        # 1 - cos grows as -cos |cos| does.
        return 1 - Fraction(product * abs(product), lengths)

    return [[key(a, b) for b in X] for a in X]


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-3, 1e-170, 1e140])
@pytest.mark.parametrize("name", ["cosine", "correlation", "euclidean"])
def test_ties_are_those_of_whole_numbers(name, scale):
    X = grid(seed=5)
    keys = exact_keys(X, name)
    expected = []
    for i, row in enumerate(keys):
        values = sorted({value for j, value in enumerate(row) if j != i})
        groups = [frozenset(j for j in range(len(X)) if j != i and row[j] == v) for v in values]
        expected.append(groups)
    # 3e-170 is not three times 1e-170: rounded differences of such numbers tie all the same.
    for backend in searches(name):
        if scale == 1e-170 and name == "euclidean" and backend in ("faiss", "torch:cpu"):
            continue
        assert groups_of(order_neighbors(X * scale, metric=name, backend=backend)) == expected


@pytest.mark.usefixtures("no_client")
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_many_multiples_of_one_direction_are_one_group(metric):
    """More than any search proposes: the group must be complete however shallow the order is."""
    rng = np.random.default_rng(0)
    lines = rng.standard_normal((3, 6))
    X = np.concatenate([np.outer(rng.uniform(0.1, 9, 400), line) for line in lines])
    X[::100] = 0.0
    for backend in searches(metric):
        order = order_neighbors(X, depth=2, metric=metric, backend=backend)
        for i in range(0, len(X), 37):
            zero = i % 100 == 0
            mates = [j for j in range(len(X)) if j != i and (j % 100 == 0) == zero]
            first = [j for j in mates if zero or j // 400 == i // 400]
            assert order.tie_groups(i)[0].tolist() == first
            assert order.distances[i, 0] == 0


@pytest.mark.usefixtures("no_client")
def test_close_directions_are_told_apart_and_multiples_of_them_are_not():
    """Near-zero distances: their rounding is that of the directions, not of the distances."""
    angles = np.array([0.0, 1e-6, 1e-6, 1e-6, 1e-6 + 1e-12, 3e-6])
    X = np.column_stack([np.cos(angles), np.sin(angles)]) * [[1], [1], [3], [7], [1], [0.3]]
    for backend in searches("cosine"):
        order = order_neighbors(X, metric="cosine", backend=backend)
        assert groups_of(order)[0] == [frozenset({1, 2, 3}), frozenset({4}), frozenset({5})]

"""Voronoi facets between classes beside elimination in exact fractions."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.spatial import Delaunay

from allsplits import voronoi_complexity
from oracle import ratsaby

METHODS = ("delaunay", "linprog")


def expected_pairs(X, y):
    return [
        [i, j]
        for i, j in combinations(range(len(X)), 2)
        if y[i] != y[j] and ratsaby.share_a_facet(X, i, j)
    ]


def checkerboard(*shape):
    X = np.array(list(product(*map(range, shape))), dtype=float)
    return X, X.sum(axis=1).astype(int) % 2


def regular_polygon(n):
    angles = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angles), np.sin(angles)])


def random_points(seed, n, d, integers=None):
    rng = np.random.default_rng(seed)
    if integers is None:
        return rng.normal(size=(n, d))
    return np.unique(rng.integers(0, integers, size=(n, d)), axis=0).astype(float)


SETS = {
    "plane": random_points(0, 14, 2),
    "space": random_points(1, 8, 3),
    "four dimensions": random_points(2, 7, 4),
    "few in many dimensions": random_points(3, 4, 6),
    "two points": random_points(4, 2, 3),
    "integers in the plane": random_points(5, 16, 2, integers=5),
    "integers in space": random_points(6, 8, 3, integers=3),
    "integers on a line": random_points(7, 9, 1, integers=30),
    "square": checkerboard(2, 2)[0],
    "grid": checkerboard(4, 4)[0],
    "cube": checkerboard(2, 2, 2)[0],
    "polygon": regular_polygon(9),
    "polygon with its centre": np.vstack([regular_polygon(8), [[0.0, 0.0]]]),
    "slanted line": np.arange(7)[:, None] * [3.0, 5.0, -1.0],
    "plane in space": random_points(8, 9, 2) @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
    "integer plane in space": random_points(9, 9, 2, integers=4)
    @ [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]],
    "constant feature": np.insert(random_points(10, 9, 2), 1, 7.0, axis=1),
    "unequal scales": random_points(11, 14, 2) * [1e-6, 1e6],
    "two far groups": np.vstack([random_points(12, 6, 2), random_points(13, 6, 2) + 1e9]),
    "nearly on one circle": regular_polygon(8) + 1e-15 * random_points(14, 8, 2),
    "very near": np.array([[0.0, 0.0], [1e-200, 0.0], [0.0, 1e-180], [1.0, 1.0], [1.0, 0.0]]),
}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", SETS)
def test_pairs_are_those_of_elimination(name, method):
    X = SETS[name]
    if method == "delaunay" and X.shape[1] > 5:
        pytest.skip("no triangulation beyond five dimensions")
    y = np.arange(len(X)) % 3
    expected = expected_pairs(X, y)
    result = voronoi_complexity(X, y, method=method)
    assert result.pairs.tolist() == expected
    assert result.exact
    for label, facets in zip(result.classes, result.facets, strict=True):
        assert facets == sum(label in (y[i], y[j]) for i, j in expected)


@pytest.mark.parametrize("name", SETS)
def test_bounds_enclose_the_truth(name):
    X = SETS[name]
    y = np.arange(len(X)) % 3
    truth = voronoi_complexity(X, y)
    bound = voronoi_complexity(X, y, method="bound")
    certain = {tuple(pair) for pair in bound.pairs.tolist()}
    assert certain <= {tuple(pair) for pair in truth.pairs.tolist()}
    assert np.all(bound.facets <= truth.facets)
    assert np.all(truth.facets <= bound.facets + bound.undecided)


@pytest.mark.parametrize(("n", "d"), [(200, 2), (35, 3), (30, 4), (25, 5)])
def test_triangulation_programmes_and_qhull_agree_in_general_position(n, d):
    X = random_points(n, n, d)
    y = np.random.default_rng(d).integers(0, 3, size=n)
    edges = {
        (int(min(e)), int(max(e)))
        for simplex in Delaunay(X).simplices
        for e in combinations(simplex, 2)
        if y[e[0]] != y[e[1]]
    }
    exact = voronoi_complexity(X, y, method="delaunay")
    assert {tuple(pair) for pair in exact.pairs.tolist()} == edges
    if n < 100:
        assert np.array_equal(voronoi_complexity(X, y, method="linprog").pairs, exact.pairs)


@pytest.mark.parametrize("shape", [(2, 2), (7, 9), (30, 1), (3, 3, 2), (2, 2, 2, 2)])
def test_neighbours_on_a_grid_are_one_step_apart(shape):
    X, y = checkerboard(*shape)
    steps = np.abs(X[:, None] - X[None]).sum(axis=2)
    result = voronoi_complexity(X, y)
    assert result.pairs.tolist() == np.argwhere(np.triu(steps == 1)).tolist()


def test_opposite_corners_of_a_square_touch_in_a_point_only():
    X, _ = checkerboard(2, 2)
    assert not ratsaby.share_a_facet(X, 0, 3)
    nearer = X.copy()
    nearer[3] -= 1e-15
    assert ratsaby.share_a_facet(nearer, 0, 3)
    y = [0, 1, 1, 2]
    assert voronoi_complexity(X, y).pairs.tolist() == [[0, 1], [0, 2], [1, 3], [2, 3]]
    assert [0, 3] in voronoi_complexity(nearer, y).pairs.tolist()

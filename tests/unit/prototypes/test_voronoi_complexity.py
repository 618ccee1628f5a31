"""`voronoi_complexity`: copies, results, refusals, and that certificates do their work."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from allsplits import voronoi_complexity
from allsplits.prototypes._adjacency import decide_pairs
from allsplits.prototypes._delaunay import delaunay_pairs
from allsplits.prototypes._exact import as_integers, determinant_sign
from unit.refused import refused

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = np.arange(30) % 3
CIRCLE = np.column_stack([f(2 * np.pi * np.arange(40) / 40) for f in (np.cos, np.sin)])
GRID = np.argwhere(np.ones((9, 9))).astype(float)


@pytest.mark.parametrize("points", [X, CIRCLE, GRID, GRID @ [[3.0, 1.0], [1.0, 2.0]]])
def test_the_plane_is_triangulated_even_where_circles_are_shared(points):
    """No fall back to pair by pair, which the other tests would not notice."""
    found = delaunay_pairs(points)
    assert found is not None
    assert len(found[1]) == 0


def test_a_wrong_triangulation_is_not_certified(monkeypatch):
    from allsplits.prototypes import _delaunay

    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.1, 1.1]])

    class Wrong:
        """The diagonal that is not Delaunay."""

        simplices = np.array([[0, 1, 3], [0, 3, 2]])
        neighbors = np.array([[-1, 1, -1], [-1, -1, 0]])

    monkeypatch.setattr(_delaunay, "Delaunay", lambda points: Wrong)
    certain, _ = _delaunay.delaunay_pairs(square)
    # In the plane it is repaired: 1-2 is the Delaunay diagonal, for 3 lies outside the circle.
    expected = [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    assert certain.tolist() == expected
    Wrong.simplices, Wrong.neighbors = np.array([[0, 1, 2]]), np.array([[-1, -1, -1]])
    assert _delaunay.delaunay_pairs(square) is None


def test_witnesses_leave_little_open_in_many_dimensions():
    points = RNG.normal(size=(60, 12))
    pairs = np.column_stack(np.triu_indices(60, 1))
    adjacent, undecided = decide_pairs(points, pairs, programmes=False)
    assert not np.any(adjacent & undecided)
    assert undecided.mean() < 0.02
    exact, none = decide_pairs(points, pairs)
    assert not none.any()
    assert np.all(exact[adjacent])


def test_copies_are_one_prototype():
    once = voronoi_complexity(X, Y)
    again = voronoi_complexity(np.vstack([X, X[:5]]), np.append(Y, Y[:5]))
    assert np.array_equal(once.pairs, again.pairs)
    assert again.n_prototypes.sum() == 30


def test_contradictory_copies_are_told():
    with pytest.warns(UserWarning, match="1 sample is a copy"):
        result = voronoi_complexity([[0.0], [1.0], [1.0], [1.0]], [0, 1, 0, 1])
    assert result.pairs.tolist() == [[0, 1]]


def test_all_at_one_place():
    with pytest.warns(UserWarning, match="2 samples"):
        result = voronoi_complexity(np.ones((4, 2)), [0, 1, 0, 1])
    assert result.facets.tolist() == [0, 0]


def test_scale_and_shift_do_not_matter():
    base = voronoi_complexity(GRID, np.arange(81) % 4)
    for points in (GRID * 2.0**-300, GRID * 2.0**300, GRID + 2.0**40):
        assert np.array_equal(voronoi_complexity(points, np.arange(81) % 4).pairs, base.pairs)


def test_result_is_readable():
    result = voronoi_complexity(X, np.array(["a", "b", "c"])[Y])
    assert repr(result).startswith("VoronoiComplexity(30 prototypes; facets a: ")
    assert result.facets.sum() == 2 * len(result.pairs)
    for backend in ("pandas", "polars"):
        frame = result.frame(backend)
        assert list(frame.columns) == ["label", "prototypes", "facets", "undecided"]
        assert list(frame["facets"]) == result.facets.tolist()
    assert [bar.get_height() for bar in result.plot().patches] == result.facets.tolist()
    bound = voronoi_complexity(GRID, np.arange(81) % 4, method="bound")
    assert not bound.exact
    assert " to " in repr(bound)
    assert len(bound.plot().patches) == 8


def test_progress_is_shown_only_when_asked(capsys):
    voronoi_complexity(X[:9], Y[:9], method="linprog")
    assert capsys.readouterr().out == ""
    voronoi_complexity(X[:9], Y[:9], method="linprog", progress=True)
    assert "voronoi_complexity" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((X, Y, "qhull"), ["method", "delaunay", "linprog", "qhull"]),
        ((RNG.normal(size=(9, 6)), np.arange(9), "delaunay"), ["method", "5", "6"]),
        ((X, Y[:-1], "auto"), ["y", "30", "29"]),
        ((X, np.zeros(30), "auto"), ["y", "2 classes"]),
        ((X[:1], Y[:1], "auto"), ["X", "2", "1"]),
        ((np.where(X > 1, np.nan, X), Y, "auto"), ["X", "NaN"]),
        ((np.where(X > 1, np.inf, X), Y, "auto"), ["X", "infinity"]),
        ((X.astype(str), np.full(30, None), "auto"), ["y"]),
        ((np.full((30, 2), "red"), Y, "auto"), ["X", "numeric"]),
        ((None, Y, "auto"), ["X", "None"]),
    ],
)
def test_bad_input_is_refused(arguments, words):
    points, labels, method = arguments
    refused(lambda: voronoi_complexity(points, labels, method=method), *words)


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_sign_of_determinants_is_that_of_the_sum_over_permutations(size):
    for _ in range(20):
        matrix = RNG.integers(-2, 3, size=(size, size)).tolist()
        total = 0
        for order in permutations(range(size)):
            inversions = sum(a > b for i, a in enumerate(order) for b in order[i + 1 :])
            product = (-1) ** inversions
            for row, column in enumerate(order):
                product *= matrix[row][column]
            total += product
        assert determinant_sign(matrix) == (total > 0) - (total < 0)


def test_integers_are_the_floats_times_a_power_of_two():
    points = np.array([[0.1, -3.0], [2.0**-60, 1e20]])
    integers = as_integers(points)
    ratios = {
        Fraction(value) / whole
        for row, wholes in zip(points.tolist(), integers, strict=True)
        for value, whole in zip(row, wholes, strict=True)
    }
    assert len(ratios) == 1

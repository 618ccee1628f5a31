"""Eight numbers side by side: as numpy has them one by one."""

import numpy as np
import pytest
from numba import njit

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    is_short,
    largest,
    load,
    load_at,
    multiply_eight,
    plus,
    spread_from,
    store,
    times,
)


@njit
def _line(a, b, x, out):
    store(out, 2, plus(times(load(a, 1), load(b, 0)), eight_times(x)))


@njit
def _largest(a, n):
    return largest(load(a, n))


@njit
def _moved(a, place, factors, n, out):
    for f in range(n):
        is_short()
        store(out, f, times(spread_from(factors, f), load_at(a, place)))


@njit
def _multiply(poly, degree, row, top, limit):
    return multiply_eight(poly, degree, row, top, limit)


def test_each_number_is_rounded_as_it_would_be_alone():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, LANES)), rng.normal(size=LANES)
    out = np.zeros(4 * LANES)
    _line(a, b, 0.1, out)
    expected = np.zeros((4, LANES))
    expected[2] = a[1] * b + 0.1
    np.testing.assert_array_equal(out, expected.ravel())


@pytest.mark.parametrize("n", [0, 1, 5, 20])
def test_eight_numbers_from_any_place_times_one_from_any(n):
    rng = np.random.default_rng(n)
    a, factors = rng.normal(size=(3, LANES)), rng.normal(size=20)
    for place in range(2 * LANES + 1):
        out = np.zeros((21, LANES))
        _moved(a, place, factors, n, out)
        np.testing.assert_array_equal(out[:n], factors[:n, None] * a.ravel()[place : place + LANES])
        assert not out[n:].any()


def test_the_largest_stands_anywhere():
    rng = np.random.default_rng(1)
    for place in range(LANES):
        a = rng.uniform(size=(2, LANES))
        a[1, place] = 3.0 + place
        assert _largest(a, 1) == 3.0 + place
        assert _largest(-a, 1) == np.max(-a[1])


@pytest.mark.parametrize("limit", range(7))
def test_products_of_polynomials_of_all_degrees(limit):
    rng = np.random.default_rng(limit)
    for degree in range(limit + 1):
        for top in range(limit + 1):
            poly, row = rng.integers(0, 9, size=(2, limit + 3, LANES)).astype(float)
            given = poly.copy()
            found = _multiply(poly, degree, row, top, limit)
            assert found == min(degree + top, limit)
            for x in range(LANES):
                product = np.convolve(given[: degree + 1, x], row[: top + 1, x])
                np.testing.assert_array_equal(poly[: found + 1, x], product[: found + 1])
            np.testing.assert_array_equal(poly[found + 1 :], given[found + 1 :])


def test_arrays_that_do_not_lie_one_after_the_other_are_refused():
    with pytest.raises(Exception, match="load"):
        _largest(np.zeros((4, 2 * LANES))[:, ::2], 0)

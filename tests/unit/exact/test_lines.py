"""Lines of numbers in registers, beside polynomials of numpy."""

import numpy as np
import pytest
from numba import njit

from allsplits.exact._kernels_eight import LANES, eight_times, load_at, store_at
from allsplits.exact._kernels_lines import (
    cut_at,
    one_eight,
    store_line,
    three_eights,
    times_row,
    two_eights,
)


@njit(cache=False)
def product_of_one(space, rows, first, step, n_terms, last):
    store_line(space, 0, times_row(one_eight(space, 0), rows, first, step, n_terms, last))


@njit(cache=False)
def product_of_two(space, rows, first, step, n_terms, last):
    store_line(space, 0, times_row(two_eights(space, 0), rows, first, step, n_terms, last))


@njit(cache=False)
def product_of_three(space, rows, first, step, n_terms, last):
    store_line(space, 0, times_row(three_eights(space, 0), rows, first, step, n_terms, last))


@njit(cache=False)
def cut_in_place(space, cap, y):
    store_at(space, 0, cut_at(load_at(space, 0), cap, eight_times(y)))


PRODUCTS = {1: product_of_one, 2: product_of_two, 3: product_of_three}


@pytest.mark.parametrize("n_eights", PRODUCTS)
@pytest.mark.parametrize("step", [1, 3])
def test_product_of_a_line_and_a_row(n_eights, step):
    random, width = np.random.default_rng(n_eights), n_eights * LANES
    rows = 10.0 ** random.uniform(-30, 0, 40 * step + 5)
    # Terms on both sides of an eight, and more of them than the line has places.
    for n_terms in (1, 2, 3, LANES - 1, LANES, LANES + 1, width - 1, width, width + 1, 35):
        line = 10.0 ** random.uniform(-30, 0, width)
        row = rows[5 : 5 + n_terms * step : step].copy()
        row[-1] *= 0.25
        space = np.append(line, 7.0)  # what follows the line stays as it is
        PRODUCTS[n_eights](space, rows, 5, step, n_terms, 0.25)
        np.testing.assert_allclose(space[:-1], np.convolve(line, row)[:width], rtol=1e-14)
        assert space[-1] == 7.0


@pytest.mark.parametrize("cap", [-9, -1, 0, 1, LANES - 1, LANES, 30])
@pytest.mark.parametrize("y", [0.0, 0.5, 1.0])
def test_numbers_after_a_cap_do_not_count(cap, y):
    numbers = np.arange(1.0, LANES + 1)
    expected = [x if i < cap else y * x if i == cap else 0.0 for i, x in enumerate(numbers)]
    cut_in_place(numbers, cap, y)
    assert numbers.tolist() == expected

"""Polynomials of eight numbers of own votes side by side, beside those of numpy."""

import numpy as np
import pytest
from numba import njit

from allsplits.exact._kernels_eight import LANES
from allsplits.exact.laws.class_counts._kernels_capped import (
    BEFORE,
    LINE,
    finish_lanes,
    join_groups,
    new_lanes,
    times_missing,
)

#: Eights between two polynomials that nobody may write.
GAP = 5
STEP = 3


@njit(cache=False)
def finished(n_lanes, share, lanes):
    return finish_lanes(n_lanes, share, lanes)


@njit(cache=False)
def completed(space, start, degrees, group, missing, numbers, rows, lanes):
    return times_missing(space, start, degrees, group, missing, numbers, rows, STEP, lanes)


@njit(cache=False)
def joined(space, starts, degrees, new_degrees, limit, missing, numbers, rows, lanes):
    return join_groups(
        space, starts, degrees, new_degrees, limit, 0, missing, numbers, rows, STEP, lanes
    )


class Case:
    """Two polynomials for each lane, and rivals that are missing in them."""

    def __init__(self, degrees, ones, others, most, share, seed):
        random = np.random.default_rng(seed)
        self.degrees, self.ones, self.others, self.share = degrees, ones, others, share
        self.numbers = ((ones, others), (others, ones))
        self.lanes = new_lanes(6, most)
        # Two lanes are not used.
        self.lanes.votes[:6] = np.sort(random.integers(1, most + 1, 6))
        self.lanes.nodes[:6] = random.uniform(size=6)
        assert finished(6, share, self.lanes) == 1
        self.rows = 10.0 ** random.uniform(-2, 0, 4000)
        self.missing = np.zeros((2, 2, 9, 3), np.int64)
        for which in range(2):
            for kind in range(2):
                for i in range(self.numbers[which][kind]):
                    votes = 1 if kind == 0 else random.integers(2, most + 3)
                    row = random.integers(0, 3900)
                    self.missing[which, kind, i] = row, votes, random.integers(2)
        length = BEFORE + max(LINE, 60) + GAP
        self.starts = (BEFORE, length + BEFORE)
        self.space = np.zeros((2 * length, LANES))
        for start, degree in zip(self.starts, degrees, strict=True):
            self.space[start : start + degree + 1, :6] = random.uniform(size=(degree + 1, 6))
        self.before = self.space.copy()

    def factor(self, lane, which, kind, i):
        """How likely so many votes of a rival are, as often as they count."""
        first, votes, after = self.missing[which, kind, i]
        v = self.lanes.votes[lane]
        worth = self.lanes.nodes[lane] if self.share else float(after)
        chances = self.rows[first : first + (votes + 1) * STEP : STEP][: v + 1].copy()
        if len(chances) > v:
            chances[v] *= worth
        return chances

    def product(self, lane, which, n_terms):
        start, degree = self.starts[which], self.degrees[which]
        product = self.before[start : start + degree + 1, lane]
        for kind in range(2):
            for i in range(self.numbers[which][kind]):
                product = np.convolve(product, self.factor(lane, which, kind, i))
        return np.pad(product, (0, 100))[:n_terms]

    def full_degree(self, which):
        top = self.lanes.tops[0]
        votes = [self.missing[which, 1, i, 1] for i in range(self.numbers[which][1])]
        return self.degrees[which] + self.numbers[which][0] + sum(min(v, top) for v in votes)

    def written(self, which):
        start = self.starts[which]
        return self.space[start : start + max(LINE, 60)]


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 4, 7, 8, 15, 16, 17, 40])
@pytest.mark.parametrize("ones", [0, 1, 2, 5])
@pytest.mark.parametrize("others", [0, 1, 3])
@pytest.mark.parametrize("most", [1, 2, 7])
def test_rivals_that_are_missing(most, others, ones, limit, share):
    case = Case((min(2, limit), 0), ones, others, most, share, seed=limit)
    full = case.full_degree(0)
    degree = completed(
        case.space, case.starts[0], (case.degrees[0], full, limit), 0, case.missing[0],
        case.numbers[0], case.rows, case.lanes,
    )  # fmt: skip
    assert degree == min(full, limit)
    for lane in range(6):
        truth = case.product(lane, 0, degree + 1)
        np.testing.assert_allclose(case.written(0)[: degree + 1, lane], truth, rtol=1e-14)
    assert not case.written(0)[:, 6:].any()
    assert not case.space[:BEFORE].any()
    end = case.starts[0] + max(degree + 1, LINE)
    np.testing.assert_array_equal(case.space[end:], case.before[end:])


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("degrees", [(0, 0), (3, 1), (1, 6), (7, 15), (16, 2), (4, 20)])
@pytest.mark.parametrize("limit", [3, 7, 14, 16, 33])
@pytest.mark.parametrize(("ones", "others"), [(0, 0), (1, 2), (4, 0), (3, 3)])
def test_two_spans(ones, others, limit, degrees, share):
    degrees = tuple(min(degree, limit) for degree in degrees)
    case = Case(degrees, ones, others, 5, share, seed=limit)
    full = (case.full_degree(0), case.full_degree(1))
    degree = joined(
        case.space, case.starts, degrees, full, limit, case.missing, case.numbers, case.rows,
        case.lanes,
    )  # fmt: skip
    assert degree == min(max(full), limit)
    for lane in range(6):
        truth = sum(case.product(lane, which, degree + 1) for which in range(2))
        np.testing.assert_allclose(case.written(0)[: degree + 1, lane], truth, rtol=1e-14)
    end = case.starts[0] + max(degree + 1, LINE)
    second = case.starts[1]
    np.testing.assert_array_equal(case.space[end:second], case.before[end:second])

"""Votes of classes whose numbers of voters are independent, against all numbers in Fractions.

The kernels are compiled parts of others and cannot be called from Python: a compiled caller each.
"""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from numba import njit

from allsplits.exact import _kernels_around as around
from allsplits.exact import _kernels_votes as votes
from allsplits.exact.kernel_types import Contenders, EveryWinWork, Reach, WinWork
from allsplits.exact.ties import legendre_rules

#: The chance of 0, 1, … votes of each class, in sixteenths, for two lanes; class 2 is absent.
CHANCES = [
    [[4, 8, 4], [1, 6, 9]],
    [[8, 4, 2, 2], [2, 4, 6, 4]],
    [[16], [16]],
    [[0, 16], [10, 6]],
]
PRESENT, N_LANES, K_MOST = [0, 1, 3], 2, 6
RULES = legendre_rules(4)


@njit
def call_multiply(poly, degree, row, top, limit, n_lanes):
    return votes.multiply(poly, degree, row, top, limit, n_lanes)


@njit
def call_add_wins(own, contenders, reach, share, quadrature, scale, n_lanes, work):
    votes.add_wins(own, contenders, reach, share, quadrature, scale, n_lanes, work)


@njit
def call_both(own, contenders, reach, share, quadrature, scale, n_lanes, work):
    degree = votes.add_wins(own, contenders, reach, share, quadrature, scale, n_lanes, work)
    votes.add_any(own, contenders, reach, degree, n_lanes, work)


@njit
def call_last_open_vote(own, contenders):
    return votes.last_open_vote(own, contenders)


@njit
def call_fewest_votes(row, n_lanes, v_high, tol):
    return votes.fewest_votes(row, n_lanes, v_high, tol)


@njit
def call_finished_votes(contenders, n_lanes, k_low, k_high, tol, poly):
    return votes.finished_votes(contenders, n_lanes, k_low, k_high, tol, poly)


@njit
def call_add_every_win(contenders, k, share, quadrature, work, wins):
    around.add_every_win(contenders, k, share, quadrature, work, wins)


def contenders(n_lanes):
    """The classes with their chances; further lanes repeat the two."""
    rows = np.zeros((len(CHANCES), K_MOST + 1, n_lanes))
    for d, lanes in enumerate(CHANCES):
        for x in range(n_lanes):
            chances = lanes[x % N_LANES]
            rows[d, : len(chances), x] = np.array(chances) / 16
    most = np.array([len(lanes[0]) - 1 for lanes in CHANCES])
    return Contenders(np.array(PRESENT), most, rows)


def outcomes(lane):
    """(votes of each class, probability), all of them."""
    for numbers in product(*(range(len(lanes[lane])) for lanes in CHANCES)):
        chance = Fraction(1)
        for lanes, number in zip(CHANCES, numbers, strict=True):
            chance *= Fraction(lanes[lane][number], 16)
        yield numbers, chance


def won(numbers, c, share):
    """What class c gets of a vote: the first of the leaders wins, or all share."""
    leaders = [d for d, number in enumerate(numbers) if number == max(numbers)]
    return Fraction(c in leaders, len(leaders)) if share else Fraction(c == leaders[0])


def chance_to_win(lane, c, k, share, least=1, most=K_MOST):
    return sum(
        (chance * won(numbers, c, share) for numbers, chance in outcomes(lane)
         if sum(numbers) == k and least <= numbers[c] <= most),
        Fraction(0),
    )  # fmt: skip


def win_work():
    shape = (K_MOST + 1, N_LANES)
    return WinWork(np.zeros(shape), np.zeros(shape), np.zeros(3, np.bool_), np.zeros(shape))


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(("own", "v_low", "v_high"), [(0, 1, 2), (1, 1, 3), (1, 2, 3), (3, 1, 1)])
def test_add_wins(own, v_low, v_high, share):
    work, given = win_work(), contenders(N_LANES)
    reach = Reach(np.int64(v_low), np.int64(v_high), np.int64(2), np.int64(5))
    call_add_wins(np.int64(own), given, reach, share, RULES, 0.5, np.int64(N_LANES), work)
    for k, lane in product(range(2, 6), range(N_LANES)):
        expected = chance_to_win(lane, own, k, share, v_low, v_high) / 2
        assert work.wins[k, lane] == pytest.approx(float(expected), abs=1e-15)
    assert not work.wins[1].any()
    assert not work.wins[6].any()
    np.testing.assert_array_equal(given.rows, contenders(N_LANES).rows)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("own", PRESENT)
@pytest.mark.parametrize(("v_low", "v_high"), [(0, 0), (0, 3), (1, 2), (2, 3)])
def test_what_wins_leave_out_is_lost(own, v_low, v_high, share):
    """P(exactly k votes) less P(own wins with them); all votes of rivals are counted once."""
    work = win_work()
    reach = Reach(np.int64(v_low), np.int64(v_high), np.int64(1), np.int64(4))
    given = contenders(N_LANES)
    call_both(np.int64(own), given, reach, share, RULES, -1.0, np.int64(N_LANES), work)
    for k, lane in product(range(1, 5), range(N_LANES)):
        expected = sum(
            chance * (1 - won(numbers, own, share)) for numbers, chance in outcomes(lane)
            if sum(numbers) == k and v_low <= numbers[own] <= v_high
        )  # fmt: skip
        assert work.wins[k, lane] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("k", [3, 4, 5, 6])
def test_add_every_win(k, share):
    lanes = around.LANES
    own = np.empty((3, lanes))
    products = np.empty((2, 3, k + 1, lanes))
    work = EveryWinWork(own, *products, np.empty((2, 3), np.int64), np.empty(lanes))
    wins = np.zeros((len(CHANCES), lanes))
    call_add_every_win(contenders(lanes), np.int64(k), share, RULES, work, wins)
    for d, lane in product(range(len(CHANCES)), range(lanes)):
        expected = chance_to_win(lane % N_LANES, d, k, share)
        assert wins[d, lane] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize("own", PRESENT)
def test_last_open_vote(own):
    """The largest numbers with which a class can still fail to win outright."""
    most = [len(lanes[0]) - 1 for lanes in CHANCES]
    lost = [
        (numbers[own], sum(numbers)) for numbers in product(*(range(m + 1) for m in most))
        if any(numbers[d] >= numbers[own] for d in PRESENT if d != own)
    ]  # fmt: skip
    v_high, k_high = call_last_open_vote(np.int64(own), contenders(N_LANES))
    assert v_high == max(v for v, _ in lost)
    assert k_high == max(k for _, k in lost)


@pytest.mark.parametrize("tol", [0.0, 0.1, 0.25, 0.5, 0.75, 2.0])
def test_fewest_votes(tol):
    """Of class 0: the lane with the fewest decides."""
    row = np.array(CHANCES[0]).T.ravel() / 16
    below = [[sum(lane[:v]) / 16 for lane in CHANCES[0]] for v in range(4)]
    expected = max(v for v in range(4) if max(below[v]) <= tol)
    assert call_fewest_votes(row, np.int64(N_LANES), np.int64(2), tol) == expected


@pytest.mark.parametrize("tol", [0.0, 0.01, 0.1, 0.5, 0.9, 1.0])
def test_finished_votes(tol):
    poly = np.empty((K_MOST + 1, N_LANES))
    found = call_finished_votes(
        contenders(N_LANES), np.int64(N_LANES), np.int64(1), np.int64(K_MOST), tol, poly
    )
    for k in range(1, K_MOST + 2):
        so_far = [sum(p for numbers, p in outcomes(x) if sum(numbers) <= k) for x in (0, 1)]
        if k == K_MOST + 1 or max(so_far) > tol:
            break
    assert found == k


def test_multiply_stops_at_its_limit():
    poly, row = np.zeros((5, 1)), np.array([[0.5], [0.25], [0.25], [9.0]])
    poly[:3, 0] = 1, 2, 3
    degree = call_multiply(poly, np.int64(2), row, np.int64(2), np.int64(3), np.int64(1))
    assert degree == 3
    product_ = np.polynomial.polynomial.polymul([1, 2, 3], [0.5, 0.25, 0.25])
    np.testing.assert_allclose(poly[:4, 0], product_[:4], atol=1e-15)

"""Compiled losses of the own class in small tie groups, where no two rivals can beat it at once.

Two rivals that beat v votes have v + 1 each, and with the own class 3v + 2 voters: where there are
fewer, or a single rival that may have so many votes, the ways to lose add up. A rival with a items
beats v votes next to b items of all others, which nothing caps, in this many ways:

    K[a, b, cap](z) = Σ_{i > cap} T[a, i] z^i · T[b](z),    cap = v, or v - 1 if it wins ties

or shares them, which takes the first term at half its weight. These are the same for all rows.
In a group of g items, g' of them of the own class and γ of the rival,

    Σ_t' C(g', t') T[n + t', v] · Σ_h C(γ, h) C(g - g' - γ, q) [z^(k-v)] K[a + h, b + q, cap]
        · m_{s+t} / (T[s+t, k] C(g, t)),    t = t' + h + q,

is what is lost to it: all terms are positive.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels_eight import (
    LANES,
    eight_times,
    load,
    load_from,
    plus,
    spread_from,
    store,
    times,
)
from allsplits.exact.kernel_types import aligned_space
from allsplits.exact.laws.fixed_size._kernels_listed import MOST_ITEMS, weigh_own

Floats = NDArray[np.float64]

#: Numbers of the largest table that is made.
MOST_NUMBERS = 2**20


class LoneTable(NamedTuple):
    """K[a, b, cap], by a + b, then cap, then a.

    Attributes
    ----------
    lines : array
        Coefficients line by line, each with LANES zeros before it.
    width : int
        The length of a line, zeros included.
    n_caps : int
        Caps are less than this; 0 if the table would be too large.
    """

    lines: Floats
    width: int
    n_caps: int


def lone_table(table: Floats, share: bool) -> LoneTable:
    """K of binomial weights T; empty if that is more than `MOST_NUMBERS`."""
    n_rows, size = table.shape
    n_caps = (size - 1) // 2 + 1
    width = LANES - (-size // LANES) * LANES
    n_pairs = n_rows * (n_rows + 1) // 2
    if n_pairs * n_caps * width > MOST_NUMBERS:
        return LoneTable(aligned_space(0), width, 0)
    total = np.repeat(np.arange(n_rows), np.arange(1, n_rows + 1))
    first = total * (total + 1) // 2
    a = np.arange(n_pairs) - first
    lines = aligned_space(n_pairs * n_caps, width)
    lines[:] = 0.0
    rival, others, ways = table[a], table[total - a], np.zeros((n_pairs, size))
    for i in range(size - 1, 0, -1):
        added = rival[:, i, None] * others[:, : size - i]
        if i <= n_caps:
            place = first * n_caps + (i - 1) * (total + 1) + a
            lines[place, LANES : LANES + size] = ways
            lines[place, LANES + i : LANES + size] += 0.5 * added if share else added
        ways[:, i:] += added
    return LoneTable(lines.reshape(-1), width, n_caps)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def is_alone(v, k_high, choice, share, lone):
    """Whether no two rivals can beat v own votes at once, or share the vote."""
    fewest = 3 * v if share else 3 * v + 2 - min(choice.n_winning, 2)
    return v < lone.n_caps and (choice.n_capped == 1 or fewest > k_high)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def add_lone(v, first_eight, choice, group, losing, listed, lone):
    """Add P(own class loses with v votes) to listed.added."""
    ways, own, capped = listed.ways, listed.own, listed.capped
    lines, width = lone.lines, lone.width
    n_eights, g_rest = len(listed.added) // LANES, group.g_rest
    t_low, t_high = weigh_own(v, group, losing, listed)
    for x in range(first_eight, n_eights):
        total = load(listed.added, x)
        place = LANES + listed.first_k - v + x * LANES
        for r in range(min(g_rest, group.last) + 1):
            chance = eight_times(0.0)
            for t in range(t_low, t_high + 1):
                share = load(listed.shares, (r + t) * n_eights + x)
                chance = plus(chance, times(spread_from(own, t), share))
            m = group.rest + r
            lost = eight_times(0.0)
            for d in range(choice.n_capped):
                gamma, cap = capped.tied[d], capped.caps[d] - losing.share
                first = (m * (m + 1) // 2) * lone.n_caps + cap * (m + 1) + capped.items[d]
                for h in range(max(0, r - g_rest + gamma), min(r, gamma) + 1):
                    line = load_from(lines, place + (first + h) * width)
                    scale = times(
                        spread_from(ways, gamma * (MOST_ITEMS + 1) + h),
                        spread_from(ways, (g_rest - gamma) * (MOST_ITEMS + 1) + r - h),
                    )
                    lost = plus(lost, times(scale, line))
            total = plus(total, times(chance, lost))
        store(listed.added, x, total)

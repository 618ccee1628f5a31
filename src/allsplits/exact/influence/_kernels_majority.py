"""Compiled influences on votes of any number of classes: a row with each candidate struck.

With Q(n) = P(own class wins | class counts n of a prefix) and the masses m of the lists that lack
one candidate, the candidate of rank r and class c leaves the value

    D_r = Σ_{j<r} m_j Q(n(j)) + Σ_{j≥r} m_j Q(n(j+1) - e_c).

The second sum depends on r only through its class, so one running sum for each class that is met
does for all candidates: what it has when r is passed is taken off, what it has in the end is added.
Prefixes that end in a tie group of several classes are averaged over its orders, with the struck
candidate gone from the prefix before the group, or from the group.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import group_end
from allsplits.exact.laws.fixed_size._kernels_majority import VoteWork, fill_wins
from allsplits.exact.laws.fixed_size._kernels_rivals import Met, Votes, gather_rivals
from allsplits.exact.laws.fixed_size._kernels_tied import TiedWork, add_mixed_group

Floats = NDArray[np.float64]


class VotePair(NamedTuple):
    """Votes of complete lists, and of lists without one candidate."""

    whole: Votes
    less: Votes


class StrikeWork(NamedTuple):
    """Scratch of a row.

    Attributes
    ----------
    met, votes, tied : Met, VoteWork, TiedWork
        Scratch of the votes.
    sums : array of shape (classes,)
        The running sum of each class that is struck.
    ends, inside : array of shape (classes,)
        What a tie group adds for a member of a class: at its end, and within it.
    columns : array of shape (columns,)
        What a tie group adds to each column.
    """

    met: Met
    votes: VoteWork
    tied: TiedWork
    sums: Floats
    ends: Floats
    inside: Floats
    columns: Floats


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _weighed(j, columns, wins):
    """What the prefix of length j counts."""
    total = 0.0
    for c in range(len(columns.ks)):
        if columns.masses[c, j] > 0.0:
            total += columns.masses[c, j] * wins[columns.ks[c]]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _fill_own(own, j, met, n_present, k_range, votes, work):
    """work.wins[k] = P(own class wins k votes | the prefix of j items that is met)."""
    n_own = met.prefix[own]
    if 0 < n_own < j:
        n_rivals = gather_rivals(own, met, n_present, work.rivals)
        fill_wins(n_own, n_rivals, j, k_range, votes.rule.share, votes.ways, work)
    else:
        for k in range(k_range[0], k_range[1] + 1):
            work.wins[k] = 1.0 if n_own > 0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _strike_prefix(own, J, n_present, known, votes, work):
    """ends[c] = m_(J-1) Q(n(J) - e_c) for all classes c that are met; n(J) is met.

    `known` is a class whose entry is there already (-1: none). Rivals with as many items, on the
    same side of the own class, give the same.
    """
    met, ends, columns = work.met, work.ends, votes.columns
    j = J - 1
    if j >= columns.masses.shape[1] or columns.k_high[j] == 0:
        for e in range(n_present):
            ends[met.present[e]] = 0.0
        return
    k_range = columns.k_low[j], columns.k_high[j]
    for e in range(n_present):
        c = met.present[e]
        if c == known:
            continue
        twin = np.int64(-1)
        if c != own:
            for f in range(e):
                d = met.present[f]
                if d != own and met.prefix[d] == met.prefix[c] and (d > own) == (c > own):
                    twin = d
                    break
        if twin >= 0:
            ends[c] = ends[twin]
            continue
        met.prefix[c] -= 1
        _fill_own(own, j, met, n_present, k_range, votes, work.votes)
        ends[c] = _weighed(j, columns, work.votes.wins)
        met.prefix[c] += 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _value_of_prefix(own, j, n_present, pair, work):
    """What the prefix of length j counts in complete lists, and in those that lack somebody."""
    wins = work.votes.wins
    whole, less = pair.whole.columns, pair.less.columns
    k_low, k_high = less.k_low[0], np.int64(0)
    if j < whole.masses.shape[1] and whole.k_high[j] > 0:
        k_low, k_high = whole.k_low[j], whole.k_high[j]
    if j < less.masses.shape[1] and less.k_high[j] > 0:
        k_low = min(k_low, less.k_low[j]) if k_high > 0 else less.k_low[j]
        k_high = max(k_high, less.k_high[j])
    if k_high == 0:
        return 0.0, 0.0
    _fill_own(own, j, work.met, n_present, (k_low, k_high), pair.whole, work.votes)
    of_whole = _weighed(j, whole, wins) if j < whole.masses.shape[1] else 0.0
    of_less = _weighed(j, less, wins) if j < less.masses.shape[1] else 0.0
    return of_whole, of_less


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _within_group(own, place, votes, work):
    """What the prefixes that end inside a tie group count; `place` as for `add_mixed_group`."""
    added = work.columns
    for c in range(len(votes.columns.ks)):
        added[c] = 0.0
    if place[0] + 1 < votes.columns.masses.shape[1]:
        add_mixed_group(own, place, work.met, votes, work.tied, added)
    total = 0.0
    for c in range(len(votes.columns.ks)):
        total += added[c]
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _strike_group(own, place, votes, work):
    """sums[c] and inside[c]: prefixes within a tie group without an item before it, or of it."""
    s, g, n_present = place
    met = work.met
    for e in range(n_present):
        c = met.present[e]
        if met.prefix[c] > 0:
            met.prefix[c] -= 1
            work.sums[c] += _within_group(own, (s - 1, g, n_present), votes, work)
            met.prefix[c] += 1
        if met.group[c] > 0:
            met.group[c] -= 1
            work.inside[c] = _within_group(own, (s, g - 1, n_present), votes, work)
            met.group[c] += 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _meet(labels, met, n_present):
    """Count the labels of a tie group into it; how many classes are met, and whether it is mixed."""
    mixed = False
    for c in labels:
        if met.prefix[c] + met.group[c] == 0:
            met.present[n_present] = c
            n_present += 1
        met.group[c] += 1
        mixed = mixed or c != labels[0]
    return n_present, mixed


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_mixed(own, s, labels, n_present, pair, work, sums, out):
    """Pass a tie group of several classes, which is met; sums = (whole, less) so far."""
    met, g = work.met, len(labels)
    whole, less = sums
    _strike_group(own, (s, g, n_present), pair.less, work)
    in_whole = _within_group(own, (s, g, n_present), pair.whole, work)
    in_less = _within_group(own, (s, g, n_present), pair.less, work)
    for c in labels:
        met.group[c] = 0
        met.prefix[c] += 1
    _strike_prefix(own, s + g, n_present, np.int64(-1), pair.less, work)
    for e in range(n_present):
        c = met.present[e]
        work.sums[c] += work.ends[c]
    for e in range(g):
        c = labels[e]
        out[e] = less + work.inside[c] + work.ends[c] - work.sums[c]
    end = _value_of_prefix(own, s + g, n_present, pair, work)
    return whole + in_whole + end[0], less + in_less + end[1], end[1]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _pass_alike(own, s, labels, n_present, pair, work, sums, out):
    """Pass items of one class one after the other; their order does not matter."""
    met, c = work.met, labels[0]
    whole, less, last = sums
    met.group[c] = 0
    for e in range(len(labels)):
        met.prefix[c] += 1
        # Without the item that is passed the prefix is the one before it.
        work.ends[c] = last
        _strike_prefix(own, s + e + 1, n_present, c, pair.less, work)
        for f in range(n_present):
            d = met.present[f]
            work.sums[d] += work.ends[d]
        out[e] = less - work.sums[c]
        of_whole, last = _value_of_prefix(own, s + e + 1, n_present, pair, work)
        whole += of_whole
        less += last
    return whole, less, last


@njit(nogil=True, cache=True, error_model="numpy")
def majority_influences(rows, start, stop, pair, work, out, far):
    """out[entry] = what a candidate does for its row; far[i]: what one beyond the row does."""
    met = work.met
    depth = max(pair.whole.columns.masses.shape[1] - 1, pair.less.columns.masses.shape[1])
    average = pair.whole.rule.average
    for i in range(start, stop):
        for c in range(len(met.prefix)):
            met.prefix[c], met.group[c] = 0, 0
            work.sums[c], work.ends[c] = 0.0, 0.0
        own, position, row_end = rows.own[i], rows.indptr[i], rows.indptr[i + 1]
        n_present, s = np.int64(0), np.int64(0)
        whole, less, last = 0.0, 0.0, 0.0
        while s < depth and position < row_end:
            end = group_end(rows.tied, position, row_end, average)
            labels = rows.labels[position:end]
            n_present, mixed = _meet(labels, met, n_present)
            here = out[position:end]
            if mixed:
                whole, less, last = _pass_mixed(
                    own, s, labels, n_present, pair, work, (whole, less), here
                )
            else:
                whole, less, last = _pass_alike(
                    own, s, labels, n_present, pair, work, (whole, less, last), here
                )
            s += end - position
            position = end
        far[i] = whole - less
        for e in range(rows.indptr[i], position):
            out[e] = whole - (out[e] + work.sums[rows.labels[e]])
        for e in range(position, row_end):
            out[e] = far[i]

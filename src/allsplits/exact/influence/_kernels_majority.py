"""Compiled influences on votes of any number of classes: a row with each candidate struck.

With Q(n) = P(own class wins | class counts n of a prefix) and the masses m of the lists that lack
one candidate, the candidate of rank r and class c leaves the value

    D_r = Σ_{j<r} m_j Q(n(j)) + Σ_{j≥r} m_j Q(n(j+1) - e_c).

The second sum depends on r only through its class, so one running sum for each class that is met
does for all candidates: what it has when r is passed is taken off, what it has in the end is added.
Prefixes that end in a tie group of several classes are averaged over its orders, with the struck
candidate gone from the prefix before the group, or from the group.

Compiled without reference counts (`_nrt=False`): nothing is allocated here, and counting references
to the many arrays of the scratch takes three times as long as the votes.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.exact._kernels import binomial_row, group_end, tie_weights
from allsplits.exact.influence._kernels_shares import (
    Shares,
    ShareWork,
    group_shares,
    new_share_work,
    win_shares,
)
from allsplits.exact.kernel_types import Rule
from allsplits.exact.laws.fixed_size._kernels_rivals import Met, Ways, new_met

Floats = NDArray[np.float64]


class StrikeVotes(NamedTuple):
    """The votes of complete lists, and of lists without one candidate.

    Attributes
    ----------
    rule, ways : Rule, Ways
        How votes are counted, and what they are weighed with.
    theta : float
        The parameter of the weights.
    whole, less : array of shape (votes, lengths)
        Masses of the prefixes, by the number of voters.
    low, high : array of shape (lengths,)
        The smallest and the largest number of voters that matter at each prefix.
    """

    rule: Rule
    ways: Ways
    theta: float
    whole: Floats
    less: Floats
    low: NDArray[np.int64]
    high: NDArray[np.int64]


class StrikeWork(NamedTuple):
    """Scratch of a row.

    Attributes
    ----------
    met, votes, shares : Met, ShareWork, Shares
        The classes that are met, scratch of the votes, and what they give.
    sums : array of shape (classes,)
        The running sum of each class that is struck.
    ends, inside : array of shape (classes,)
        What is added at the end of a prefix or tie group, and for a member of the group within it.
    omegas : array of shape (4, votes)
        What sets of voters count, by voters from the group: in complete lists, in lists without
        somebody far, without an item before the group, and of it.
    row : array of shape (votes,)
    """

    met: Met
    votes: ShareWork
    shares: Shares
    sums: Floats
    ends: Floats
    inside: Floats
    omegas: Floats
    row: Floats


def new_strike_work(n_classes: int, k: int) -> StrikeWork:
    """Space for votes of up to k."""
    met = new_met(n_classes)
    votes, shares = new_share_work(n_classes, k)
    sums, ends, inside = np.empty((3, n_classes))
    return StrikeWork(met, votes, shares, sums, ends, inside, np.empty((4, k + 1)), np.empty(k + 1))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _end_prefix(own, j, n_present, votes, work):
    """What the prefix of length j, which is met, counts: (complete, without somebody far).

    sums and ends of each class get what it counts, shorter by one, without an item of the class.
    """
    met, ends, single, sums = work.met, work.ends, work.shares.single, work.sums
    present, masses, far_masses = met.present, votes.whole, votes.less
    low, high = votes.low, votes.high
    for e in range(n_present):
        ends[present[e]] = 0.0
    whole, less = 0.0, 0.0
    if j >= masses.shape[1]:
        return whole, less
    for k in range(low[j], high[j] + 1):
        before = far_masses[k, j - 1] if j > k else 0.0
        if masses[k, j] == 0.0 and far_masses[k, j] == 0.0 and before == 0.0:
            continue
        won = win_shares(own, j, k, met, n_present, votes, work.votes, work.shares)
        whole += masses[k, j] * won
        less += far_masses[k, j] * won
        if before > 0.0:
            before *= j / (j - float(k))
            for e in range(n_present):
                c = present[e]
                ends[c] += before * max(won - single[c], 0.0)
    for e in range(n_present):
        c = present[e]
        sums[c] += ends[c]
    return whole, less


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _fill_omegas(s, g, k, phi, votes, work):
    """work.omegas for the tie group of g items that follows s; whether any is positive."""
    table, depth = votes.ways.table, votes.whole.shape[1] - 1
    some = False
    for i in range(work.omegas.shape[1]):
        for line in range(4):
            work.omegas[line, i] = 0.0
    if s >= depth + 1:
        return some
    binomial_row(g, min(k, g), phi, work.row)
    some |= tie_weights(s, g, depth, k, votes.whole[k], table, work.row, work.omegas[0])
    some |= tie_weights(s, g, depth, k, votes.less[k], table, work.row, work.omegas[1])
    if s > 0:
        some |= tie_weights(s - 1, g, depth, k, votes.less[k], table, work.row, work.omegas[2])
    binomial_row(g - 1, min(k, g - 1), phi, work.row)
    some |= tie_weights(s, g - 1, depth, k, votes.less[k], table, work.row, work.omegas[3])
    return some


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _pass_within(own, s, g, n_present, votes, work):
    """What prefixes within a tie group count: (complete, without somebody far).

    work.sums and work.inside get what they count without an item before the group, and of it.
    """
    met, shares, omegas = work.met, work.shares, work.omegas
    whole, less = 0.0, 0.0
    for e in range(n_present):
        work.inside[met.present[e]] = 0.0
    last = min(s + g, votes.whole.shape[1] - 1)
    k_low, k_high = votes.whole.shape[0], np.int64(0)
    for j in range(s, last + 1):
        if votes.high[j] > 0:
            k_low, k_high = min(k_low, votes.low[j]), max(k_high, votes.high[j])
    for k in range(k_low, k_high + 1):
        phi = k / (k + g + 1.0)
        if not _fill_omegas(s, g, k, phi, votes, work):
            continue
        group_shares(own, k, phi, met, n_present, votes, work.votes, shares)
        for i in range(k + 1):
            won = shares.wins[i]
            whole += won * omegas[0, i]
            less += won * omegas[1, i]
            before, of_group = omegas[2, i] / (1.0 - votes.theta), omegas[3, i] / (1.0 - phi)
            for e in range(n_present):
                c = met.present[e]
                if met.prefix[c] > 0:
                    work.sums[c] += before * max(won - shares.prefix[c, i], 0.0)
                if met.group[c] > 0:
                    work.inside[c] += of_group * max(won - shares.group[c, i], 0.0)
    return whole, less


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _meet(labels, met, n_present):
    """Count a tie group; how many classes are met, and whether the group has several."""
    mixed = False
    prefix, group, present = met.prefix, met.group, met.present
    for c in labels:
        if prefix[c] + group[c] == 0:
            present[n_present] = c
            n_present += 1
        group[c] += 1
        mixed = mixed or c != labels[0]
    return n_present, mixed


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _pass_mixed(own, s, labels, n_present, votes, work, sums, out):
    """Pass a tie group of several classes, which is met; sums = (complete, without) so far."""
    met, g, less = work.met, len(labels), sums[1]
    within = _pass_within(own, s, g, n_present, votes, work)
    for c in labels:
        met.group[c] = 0
        met.prefix[c] += 1
    end = _end_prefix(own, s + g, n_present, votes, work)
    for e in range(g):
        c = labels[e]
        out[e] = less + work.inside[c] + work.ends[c] - work.sums[c]
    return sums[0] + within[0] + end[0], less + within[1] + end[1]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _pass_alike(own, s, labels, n_present, votes, work, sums, out):
    """Pass items of one class one after the other; their order does not matter."""
    met, c, of_classes = work.met, labels[0], work.sums
    prefix, group = met.prefix, met.group
    whole, less = sums
    group[c] = 0
    for e in range(len(labels)):
        prefix[c] += 1
        of_whole, of_less = _end_prefix(own, s + e + 1, n_present, votes, work)
        out[e] = less - of_classes[c]
        whole += of_whole
        less += of_less
    return whole, less


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def majority_influences(rows, start, stop, votes, work, out, far):
    """out[entry] = what a candidate does for its row; far[i]: what one beyond the row does."""
    met, depth, of_classes = work.met, votes.whole.shape[1] - 1, work.sums
    prefix, group, average = met.prefix, met.group, votes.rule.average
    tied, indptr, classes = rows.tied, rows.indptr, rows.labels
    for i in range(start, stop):
        for c in range(len(prefix)):
            prefix[c], group[c] = 0, 0
            of_classes[c] = 0.0
        own, position, row_end = rows.own[i], indptr[i], indptr[i + 1]
        n_present, s = np.int64(0), np.int64(0)
        sums = (0.0, 0.0)
        while s < depth and position < row_end:
            end = group_end(tied, position, row_end, average)
            labels = classes[position:end]
            n_present, mixed = _meet(labels, met, n_present)
            here = out[position:end]
            if mixed:
                sums = _pass_mixed(own, s, labels, n_present, votes, work, sums, here)
            else:
                sums = _pass_alike(own, s, labels, n_present, votes, work, sums, here)
            s += end - position
            position = end
        far[i] = sums[0] - sums[1]
        for e in range(indptr[i], position):
            out[e] = sums[0] - (out[e] + of_classes[classes[e]])
        for e in range(position, row_end):
            out[e] = far[i]

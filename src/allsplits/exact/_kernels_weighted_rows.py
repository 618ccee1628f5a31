"""Compiled loops over samples whose neighbours have weighted votes: which search fits a row."""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_branch import many_class_vote
from allsplits.exact._kernels_steps import voters_from_group
from allsplits.exact._kernels_weighted import ZERO_WEIGHT, two_class_vote

__all__ = ["score_many_classes", "score_two_classes"]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _read_groups(position, row_end, tied, weights, depth, average, starts, group_weights):
    """Tie groups of a row: where each starts, and its weight; returns (groups, groups at 0)."""
    n_groups = 0
    n_zero = 0
    first = position
    while position < row_end and position - first < depth:
        end = group_end(tied, position, row_end, average)
        starts[n_groups] = position - first
        group_weights[n_groups] = weights[position]
        if weights[position] == np.inf:
            n_zero += 1
        n_groups += 1
        position = end
    starts[n_groups] = position - first
    return n_groups, n_zero


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _whole_weights(group_weights, n_groups, n_zero, k, out):
    """Weights as integers: as fine as the rounding of the weights, and k of them fit in 62 bits.

    The product rounds to half a unit and so does the integer, so sums of k that agree exactly
    differ by at most k units.
    """
    largest = 0.0
    for i in range(n_zero, n_groups):
        largest = max(largest, group_weights[i])
    finest = min(2.0**52, 2.0**61 / k)
    for i in range(n_groups):
        if i < n_zero:
            out[i] = ZERO_WEIGHT
        else:
            share = group_weights[i] / largest if largest > 0.0 else 0.0
            out[i] = np.int64(np.rint(share * finest))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _nobody_weighs(n_candidates, train_size, k, starts, group_weights, n_groups, n_zero):
    """P(all k voters have weight 0)."""
    if n_zero > 0:
        return 0.0
    some = False
    for i in range(n_groups):
        some = some or group_weights[i] == 0.0
    if not some:
        return 0.0
    reached = np.zeros(k + 1)
    reached[0] = 1.0
    chances = np.empty(k + 1)
    for i in range(n_groups):
        size = starts[i + 1] - starts[i]
        for t in range(min(starts[i], k - 1), -1, -1):
            if reached[t] == 0.0:
                continue
            voters_from_group(n_candidates, train_size, starts[i], t, size, k - t, chances)
            here = reached[t]
            reached[t] = here * chances[0]
            if group_weights[i] == 0.0:
                for y in range(1, min(size, k - t) + 1):
                    reached[t + y] += here * chances[y]
    return reached[k]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _longest_row(indptr, start, stop):
    longest = np.int64(0)
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    return longest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _find_present(labels, first, last, place, present):
    """Classes among some labels, in order: present lists them, place says where; returns how many.

    A class that is not there has place -1.
    """
    for c in range(len(place)):
        place[c] = -1
    for e in range(first, last):
        place[labels[e]] = 0
    n_present = np.int64(0)
    for c in range(len(place)):
        if place[c] == 0:
            place[c] = n_present
            present[n_present] = c
            n_present += 1
    return n_present


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _share_settled(settled, blank, first, second, share, out):
    """P(each class) when only `first` < `second` occur; a tie without any weight goes to all."""
    for c in range(len(out)):
        out[c] = 0.0
    tie = max(settled[2] - blank, 0.0)
    blank = settled[2] - tie
    out[first] += settled[0] + (0.5 * tie if share else tie)
    out[second] += settled[1] + (0.5 * tie if share else 0.0)
    if share:
        for c in range(len(out)):
            out[c] += blank / len(out)
    else:
        out[0] += blank


@njit(nogil=True, cache=True, error_model="numpy")
def score_two_classes(
    indptr, labels, tied, weights, start, stop, n_candidates, train_size, k, average, share,
    depths, caps, rares, wanted, out, unknown,
):  # fmt: skip
    """out[i, c] = P(class c wins), unknown[i] = what is missing of 1; -1: more than two classes.

    Each attempt looks at the first depths[a] neighbours (fewer and fewer) with caps[a] states;
    the next one follows where more than `wanted` is unknown.
    """
    n_classes = out.shape[1]
    longest = _longest_row(indptr, start, stop)
    starts = np.empty(longest + 1, np.int64)
    group_weights = np.empty(longest)
    place = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    settled = np.empty(3)
    ups = np.empty(longest, np.int64)
    downs = np.empty(longest, np.int64)
    whole = np.empty(longest, np.int64)
    for i in range(start, stop):
        position = indptr[i]
        unknown[i] = 1.0
        for a in range(len(depths)):
            n_groups, n_zero = _read_groups(
                position, indptr[i + 1], tied, weights, depths[a], average, starts, group_weights
            )
            if a == 0:
                last = position + starts[n_groups]
                n_present = _find_present(labels, position, last, place, present)
                if n_present > 2:
                    unknown[i] = -1.0
                if n_present == 1:
                    present[1] = present[0]
            if unknown[i] <= wanted:
                break
            blank = _nobody_weighs(
                n_candidates, train_size, k, starts, group_weights, n_groups, n_zero
            )
            _whole_weights(group_weights, n_groups, n_zero, k, whole)
            settled[0], settled[1], settled[2] = 1.0 - blank, 0.0, blank
            if present[1] != present[0]:
                for g in range(n_groups):
                    ups[g] = 0
                    for e in range(position + starts[g], position + starts[g + 1]):
                        if labels[e] == present[0]:
                            ups[g] += 1
                    downs[g] = starts[g + 1] - starts[g] - ups[g]
                two_class_vote(
                    n_candidates, train_size, k, ups, downs, whole, n_groups, n_zero, caps[a],
                    rares[a], settled,
                )  # fmt: skip
            _share_settled(settled, blank, present[0], present[1], share, out[i])
            unknown[i] = max(1.0 - (settled[0] + settled[1] + settled[2]), 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def score_many_classes(
    indptr, labels, tied, weights, start, stop, n_candidates, train_size, k, average, share,
    depths, caps, rares, wanted, out, unknown,
):  # fmt: skip
    """The same for the rows whose `unknown` is -1."""
    n_classes = out.shape[1]
    longest = _longest_row(indptr, start, stop)
    starts = np.empty(longest + 1, np.int64)
    group_weights = np.empty(longest)
    place = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    for i in range(start, stop):
        if unknown[i] >= 0.0:
            continue
        position = indptr[i]
        unknown[i] = 1.0
        for a in range(len(depths)):
            if unknown[i] <= wanted:
                break
            n_groups, n_zero = _read_groups(
                position, indptr[i + 1], tied, weights, depths[a], average, starts, group_weights
            )
            last = position + starts[n_groups]
            n_present = _find_present(labels, position, last, place, present)
            # Without any weight all classes tie, also those that are not there.
            everyone = False
            for g in range(n_groups):
                everyone = everyone or group_weights[g] == 0.0
            if everyone:
                n_present = n_classes
                for c in range(n_classes):
                    place[c], present[c] = c, c
            counts = np.zeros((n_present, n_groups), np.int64)
            for g in range(n_groups):
                for e in range(position + starts[g], position + starts[g + 1]):
                    counts[place[labels[e]], g] += 1
            whole = np.empty(n_groups, np.int64)
            _whole_weights(group_weights, n_groups, n_zero, k, whole)
            found = np.empty(n_present)
            many_class_vote(
                n_candidates, train_size, k, counts, whole, n_zero, share,
                wanted / (64.0 * caps[a]) if rares[a] > 0.0 else 0.0, 16 * caps[a], found,
            )  # fmt: skip
            total = 0.0
            for c in range(n_classes):
                out[i, c] = 0.0
            for c in range(n_present):
                out[i, present[c]] = found[c]
                total += found[c]
            unknown[i] = max(1.0 - total, 0.0)

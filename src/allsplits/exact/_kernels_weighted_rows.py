"""Compiled loops over samples whose neighbours have weighted votes: which search fits a row."""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_branch import many_class_vote, weighted_mean_error
from allsplits.exact._kernels_steps import voters_from_group
from allsplits.exact._kernels_weighted import ZERO_WEIGHT, two_class_vote

__all__ = ["score_weighted", "squared_errors_weighted"]


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
def _two_class_row(
    n_candidates, train_size, k, counts, weights, n_zero, share, cap, rare, blank, first, second,
    settled, out,
):  # fmt: skip
    """P(each class) when only `first` < `second` occur; a tie without any weight goes to all."""
    two_class_vote(
        n_candidates, train_size, k, counts[0], counts[1], weights, len(weights), n_zero, cap,
        rare, settled,
    )  # fmt: skip
    for c in range(len(out)):
        out[c] = 0.0
    tie = max(settled[2] - blank, 0.0)
    blank = settled[2] - tie
    out[first] = settled[0] + (0.5 * tie if share else tie)
    out[second] = settled[1] + (0.5 * tie if share else 0.0)
    if share:
        for c in range(len(out)):
            out[c] += blank / len(out)
    else:
        out[0] += blank


@njit(nogil=True, cache=True, error_model="numpy")
def score_weighted(
    indptr, labels, tied, weights, start, stop, n_candidates, train_size, k, average, share,
    depths, caps, rares, wanted, out, unknown,
):  # fmt: skip
    """out[i, c] = P(class c wins), unknown[i] = what is missing of 1.

    Each attempt looks at the first depths[a] neighbours with caps[a] states; the next one follows
    where more than `wanted` is unknown.
    """
    n_classes = out.shape[1]
    longest = 0
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    starts = np.empty(longest + 1, np.int64)
    group_weights = np.empty(longest)
    place = np.empty(n_classes, np.int64)
    present = np.empty(n_classes, np.int64)
    settled = np.empty(3)
    for i in range(start, stop):
        unknown[i] = 1.0
        for a in range(len(depths)):
            if unknown[i] <= wanted:
                break
            n_groups, n_zero = _read_groups(
                indptr[i], indptr[i + 1], tied, weights, depths[a], average, starts, group_weights
            )
            for c in range(n_classes):
                place[c] = -1
            n_present = np.int64(0)
            for e in range(starts[n_groups]):
                place[labels[indptr[i] + e]] = 0
            for c in range(n_classes):
                if place[c] == 0:
                    place[c] = n_present
                    present[n_present] = c
                    n_present += 1
            blank = _nobody_weighs(
                n_candidates, train_size, k, starts, group_weights, n_groups, n_zero
            )
            if n_present == 1:
                for c in range(n_classes):
                    out[i, c] = blank / n_classes if share else 0.0
                out[i, present[0]] += 1.0 - blank
                if not share:
                    out[i, 0] += blank
                unknown[i] = 0.0
                break
            # Without any weight all classes tie, also those that are not there.
            everyone = n_present > 2 and blank > 0.0
            width = n_classes if everyone else n_present
            counts = np.zeros((width, n_groups), np.int64)
            for g in range(n_groups):
                for e in range(starts[g], starts[g + 1]):
                    c = labels[indptr[i] + e]
                    counts[c if everyone else place[c], g] += 1
            whole = np.empty(n_groups, np.int64)
            _whole_weights(group_weights, n_groups, n_zero, k, whole)
            if n_present == 2:
                _two_class_row(
                    n_candidates, train_size, k, counts, whole, n_zero, share, caps[a], rares[a],
                    blank, present[0], present[1], settled, out[i],
                )  # fmt: skip
            else:
                found = np.empty(width)
                many_class_vote(
                    n_candidates, train_size, k, counts, whole, n_zero, share,
                    wanted / (64.0 * caps[a]) if rares[a] > 0.0 else 0.0, 16 * caps[a], found,
                )  # fmt: skip
                for c in range(n_classes):
                    out[i, c] = 0.0
                for c in range(width):
                    out[i, c if everyone else present[c]] = found[c]
            total = 0.0
            for c in range(n_classes):
                total += out[i, c]
            unknown[i] = max(1.0 - total, 0.0)


@njit(nogil=True, cache=True, error_model="numpy")
def squared_errors_weighted(
    indptr, targets, tied, weights, own, worst, start, stop, n_candidates, train_size, k, average,
    depths, caps, rares, wanted, out, unknown,
):  # fmt: skip
    """out[i] = expected squared error of the weighted mean, known up to ± unknown[i] / 2.

    No squared error of row i exceeds worst[i].
    """
    longest = 0
    for i in range(start, stop):
        longest = max(longest, indptr[i + 1] - indptr[i])
    starts = np.empty(longest + 1, np.int64)
    group_weights = np.empty(longest)
    found = np.empty(2)
    for i in range(start, stop):
        unknown[i] = np.inf
        for a in range(len(depths)):
            if unknown[i] <= wanted:
                break
            n_groups, n_zero = _read_groups(
                indptr[i], indptr[i + 1], tied, weights, depths[a], average, starts, group_weights
            )
            errors = np.empty(starts[n_groups])
            for e in range(starts[n_groups]):
                errors[e] = targets[indptr[i] + e] - own[i]
            for g in range(n_zero):
                group_weights[g] = 1.0
            weighted_mean_error(
                n_candidates, train_size, k, starts[: n_groups + 1], errors,
                group_weights[:n_groups], n_zero,
                wanted / (64.0 * caps[a] * worst[i]) if rares[a] > 0.0 else 0.0, 16 * caps[a],
                found,
            )  # fmt: skip
            unknown[i] = max(1.0 - found[1], 0.0) * worst[i]
            # What was not followed lies between no error and the worst: take the middle.
            out[i] = found[0] + 0.5 * unknown[i]

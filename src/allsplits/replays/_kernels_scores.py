"""Compiled sums over the answers of a run, fold by fold, from which the usual scores are made."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_classes(labels, answers, counts):
    """counts[fold, :, c]: answers c that are right, answers c, tested samples of class c."""
    counts[:] = 0
    for fold in range(len(counts)):
        for place in range(answers.starts[fold], answers.starts[fold + 1]):
            own, given = labels[answers.tested[place]], int(answers.given[place])
            counts[fold, 0, own] += own == given
            counts[fold, 1, given] += 1
            counts[fold, 2, own] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _area(own, others):
    """The area under the curve: how often a sample of the class has more votes than another."""
    n_own = n_others = 0
    above = 0.0
    for level in range(len(own)):
        above += own[level] * (n_others + 0.5 * others[level])
        n_own += own[level]
        n_others += others[level]
    return above / (n_own * n_others) if n_own * n_others > 0 else np.nan


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _areas_of_counts(labels, answers, levels, areas):
    """areas[fold, c] for equal votes: levels[c, own class or not, votes] are counted."""
    for fold in range(len(areas)):
        levels[:] = 0
        for place in range(answers.starts[fold], answers.starts[fold + 1]):
            own = labels[answers.tested[place]]
            for c in range(areas.shape[1]):
                levels[c, 1 if c == own else 0, int(answers.votes[place, c])] += 1
        for c in range(areas.shape[1]):
            areas[fold, c] = _area(levels[c, 1], levels[c, 0])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _share(votes, c):
    total = votes.sum()
    return votes[c] / total if total > 0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _log_losses(labels, answers, losses):
    """losses[fold]: the mean of -log of the own class's share, which is never quite 0 or 1."""
    least = 2.220446049250313e-16
    for fold in range(len(losses)):
        total = 0.0
        for place in range(answers.starts[fold], answers.starts[fold + 1]):
            share = _share(answers.votes[place], labels[answers.tested[place]])
            total -= np.log(min(max(share, least), 1.0 - least))
        losses[fold] = total / (answers.starts[fold + 1] - answers.starts[fold])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _sum_errors(targets, answers, sums):
    """sums[fold]: mean error, mean square, mean size, largest size, mean square about the mean."""
    for fold in range(len(sums)):
        start, stop = answers.starts[fold], answers.starts[fold + 1]
        sums[fold] = 0.0
        centre = 0.0
        for place in range(start, stop):
            centre += targets[answers.tested[place]]
        centre /= stop - start
        for place in range(start, stop):
            target = targets[answers.tested[place]]
            off = target - answers.given[place]
            sums[fold, 0] += off
            sums[fold, 1] += off * off
            sums[fold, 2] += abs(off)
            sums[fold, 3] = max(sums[fold, 3], abs(off))
            sums[fold, 4] += (target - centre) ** 2
        for s in (0, 1, 2, 4):
            sums[fold, s] /= stop - start


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _share_reached(labels, answers, shares):
    """shares[fold]: of the tested samples, those with a voter of their class."""
    for fold in range(len(shares)):
        start, stop = answers.starts[fold], answers.starts[fold + 1]
        found = 0
        for place in range(start, stop):
            found += answers.votes[place, labels[answers.tested[place]]] > 0
        shares[fold] = found / (stop - start)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def sum_run(vote, room, scored, number, fold):
    """Fill the sums of a run that are wanted; the first fold of its answers is `fold`.

    Areas of weighted votes are not filled: see `areas_of_shares`.
    """
    answers, labels = room.answers, vote.labels
    stop = fold + len(answers.starts) - 1
    if len(scored.counts):
        _count_classes(labels, answers, scored.counts[number, fold:stop])
    if len(scored.areas) and not vote.weighted:
        _areas_of_counts(labels, answers, room.levels, scored.areas[number, fold:stop])
    if len(scored.losses):
        _log_losses(labels, answers, scored.losses[number, fold:stop])
    if len(scored.errors):
        _sum_errors(vote.targets, answers, scored.errors[number, fold:stop])
    if len(scored.reached):
        _share_reached(labels, answers, scored.reached[number, fold:stop])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _sorted_area(shares, is_own):
    """The same for any shares, by sorting them."""
    order = np.argsort(shares)
    above, n_own, n_others, place = 0.0, 0, 0, 0
    while place < len(order):
        stop, here = place, 0
        while stop < len(order) and shares[order[stop]] == shares[order[place]]:
            here += is_own[order[stop]]
            stop += 1
        above += here * (n_others + 0.5 * (stop - place - here))
        n_own += here
        n_others += stop - place - here
        place = stop
    return above / (n_own * n_others) if n_own * n_others > 0 else np.nan


@njit(nogil=True, cache=True, error_model="numpy")
def areas_of_shares(labels, answers, areas):
    """areas[fold, c] for weighted votes."""
    for fold in range(len(areas)):
        start, stop = answers.starts[fold], answers.starts[fold + 1]
        shares, is_own = np.empty(stop - start), np.empty(stop - start, dtype=np.bool_)
        for c in range(areas.shape[1]):
            for place in range(start, stop):
                shares[place - start] = _share(answers.votes[place], c)
                is_own[place - start] = labels[answers.tested[place]] == c
            areas[fold, c] = _sorted_area(shares, is_own)

"""Compiled scores of a run in which tied neighbours are averaged over all choices among them.

Only the tie group at the k-th place leaves a choice: r of its g members vote, every choice equally
likely, and all of them weigh the same, because weights are functions of the distance. How many come
from one class is hypergeometric, and given these the next class is hypergeometric among the rest:
the chance that no rival beats a class is added up class by class, by places that are left. Means:
the sum of r of g targets with mean μ and mean square deviation σ² has mean rμ and variance
r (g-r)/(g-1) σ².
"""

import numpy as np
from numba import njit

from allsplits.replays._kernels_replay import copies_of, slack_of, take


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _collect_sure(rows, vote, run, work, i):
    """Let those vote who do in any case: (first and end of the tied, how many of them vote)."""
    work.sums[:] = 0.0
    work.extremes[0], work.extremes[1], work.extremes[2] = np.inf, 0.0, 0.0
    left, e, end = vote.k, rows.indptr[i], rows.indptr[i + 1]
    while e < end and left > 0:
        stop, voters = e + 1, copies_of(rows, run, i, e)
        while vote.average and stop < end and rows.tied[stop]:
            voters += copies_of(rows, run, i, stop)
            stop += 1
        if voters > left and stop > e + 1:
            return e, stop, left
        for entry in range(e, stop):
            times = min(left, copies_of(rows, run, i, entry))
            if times > 0:
                take(rows, vote, work, entry, times)
                left -= times
        e = stop
    return e, e, 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _value(vote, work, i):
    """What the votes make of sample i: how right it is, or its negative squared error."""
    line = 1 if work.extremes[2] > 0 else 0
    if vote.mean:
        off = vote.targets[i] - work.sums[line, 0] / work.sums[line, 1]
        return -off * off
    own = vote.labels[i]
    if vote.ranked:
        return 1.0 if work.sums[0, own] + work.sums[1, own] > 0 else 0.0
    most = 0.0
    for c in range(work.sums.shape[1]):
        most = max(most, work.sums[line, c])
    most -= slack_of(vote, work)
    if work.sums[line, own] < most:
        return 0.0
    winners = 0
    for c in range(work.sums.shape[1]):
        if work.sums[line, c] >= most:
            if c < own and not vote.share:
                return 0.0
            winners += 1
    return 1.0 / winners if vote.share else 1.0


@njit(nogil=True, cache=True, error_model="numpy")
def hypergeometric(size, marked, taken, chances):
    """Write how likely each number of marked ones is among those taken; (fewest, most) of them.

    Ratios of neighbouring numbers, from the likeliest on: nothing overflows or vanishes.
    """
    low, high = max(0, taken + marked - size), min(marked, taken)
    middle = min(high, max(low, (taken + 1) * (marked + 1) // (size + 2)))
    chances[middle] = total = 1.0
    for e in range(middle, high):
        ratio = (marked - e) * (taken - e) / ((e + 1.0) * (size - marked - taken + e + 1))
        chances[e + 1] = chances[e] * ratio
        total += chances[e + 1]
    for e in range(middle, low, -1):
        ratio = e * (size - marked - taken + e) / ((marked - e + 1.0) * (taken - e + 1))
        chances[e - 1] = chances[e] * ratio
        total += chances[e - 1]
    for e in range(low, high + 1):
        chances[e] /= total
    return low, high


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _mean_value(rows, vote, run, work, i, tied, weight):
    """The negative expected squared error of the (weighted) mean over all choices."""
    first, stop, left = tied
    line = 1 if work.extremes[2] > 0 else 0
    size, middle, squares = 0, 0.0, 0.0
    for e in range(first, stop):
        times = copies_of(rows, run, i, e)
        size += times
        middle += times * vote.targets[rows.neighbors[e]]
    middle /= size
    for e in range(first, stop):
        off = vote.targets[rows.neighbors[e]] - middle
        squares += copies_of(rows, run, i, e) * off * off
    total = work.sums[line, 1] + left * weight
    off = vote.targets[i] - (work.sums[line, 0] + left * weight * middle) / total
    share = weight / total
    return -(off * off + left * (size - left) / (size - 1.0) * (squares / size) * share * share)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _outcome(vote, lead, slack, rival, own):
    """Whether a rival that is ahead by `lead` beats a class (2), is even with it (1), or not."""
    if abs(lead) <= slack:
        return 2 if rival < own and not vote.share else 1
    return 2 if lead > 0 else 0


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_rival(vote, choice, case, rival, own, mine):
    """Chances by places left and even rivals, with one more rival that does not beat the class."""
    votes, members, weight, slack = case
    size, most = choice.left[0], choice.left[1]
    before, after = choice.before, choice.after
    n_even = before.shape[1]
    for places in range(most + 1):
        for even in range(n_even):
            after[places, even] = 0.0
    for places in range(most + 1):
        # Places that cannot be left are passed over: more than there are tied ones.
        if places <= size:
            low, high = hypergeometric(size, members[rival], places, choice.chances)
            for e in range(low, high + 1):
                outcome = _outcome(vote, votes[rival] + e * weight - mine, slack, rival, own)
                if outcome == 2:
                    break
                # Where ties are not shared all are counted as one.
                more = outcome if vote.share else 0
                for even in range(n_even - more):
                    after[places - e, even + more] += before[places, even] * choice.chances[e]
    for places in range(most + 1):
        for even in range(n_even):
            before[places, even] = after[places, even]
    choice.left[0] -= members[rival]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _chance_to_win(vote, choice, case, own, left):
    """The share of choices in which the class wins, an even vote shared where that is the rule."""
    votes, members, weight, slack = case
    size, won = choice.left[2], 0.0
    low, high = hypergeometric(size, members[own], left, choice.own)
    for b in range(low, high + 1):
        mine, even, beaten = votes[own] + b * weight, 0, False
        for rival in range(len(votes)):
            if rival != own and members[rival] == 0:
                outcome = _outcome(vote, votes[rival] - mine, slack, rival, own)
                beaten |= outcome == 2
                even += outcome == 1
        if beaten:
            continue
        choice.left[0], choice.left[1] = size - members[own], left - b
        for places in range(left - b + 1):
            for column in range(choice.before.shape[1]):
                choice.before[places, column] = 0.0
        choice.before[left - b, even if vote.share else 0] = choice.own[b]
        for rival in range(len(votes)):
            if rival != own and members[rival] > 0:
                _add_rival(vote, choice, case, rival, own, mine)
        for even in range(choice.before.shape[1]):
            won += choice.before[0, even] / (even + 1 if vote.share else 1)
    return won


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _averaged_value(rows, vote, run, work, choice, i):
    """The mean value of sample i over all choices among those tied for the last places."""
    first, stop, left = _collect_sure(rows, vote, run, work, i)
    weight = rows.weights[first] if left > 0 and len(rows.weights) else 1.0
    # Voters at distance 0 decide alone, and those who are tied come after them or are they.
    if left == 0 or (work.extremes[2] > 0 and not np.isinf(weight)):
        return _value(vote, work, i)
    if np.isinf(weight):
        work.extremes[2], weight = 1.0, 1.0
    if vote.mean:
        return _mean_value(rows, vote, run, work, i, (first, stop, left), weight)
    if weight > 0:
        work.extremes[0] = min(work.extremes[0], weight)
        work.extremes[1] = max(work.extremes[1], weight)
    own, members = vote.labels[i], choice.members
    for c in range(len(members)):
        members[c] = 0
    choice.left[2] = 0
    for e in range(first, stop):
        times = copies_of(rows, run, i, e)
        members[vote.labels[rows.neighbors[e]]] += times
        choice.left[2] += times
    votes = work.sums[1 if work.extremes[2] > 0 else 0]
    if vote.ranked:
        low, _ = hypergeometric(choice.left[2], members[own], left, choice.own)
        return 1.0 if votes[own] > 0 or low > 0 else 1.0 - choice.own[0]
    case = (votes, members, weight, slack_of(vote, work))
    return _chance_to_win(vote, choice, case, own, left)


@njit(nogil=True, cache=True, error_model="numpy")
def value_samples(rows, vote, run, work, choice, values):
    """The value of each tested sample, tied neighbours averaged; returns the score of the run."""
    score = 0.0
    for i in range(len(run.folds)):
        values[i] = 0.0
        if run.units[i] > 0:
            values[i] = _averaged_value(rows, vote, run, work, choice, i)
            score += run.units[i] * values[i]
    return score

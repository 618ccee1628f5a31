"""Compiled answers of one run: what the k nearest training samples say of each tested one."""

from numba import njit

from allsplits.replays._kernels_draw import uniform
from allsplits.replays._kernels_replay import DECIDED, DRAWN, SHORT, collect, slack_of


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _count(rows, vote, run, votes, i):
    """Equal votes of the k nearest. DRAWN: there may be a tie at the last place, nobody is drawn.

    This is `collect` for the many rows that need no draw.
    """
    left, mine, end = vote.k, run.folds[i], rows.indptr[i + 1]
    for e in range(rows.indptr[i], end):
        item = rows.neighbors[e]
        times = run.copies[item]
        if times > 0 and run.folds[item] != mine:
            cut = times > left
            votes[vote.labels[item]] += left if cut else times
            left -= left if cut else times
            if left == 0:
                open_end = e + 1 < end and rows.tied[e + 1]
                return DRAWN if vote.average and (open_end or (cut and rows.tied[e])) else DECIDED
    return SHORT


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _winner(vote, votes, slack, state):
    """The class with most votes: the first of equals, or one of them drawn."""
    most, first = votes[0], 0
    for c in range(1, len(votes)):
        if votes[c] > most:
            most, first = votes[c], c
    if slack == 0.0 and not vote.share:
        return first
    most -= slack
    winners = 0
    for c in range(len(votes)):
        if votes[c] >= most:
            if not vote.share:
                return c
            winners += 1
            if winners == 1 or uniform(state) * winners < 1.0:
                first = c
    return first


@njit(nogil=True, cache=True, error_model="numpy")
def answer_classes(rows, vote, run, asked, work, answers):
    """(rows that ended too early, answers with a draw) for the places `asked` of the tested."""
    short = drawn = 0
    for place in asked:
        i = answers.tested[place]
        votes = answers.votes[place]
        votes[:] = 0.0
        outcome = DRAWN if vote.weighted else _count(rows, vote, run, votes, i)
        slack = 0.0
        if outcome == DRAWN:
            outcome = collect(rows, vote, run, work, i)
            line = 1 if work.extremes[2] > 0 else 0
            for c in range(len(votes)):
                votes[c] = work.sums[line, c]
            slack = slack_of(vote, work)
        if outcome == SHORT:
            answers.given[place] = -1
            short += 1
        else:
            drawn += outcome == DRAWN
            answers.given[place] = _winner(vote, votes, slack, work.state)
    return short, drawn


@njit(nogil=True, cache=True, error_model="numpy")
def answer_means(rows, vote, run, asked, work, answers):
    """The same for regression: `given` has the mean of the voters' targets."""
    short = drawn = 0
    for place in asked:
        outcome = collect(rows, vote, run, work, answers.tested[place])
        line = 1 if work.extremes[2] > 0 else 0
        answers.votes[place, 0] = 0.0 if outcome == SHORT else 1.0
        answers.given[place] = work.sums[line, 0] / work.sums[line, 1]
        short += outcome == SHORT
        drawn += outcome == DRAWN
    return short, drawn

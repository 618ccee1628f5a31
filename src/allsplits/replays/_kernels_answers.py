"""Compiled answers of one run: what the k nearest training samples say of each tested one."""

import numpy as np
from numba import njit

from allsplits.replays._kernels_draw import uniform
from allsplits.replays._kernels_replay import DRAWN, SHORT, collect, slack_of


@njit(nogil=True, cache=True, error_model="numpy")
def mark_voters(labels, run, marks):
    """marks[i]: one more than the class of a sample that trains, else 0. True if one does twice."""
    many = False
    for sample in range(len(marks)):
        times = run.copies[sample]
        marks[sample] = labels[sample] + 1 if times > 0 else 0
        many |= times > 1
    return many


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
def count_plain(rows, vote, run, marks, answers, late):
    """Equal votes of the k nearest, one each: for runs in which nobody trains twice.

    Answers that need a draw among the tied, or whose row ends too early, are left out: their places
    are written to `late`, and their number is returned. Only the classes of samples are looked at,
    and whose fold is whose if there are several.
    """
    indptr, neighbors, tied, folds = rows.indptr, rows.neighbors, rows.tied, run.folds
    k, average, several, n_late = vote.k, vote.average, len(answers.starts) > 2, 0
    tested, given, votes = answers.tested, answers.given, answers.votes
    # Those who do not vote are counted at place 0: a branch here would be guessed wrong too often.
    tally = np.zeros(votes.shape[1] + 1, dtype=np.int64)
    for place in range(answers.starts[-1]):
        i = tested[place]
        left, e, end = k, indptr[i], indptr[i + 1]
        while e < end and left > 0:
            item = neighbors[e]
            mark = marks[item]
            if several and folds[item] == folds[i]:
                mark = 0
            tally[mark] += 1
            left -= mark > 0
            e += 1
        most, winner = -1, -1
        for c in range(votes.shape[1]):
            number = tally[c + 1]
            votes[place, c] = number
            tally[c + 1] = 0
            if number > most:
                most, winner = number, c
        given[place] = winner
        if left > 0 or (average and e < end and tied[e]):
            late[n_late] = place
            n_late += 1
    return n_late


@njit(nogil=True, cache=True, error_model="numpy")
def answer_classes(rows, vote, run, asked, work, answers):
    """(rows that ended too early, answers with a draw) for the places `asked` of the tested."""
    short = drawn = 0
    for place in asked:
        outcome = collect(rows, vote, run, work, answers.tested[place])
        if outcome == SHORT:
            answers.given[place] = -1
            short += 1
            continue
        line = 1 if work.extremes[2] > 0 else 0
        votes = answers.votes[place]
        for c in range(len(votes)):
            votes[c] = work.sums[line, c]
        drawn += outcome == DRAWN
        answers.given[place] = _winner(vote, votes, slack_of(vote, work), work.state)
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

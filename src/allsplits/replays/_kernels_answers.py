"""Compiled answers of one run: what the k nearest training samples say of each tested one."""

from numba import njit

from allsplits.replays._kernels_draw import list_tested, uniform
from allsplits.replays._kernels_replay import DRAWN, SHORT, collect, slack_of


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _mark_voters(labels, run, marks):
    """marks[i]: one more than the class of a sample that trains, else 0. True if one does twice."""
    many = False
    for sample in range(len(marks)):
        times = run.copies[sample]
        marks[sample] = labels[sample] + 1 if times > 0 else 0
        many |= times > 1
    return many


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_plain(rows, vote, room):
    """Equal votes of the k nearest, one each: for runs in which nobody trains twice.

    Answers that need a draw among the tied, or whose row ends too early, are left out: their places
    are written to `room.late`, and their number is returned. Only the classes of samples are looked
    at, and whose fold is whose if there are several.
    """
    indptr, neighbors, tied, folds = rows.indptr, rows.neighbors, rows.tied, room.run.folds
    marks, answers, late = room.marks, room.answers, room.late
    k, average, several, n_late = vote.k, vote.average, len(answers.starts) > 2, 0
    tested, given, votes = answers.tested, answers.given, answers.votes
    # Those who do not vote are counted at place 0: a branch here would be guessed wrong too often.
    tally = room.tally
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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def answer_places(rows, vote, room, asked):
    """(rows that ended too early, answers with a draw) for the places `asked` of the tested.

    Of regression `given` has the mean of the voters' targets.
    """
    answers, work = room.answers, room.work
    short = drawn = 0
    for place in asked:
        outcome = collect(rows, vote, room.run, work, answers.tested[place])
        line, votes = 1 if work.extremes[2] > 0 else 0, answers.votes[place]
        short += outcome == SHORT
        drawn += outcome == DRAWN
        if vote.mean:
            votes[0] = 0.0 if outcome == SHORT else 1.0
            answers.given[place] = work.sums[line, 0] / work.sums[line, 1]
        elif outcome == SHORT:
            answers.given[place] = -1
        else:
            for c in range(len(votes)):
                votes[c] = work.sums[line, c]
            answers.given[place] = _winner(vote, votes, slack_of(vote, work), work.state)
    return short, drawn


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def answer_run(rows, vote, room):
    """The same for all that the run tests: by plain counting, or one by one where that fails."""
    answers = room.answers
    list_tested(room.run.folds, answers.tested, answers.starts)
    asked = room.everybody[: answers.starts[-1]]
    plain = not (vote.mean or vote.weighted or vote.share)
    if plain and not _mark_voters(vote.labels, room.run, room.marks):
        asked = room.late[: _count_plain(rows, vote, room)]
    return answer_places(rows, vote, room, asked)

"""The compiled loop over drawn runs: no Python in between for which threads would have to wait."""

from numba import njit

from allsplits.replays._kernels_answers import answer_run
from allsplits.replays._kernels_draw import deal_run
from allsplits.replays._kernels_scores import sum_run


@njit(nogil=True, cache=True, error_model="numpy")
def score_runs(drawing, rows, vote, room, scored, start, stop):
    """Score the runs from `start` on; returns the first that cannot be scored here, or `stop`.

    That is one for which a row ends too early, or that cannot be drawn: nothing of it is written.
    """
    state = room.work.state
    for number in range(start, stop):
        state[0] = scored.states[number]
        if not deal_run(drawing, state, room.dealt):
            return number
        short, drawn = answer_run(rows, vote, room)
        if short > 0:
            return number
        sum_run(vote, room, scored, number, 0)
        scored.totals[number, 0] = drawn
        scored.totals[number, 1] = room.answers.starts[-1]
        scored.done[number] = True
    return stop

"""Compiled loops of the selection among scores: minima of groups, then the members of good groups.

A row of scores is seen as stripes of `n_groups` columns; a group is one column of each stripe,
so that minima are taken over vectors. The c smallest scores lie in the c groups with the smallest
minima, and the c-th smallest minimum is at least the c-th smallest score.
"""

import numpy as np
from numba import njit

#: Fills rows of words that end early; larger than every word.
_NOBODY = np.int64(0x7FFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True, error_model="numpy")
def group_minima(scores, n_groups, out):
    """out[i, g] = the smallest score of group g in row i."""
    per = scores.shape[1] // n_groups
    for i in range(len(scores)):
        least = out[i]
        stripe = scores[i, :n_groups]
        for g in range(len(least)):
            least[g] = stripe[g]
        for r in range(1, per):
            stripe = scores[i, r * n_groups : (r + 1) * n_groups]
            for g in range(len(least)):
                least[g] = stripe[g] if stripe[g] < least[g] else least[g]


@njit(nogil=True, cache=True, error_model="numpy")
def collect_below(scores, bits, minima, thresholds, words, complete):
    """Words (score, column) of all scores up to the row's threshold.

    `bits` are the scores seen as integers. The upper half of a word is the score as an integer of
    the same order, the lower half the column, so that sorting words sorts by score.
    ``complete[i]`` tells whether all found room.
    """
    n_groups = minima.shape[1]
    per = scores.shape[1] // n_groups
    good = np.empty(n_groups, np.int32)
    width = words.shape[1]
    for i in range(len(scores)):
        n_good = np.int64(0)
        # Written always and kept sometimes: a branch here would be guessed wrong too often.
        for g in range(n_groups):
            good[n_good] = g
            n_good += minima[i, g] <= thresholds[i]
        count = np.int64(0)
        for e in range(n_good):
            for r in range(per):
                j = np.int64(r * n_groups + good[e])
                if scores[i, j] <= thresholds[i]:
                    if count < width:
                        rank = np.int64(bits[i, j])
                        # Negative floats grow downwards as integers.
                        rank = rank if rank >= 0 else rank ^ np.int64(0x7FFFFFFF)
                        words[i, count] = (rank << 32) | j
                    count += 1
        complete[i] = count <= width
        for e in range(count, width):
            words[i, e] = _NOBODY

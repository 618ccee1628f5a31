"""Compiled loops of the selection among scores: a product of two blocks of points serves both.

A score is small where two points are near. Each row has a list of those it has seen whose scores
are below its limit; a list that is full keeps the nearest, and the limit falls. So whoever is not
on the list has a score of at least the limit, whatever was seen when.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from allsplits.orders.kernels_nearest import find_limit

#: Groups of columns of a tile that are looked at together: hardly any score passes.
_GROUPS = 64
#: Fills rows of words that end early; larger than every word.
_NOBODY = np.int64(0x7FFFFFFFFFFFFFFF)


class Lists(NamedTuple):
    """Lists of consecutive rows.

    `words` hold a score, which is not negative, in their upper half and who it belongs to in the
    lower one, so that sorting words sorts by score; `scores` and `items` are views of the halves,
    every other entry. A list is shortened when it has `full` entries. Scores that differ by `slack`
    may belong to equal distances.
    """

    words: NDArray[np.int64]
    scores: NDArray[np.float32]
    items: NDArray[np.int32]
    counts: NDArray[np.int32]
    full: NDArray[np.int32]
    limits: NDArray[np.float32]
    slack: NDArray[np.float32]

    @classmethod
    def empty(cls, room: int, full: int, slack: NDArray[np.float32]) -> "Lists":
        """Lists with room for so many, which are full for the first time with a few."""
        n = len(slack)
        words = np.empty((n, room), dtype=np.int64)
        halves = words.view(np.float32), words.view(np.int32)
        counts = np.zeros(n, dtype=np.int32)
        fulls = np.full(n, min(room, full), dtype=np.int32)
        return cls(words, *halves, counts, fulls, np.full(n, np.inf, dtype=np.float32), slack)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _shorten(lists, row, wanted):
    """Keep the `wanted` nearest and who may be tied with the last, or fewer if all are tied."""
    words, scores = lists.words[row], lists.scores[row]
    count, room = lists.counts[row], len(words)
    if count <= wanted:
        # More are wanted than when the list was last shortened.
        lists.full[row] = min(room, wanted + wanted // 2 + 24)
        return
    nearest, _ = find_limit(words[:count], wanted, wanted + wanted // 8, words[count // 2])
    last = np.float32(0.0)
    for e in range(count):
        last = max(last, scores[2 * e + 1] if words[e] <= nearest else np.float32(0.0))
    # A limit never rises: those that it kept out are gone.
    limit = min(lists.limits[row], last + lists.slack[row])
    kept = 0
    for e in range(count):
        kept += scores[2 * e + 1] < limit
    if kept > room - room // 8:
        limit = min(limit, last)
    kept = 0
    for e in range(count):
        word, score = words[e], scores[2 * e + 1]
        words[kept] = word
        kept += score < limit
    lists.counts[row] = kept
    lists.limits[row] = limit
    lists.full[row] = min(room, kept + wanted // 2 + 24)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _append(scores, items, counts, row, score, item):
    """Put an item on the list of a row; how many are there now."""
    count = counts[row]
    scores[row, 2 * count + 1] = max(score, np.float32(0.0))
    items[row, 2 * count] = item
    counts[row] = count + 1
    return count + 1


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _flag_groups(row, limit, of_columns, flags):
    """Flag the groups in which a score is below the limit of the row or of its column.

    A group is one column of each stripe of the row: that is one comparison of vectors.
    """
    for g in range(len(flags)):
        flags[g] = 0
    for first in range(0, len(row), len(flags)):
        stripe = row[first : first + len(flags)]
        theirs = of_columns[first : first + len(flags)]
        for g in range(len(stripe)):
            flags[g] |= np.uint8(stripe[g] < limit) | np.uint8(stripe[g] < theirs[g])


@njit(nogil=True, cache=True, error_model="numpy")
def filter_tile(scores, lists, top, left, both, wanted):
    """Put whoever passes on the lists of the rows from `top` on.

    The columns are the rows from `left` on; `both` says that a score serves their lists as well.
    The `wanted` nearest are kept where a list is full.
    """
    _, kept, items, counts, full, limits, _ = lists
    n_columns = scores.shape[1]
    # Loops: what fills arrays as a whole takes seconds to compile.
    of_columns = np.empty(n_columns, np.float32)
    for j in range(n_columns):
        of_columns[j] = limits[left + j] if both else np.float32(-np.inf)
    flags = np.empty(_GROUPS, np.uint8)
    eights = flags.view(np.uint64)
    flagged = np.empty(_GROUPS + 1, np.int64)
    for i in range(len(scores)):
        row, limit = top + i, limits[top + i]
        _flag_groups(scores[i], limit, of_columns, flags)
        n_flagged = 0
        for eight in range(len(eights)):
            # Hardly any is flagged: eight are passed over at a time.
            if eights[eight] != 0:
                for g in range(8 * eight, 8 * eight + 8):
                    flagged[n_flagged] = g
                    n_flagged += flags[g]
        for place in range(n_flagged):
            for j in range(flagged[place], n_columns, _GROUPS):
                score = scores[i, j]
                if score < limit:
                    n_kept = _append(kept, items, counts, row, score, left + j)
                    if n_kept >= full[row]:
                        _shorten(lists, row, wanted)
                        limit = limits[row]
                if score < of_columns[j]:
                    n_kept = _append(kept, items, counts, left + j, score, row)
                    if n_kept >= full[left + j]:
                        _shorten(lists, left + j, wanted)
                        of_columns[j] = limits[left + j]


@njit(nogil=True, cache=True, error_model="numpy")
def finish_lists(lists, start, stop, wanted):
    """Shorten the lists of some rows for the last time; words that are larger than all fill up."""
    for row in range(start, stop):
        if lists.counts[row] > wanted:
            _shorten(lists, row, wanted)
        for e in range(lists.counts[row], lists.words.shape[1]):
            lists.words[row, e] = _NOBODY

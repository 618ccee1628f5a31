"""Compiled selection of the nearest in complete rows: a limit that few are within, then ranks.

How many keys are within a limit is counted several keys at a time and without a branch, so that a
good limit is found by trying: first that of the row before, then in steps that double, and once the
wanted number lies between two tries by interpolation. Who is within is gathered in one pass, and
sorted by counting for each how many are smaller, or by digits if there are many. No branch of the
selection depends on a single key, which costs more than the comparison wherever the answer cannot
be guessed.

Keys are not negative, so that seen as integers (words) they have the same order; a difference of
words is about a ratio of keys. Cost: three or four passes over a row, and the square of a small
number that is wanted, sixteen at a time.
"""

import numpy as np
from numba import njit

from allsplits.orders.kernels import is_tied, mark_ties, sort_pairs
from allsplits.orders.kernels_radix import bit_length, make_sorting, sort_words

#: Counting ranks is the faster sort up to this many keys (measured).
MOST_RANKED = 256

#: Counts are made for so many keys at a time.
_LANES = 16
_INFINITE = np.int64(0x7FF0000000000000)
#: The difference between the words of a key and of its double.
_OCTAVE = np.int64(1) << 52
#: Interpolation takes two or three tries, unless keys crowd: halving then comes to an end.
_MOST_GUESSES = 12


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_within(words, limit):
    count = 0
    for j in range(len(words)):
        count += words[j] <= limit
    return count


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _next_above(words, limit):
    """Where the smallest finite word above the limit stands, or -1."""
    least, place = _INFINITE, -1
    for j in range(len(words)):
        if limit < words[j] < least:
            least, place = words[j], j
    return place


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _guess(low, n_low, high, n_high, wanted):
    """A limit between two others, as if the logarithm of the count grew evenly between them."""
    below = np.log(max(n_low, 0.5))
    share = (np.log(wanted) - below) / (np.log(n_high) - below)
    return low + np.int64(share * (high - low))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def find_limit(words, least, most, limit):
    """(limit, how many words are within): from `least` to `most`, by trying `limit` first.

    All finite words if there are fewer than `least`; as few as can be if equal words make the count
    jump from too few to too many.
    """
    # Too few are within `low`, too many within `high`.
    low, high = np.int64(-1), _INFINITE
    n_low, n_high = 0, len(words)
    step = _OCTAVE
    tries = 0
    while True:
        limit = min(max(limit, low + 1), high - 1)
        count = _count_within(words, limit)
        if least <= count <= most:
            return limit, count
        if count < least:
            low, n_low = limit, count
        else:
            high, n_high = limit, count
        if high - low <= 1:
            break
        tries += 1
        if high == _INFINITE or low < 0:
            # Nothing is known on one side.
            if high == _INFINITE:
                limit = low + step if step < (high - low) // 2 else high - 1
            else:
                limit = high - min(step, (high - low) // 2)
            step = min(2 * step, _INFINITE // 4)
        elif tries % 4 == 0:
            # There is one: more are within `high`.
            limit = words[_next_above(words, low)]
            if limit == high:
                break
        elif tries <= _MOST_GUESSES:
            limit = _guess(low, n_low, high, n_high, 0.5 * (least + most))
        else:
            limit = low + (high - low) // 2
    return (low, n_low) if high == _INFINITE else (high, n_high)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _gather_within(words, limit, near):
    """Columns of the words within the limit; `near` has room for one more than there are."""
    count = 0
    # Written always and kept sometimes: a branch here would be guessed wrong too often.
    for j in range(len(words)):
        near[count] = j
        count += words[j] <= limit


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def make_ranking(most):
    """Room to rank up to `most` words: (words, ranks, how many of each rank), in whole lanes."""
    size = -(-most // _LANES) * _LANES
    return np.zeros(size, np.int64), np.empty(size, np.int32), np.empty(size, np.int32)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def rank_words(ranking, count):
    """ranks[e] = the place of the e-th of the first `count` words; equal ones keep their order."""
    size = -(-count // _LANES) * _LANES
    words, ranks, seen = ranking[0][:size], ranking[1][:size], ranking[2][:size]
    for f in range(size):
        ranks[f] = 0
        seen[f] = 0
    for e in range(count):
        word = words[e]
        for f in range(size):
            ranks[f] += word < words[f]
    for e in range(count):
        smaller = ranks[e]
        ranks[e] += seen[smaller]
        seen[smaller] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _rank_within(columns, words, limit, count, near, ranking, items, keys):
    """Fill in the row of those within the limit, by ranks."""
    chosen, ranks, _ = ranking
    _gather_within(words, limit, near)
    for e in range(count):
        chosen[e] = words[near[e]]
    rank_words(ranking, count)
    for e in range(count):
        items[ranks[e]] = near[e]
        keys[ranks[e]] = columns[near[e]]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _sort_within(columns, words, limit, count, bits, sorting, items, keys):
    """The same of many, by digits of words that carry their column in their last `bits`."""
    packed = sorting[0]
    mask = (np.int64(1) << bits) - 1
    place = 0
    for j in range(len(words)):
        packed[place] = words[j] & ~mask | j
        place += words[j] <= limit
    sort_words(sorting, count, bits)
    unsorted = 0
    before = 0.0
    for e in range(count):
        j = packed[e] & mask
        key = columns[j]
        unsorted += key < before
        before = key
        items[e] = j
        keys[e] = key
    if unsorted > 0:
        # Columns displace the last bits of keys; equal ones are in the order of their columns.
        sort_pairs(keys, items, np.int64(0), count, np.int64(1))


@njit(nogil=True, cache=True, error_model="numpy")
def select_rows(columns, words, rows, start, stop, depth, most, ties):
    """Fill in sorted `rows` with the nearest, up to the tie group at `depth`.

    `columns` are keys and `words` the same, seen as integers. Infinite keys are no neighbours. At
    most `most` are sorted, or more if they are equal and there is room in `rows`; all if `most` is
    0. A row whose last group finds no room, or goes on beyond it, gets minus the number found so
    far as its length.
    """
    items, keys = rows.items, rows.keys
    room, n_columns = items.shape[1], words.shape[1]
    few = room <= MOST_RANKED
    near = np.empty(room + 1 if few else 0, np.int32)
    ranking = make_ranking(room if few else 0)
    sorting = make_sorting(0 if few else room + 1)
    bits = bit_length(np.int64(n_columns - 1))
    limit = words[start, n_columns // 2]
    for i in range(start, stop):
        if most > 0:
            limit, count = find_limit(words[i], depth + 1, most, limit)
        else:
            limit = _INFINITE - 1
            count = _count_within(words[i], limit)
        rows.lengths[i] = -count
        if count > room:
            continue
        if few:
            _rank_within(columns[i], words[i], limit, count, near, ranking, items[i], keys[i])
        else:
            _sort_within(columns[i], words[i], limit, count, bits, sorting, items[i], keys[i])
        last = keys[i, count - 1] if count > 0 else 0.0
        end = mark_ties(keys[i], items[i], rows.tied[i], count, depth, ties)
        # Nobody beyond the limit belongs to the last group, or there is nobody.
        after = _next_above(words[i], limit) if end == count else -1
        if after < 0 or not is_tied(last, columns[i, after], ties):
            rows.lengths[i] = end

"""Compiled sort of complete rows: two passes over digits, then a little insertion.

Keys are seen as integers that carry their column in their last bits. The leading bits of the range
that a row spans decide almost everything; what they leave is put in order by insertion. For rows of
thousands this is several times faster than a comparison sort.
"""

import numpy as np
from numba import njit

#: Shorter rows are sorted by numpy: the counts of the digits would cost more than they save.
SHORTEST_ROW = 1024

_DIGIT = 11
_MASK = (1 << _DIGIT) - 1
_INFINITE = np.int64(0x7FF0000000000000)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _span(row, bits):
    """The least (zeros apart) and the largest finite word, and how far to shift their difference.

    Columns, in the last `bits`, are left out.
    """
    least, largest = _INFINITE, np.int64(0)
    for j in range(len(row)):
        word = row[j] >> bits << bits
        largest = word if largest < word < _INFINITE else largest
        least = word if 0 < word < least else least
    # Nothing but zeros and infinities: one digit for all.
    largest = max(largest, least)
    shift = np.int64(0)
    while (largest - least) >> shift > (np.int64(1) << (2 * _DIGIT)) - 1:
        shift += 1
    return least, largest, shift


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _start_counts(counts):
    """Counts of digits become the places where each digit starts."""
    total = np.int64(0)
    for digit in range(len(counts)):
        here = counts[digit]
        counts[digit] = total
        total += here


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _insert(words):
    """Insertion sort; returns False, unfinished, if too much is out of order."""
    patience = 16 * len(words)
    for i in range(1, len(words)):
        word = words[i]
        j = i - 1
        if words[j] > word:
            while j >= 0 and words[j] > word:
                words[j + 1] = words[j]
                j -= 1
            words[j + 1] = word
            patience -= i - j
            if patience < 0:
                return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def sort_words(rows, bits, out, done):
    """out[i] = the words (key, column) of rows[i] in order; done[i] tells whether they are.

    `rows` are keys that are not negative, seen as integers; a word has the column in its last
    `bits`. A row whose keys crowd in a small part of their range may stay unsorted.
    """
    n = rows.shape[1]
    low = np.empty(_MASK + 1, np.int64)
    high = np.empty(_MASK + 1, np.int64)
    digits = np.empty(n, np.int32)
    by_low = np.empty(n, np.int32)
    for i in range(len(rows)):
        row = rows[i]
        least, largest, shift = _span(row, bits)
        for digit in range(_MASK + 1):
            low[digit] = 0
            high[digit] = 0
        for j in range(n):
            digits[j] = (min(max(row[j], least), largest) - least) >> shift
        for j in range(n):
            low[digits[j] & _MASK] += 1
            high[digits[j] >> _DIGIT] += 1
        _start_counts(low)
        _start_counts(high)
        for j in range(n):
            digit = digits[j] & _MASK
            by_low[low[digit]] = j
            low[digit] += 1
        for e in range(n):
            j = np.int64(by_low[e])
            digit = digits[j] >> _DIGIT
            out[i, high[digit]] = (row[j] >> bits << bits) | j
            high[digit] += 1
        done[i] = _insert(out[i])

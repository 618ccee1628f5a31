"""Compiled sort of many words: passes over digits, then a little insertion.

Words are keys, seen as integers, that carry their column in their last bits. The leading bits of
the range that they span decide almost everything: two passes put those in order, and what they
leave is put in order by insertion. For thousands this is several times faster than a sort by
comparison. Where keys crowd in a small part of their range all bits are passed over.
"""

import numpy as np
from numba import njit

#: Bits of a digit, and of one where there are few words: then counts cost more than they save.
_DIGIT, _FEW_DIGIT = 11, 8
_FEW = 2048
#: Moves of an insertion sort, for each word, before it is given up.
_PATIENCE = 16
_LARGEST = np.int64(0x7FFFFFFFFFFFFFFF)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _pass_over(words, out, counts, least, shift):
    """Sort by one digit of what words exceed `least` by; equal digits keep their order."""
    mask = np.int64(len(counts) - 1)
    for digit in range(len(counts)):
        counts[digit] = 0
    for e in range(len(words)):
        counts[((max(words[e], least) - least) >> shift) & mask] += 1
    total = np.int64(0)
    for digit in range(len(counts)):
        here = counts[digit]
        counts[digit] = total
        total += here
    for e in range(len(words)):
        digit = ((max(words[e], least) - least) >> shift) & mask
        out[counts[digit]] = words[e]
        counts[digit] += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _insert(words):
    """Insertion sort; returns False, unfinished, if too much is out of order."""
    patience = _PATIENCE * len(words)
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


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def bit_length(word):
    """How many bits a word has."""
    length = np.int64(0)
    while word >> length > 0:
        length += 1
    return length


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def make_sorting(most):
    """Room to sort up to `most` words: two arrays of them, and counts of the digits."""
    return np.empty(most, np.int64), np.empty(most, np.int64), np.empty(1 << _DIGIT, np.int64)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def sort_words(sorting, count, bits):
    """Sort the first `count` words, in place; the last `bits` are their columns."""
    words, others = sorting[0][:count], sorting[1][:count]
    digit = _DIGIT if count > _FEW else _FEW_DIGIT
    counts = sorting[2][: 1 << digit]
    # Keys of zero apart, which would make the range large.
    zeros = (np.int64(1) << bits) - 1
    least, largest = _LARGEST, zeros
    for e in range(count):
        largest = max(largest, words[e])
        least = words[e] if zeros < words[e] < least else least
    least = min(least, largest)
    shift = max(bit_length(largest - least) - 2 * digit, 0)
    _pass_over(words, others, counts, least, shift)
    _pass_over(others, words, counts, least, shift + digit)
    if not _insert(words):
        for low in range(0, bit_length(largest), 2 * digit):
            _pass_over(words, others, counts, np.int64(0), low)
            _pass_over(others, words, counts, np.int64(0), low + digit)

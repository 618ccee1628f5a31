"""Compiled sets of classes: those with items in a block of ranks, one bit for each.

A block has at most 64 items of rivals (`MOST`), so that a set of their classes is one number. Which
classes are missing in a span is one operation on two of them, however many they are.
"""

from typing import NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit
from numba.extending import intrinsic
from numpy.typing import NDArray

Integers = NDArray[np.int64]

#: The most members: bits of a number.
MOST = 64


class Members(NamedTuple):
    """Rivals with items in a block, by number, where a walk is.

    Attributes
    ----------
    numbers : array of shape (classes,)
        The number of a class plus one, or 0.
    classes, starts, drawn, later : array of shape (MOST,)
        The class, where its rows begin, the most votes that it has, and whether it comes after the
        own class.
    counts : array of shape (MOST,)
        Items before the rank.
    state : array of shape (3,)
        How many members; which can have one vote at most, as bits, and which can have more.
    missing : array of shape (2, 2, classes, 3)
        Classes that are missing in either of two spans, those of one vote and others: where their
        row begins, the most votes that are in it, and whether they come after the own class.
    """

    numbers: Integers
    classes: Integers
    starts: Integers
    drawn: Integers
    later: Integers
    counts: Integers
    state: Integers
    missing: Integers


def new_members(n_classes: int) -> Members:
    """Nobody yet, of so many classes."""
    classes, starts, drawn, later, counts = np.zeros((5, MOST), np.int64)
    return Members(
        np.zeros(n_classes, np.int64), classes, starts, drawn, later, counts, np.zeros(3, np.int64),
        np.zeros((2, 2, n_classes, 3), np.int64),
    )  # fmt: skip


@intrinsic
def lowest_bit(typing_context, bits):
    """The place of the lowest bit that is set."""

    def build(context, builder, signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return bits(bits), build


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _put(which, kind, number, row, most, later, members):
    """Write down a class that is missing."""
    members.missing[which, kind, number, 0] = row
    members.missing[which, kind, number, 1] = most
    members.missing[which, kind, number, 2] = later


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def note_class(numbers, d, row, most, own, members):
    """A class is missing in the second span; returns how many are noted, of one vote and others."""
    ones, others = numbers
    kind = 1 if most > 1 else 0
    _put(1, kind, others if most > 1 else ones, row, most, np.int64(d > own), members)
    return ones + (most == 1), others + (most > 1)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def note_bits(which, kind, bits, counts, stride, members):
    """The members of a set, which have so many items, are missing; returns how many they are."""
    number = np.int64(0)
    while bits != 0:
        c = lowest_bit(bits)
        bits ^= np.int64(1) << c
        row, most = members.starts[c] + counts[c] * stride, min(counts[c], members.drawn[c])
        _put(which, kind, number, row, most, members.later[c], members)
        number += 1
    return number


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def _sort_in(c, members):
    """Which votes a member can have now."""
    votes, without = min(members.counts[c], members.drawn[c]), ~(np.int64(1) << c)
    members.state[1] = (members.state[1] & without) | (np.int64(votes == 1) << c)
    members.state[2] = (members.state[2] & without) | (np.int64(votes > 1) << c)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def add_member(d, count, start, drawn, own, members):
    """A class with so many items before the block is in it, perhaps again."""
    known, size = members.numbers[d], members.state[0]
    c = known - 1 if known > 0 else size
    members.state[0] = size + (known == 0)
    members.numbers[d], members.classes[c], members.counts[c] = c + 1, d, count
    members.starts[c], members.drawn[c], members.later[c] = start, drawn, d > own
    _sort_in(c, members)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def pass_item(c, members):
    """An item of a member comes."""
    members.counts[c] += 1
    _sort_in(c, members)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def forget_members(members):
    """The block ends."""
    for c in range(members.state[0]):
        members.numbers[members.classes[c]] = 0
    members.state[:] = 0

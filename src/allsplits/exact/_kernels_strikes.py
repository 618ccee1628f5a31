"""Compiled loops that take one candidate out of the rows of an order, and find equal results."""

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def number_strikes(indptr, kinds, tied, n_kinds, of_entry):
    """of_entry[e] = number of the list that is left without entry e; returns how many differ.

    Lists are alike if the entries have one kind and one tie group, or are neighbours of one kind
    that are tied with nobody. `kinds` are the classes of the entries.
    """
    n = np.int64(0)
    last = np.full(n_kinds, -1)
    for i in range(len(indptr) - 1):
        group = indptr[i]
        for e in range(indptr[i], indptr[i + 1]):
            kind = kinds[e]
            if e == indptr[i] or not tied[e]:
                group = e
            alone = group == e and (e + 1 == indptr[i + 1] or not tied[e + 1])
            before = last[kind]
            if before >= group:
                of_entry[e] = of_entry[before]
            elif alone and e > indptr[i] and before == e - 1 and not tied[e - 1]:
                # The entry before is of this kind; it is tied with nobody, for e is not.
                of_entry[e] = of_entry[e - 1]
            else:
                of_entry[e] = n
                n += 1
            last[kind] = e
        for e in range(indptr[i], indptr[i + 1]):
            last[kinds[e]] = -1
    return n


@njit(nogil=True, cache=True)
def add_changes(rows, sizes, numbers, changes, hits, squares):
    """hits[sample] += changes of its entries; squares[column] += their squares, centred.

    Within a row changes are set against their mean over all candidates, or over those of a class
    if `sizes` has the numbers of samples of several classes. Candidates that have no entry change
    nothing.
    """
    by_class = len(sizes) > 1
    totals = np.zeros((len(sizes), changes.shape[1]))
    for i in range(len(rows.own)):
        for e in range(rows.indptr[i], rows.indptr[i + 1]):
            scope = rows.labels[e] if by_class else 0
            sample = numbers[e]
            for c in range(changes.shape[1]):
                change = changes[e, c]
                hits[sample, c] += change
                squares[c] += change * change
                totals[scope, c] += change
        for scope in range(len(sizes)):
            others = sizes[scope] - (not by_class or rows.own[i] == scope)
            if others > 0:
                for c in range(changes.shape[1]):
                    squares[c] -= totals[scope, c] ** 2 / others
            totals[scope] = 0.0


@njit(nogil=True, cache=True)
def copy_struck(indptr, tied, rows, struck, new_indptr, entries, new_tied):
    """Write the rows `rows` without the entries `struck` (-1: nothing is taken out).

    `entries` gets the positions of what is left, `new_tied` which of it is tied with the one before
    it.
    """
    for v in range(len(rows)):
        start, stop = indptr[rows[v]], indptr[rows[v] + 1]
        place = new_indptr[v]
        for e in range(start, stop):
            if e == struck[v]:
                continue
            entries[place] = e
            headless = e - 1 == struck[v] and not tied[e - 1]
            new_tied[place] = tied[e] and e > start and not headless
            place += 1

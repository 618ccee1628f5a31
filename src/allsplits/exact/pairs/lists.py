"""The rows that pairs are made of: every order of tied neighbours is a row of its own.

The score of a split averages over the orders of tied neighbours, for each sample on its own. So
the product of two samples averages over pairs of orders, and each order is a row that counts one
over their number. Orders matter only within tie groups whose members differ: in class, or for the
nearest neighbour alone in whether they are of the sample's class. Rows with many such groups have
too many orders, and are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations, product
from math import factorial, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.pairs.kernel_types import Lists
from allsplits.orders import NeighborOrder

#: A sample may have so many orders, all samples together so many for each, or so many in all.
MOST_ORDERS, MOST_ON_AVERAGE, FEW_ROWS = 720, 4, 2000
#: The largest tie group with so few orders.
_LARGEST = 6


def listed_orders(
    order: NeighborOrder,
    labels: NDArray[np.int32],
    pools: NDArray[np.int32],
    *,
    average: bool,
    nearest: bool,
) -> Lists | None:
    """The rows of all samples, or None if ties have too many orders.

    `average` tells whether ties are averaged over, `nearest` that only the nearest one votes.
    """
    n = order.n_samples
    mixed: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    if average:
        kinds = labels[order.flat_indices]
        if nearest:
            kinds = kinds == np.repeat(labels[:n], np.diff(order.indptr))
        for row, start, stop in _mixed_groups(order, kinds):
            if stop - start > _LARGEST:
                return None
            mixed[row].append((start, stop))
    numbers = [prod(factorial(stop - start) for start, stop in groups) for groups in mixed]
    if max(numbers) > MOST_ORDERS or sum(numbers) > max(MOST_ON_AVERAGE * n, FEW_ROWS):
        return None
    rows: list[NDArray[np.int32]] = []
    for i, groups in enumerate(mixed):
        row_of_i = order.flat_indices[order.indptr[i] : order.indptr[i + 1]]
        rows += [row_of_i] if not groups else _orders(row_of_i, groups)
    lengths = np.repeat(np.diff(order.indptr), numbers)
    return Lists(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate(rows).astype(np.int32),
        np.repeat(np.arange(n), numbers),
        np.repeat(1.0 / np.array(numbers), numbers),
        pools,
        labels,
    )


def _mixed_groups(order: NeighborOrder, kinds: NDArray[Any]) -> Iterator[tuple[int, int, int]]:
    """(row, start, stop) of the tie groups whose members differ in kind."""
    heads = np.append(np.flatnonzero(~order.tied), len(order.tied))
    differs = np.zeros(len(order.tied), dtype=bool)
    differs[1:] = order.tied[1:] & (kinds[1:] != kinds[:-1])
    groups = np.unique(np.searchsorted(heads, np.flatnonzero(differs), side="right") - 1)
    rows = np.searchsorted(order.indptr, heads[groups], side="right") - 1
    firsts = order.indptr[rows]
    starts, stops = heads[groups] - firsts, heads[groups + 1] - firsts
    yield from zip(rows.tolist(), starts.tolist(), stops.tolist(), strict=True)


def _orders(row: NDArray[np.int32], groups: list[tuple[int, int]]) -> list[NDArray[np.int32]]:
    """All orders of a row that ties allow."""
    rows = []
    for chosen in product(*(permutations(range(start, stop)) for start, stop in groups)):
        places = np.arange(len(row))
        for (start, stop), some in zip(groups, chosen, strict=True):
            places[start:stop] = some
        rows.append(row[places])
    return rows

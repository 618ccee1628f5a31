"""The one object that carries everything: for each sample, its neighbours, nearest first.

Rows are stored one after the other because they differ in length: a row holds at least `depth`
neighbours and always ends with a complete tie group, so nothing is cut between two samples that
are equally far away.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError
from allsplits.orders.kernel_types import TIE_TOLERANCE, SortedRows
from allsplits.orders.metric import Metric


@dataclass(frozen=True)
class SearchReport:
    """How neighbours were found.

    Attributes
    ----------
    backend : str
        The search that was used: "exact", "faiss", "torch", "dask", "graph" or "index".
    approximate : bool
        Whether neighbours may be missing: they come from an index that does not promise all.
    redone_rows : int
        Rows whose first, fast search could not be certified and was repeated more precisely.
    device : str
        Where it ran, as torch names it: "cpu", or a GPU such as "cuda:0".
    """

    backend: str = "exact"
    approximate: bool = False
    redone_rows: int = 0
    device: str = "cpu"

    @property
    def note(self) -> str:
        """What a result says about its neighbours: nothing if they are exact and of the CPU."""
        where = "" if self.device == "cpu" else f", searched on {self.device}"
        return (", APPROXIMATE neighbours" if self.approximate else "") + where

    def bound_text(self, error_bound: float) -> str:
        """How a result's bound is printed: it knows nothing of neighbours that were missed."""
        return "" if self.approximate else f" ± {error_bound:.0e}"

    @classmethod
    def total(cls, parts: Iterable[SearchReport]) -> SearchReport:
        """The report of several blocks of rows together."""
        reports = list(parts)
        if not reports:
            return cls()
        return cls(
            reports[0].backend,
            any(report.approximate for report in reports),
            sum(report.redone_rows for report in reports),
            reports[0].device,
        )


@dataclass(frozen=True, eq=False, repr=False)
class NeighborOrder:
    """Neighbours of every sample, nearest first, own row excluded, ties in row order.

    Attributes
    ----------
    indptr : ndarray of shape (n_rows + 1,)
        Row i occupies ``indptr[i]:indptr[i + 1]`` of the flat arrays.
    flat_indices, flat_distances : ndarray
        Row numbers of the neighbours and their distances. All members of a tie group carry the
        distance of its first member.
    tied : ndarray of bool
        True where an entry is tied with the one before it in its row.
    depth : int
        Every row holds at least this many neighbours.
    n_candidates : int
        How many samples could be neighbours (one less than the number of samples).
    first_row : int
        Sample number of the first row (blocks of a larger order start later than 0).
    search : SearchReport
        How the neighbours were found.
    metric : Metric or None
        What the distances are; None if nobody knows: they were given, or an index does not tell.
    numbers : ndarray or None
        Sample numbers of the rows, if they do not follow one another from `first_row` on.

    Examples
    --------
    >>> from allsplits import order_neighbors
    >>> order = order_neighbors([[0.0], [1.0], [2.0], [10.0]], depth=1)
    >>> order
    NeighborOrder(n_samples=4, depth=1, 1 of 4 rows end in a tie beyond depth)
    >>> order.tie_groups(1)
    [array([0, 2])]
    """

    indptr: NDArray[np.int64]
    flat_indices: NDArray[np.int32]
    flat_distances: NDArray[np.float64]
    tied: NDArray[np.bool_]
    depth: int
    n_candidates: int
    first_row: int = 0
    search: SearchReport = field(default_factory=SearchReport)
    metric: Metric | None = None
    numbers: NDArray[np.intp] | None = None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    def sample_of(self, row: int) -> int:
        """Sample number of a row."""
        return self.first_row + row if self.numbers is None else int(self.numbers[row])

    @property
    def indices(self) -> NDArray[np.intp]:
        """The first `depth` neighbours of each row, shape (n_samples, depth)."""
        return self.flat_indices[self.rectangle()].astype(np.intp)

    @property
    def distances(self) -> NDArray[np.float64]:
        """Their distances, shape (n_samples, depth)."""
        return self.flat_distances[self.rectangle()]

    def tie_groups(self, row: int) -> list[NDArray[np.intp]]:
        """Neighbours of one row as groups of equal distance, nearest group first."""
        start, stop = self.indptr[row], self.indptr[row + 1]
        members = self.flat_indices[start:stop].astype(np.intp)
        return np.split(members, np.flatnonzero(~self.tied[start + 1 : stop]) + 1)

    def rectangle(self) -> NDArray[np.int64]:
        """Where the first `depth` entries of each row stand, shape (n_samples, depth)."""
        return self.indptr[:-1, None] + np.arange(self.depth)

    def cuts(self) -> NDArray[np.bool_]:
        """Whether the first 1, 2, …, depth neighbours of a row end inside of a tie group."""
        after = self.rectangle() + 1
        more = after < self.indptr[1:, None]
        return more & self.tied[np.minimum(after, len(self.tied) - 1)]

    def within(self, radius: float) -> NDArray[np.bool_]:
        """Which entries are no farther than `radius`; who is tied with the radius is within it."""
        return self.flat_distances <= radius * (1 + TIE_TOLERANCE)

    def votes(self, k: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(votes of each entry, what a whole vote counts in each row) of the k nearest.

        Who is tied at the k-th place shares the votes that are left: the average over all orders of
        the tied. Whole numbers: a row's votes add up to k times what one counts.
        """
        group = np.cumsum(~self.tied) - 1
        starts = np.flatnonzero(~self.tied)
        last = group[self.indptr[:-1] + k - 1]
        unit = np.bincount(group)[last]
        left = k - (starts[last] - self.indptr[:-1])
        last, whole, part = (np.repeat(each, np.diff(self.indptr)) for each in (last, unit, left))
        return np.where(group < last, whole, np.where(group == last, part, 0)), unit

    def check_depth(self, needed: int) -> None:
        """Raise if the rows are shorter than `needed`; a complete order is long enough."""
        needed = min(needed, self.n_candidates)
        if self.depth < needed:
            raise InvalidInputError(
                f"X is a NeighborOrder of depth {self.depth}, but this law and these n_neighbors "
                f"need {needed}: use order_neighbors(X, depth={needed}) or deeper"
            )

    def check_metric(self, asked: Metric) -> None:
        """Raise if the distances are known to be others than those that are asked for."""
        if self.metric is not None and not self.metric.same_as(asked):
            raise InvalidInputError(
                f"X is a NeighborOrder by {self.metric}, but the estimator has {asked}: give both "
                "the same metric (and p, metric_params)"
            )

    def slice_rows(self, start: int, stop: int) -> NeighborOrder:
        """Rows start to stop as an order of their own (views, no copies)."""
        low, high = self.indptr[start], self.indptr[stop]
        return replace(
            self,
            indptr=self.indptr[start : stop + 1] - low,
            flat_indices=self.flat_indices[low:high],
            flat_distances=self.flat_distances[low:high],
            tied=self.tied[low:high],
            first_row=self.first_row + start,
            numbers=None if self.numbers is None else self.numbers[start:stop],
        )

    def where(self, keep: NDArray[np.bool_]) -> NeighborOrder:
        """The order without the entries that are not to be kept (one flag per flat entry)."""
        group = np.cumsum(~self.tied)
        kept_before = np.concatenate([[0], np.cumsum(keep)])
        indptr = kept_before[self.indptr]
        group = group[keep]
        tied = np.zeros(len(group), dtype=bool)
        tied[1:] = group[1:] == group[:-1]
        return replace(
            self,
            indptr=indptr,
            flat_indices=self.flat_indices[keep],
            flat_distances=self.flat_distances[keep],
            tied=tied,
            depth=int(np.diff(indptr).min()),
        )

    def found_by(self, backend: str, redone_rows: int = 0, device: str = "cpu") -> NeighborOrder:
        """The same order with a report of the exact search that made it."""
        return replace(self, search=SearchReport(backend, redone_rows=redone_rows, device=device))

    def __repr__(self) -> str:
        beyond = int(np.sum(np.diff(self.indptr) > self.depth))
        note = f", {beyond} of {self.n_samples} rows end in a tie beyond depth" if beyond else ""
        return (
            f"NeighborOrder(n_samples={self.n_samples}, depth={self.depth}{note}{self.search.note})"
        )


def concatenate(blocks: Sequence[NeighborOrder]) -> NeighborOrder:
    """Join consecutive blocks of rows into one order."""
    if len(blocks) == 1:
        return blocks[0]
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    return replace(
        blocks[0],
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        flat_indices=np.concatenate([block.flat_indices for block in blocks]),
        flat_distances=np.concatenate([block.flat_distances for block in blocks]),
        tied=np.concatenate([block.tied for block in blocks]),
        search=SearchReport.total(block.search for block in blocks),
    )


def replace_rows(
    order: NeighborOrder, numbers: NDArray[np.intp], found: Sequence[NeighborOrder]
) -> NeighborOrder:
    """The order with those of `found` in the places `numbers`: counted from 0, ascending."""
    if len(numbers) == 0:
        return order
    lengths = np.diff(order.indptr)
    new_lengths = np.concatenate([np.diff(part.indptr) for part in found])
    lengths[numbers] = new_lengths
    ends = np.cumsum(new_lengths).tolist()
    news = list(zip([0, *ends[:-1]], ends, strict=True))
    gaps = list(
        zip(
            [0, *order.indptr[numbers + 1].tolist()],
            [*order.indptr[numbers].tolist(), int(order.indptr[-1])],
            strict=True,
        )
    )

    def merge(name: str) -> Any:
        # Whole runs are copied: a mask would look at every entry.
        old = getattr(order, name)
        new = np.concatenate([getattr(part, name) for part in found])
        pieces = [old[slice(*gaps[0])]]
        for own, gap in zip(news, gaps[1:], strict=True):
            pieces += [new[slice(*own)], old[slice(*gap)]]
        return np.concatenate(pieces)

    return replace(
        order,
        indptr=np.concatenate([[0], np.cumsum(lengths)]),
        flat_indices=merge("flat_indices"),
        flat_distances=merge("flat_distances"),
        tied=merge("tied"),
    )


def physical_memory() -> int | None:
    """Bytes of memory that the machine has, or None where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


def check_room(n_samples: int, depth: int) -> None:
    """Raise if the order of all samples would not fit into memory (twice, while it is joined)."""
    each = 2 * (np.dtype(np.int32).itemsize + np.dtype(np.float64).itemsize + 1)
    memory = physical_memory()
    if memory is not None and n_samples * depth * each > memory:
        raise InvalidInputError(
            f"depth must be at most {memory // (n_samples * each)} for {n_samples} samples: their "
            f"order would take {n_samples * depth * each / 2**30:.1f} GiB and this machine has "
            f"{memory / 2**30:.1f} GiB; got depth={depth}. evaluate and the curves need X only and "
            "never hold the whole order"
        )


def pack_rows(
    rows: SortedRows,
    transform: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    depth: int,
    n_candidates: int,
    first_row: int,
) -> NeighborOrder:
    """Drop the padding, and rows that are not certain; `transform` turns keys into distances."""
    items, keys, tied, lengths = rows
    lengths = np.maximum(lengths, 0)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    longest = int(lengths.max(initial=0))
    if indptr[-1] == longest * len(lengths):
        same = np.s_[:, :longest]
        flat = items[same].ravel(), transform(keys[same].ravel()), tied[same].ravel()
    else:
        used = np.arange(items.shape[1]) < lengths[:, None]
        flat = items[used], transform(keys[used]), tied[used]
    return NeighborOrder(indptr, *flat, depth, n_candidates, first_row)

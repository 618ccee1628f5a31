"""Exact Euclidean and cosine orders on a GPU (or, for tests, on the CPU) with PyTorch.

A product in low precision proposes candidates: for all rows at once (`torch_fused`), where that
pays and Triton is there, or 2·depth of them block by block (`torch_products`). They get their true
distances by differences in float64, and a row is accepted when the distance of its last neighbour
is below what everybody else certainly exceeds. Rows that fail are searched again in float32, then
in float64, and what even that cannot decide (tie groups larger than the candidates) is compared
with everybody. So the order is that of float64 distances; `redone_rows` counts who failed first.

Memory on the device: the points, one table per precision that is used, a bounded block of scores,
and lists of candidates only where they fit.
"""

import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.orders.full_rows import FullRowSearch
from allsplits.orders.kernel_types import SortedRows
from allsplits.orders.metric import Metric
from allsplits.orders.order import (
    NeighborOrder,
    SearchReport,
    concatenate,
    pack_rows,
    replace_rows,
)
from allsplits.orders.proposers.torch_distances import (
    distances_to_all,
    distances_to_items,
    sorted_distances,
    to_host,
)
from allsplits.orders.proposers.torch_errors import clear_errors, is_full
from allsplits.orders.proposers.torch_fused import FusedLists
from allsplits.orders.proposers.torch_points import free_bytes, load_points, torch_for
from allsplits.orders.proposers.torch_products import Level, ScaledPoints
from allsplits.orders.proposers.torch_rows import mark_ties
from allsplits.orders.protocol import Block, DevicePart, DeviceRows, Part, Search
from allsplits.orders.verify import mark_sorted

#: Queries per product.
_QUERIES = 2048
#: Rows per order: long enough to hide the host's part, short enough to keep few on the device.
_ROWS_PER_BLOCK = 16 * _QUERIES
#: Rows whose lists are sorted at a time.
_LISTED = 4 * _QUERIES
#: Bytes of scores at a time: at most this share of what is free on a GPU, and never more.
_SHARE_OF_FREE = 0.4
_BYTES_ON_GPU = 8 << 30
_BYTES_ON_CPU = 1 << 28
#: Columns of scores at a time, at least.
_FEWEST_COLUMNS = 1 << 14


class TorchSearch(Search):
    """A prepared search on one device."""

    #: Blocks searched while the one before is used.
    ahead = 3

    @clear_errors
    def __init__(
        self,
        X: Any,
        metric: Metric,
        depth: int,
        n_threads: int,
        device: str = "cuda",
        precisions: tuple[str, ...] | None = None,
    ) -> None:
        self.torch = torch_for(device)
        self.device, self.on_gpu = device, device.startswith("cuda")
        self.depth, self.n_threads = depth, n_threads
        self.n_samples = len(X)
        self.rows_per_block = _ROWS_PER_BLOCK if self.on_gpu else 2 * _QUERIES
        self.points = load_points(self.torch, X, metric, device)
        # No method of this object: a circle would keep the device's memory until it is found.
        self.full = FullRowSearch(
            partial(_full_rows, self.torch, self.points), self.n_samples, depth, n_threads,
            metric.from_squared, metric.squared_ties,
        )  # fmt: skip
        self.n_candidates = 64 * -(-(2 * depth + 32) // 64)
        if precisions is None:
            precisions = ("bfloat16", "float32", "float64") if self.on_gpu else (
                "float32", "float64",
            )  # fmt: skip
        # Where most are wanted, candidates are no help.
        self.precisions = precisions if 2 * self.n_candidates < self.n_samples else ()
        self.scaled = ScaledPoints(self.torch, self.points) if self.precisions else None
        self.levels: dict[int, Level] = {}
        self.first_level = 0
        #: Whether parts that can be are counted on the device.
        self.counts_here = True
        self._lock = threading.Lock()
        self._lists: FusedLists | None = None
        self._lists_fit = self.on_gpu and self.precisions[:1] == ("bfloat16",)
        self._most_columns = sys.maxsize

    @clear_errors
    def order(self, start: int, stop: int) -> NeighborOrder:
        """Neighbours of the samples start to stop."""
        if self.scaled is None:
            return self.full.order(start, stop).found_by("torch", 0, str(self.points.device))
        level = self.first_level
        found = self._certain(self._first_look(start, stop, level))
        failed = np.flatnonzero(found.lengths < 0)
        self._learn_from(len(failed), stop - start, level)
        # They are replaced in a moment, and rows of one length are packed faster.
        found.lengths[failed] = self.depth
        order = self._pack(found, start)
        if len(failed):
            order = replace_rows(order, failed, [self._again(failed + start, level)])
        return order.found_by("torch", len(failed), str(self.points.device))

    @clear_errors
    def map(self, start: int, stop: int, part: Part, n_threads: int) -> Block:
        """What the samples start to stop contribute; tallies that can are counted on the device.

        Then no neighbour list travels to the host, except those of rows that are done again.
        """
        counted = None
        if self.counts_here and isinstance(part, DevicePart) and part.by_groups:
            counted = part.on_device(self.torch, self.device, np.arange(start, stop))
        if counted is None:
            return super().map(start, stop, part, n_threads)
        level, left, n_failed = self.first_level, [], 0
        for rows in self._rows_on_device(start, stop, level):
            left.append(counted.add(rows))
            n_failed += (rows.lengths < 0).sum()
        numbers = self.torch.cat(left).cpu().numpy()
        failed = int(n_failed)
        self._learn_from(failed, stop - start, level)
        # Most rows of such data are left to the host, which should not search them twice.
        self.counts_here = len(numbers) - failed <= (stop - start) // 2
        found = None
        if len(numbers):
            found = part.of_rows(self._again(numbers, level), numbers, n_threads)
        report = SearchReport("torch", redone_rows=failed, device=str(self.points.device))
        return Block(stop - start, report, counted.parts(numbers, found))

    def _rows_on_device(self, start: int, stop: int, level: int) -> Iterator[DeviceRows]:
        """Sorted rows, a bounded number at a time; those that are not certain have length -1."""
        torch, ties = self.torch, self.full.ties
        if self.scaled is None:
            chosen = torch.arange(start, stop, device=self.device)
            for numbers in chosen.split(self.full.rows_per_block):
                items, keys = sorted_distances(torch, self.points, numbers)
                tied, lengths, _ = mark_ties(torch, keys, self.depth, ties)
                yield DeviceRows(numbers, items, tied, lengths)
            return
        first = start
        for items, keys, safe in self._first_look(start, stop, level):
            numbers = torch.arange(first, first + len(items), device=self.device)
            first += len(items)
            tied, lengths, last = mark_ties(torch, keys, self.depth, ties)
            lengths = lengths.masked_fill(~(ties.reach(last) < safe), -1)
            yield DeviceRows(numbers, items, tied, lengths)

    def _first_look(self, start: int, stop: int, level: int) -> Iterator[tuple[Any, Any, Any]]:
        """What is found at first for consecutive rows, a bounded number at a time."""
        count, width = self._widths(again=False)
        lists = self._fused() if level == 0 else None
        if lists is not None:
            for first in range(start, stop, _LISTED):
                yield lists.nearest(first, min(first + _LISTED, stop), width)
            return
        for numbers in self.torch.arange(start, stop, device=self.device).split(_QUERIES):
            yield self._nearest(numbers, level, count, width)

    def _fused(self) -> FusedLists | None:
        """Candidates of all rows, made when the first is asked for; None where they do not fit."""
        with self._lock:
            if self._lists_fit and self._lists is None:
                free = free_bytes(self.torch, self.device)
                self._lists_fit = FusedLists.fit(
                    self.n_samples, self.points.shape[1], self.depth, free
                )
            if self._lists_fit and self._lists is None:
                try:
                    self._lists = FusedLists(self.scaled, self.depth)  # type: ignore[arg-type]
                except RuntimeError as error:
                    if not is_full(error):
                        raise
                    # Somebody else took what was free: blocks of products need less.
                    self._lists_fit = False
            return self._lists

    def _learn_from(self, n_failed: int, n_rows: int, level: int) -> None:
        if n_failed > n_rows // 2 and level + 1 < len(self.precisions):
            # These data need more precision: start there from now on, the result is the same.
            self.first_level = level + 1

    def _again(self, numbers: NDArray[np.intp], level: int) -> NeighborOrder:
        """Rows that failed at a level: more candidates, then more precision, then everybody."""
        failed = np.arange(len(numbers))
        order = None
        # First the same precision with more candidates: who is left out is farther away then.
        for precision in range(level, len(self.precisions)):
            if len(failed) == 0:
                break
            found = self._search_again(numbers[failed], precision)
            good = found.lengths >= 0
            if order is None:
                order = self._pack(found, 0)
            else:
                order = replace_rows(order, failed[good], [self._pack(found.where(good), 0)])
            failed = failed[~good]
        if order is None:
            return concatenate(self.full.orders_of(numbers))
        return replace_rows(order, failed, self.full.orders_of(numbers[failed]))

    def _pack(self, rows: SortedRows, first_row: int) -> NeighborOrder:
        return pack_rows(rows, self.full.transform, self.depth, self.n_samples - 1, first_row)

    def _search_again(self, numbers: NDArray[np.intp], level: int) -> SortedRows:
        """Sorted rows from more candidates; length -1 where the order is not certain."""
        count, width = self._widths(again=True)
        chosen = self.torch.as_tensor(numbers, device=self.device)
        return self._certain(
            self._nearest(some, level, count, width) for some in chosen.split(_QUERIES)
        )

    def _certain(self, parts: Iterable[tuple[Any, Any, Any]]) -> SortedRows:
        """Sorted rows on the host; length -1 where the order is not certain."""
        columns = [self.torch.cat(part) for part in zip(*parts, strict=True)]
        items, keys, safe = to_host(self.torch, columns)
        rows, last = mark_sorted(items, keys, self.depth, self.full.ties, self.n_threads)
        certain = self.full.ties.reach(last) < safe
        rows.lengths[~(certain & (rows.lengths >= self.depth))] = -1
        return rows

    def _widths(self, *, again: bool) -> tuple[int, int]:
        """How many candidates are looked at, and how many of them are kept."""
        count = min(self.n_candidates * (4 if again else 1), self.n_samples)
        return count, count // 2 if again else min(count, self.depth + 8 + self.depth // 8)

    def _nearest(self, numbers: Any, level: int, count: int, width: int) -> tuple[Any, Any, Any]:
        """(items, squared distances, what all others exceed) of some rows, still on the device."""
        torch = self.torch
        items, beyond = self._candidates(self._level(level), numbers, count)
        # Padding is nobody; it is found only where there are too few others.
        nobody = items >= self.n_samples
        items = items.clamp(max=self.n_samples - 1)
        keys = distances_to_items(torch, self.points, numbers, items)
        keys.masked_fill_(nobody | (items == numbers[:, None]), float("inf"))
        keys, rank = keys.sort(dim=1)
        items = items.gather(1, rank[:, :width]).to(torch.int32)
        safe = torch.minimum(beyond, keys[:, width]) if width < keys.shape[1] else beyond
        return items, keys[:, :width].contiguous(), safe

    def _candidates(self, table: Level, numbers: Any, count: int) -> tuple[Any, Any]:
        """The best of each row; where memory runs out, by fewer columns of scores at a time."""
        while True:
            n_columns = self._columns(table)
            try:
                return table.candidates(numbers, count, n_columns)
            except RuntimeError as error:
                if not is_full(error) or n_columns <= _FEWEST_COLUMNS:
                    raise
            # What the failed attempt held is free by now.
            self._most_columns = n_columns // 2
            if self.on_gpu:
                self.torch.cuda.empty_cache()

    def _level(self, level: int) -> Level:
        with self._lock:
            if level not in self.levels:
                dtype = getattr(self.torch, self.precisions[level])
                self.levels[level] = Level(self.scaled, dtype)  # type: ignore[arg-type]
            return self.levels[level]

    def _columns(self, table: Level) -> int:
        """Columns of scores at a time."""
        room: int = _BYTES_ON_CPU
        if self.on_gpu:
            room = min(_BYTES_ON_GPU, int(_SHARE_OF_FREE * self._free))
        fits = room // (_QUERIES * table.bytes_per_score)
        fits = min(fits, self._most_columns) // 64 * 64
        columns: int = min(table.n_columns, max(_FEWEST_COLUMNS, fits))
        return columns

    @cached_property
    def _free(self) -> int:
        """Bytes free when the first table was ready: the scores themselves must not count."""
        return free_bytes(self.torch, self.device)


def _full_rows(torch: Any, points: Any, numbers: NDArray[np.intp]) -> NDArray[np.float64]:
    chosen = torch.as_tensor(numbers, device=points.device)
    rows: NDArray[np.float64] = distances_to_all(torch, points, chosen).cpu().numpy()
    return rows

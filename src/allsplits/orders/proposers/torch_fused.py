"""Candidates of all rows at once: half of the products, filtered where they arise.

x·y serves both rows, so half of the pairs are enough; and nearly all products are far below what a
neighbour scores, so none is written. Every row has a limit, taken from a sample of a sixteenth of
the columns: about C of all n score higher. They are put on the row's list, which is complete if
there was room for all who passed, and whoever is not on it scores at most the limit: that is the
proof. How many pass does not depend on how the data lie, only on the sample (for a rank r in the
sample, C = 16 r with a relative deviation of 1/√r), unless many are equally near: then nobody
passes, and the row is left to the search of single rows.

A band of rows is multiplied with all rows from its first on, so the lists of all rows up to its end
are complete then: they can be used while later bands are worked on.

Cost: n²·d operations, n·room numbers of memory for the lists. Points are centred and scaled as in
`torch_products`, rounded to bfloat16, and summed in float32.
"""

import threading
from typing import Any

from allsplits.orders.proposers.kernels_fused import (
    BAND,
    COLUMNS,
    FEATURES,
    GROUP,
    ROWS,
    Lists,
    Table,
    filter_band,
    fused_is_there,
    list_distances,
    sample_maxima,
)
from allsplits.orders.proposers.torch_products import Rounding, ScaledPoints

#: One of so many columns is in the sample.
_SAMPLED = 16
#: The smallest rank in the sample, and the room of a list for each expected candidate.
_LEAST_RANK, _ROOM = 16, 2.5
#: Fewer rows are searched as fast without lists; deeper orders need lists that are too long.
LEAST_ROWS, _MOST_ROOM = 1 << 15, 2048
#: Rows whose limits are found at a time, and bands between two looks at what has passed.
_LIMIT_ROWS, _BANDS = 1 << 14, 16
#: Scores that differ by less than this are not told apart by limits.
_APART = 2.0**-20
#: Limit of rows that take nobody, and half of the squared norm of those whom nobody takes.
_NEVER = 1e30


class FusedLists:
    """The candidates of all rows, found band by band as far as they are asked for.

    Attributes
    ----------
    limits : tensor
        The score that a candidate of each row must exceed.
    lists : Lists
        Who exceeded it; complete for the first `rows_done` rows.
    """

    def __init__(self, scaled: ScaledPoints, depth: int) -> None:
        torch = scaled.torch
        self.torch, self.scaled = torch, scaled
        self.rank = sample_rank(depth)
        with torch.cuda.device(scaled.points.device):
            self.table, self.rounding = rounded(scaled)
            self.limits = self._limits(self.table)
        n, device = scaled.n_samples, scaled.points.device
        self.lists = Lists(
            torch.zeros((n, _room(self.rank)), dtype=torch.int32, device=device),
            torch.zeros(n, dtype=torch.int32, device=device),
        )
        self.rows_done = 0
        self._passed = torch.zeros((), dtype=torch.int64, device=device)
        self._lock = threading.Lock()

    @staticmethod
    def fit(n_samples: int, n_features: int, depth: int, free: int) -> bool:
        """Whether lists pay, and there is room for them."""
        room = _room(sample_rank(depth))
        needed = n_samples * (4 * room + 2 * n_features) + (1 << 31)
        return (
            fused_is_there() and n_samples >= LEAST_ROWS and room <= _MOST_ROOM
            and needed < 0.8 * free
        )  # fmt: skip

    def _limits(self, table: Table) -> Any:
        """The score that candidates of each row must exceed."""
        torch, n = self.torch, self.scaled.n_samples
        size = n // _SAMPLED // COLUMNS * COLUMNS
        drawn = torch.randperm(n, generator=torch.Generator().manual_seed(0))[:size]
        sample = Table(*(part[drawn.to(part.device)] for part in table))
        limits = torch.full_like(table.halves, _NEVER)
        rank = min(self.rank, size // GROUP)
        for start in range(0, n, _LIMIT_ROWS):
            stop = min(start + _LIMIT_ROWS, len(limits))
            maxima = sample_maxima(torch, table, sample, start, stop)
            last = maxima.topk(rank, dim=1, sorted=False).values.amin(1)
            limits[start:stop] = last + _APART * (last.abs() + table.halves[start:stop])
        limits[n:] = _NEVER
        return limits

    def _reach(self, stop: int) -> None:
        """Filter the bands up to row `stop`; nothing is waited for but what passed long ago."""
        with self._lock:
            while self.rows_done < stop:
                filter_band(self.table, self.limits, self.lists, self.rows_done)
                self.rows_done += ROWS * BAND
                if self.rows_done // (ROWS * BAND) % _BANDS == 1:
                    self._stop_if_too_many()

    def _stop_if_too_many(self) -> None:
        """Where equal scores beat their limits after all, lists would be of no use."""
        counts = self.lists.counts
        if int(self._passed) > 4 * self.rank * _SAMPLED * len(counts):
            counts.fill_(self.lists.items.shape[1] + 1)
            self.rows_done = len(self.limits)
        self._passed = counts.sum(dtype=self.torch.int64)

    def nearest(self, start: int, stop: int, kept: int) -> tuple[Any, Any, Any]:
        """(items, squared distances, what all others exceed) of consecutive rows."""
        torch = self.torch
        lists = Lists(*(part[start:stop] for part in self.lists))
        with torch.cuda.device(lists.items.device):
            self._reach(stop)
            keys, place = list_distances(torch, self.scaled.points, lists, start).sort(dim=1)
        items = lists.items.gather(1, place[:, :kept])
        numbers = torch.arange(start, stop, device=keys.device)
        beyond = self.rounding.beyond(numbers, self.limits[start:stop].double())
        beyond = beyond.masked_fill(lists.counts > lists.items.shape[1], float("-inf"))
        return items, keys[:, :kept].contiguous(), torch.minimum(beyond, keys[:, kept])


def rounded(scaled: ScaledPoints) -> tuple[Table, Rounding]:
    """The points in bfloat16, filled up to whole bands, and what rounding them costs."""
    torch = scaled.torch
    n, d = scaled.n_samples, scaled.n_features
    filled = -(-n // (ROWS * BAND)) * ROWS * BAND
    width = -(-d // FEATURES) * FEATURES
    device = scaled.points.device
    table = Table(
        torch.zeros((filled, width), dtype=torch.bfloat16, device=device),
        torch.full((filled,), _NEVER, dtype=torch.float32, device=device),
    )
    lost = torch.empty(n, dtype=torch.float64, device=device)
    for start, rows in scaled.blocks():
        stop = start + len(rows)
        table.points[start:stop, :d] = rows.to(torch.bfloat16)
        lost[start:stop] = (rows - table.points[start:stop, :d].double()).norm(dim=1)
        table.halves[start:stop] = (rows.square().sum(1) / 2).float()
    return table, Rounding.of(scaled, lost, width, torch.finfo(torch.float32).eps)


def sample_rank(depth: int) -> int:
    """Which of the best in the sample sets the limit: three times the depth will pass, or more."""
    return max(_LEAST_RANK, -(-depth // 5))


def _room(rank: int) -> int:
    """Places of a list."""
    return 64 * -(-int(_ROOM * rank * _SAMPLED) // 64)

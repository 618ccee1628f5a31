"""Two classes, laws of fixed size: what striking a candidate changes, for all k at once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.laws.fixed_size._kernels_strikes import strike_two_classes
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table
from allsplits.exact.laws.fixed_size.majority import VoteTable
from allsplits.exact.masses import Prefixes
from allsplits.exact.strikes import Candidates, Struck

Floats = NDArray[np.float64]

#: Numbers in a table of prefix values (64 MiB); columns are taken a few at a time.
_LARGEST_TABLE = 1 << 23


@dataclass(frozen=True, eq=False)
class TwoClassStrikes:
    """Votes of two classes, in rows whose tie groups are of one class each."""

    prefixes: Prefixes
    share: bool

    @staticmethod
    def fits(depth: int) -> bool:
        """Whether the table of one column can be laid out."""
        return 2 * (depth + 1) ** 2 <= _LARGEST_TABLE

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """The law has one component."""
        rows, numbers, weights, n_samples = given
        n_columns, depth = len(self.prefixes.ks), self.prefixes.depth
        bases = np.zeros((len(rows.own), n_columns))
        hits = np.zeros((n_samples, n_columns))
        most = max(1, _LARGEST_TABLE // (2 * (depth + 1) ** 2))
        step = max(1, min(most, -(-n_columns // n_threads)))

        def run(start: int, stop: int) -> None:
            for first in range(start, stop, step):
                here = slice(first, min(first + step, stop))
                table = self._table(here)
                behind = np.empty((2, depth + 2, table.shape[3]))
                # Columns of their own, side by side in memory.
                base, hit = np.zeros((len(rows.own), table.shape[3])), np.zeros_like(hits[:, here])
                strike_two_classes(rows, numbers, table, weights[:, 0], behind, base, hit)
                bases[:, here], hits[:, here] = base, hit

        map_row_ranges(run, n_columns, n_threads, smallest=step)
        of_gone = bases[:, None] * weights[:, 0, rows.own].T[:, :, None]
        return Struck(of_gone, hits)

    def _table(self, columns: slice) -> Floats:
        """tables[own, j, o, column]."""
        prefixes = self.prefixes
        binomials = VoteTable(prefixes)
        first_share = 0.5 if self.share else 1.0
        ks, masses = prefixes.ks[columns], prefixes.masses[columns]
        table = np.zeros((len(ks), 2, prefixes.depth + 1, prefixes.depth + 1))
        for one, k, line in zip(table, ks.tolist(), masses, strict=True):
            fill_win_table(k, first_share, line, binomials.values, binomials.theta, one)
        return np.ascontiguousarray(table.transpose(1, 2, 3, 0))

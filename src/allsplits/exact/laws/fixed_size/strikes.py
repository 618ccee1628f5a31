"""Laws of fixed size: what striking a candidate changes, for all k at once, without lists."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.kernel_types import Rule
from allsplits.exact.laws.fixed_size._kernels_majority import work_space
from allsplits.exact.laws.fixed_size._kernels_rivals import Votes, Ways
from allsplits.exact.laws.fixed_size._kernels_strikes import strike_classes, strike_two_classes
from allsplits.exact.laws.fixed_size._kernels_two_classes import fill_win_table
from allsplits.exact.laws.fixed_size.majority import MajorityVote, VoteTable
from allsplits.exact.masses import Prefixes
from allsplits.exact.strikes import Candidates, Struck

Floats = NDArray[np.float64]

#: Numbers in a table of prefix values (64 MiB); columns are taken a few at a time.
_LARGEST_TABLE = 1 << 23
#: Changes that are held at once, for entries and columns (32 MiB).
_MOST_CHANGES = 1 << 22


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
        return Struck.of_one_law(hits, bases, given)

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


@dataclass(frozen=True, eq=False)
class ClassStrikes:
    """Votes of any number of classes, in rows whose tie groups are of one class each."""

    vote: MajorityVote

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """The law has one component."""
        rows, numbers, weights, n_samples = given
        prefixes = self.vote.prefixes
        n_columns, depth = len(prefixes.ks), prefixes.depth
        rule = Rule(False, False, self.vote.options.share)
        votes = Votes(rule, prefixes.columns, Ways(self.vote.table.values, self.vote.quadrature))
        bases = np.zeros((len(rows.own), n_columns))
        hits = np.zeros((n_samples, n_columns))
        for first, last in _row_batches(rows.indptr, _MOST_CHANGES // n_columns):
            start, stop = rows.indptr[first], rows.indptr[last]
            changes = np.zeros((stop - start, n_columns))

            def run(begin: int, end: int, first: int = first, changes: Floats = changes) -> None:
                met, work, _ = work_space(self.vote.n_classes, votes, tied=False)
                sums = np.empty((self.vote.n_classes + 1, depth + 2, n_columns))
                strike_classes(
                    rows, (first + begin, first + end, first), votes, met, work, sums, bases,
                    changes,
                )  # fmt: skip

            map_row_ranges(run, last - first, n_threads)
            classes = rows.labels[start:stop]
            owns = np.repeat(rows.own[first:last], np.diff(rows.indptr[first : last + 1]))
            counted = weights[classes, 0, owns]
            for c in range(n_columns):
                hits[:, c] += np.bincount(
                    numbers[start:stop], changes[:, c] * counted, minlength=n_samples
                )
        return Struck.of_one_law(hits, bases, given)


def _row_batches(indptr: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Ranges of rows with so many entries at most, or of one row."""
    edges = [0]
    while edges[-1] < len(indptr) - 1:
        end = int(np.searchsorted(indptr, indptr[edges[-1]] + most, side="right")) - 1
        edges.append(max(end, edges[-1] + 1))
    return list(pairwise(edges))

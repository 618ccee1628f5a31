"""Laws of fixed size: what striking a candidate changes, for all k at once, without lists."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.fixed_size._kernels_majority import work_space
from allsplits.exact.laws.fixed_size._kernels_rivals import Votes, Ways
from allsplits.exact.laws.fixed_size._kernels_strikes import strike_classes, strike_two_classes
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.laws.fixed_size.two_classes import LARGEST_TABLES, win_tables
from allsplits.exact.masses import Prefixes
from allsplits.exact.strikes import Candidates, Changes, Struck

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TwoClassStrikes:
    """Votes of two classes, in rows whose tie groups are of one class each."""

    prefixes: Prefixes
    share: bool

    @staticmethod
    def fits(depth: int) -> bool:
        """Whether the table of one column can be laid out."""
        return 2 * (depth + 1) ** 2 <= LARGEST_TABLES

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """The law has one component."""
        n_columns, depth = len(self.prefixes.ks), self.prefixes.depth
        bases = np.zeros((len(given.rows.own), n_columns))
        found = Changes(given, n_columns)
        most = max(1, LARGEST_TABLES // (2 * (depth + 1) ** 2))
        step = max(1, min(most, -(-n_columns // n_threads)))

        def run(start: int, stop: int) -> None:
            for first in range(start, stop, step):
                here = slice(first, min(first + step, stop))
                table = win_tables(self.prefixes, self.share, here)
                behind = np.empty((2, depth + 2, table.shape[3]))
                for batch in given.batches(table.shape[3]):
                    # Columns of their own, side by side in memory.
                    base = np.zeros((len(batch.rows.own), table.shape[3]))
                    changes = np.zeros((len(batch.numbers), table.shape[3]))
                    strike_two_classes(
                        batch.rows, batch.numbers, table, given.weights[:, 0], behind, base, changes
                    )
                    bases[batch.lines, here] = base
                    found.add(batch, here, changes)

        map_row_ranges(run, n_columns, n_threads, smallest=step)
        return Struck.of_one_law(found, bases, given)


@dataclass(frozen=True, eq=False)
class ClassStrikes:
    """Votes of any number of classes, in rows whose tie groups are of one class each."""

    vote: MajorityVote

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """The law has one component."""
        prefixes = self.vote.prefixes
        n_columns, depth = len(prefixes.ks), prefixes.depth
        rule = Rule(False, False, self.vote.options.share)
        votes = Votes(rule, prefixes.columns, Ways(self.vote.table.values, self.vote.quadrature))
        bases = np.zeros((len(given.rows.own), n_columns))
        found = Changes(given, n_columns)
        for batch in given.batches(n_columns):
            rows = batch.rows
            base, changes = (
                np.zeros((len(rows.own), n_columns)),
                np.zeros((len(rows.labels), n_columns)),
            )

            def run(
                start: int, stop: int, rows: Rows = rows, base: Floats = base, out: Floats = changes
            ) -> None:
                met, work, _ = work_space(self.vote.n_classes, votes, None)
                sums = np.empty((self.vote.n_classes + 1, depth + 2, n_columns))
                strike_classes(rows, (start, stop), votes, met, work, sums, base, out)

            map_row_ranges(run, len(rows.own), n_threads)
            bases[batch.lines] = base
            owns = np.repeat(rows.own, np.diff(rows.indptr))
            changes *= given.weights[rows.labels, 0, owns][:, None]
            found.add(batch, slice(None), changes)
        return Struck.of_one_law(found, bases, given)

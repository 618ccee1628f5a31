"""Galleries of a fixed size: how many relevant items they hold is random.

Of the N candidates of a query r are relevant and a are in the gallery. Given that m relevant ones
are, both kinds are drawn on their own, and a relevant item with i relevant and j others before it
counts

    G[i, j] = Σ_m P(m) m/r Σ_{u, o} h(u; i, r-1, m-1) · h(o; j, N-r, a-m) · φ_m(u, o),

h being hypergeometric and φ what it counts (see `scores`). Samples of classes of one size share
this table: for each m it is a product of three matrices, and a row costs one look for each relevant
item. precision@k does not depend on m: there N - 1 candidates, a - 1 in the gallery, are one kind.

Items that a query must not meet are among the N and in galleries, but stand before nobody: they are
others that no row meets, so r and the rows are smaller, and nothing else changes.
"""

from functools import partial
from math import sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts.draws import class_pools, query_kinds, relevant_chances
from allsplits.exact.laws.class_counts.vote import needed_depth
from allsplits.exact.laws.class_counts.weights import alike
from allsplits.exact.question import Question, neighbor_labels, own_rows, sample_weights
from allsplits.exact.retrieval._kernels_sizes import add_from_tables
from allsplits.exact.retrieval.kernel_types import COUNTED, FIRST
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.ties import distinct_rows
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]

#: Bytes of tables, at most.
MOST_BYTES = 1 << 30
#: Rows of a product that are made at once, and seconds for a product of two numbers.
_ROWS, _PRODUCT = 128, 1e-10
#: Less likely numbers do not matter.
_FAINT = 2.0**-80
#: What a long run is told.
_CHEAPER = "ClassCounts for the gallery, fewer cut-offs, fewer samples, or scoring='precision@k'"


class SizeTables(NamedTuple):
    """What a relevant item counts, by how many items stand before it.

    Attributes
    ----------
    starts, steps : arrays of shape (kinds, classes), or of shape (rows,)
        Where the table of a query of a kind and class (of a row) starts (-1: no relevant items),
        and how many lines a relevant item before takes; another item takes one.
    values : array of shape (lines, columns)
    """

    starts: NDArray[np.int64]
    steps: NDArray[np.int64]
    values: Floats


def relevant_counts(n_candidates: int, relevant: int, size: int, tol: float) -> dict[int, float]:
    """How likely each number of relevant items is in the gallery; up to tol/4 is left out."""
    found = relevant_chances(n_candidates, relevant, size)
    chances = {m: float(chance) for m, chance in found.items() if m}
    for ends in (sorted(chances), sorted(chances, reverse=True)):
        total = 0.0
        for m in ends:
            total += chances[m]
            if total > tol / 8:
                break
            del chances[m]
    return chances


class SizedGalleries:
    """The tables of one law of sizes."""

    def __init__(self, question: Question, score: RetrievalScore) -> None:
        self.question, self.score = question, score
        self.ks = [column.k for column in question.columns]
        self.law = question.columns[0].law
        self.n_candidates = question.n_candidates
        #: Relevant items for a question of each kind and class.
        self.relevant = class_pools(question)[1]
        largest = max(component.train for component in self.law.components)
        self.size = score.positions(largest, int(self.relevant.max()), self.ks)
        self.depth, tol = self.n_candidates, question.options.tol
        if question.exclusion is None and self.size < self.law.smallest_training_set:
            deepest = max(
                needed_depth([question.n_samples], [component.train], self.size, tol)
                for component in self.law.components
            )
            self.depth = min(self.depth, deepest)
        self.by_rank = score.name == "precision@k"
        self.kinds = np.unique(self.relevant[self.relevant > 0]).tolist()
        self._check_room()

    def _lines(self, relevant: int) -> int:
        if self.by_rank:
            return self.n_candidates
        return relevant * (self.n_candidates - relevant + 1)

    def _check_room(self) -> None:
        kinds = self.kinds[:1] if self.by_rank else self.kinds
        room = 8 * len(self.ks) * sum(self._lines(relevant) for relevant in kinds)
        if room > MOST_BYTES:
            raise UnsupportedError(
                f"cv (galleries of a fixed size) needs tables of {room / 2**30:.1f} GiB for "
                f"scoring={self.score.name!r}, {len(self.ks)} cut-offs and {len(kinds)} sizes of "
                f"classes among {self.question.n_samples} samples, more than 1 GiB. Pass "
                "cv=ClassCounts(...), scoring='precision@k', fewer ranks or fewer samples"
            )

    def tables(self) -> SizeTables:
        """The tables of all classes; classes of one size share theirs."""
        starts: dict[int, int] = {}
        parts: list[Floats] = []
        used = 0
        for relevant in self.kinds:
            if self.by_rank and parts:
                starts[relevant] = 0
                continue
            made = self._by_rank() if self.by_rank else self._of_class(relevant)
            starts[relevant] = used
            used += len(made)
            parts.append(made)
        start_of = np.full(max(self.kinds, default=0) + 1, -1)
        start_of[list(starts)] = list(starts.values())
        step_of = self.n_candidates - np.arange(len(start_of)) + 1
        step_of[:] = 1 if self.by_rank else step_of
        relevant = np.maximum(self.relevant, 0)
        values = np.concatenate(parts) if parts else np.zeros((0, len(self.ks)))
        return SizeTables(start_of[relevant], step_of[relevant], values)

    def _by_rank(self) -> Floats:
        """precision@k of an item by its rank, whatever stands before it."""
        N = self.n_candidates
        values = np.zeros((N, len(self.ks)))
        for component in self.law.components:
            before = np.empty((N, self.size))
            hypergeometric_table(N - 1, component.train - 1, N - 1, self.size - 1, before)
            weight = float(component.weight) * component.train / N
            values += weight * (before @ self.score.weights(1, self.ks, self.size))
        return values

    def _of_class(self, relevant: int) -> Floats:
        """The table of classes with so many relevant items for a sample."""
        N, others = self.n_candidates, self.n_candidates - relevant
        table = np.zeros((len(self.ks), relevant, others + 1))
        for component in self.law.components:
            chances = relevant_counts(N, relevant, component.train, self.question.options.tol)
            for m, chance in chances.items():
                weight = float(component.weight) * chance * m / relevant
                self._add(table, relevant, m, component.train - m, weight)
        return np.ascontiguousarray(np.moveaxis(table, 0, 2)).reshape(-1, len(self.ks))

    def _add(self, table: Floats, relevant: int, m: int, rest: int, weight: float) -> None:
        """Add galleries with m relevant and `rest` other items to the table."""
        others = table.shape[2] - 1
        size = self.score.positions(m + rest, m, self.ks)
        own = np.empty((relevant, min(m, size)))
        hypergeometric_table(relevant - 1, m - 1, relevant - 1, own.shape[1] - 1, own)
        if self.score.counting == COUNTED:
            own *= np.arange(1.0, own.shape[1] + 1)
        elif self.score.counting == FIRST:
            own[:, 1:] = 0
        before = np.empty((others + 1, min(rest, size - 1) + 1))
        hypergeometric_table(others, rest, others, before.shape[1] - 1, before)
        of_place = np.zeros((own.shape[1] + before.shape[1], len(self.ks)))
        of_place[:size] = self.score.weights(m, self.ks, size)[: len(of_place)]
        places = np.add.outer(np.arange(own.shape[1]), np.arange(before.shape[1]))
        for c in range(len(self.ks)):
            counted = weight * (own @ of_place[places, c])
            for start in range(0, others + 1, _ROWS):
                lines = before[start : start + _ROWS]
                # Lines next to each other have about the same numbers that matter.
                [matter] = np.nonzero(lines.max(axis=0) > _FAINT)
                if len(matter):
                    wide = slice(matter[0], matter[-1] + 1)
                    table[c, :, start : start + len(lines)] += counted[:, wide] @ lines[:, wide].T

    @property
    def seconds(self) -> float:
        """What the tables take on one core, roughly."""
        if self.by_rank:
            return _PRODUCT * self.n_candidates * self.size * len(self.ks)
        N, total = self.n_candidates, 0.0
        for relevant in self.kinds:
            for component in self.law.components:
                share = component.train / N
                deviation = sqrt(relevant * share * (1 - share)) + 1
                numbers = min(16 * deviation, relevant)
                wide = min(self.size, 24 * sqrt(N * share * (1 - share)) / 2 + 24)
                total += numbers * self._lines(relevant) * wide
        return _PRODUCT * total * len(self.ks)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: two tables, three products, and sums over m and the row."""
        return (32 * self.n_candidates + 3 * self.size + 2 * max(self.kinds, default=0) + 64) * (
            UNIT_ROUNDOFF
        )

    @property
    def left_out(self) -> float:
        """Bound on what is left out: unlikely galleries, and items behind the search."""
        faint = _FAINT * self.n_candidates**2 * self.score.in_all(self.size)
        return 1.25 * self.question.options.tol + faint


def solve_sized(question: Question, score: RetrievalScore) -> Solver:
    """One law of sizes."""
    galleries = SizedGalleries(question, score)
    made: list[SizeTables] = []

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        if not made:
            made.append(galleries.tables())
        return _values(question, made[0], order, n_threads)

    def finish(values: Floats) -> Answer:
        bound = galleries.left_out + galleries.rounding
        if question.exclusion is None:
            return answer_from_rows(question, values, sample_weights(question), bound)
        weights = np.array([float(w) for w in alike(question)[question.asked]])
        return answer_from_rows(question, values * weights[:, None], weights, bound, weighted=True)

    return Solver(galleries.depth, part, FromRows(question, finish), galleries.seconds, _CHEAPER)


def _values(question: Question, tables: SizeTables, order: NeighborOrder, n_threads: int) -> Floats:
    """Scores of the rows of a block, shape (rows, columns)."""
    numbers = own_rows(order)
    codes, kinds = question.codes[numbers], query_kinds(question)[numbers]
    rows = Rows(order.indptr, neighbor_labels(order, question.codes), order.tied, codes)
    place: slice | NDArray[np.intp] = slice(None)
    if question.options.average:
        rows, chosen, place = distinct_rows(rows, kinds)
        kinds = kinds[chosen]
    starts, steps = tables.starts[kinds, rows.own], tables.steps[kinds, rows.own]
    tables = SizeTables(starts, steps, tables.values)
    out = np.zeros((len(rows.own), len(question.columns)))
    run = partial(_add_rows, rows, question.options.average, tables, out)
    map_row_ranges(run, len(rows.own), n_threads)
    found: Floats = out[place]
    return found


def _add_rows(
    rows: Rows, average: bool, tables: SizeTables, out: Floats, start: int, stop: int
) -> None:
    add_from_tables(rows, start, stop, average, tables, out)

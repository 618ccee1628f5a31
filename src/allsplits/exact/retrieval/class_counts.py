"""Galleries with a fixed number of items from each class: the positions of the relevant ones.

The number of relevant items in the gallery is fixed, so all scores are linear in how many relevant
items are expected at each position; one walk along a row finds that for all positions, and so for
all cut-offs.

Where galleries hold items of the query's class that it must not meet, the number of relevant ones
is random: given that number classes are drawn as before, and each number is a component of its own.
Scores that do not ask for it have the others of the class as items that no row meets.
"""

from functools import cache, cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows
from allsplits.exact.effort import is_long, map_timed_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts.draws import class_pools, pools_of, query_kinds
from allsplits.exact.laws.class_counts.vote import needed_depth
from allsplits.exact.laws.class_counts.weights import alike, float_weights, law_weights
from allsplits.exact.question import Question, class_weights, neighbor_labels, own_rows
from allsplits.exact.retrieval._kernels_positions import add_positions
from allsplits.exact.retrieval._kernels_whole import add_whole
from allsplits.exact.retrieval.kernel_types import PLAIN, CountTables, Queries, Reading
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.retrieval.sizes import relevant_counts
from allsplits.exact.retrieval.tables import (
    FAINT,
    UNLIKELY,
    TableKey,
    make_tables,
    rules_for,
    small_groups,
)
from allsplits.exact.ties import distinct_rows
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: What a long run is told.
_CHEAPER = (
    "fewer gallery items of each class, a score with a cut-off ('map@r', 'precision@k'), fewer "
    "samples, and distance_ties='index' where many distances are tied"
)
#: Nanoseconds for a product of a lane, and for what a case and a class cost besides.
_PRODUCT, _CASE = 0.15, 8.0


class _Component(NamedTuple):
    """The galleries of one component: tables of the classes, relevant items of each kind of query.

    Attributes
    ----------
    keys : list of TableKey
    table_of, own_table_of : arrays of shape (kinds, classes)
    shares, relevant : arrays of shape (kinds, classes)
        For queries of each kind and class: how likely a relevant item is in the gallery, and how
        many are.
    is_whole : bool
        Whether every candidate is in the gallery.
    """

    keys: list[TableKey]
    table_of: Integers
    own_table_of: Integers
    shares: Floats
    relevant: Integers
    is_whole: bool


class CountedGalleries:
    """Scores of samples under the components of a law of class counts."""

    def __init__(
        self, question: Question, score: RetrievalScore, trains: list[tuple[int, ...]],
        relevant: list[int | None],
    ) -> None:  # fmt: skip
        self.question, self.score, self.relevant = question, score, relevant
        self.ks = [column.k for column in question.columns]
        self.pools = pools_of(question, trains)
        if question.passes_over and not score.whole_relevant:
            met = self.pools.own > 0
            self.pools = self.pools._replace(own=np.where(met, _own_candidates(question), 0))
        self.most_relevant = int(np.max(np.minimum(self.pools.trains, self.pools.own[:, None, :])))
        gallery = int(self.pools.trains.sum(axis=2).max())
        self.size = score.positions(gallery, self.most_relevant, self.ks)
        self.components = [self._component(p) for p in range(len(trains))]
        self.depth = question.n_candidates
        if question.exclusion is None and self.size < gallery:
            sizes, tol = question.class_sizes, question.options.tol
            deepest = max(needed_depth(sizes, train, self.size, tol) for train in trains)
            self.depth = min(self.depth, deepest)
        # One tuple, replaced as a whole: several threads may look while one makes longer tables.
        self._made: tuple[int, list[CountTables]] | None = None

    def _component(self, p: int) -> _Component:
        others, own, trains = self.pools.others, self.pools.own, self.pools.trains[:, p]
        places: dict[TableKey, int] = {}

        def place(pool: int, drawn: int, counting: int, is_own: int) -> int:
            return places.setdefault(TableKey(pool, drawn, is_own, counting), len(places))

        table_of, own_table_of = np.zeros((2, *others.shape), np.int64)
        relevant, fixed = np.minimum(trains, own), self.relevant[p]
        if fixed is not None:
            relevant = np.where(relevant >= fixed, fixed, 0)
        for at in np.ndindex(others.shape):
            drawn = min(trains[at], others[at])
            table_of[at] = place(int(others[at]), int(drawn), PLAIN, 0)
            if relevant[at]:
                counting = self.score.counting
                own_table_of[at] = place(int(own[at]), int(relevant[at]), counting, 1)
        shares = relevant / np.maximum(own, 1)
        is_whole = fixed is None and bool((trains >= others).all() and (relevant == own).all())
        return _Component(list(places), table_of, own_table_of, shares, relevant, is_whole)

    def values(self, order: NeighborOrder, n_threads: int, weights: Floats) -> Floats:
        """Σ over components of weights[component, sample] · score, shape (rows, columns)."""
        question, sample = self.question, own_rows(order)
        labels = neighbor_labels(order, question.codes)
        rows = Rows(order.indptr, labels, order.tied, question.codes[sample])
        kinds = query_kinds(question)[sample]
        if self.is_whole:
            expected = self._whole(rows, n_threads)
            found = self._scores(expected, self.components[0].relevant[kinds, rows.own])
            return found * weights[0, sample][:, None]
        place: slice | NDArray[np.intp] = slice(None)
        if question.options.average:
            rows, chosen, place = distinct_rows(rows, kinds)
            kinds = kinds[chosen]
        total = np.zeros((order.n_samples, len(self.ks)))
        for p, tables in enumerate(self._tables(int(np.diff(rows.indptr).max(initial=0)))):
            component = self.components[p]
            expected = self._expected(rows, kinds, component, tables, order, n_threads)
            found = self._scores(expected, component.relevant[kinds, rows.own])
            total += found[place] * weights[p, sample][:, None]
        return total

    @property
    def is_whole(self) -> bool:
        """Whether there is one gallery, of all candidates."""
        return len(self.components) == 1 and self.components[0].is_whole

    def _tables(self, longest: int) -> list[CountTables]:
        made = self._made
        if made is None or longest > made[0]:
            found = [
                make_tables(component.keys, self.size, longest) for component in self.components
            ]
            made = self._made = (longest, found)
        return made[1]

    def _whole(self, rows: Rows, n_threads: int) -> Floats:
        """What is expected at the positions of the gallery of all candidates."""
        expected = np.zeros((len(rows.own), self.size))
        average, counting = self.question.options.average, self.score.counting

        def run(start: int, stop: int) -> None:
            add_whole(rows, start, stop, average, counting, expected)

        map_row_ranges(run, len(rows.own), n_threads)
        return expected

    def _expected(
        self, rows: Rows, kinds: NDArray[np.int32], component: _Component, tables: CountTables,
        order: NeighborOrder, n_threads: int,
    ) -> Floats:  # fmt: skip
        """What is expected at the positions of the galleries of one component."""
        average = self.question.options.average
        has_ties = average and bool(rows.tied.any())
        heads = np.append(np.flatnonzero(~rows.tied), len(rows.tied))
        largest = int(np.diff(heads).max(initial=1)) if has_ties else 1
        rules = rules_for(self.size if has_ties else 1, largest)
        reading = Reading(average, self.size, rules, small_groups(), FAINT, self.over)
        shares = component.shares[kinds, rows.own]
        queries = Queries(shares, kinds, component.table_of, component.own_table_of)
        expected = np.zeros((len(rows.own), self.size))
        run = partial(_add_rows, rows, queries, reading, tables, expected)
        if has_ties:
            # The first block speaks for the others, unless the estimate did.
            foreseen = is_long(self.seconds, n_threads) or not self.question.is_first(order)
            scale = 0.0 if foreseen else self.question.n_questions / order.n_samples
            map_timed_rows(run, len(rows.own), n_threads, scale=scale, cheaper=_CHEAPER, smallest=4)
        else:
            map_row_ranges(run, len(rows.own), n_threads)
        return expected

    def _scores(self, expected: Floats, relevant: Integers) -> Floats:
        """Scores of the rows, from what is expected at the positions."""
        out = np.zeros((len(relevant), len(self.ks)))
        for m in np.unique(relevant[relevant > 0]).tolist():
            at = relevant == m
            # Row by row: products of matrices round by how many rows there are in a block.
            of_rows, weights = expected[at], self.score.weights(m, self.ks, self.size)
            for column in range(len(self.ks)):
                out[at, column] = (of_rows * weights[:, column]).sum(axis=1)
        return out

    @cached_property
    def seconds(self) -> float:
        """What the walks of all rows take on one core, without ties."""
        question = self.question
        if self.is_whole:
            return 1e-9 * question.n_questions * self.depth
        cases = float(np.sum(question.class_sizes * question.question_sizes))
        cases *= min(1.0, 2 * self.depth / question.n_samples)
        seconds = 0.0
        for component in self.components:
            widths = [key.room(self.size, 1) for key in component.keys]
            wide = float(np.mean([widths[t] for t in component.table_of.ravel()]))
            met = min(question.n_classes, self.depth)
            products = 0.5 * min(self.size, wide * met) * min(wide, self.size) * met
            seconds += 1e-9 * cases * (_PRODUCT * products + _CASE * met)
        return seconds

    @property
    def over(self) -> float:
        """Where a walk is over: what may follow counts as much as the search leaves out."""
        return max(self.question.options.tol / (2 * self.size), FAINT)

    @property
    def left_out(self) -> float:
        """Bound on what the walks leave out."""
        n_classes = self.question.n_classes + 1
        whole = self.question.n_samples
        ends = FAINT * self.most_relevant * n_classes * 2 * (whole + self.size)
        ties = 64 * UNLIKELY * self.depth if self.question.options.average else 0.0
        return (ends + ties + self.over * self.size) * self.score.in_all(self.size)

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: tables, rows at the nodes, products of the classes."""
        factors = min(self.question.n_classes, self.depth)
        return (16 * self.depth + (self.size + 3) * (factors + 2) + 64) * UNIT_ROUNDOFF


def _add_rows(
    rows: Rows, queries: Queries, reading: Reading, tables: CountTables, out: Floats,
    start: int, stop: int,
) -> None:  # fmt: skip
    add_positions(rows, start, stop, queries, reading, tables, out)


def solve_counted(question: Question, score: RetrievalScore) -> Solver:
    """One law of class counts."""
    if question.passes_over and score.whole_relevant:
        return _solve_passing_over(question, score)
    components = question.columns[0].law.components
    if question.passes_over:
        weights = np.array(law_weights(question), dtype=np.float64)
    else:
        weights = np.array([float_weights(question, component) for component in components])
    trains = [component.train for component in components]
    galleries = CountedGalleries(question, score, trains, [None] * len(trains))
    return _solver(galleries, weights, weights.sum(axis=0))


def _solve_passing_over(question: Question, score: RetrievalScore) -> Solver:
    """Galleries of which some items are passed over: the number of relevant ones is random."""
    weights = np.array(law_weights(question), dtype=np.float64)
    counts: list[tuple[int, ...]] = []
    numbers: list[int | None] = []
    lines: list[Floats] = []
    kinds, codes = query_kinds(question), question.codes
    for component, weight in zip(question.columns[0].law.components, weights, strict=True):
        for m, chances in _relevant_numbers(question, component.train).items():
            counts.append(component.train)
            numbers.append(m)
            lines.append(weight * chances[kinds, codes])
    galleries = CountedGalleries(question, score, counts, numbers)
    return _solver(galleries, np.array(lines), weights.sum(axis=0), question.options.tol / 4)


def _own_candidates(question: Question) -> Integers:
    """Candidates of a query's class, those that it must not meet among them."""
    found: Integers = question.class_sizes - (0 if question.outside else 1)
    return found


def _relevant_numbers(question: Question, train: tuple[int, ...]) -> dict[int, Floats]:
    """Numbers of relevant items in a gallery, with their chances by kind and class of the query."""
    pools = class_pools(question)[1]
    candidates = _own_candidates(question)
    chances_of = cache(relevant_counts)
    found: dict[int, Floats] = {}
    for kind, code in np.argwhere(pools > 0).tolist():
        whole = int(candidates[code])
        drawn, tol = min(train[code], whole), question.options.tol
        for m, chance in chances_of(whole, int(pools[kind, code]), drawn, tol).items():
            found.setdefault(m, np.zeros(pools.shape))[kind, code] = chance
    return found


def solve_whole(question: Question, score: RetrievalScore) -> Solver:
    """The gallery of all candidates: it has fixed counts of all classes."""
    if question.exclusion is None:
        weights = np.array([float(weight) for weight in class_weights(question)])[question.codes]
    else:
        weights = np.array([float(weight) for weight in alike(question)])
    everybody = tuple(question.class_sizes.tolist())
    return _solver(CountedGalleries(question, score, [everybody], [None]), weights[None], weights)


def _solver(
    galleries: CountedGalleries, weights: Floats, in_all: Floats, unlikely: float = 0.0
) -> Solver:
    """weights[component, sample] is what each counts; `unlikely` galleries are left out."""
    question = galleries.question

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        return galleries.values(order, n_threads, weights)

    def finish(values: Floats) -> Answer:
        bound = question.options.tol + unlikely + galleries.left_out + galleries.rounding
        return answer_from_rows(question, values, in_all[question.asked], bound, weighted=True)

    return Solver(galleries.depth, part, FromRows(question, finish), galleries.seconds, _CHEAPER)

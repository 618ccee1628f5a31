"""Records of votes under fixed class counts: stratified folds, few shots.

What a sample counts differs between components, and between scores.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import comb, prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_around import LANES
from allsplits.exact._kernels_ballot_lanes import rank_work
from allsplits.exact.answer import Answer, FromFractions, FromRows, RowFractions, Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    answer_from_ballots,
    check_vectors,
    per_class,
    record_of,
)
from allsplits.exact.ballots import Ballots, certain_record, one_vote_records
from allsplits.exact.effort import class_votes_seconds, is_long, map_timed_rows
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.class_counts._kernels_ballots import ballots_of_rows, waiting_work
from allsplits.exact.laws.class_counts.draws import class_pools, query_kinds
from allsplits.exact.laws.class_counts.fractions import ExactRow, exact_row
from allsplits.exact.laws.class_counts.kernel_types import ClassVote
from allsplits.exact.laws.class_counts.vote import CHEAPER, ClassCountsVote
from allsplits.exact.laws.class_counts.weights import component_weights
from allsplits.exact.laws.fixed_size.ballots import record_rounding
from allsplits.exact.question import Question, neighbor_labels, own_rows
from allsplits.exact.ties import distinct_rows
from allsplits.orders import NeighborOrder
from allsplits.splits import CountsComponent, CountsLaw

Floats = NDArray[np.float64]


class ClassCountsBallots:
    """The records of the rows of a block, summed over components.

    `shares` are what samples of a class count in each component, shape (ways, components, classes):
    in the record, and for P(right) in further ways, whose sums follow it.
    """

    def __init__(
        self, question: Question, trains: Sequence[tuple[int, ...]], shares: Floats
    ) -> None:
        self.question, self.trains, self.shares = question, np.array(trains), shares
        self.places, self.k = question.places, question.columns[0].k
        # One vote has no more to tell than its winner, which has a shorter way.
        self.winners = replace(question, vote="majority", want_samples=True)
        self.vote = ClassCountsVote(self.winners, trains)
        self.depth = self.vote.depth

    @property
    def error_bound(self) -> float:
        """Mass left out, and rounding."""
        rounding = self.vote.rounding + record_rounding(self.places, self.depth)
        return 1.25 * self.question.options.tol + rounding

    @property
    def seconds(self) -> float:
        """What the votes of all rows take on one core, without ties."""
        each = class_votes_seconds(
            self.question.n_questions, self.depth, self.question.n_classes, [self.k],
            int(self.trains.max()), True,
        )  # fmt: skip
        return len(self.trains) * each * (1.5 + self.places.n_tops / 2)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Shape (rows, width and the further ways)."""
        whole = self.trains.sum(axis=1) == self.k
        if self.k == 1 or whole.any():
            return self._one_by_one(order, whole, n_threads)
        codes, options = self.question.codes, self.question.options
        kinds = query_kinds(self.question)[own_rows(order)]
        own = codes[own_rows(order)]
        rows = Rows(order.indptr, neighbor_labels(order, codes), order.tied, own)
        place: Any = slice(None)
        if options.average:
            rows, chosen, place = distinct_rows(rows, kinds)
            kinds = kinds[chosen]
        out = np.zeros((len(rows.own), self.places.width + len(self.shares) - 1))
        vote = ClassVote(
            Rule(True, options.average, options.share), np.array([self.k]), self.k, self.k,
            self.depth, options.tol / 8, self.vote.tie_rules, self.vote.quadrature,
        )  # fmt: skip
        draws = self.vote.tables.for_rows(kinds, int(np.diff(rows.indptr).max()))

        def run(start: int, stop: int) -> None:
            space = rank_work(self.places, options.share, self.vote.quadrature, self.shares)
            ballots_of_rows(rows, start, stop, draws, vote, waiting_work(space), out)

        # What ties cost is seen from the first rows; the first block speaks for the others.
        foreseen = is_long(self.seconds, n_threads) or not self.question.is_first(order)
        scale = 0.0 if foreseen else self.question.n_questions / order.n_samples
        map_timed_rows(run, len(rows.own), n_threads, scale=scale, cheaper=CHEAPER)
        found: Floats = out[place]
        return found

    def _one_by_one(self, order: NeighborOrder, whole: NDArray[np.bool_], n_threads: int) -> Floats:
        """Components in which everybody votes (`whole`), or only one does."""
        share, width = self.question.options.share, self.places.width
        own = self.question.codes[own_rows(order)]
        total = np.zeros((len(own), width + len(self.shares) - 1))
        proba = self.vote.values(order, n_threads) if self.k == 1 else None
        for component, train in enumerate(self.trains.tolist()):
            counted = self.shares[:, component]
            if whole[component]:
                certain = [certain_record(train, c, self.places, share) for c in range(len(train))]
                records = np.array(certain, dtype=np.float64)[own]
            elif proba is not None:
                records = one_vote_records(proba[:, component], own, self.places, share)
            else:
                each = ClassCountsBallots(self.question, [tuple(train)], counted[:, None])
                total += each(order, n_threads)
                continue
            right = records[np.arange(len(own)), own]
            total[:, :width] += records * counted[0, own][:, None]
            total[:, width:] += right[:, None] * counted[1:, own].T
        return total


class Counted(NamedTuple):
    """What a sample of each class counts in the splits of a component, three ways."""

    splits: list[Fraction]
    balanced: list[Fraction]
    recall: list[Fraction]

    @classmethod
    def of(cls, question: Question, component: CountsComponent) -> "Counted":
        """If splits count equally; if the classes of a split do; if splits that test a class do."""
        w, sizes = component.weight, question.question_sizes.tolist()
        # Those from outside are asked in every split.
        tests = sizes if question.outside else component.test
        plain = component_weights(replace(question, balanced=False), component)
        balanced = component_weights(replace(question, balanced=True), component)
        tested = [Fraction(int(n > 0), max(size, 1)) for n, size in zip(tests, sizes, strict=True)]
        return cls(*([w * each for each in line] for line in (plain, balanced, tested)))


class CountedMeans(NamedTuple):
    """Means of records, and of P(right) in the other two ways to count, with what samples count."""

    records: Any
    weight: Any
    balanced: tuple[Any, Any]
    recall: tuple[Any, Any]

    @classmethod
    def of(
        cls, question: Question, sums: Any, rights: Any, weights: list[list[Any]]
    ) -> "CountedMeans":
        """From sums of weighted records, and of P(right)."""
        codes, exact = question.own_codes, sums.dtype == object
        kind: Any = object if exact else np.float64
        plain, balanced, recall = (np.array(w, dtype=kind)[codes] for w in weights)

        def mean(values: Any, weight: Any) -> Any:
            """Of a sample that is never held out there is none."""
            unit = np.where(weight != 0, weight, 1 if exact else np.nan)
            return values / (unit if values.ndim == 1 else unit[:, None])

        of_class = per_class(recall, codes, question.n_classes)
        return cls(
            mean(sums, plain), plain, (mean(rights[:, 0], balanced), balanced),
            (mean(rights[:, 1], recall), of_class),
        )  # fmt: skip


def _ballots(
    question: Question, sums: Any, rights: Any, weights: list[list[Any]], error_bound: float
) -> Ballots:
    """From sums of weighted records, and of P(right) in the other two ways to count."""
    means = CountedMeans.of(question, sums, rights, weights)
    return Ballots(
        question.places, means.records, question.own_codes, question.n_classes, means.weight,
        means.balanced, means.recall, error_bound,
    )  # fmt: skip


def solve_ballots(question: Question) -> Solver:
    """How the votes fall, of the only column."""
    law: CountsLaw = question.columns[0].law
    counted = [Counted.of(question, component) for component in law.components]
    weights = [[sum(each) for each in zip(*way, strict=True)] for way in zip(*counted, strict=True)]
    if question.options.exact:
        return _in_fractions(question, law, counted, weights)
    trains = [component.train for component in law.components]
    shares = np.array(counted, dtype=np.float64).transpose(1, 0, 2)
    # As many components at once as there are lanes.
    turns = [slice(first, first + LANES) for first in range(0, len(trains), LANES)]
    parts = [ClassCountsBallots(question, trains[some], shares[:, some]) for some in turns]
    width = question.places.width

    def part(order: NeighborOrder, n_threads: int) -> Floats:
        total = np.zeros((order.n_samples, width + 2))
        for ballots in parts:
            total += ballots(order, n_threads)
        return total

    def finish(values: Floats) -> Answer:
        bound = max(ballots.error_bound for ballots in parts)
        in_floats = [[float(w) for w in way] for way in weights]
        return answer_from_ballots(
            _ballots(question, values[:, :width], values[:, width:], in_floats, bound)
        )

    depth = max(ballots.depth for ballots in parts)
    seconds = sum(ballots.seconds for ballots in parts)
    return Solver(depth, part, FromRows(question, finish, width=width + 2), seconds, CHEAPER)


# ------------------------------------------------------------ exact=True


def vote_chances(row: ExactRow, pools: list[int], train: list[int], k: int) -> VoteChances:
    """The chances of all votes of a row, if train[c] of the pools[c] candidates are drawn."""
    found: VoteChances = {}
    for before, tied in row.groups:
        for votes, ways in _ending_votes(before, tied, pools, train, k):
            found[votes] = found.get(votes, Fraction(0)) + ways
    everything = prod(comb(pool, count) for pool, count in zip(pools, train, strict=True))
    return {votes: ways / everything for votes, ways in found.items()}


def _ending_votes(
    before: dict[int, int], tied: dict[int, int], pools: list[int], train: list[int], k: int
) -> Iterator[tuple[tuple[int, ...], Fraction]]:
    """Votes whose k-th voter is in this tie group, and how many drawings they have."""
    # Votes of the classes so far, of them from the group, training items in the group.
    states: dict[tuple[tuple[int, ...], int, int], int] = {((), 0, 0): 1}
    for c, (pool, drawn) in enumerate(zip(pools, train, strict=True)):
        n, g = before.get(c, 0), tied.get(c, 0)
        new: dict[tuple[tuple[int, ...], int, int], int] = {}
        for (votes, of_group, in_group), ways in states.items():
            left = k - sum(votes)
            for b in range(min(n, drawn, left) + 1):
                for tau in range(min(g, drawn - b) + 1):
                    each = comb(n, b) * comb(g, tau) * comb(pool - n - g, drawn - b - tau)
                    for beta in range(min(tau, left - b) + 1 if each else 0):
                        key = ((*votes, b + beta), of_group + beta, in_group + tau)
                        new[key] = new.get(key, 0) + ways * each * comb(tau, beta)
        states = new
    for (votes, of_group, in_group), ways in states.items():
        if sum(votes) == k and of_group > 0:
            yield votes, Fraction(ways, comb(in_group, of_group))


def _in_fractions(
    question: Question, law: CountsLaw, counted: list[Counted], weights: list[list[Fraction]]
) -> Solver:
    check_vectors(question)
    places, share, codes = question.places, question.options.share, question.codes
    others, own_pools = class_pools(question)

    def line(order: NeighborOrder, row: int) -> list[Fraction]:
        own = int(codes[order.sample_of(row)])
        pools = others[0].tolist()
        pools[own] = int(own_pools[0, own])
        counts = exact_row(order, row, codes, question.options.average)
        total = [Fraction(0)] * (places.width + 2)
        for component, ways in zip(law.components, counted, strict=True):
            if not any(way[own] for way in ways):
                continue
            chances = vote_chances(counts, pools, list(component.train), question.columns[0].k)
            record = record_of(chances, own, places, share)
            for place, value in enumerate(record):
                total[place] += ways.splits[own] * value
            total[places.width] += ways.balanced[own] * record[own]
            total[places.width + 1] += ways.recall[own] * record[own]
        return total

    def finish(lines: list[list[Fraction]]) -> Answer:
        sums = np.array(lines, dtype=object)
        width = places.width
        return answer_from_ballots(
            _ballots(question, sums[:, :width], sums[:, width:], weights, 0.0)
        )

    return Solver(question.n_candidates, RowFractions(line, question), FromFractions(finish))

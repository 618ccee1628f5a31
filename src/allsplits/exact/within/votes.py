"""Votes of everybody within a radius.

Of a row only the numbers of candidates of each class within the radius matter: no order, no ties of
distances. Rows that agree in them are computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits.exact.answer import Answer, FromRows, Solver
from allsplits.exact.ballot_answer import answer_from_ballots
from allsplits.exact.ballots import ONLY_WINNERS, Ballots, Values
from allsplits.exact.effort import map_timed_rows
from allsplits.exact.kernel_types import BallotWants, Places
from allsplits.exact.laws.class_counts.ballots import Counted, CountedMeans
from allsplits.exact.laws.episodes.ballots import refuse_tops
from allsplits.exact.laws.episodes.class_sets import ClassSets
from allsplits.exact.question import Question, class_weights
from allsplits.exact.ties import legendre_rules
from allsplits.exact.within._kernels_draws import empty_rows
from allsplits.exact.within._kernels_shares import share_rows
from allsplits.exact.within._kernels_wins import vote_rows
from allsplits.exact.within.draws import drawn_of, longest_chances, totals_of
from allsplits.exact.within.fractions import check_votes, exact_record
from allsplits.exact.within.kernel_types import Around, Asks, Election
from allsplits.exact.within.outliers import check_empty, outlier_class, within_of
from allsplits.exact.within.records import WithinPlaces, outlier_record
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import CountsComponent, CountsLaw, EpisodeLaw

Floats = NDArray[np.float64]
_CHEAPER = "a smaller radius or fewer classes"


@dataclass(frozen=True, eq=False)
class WithinBallots(Ballots):
    """How the votes within a radius fall: expected shares, whatever the number of voters.

    `found` holds the rest of the records; `places` and `records` of the base class hold who wins.
    """

    found: Values = field(default_factory=lambda: np.empty((0, 0)))
    within: WithinPlaces | None = None

    @property
    def _within(self) -> WithinPlaces:
        if self.within is None:
            raise AssertionError("made without places")
        return self.within

    @property
    def own_share(self) -> Values:
        """E[share of the own class]."""
        return self.found[:, self._within.own_share]

    @property
    def share_squares(self) -> Values:
        """E Σ (share of a class)²."""
        return self.found[:, self._within.squares]

    def log_share(self, smoothing: float | None) -> Values:
        """E[log of the share of the own class]."""
        place = self._within.logs.index(smoothing)
        return self.found[:, self._within.first_log + place].astype(np.float64)

    def top(self, n: int) -> Values:
        """P(the own class is among the n most voted)."""
        return self.right if n == 1 else self.found[:, self._within.first_top + n - 1]

    def knows(self, wants: BallotWants) -> bool:
        """Who wins is all that it has in the way of other votes."""
        return wants == ONLY_WINNERS


class Distinct(NamedTuple):
    """Rows that differ: who is within the radius, and where each row is among them."""

    around: Around
    place: NDArray[np.intp]

    @classmethod
    def of(cls, question: Question, counts: Floats) -> Distinct:
        """Of all rows."""
        own = question.own_codes.astype(np.int64)
        both = np.column_stack([own, counts.astype(np.int64)])
        rows, place = np.unique(both, axis=0, return_inverse=True)
        around = Around(np.ascontiguousarray(rows[:, 1:]), rows[:, 0].astype(np.int32))
        return cls(around, place.ravel())


@dataclass(frozen=True, eq=False)
class CountsWithin:
    """Candidates of each class within the radius, shape (rows, classes)."""

    codes: NDArray[np.int32]
    n_classes: int
    radius: float

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Of the rows of a block."""
        inside = order.within(self.radius)
        rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))[inside]
        cells = rows * self.n_classes + self.codes[order.flat_indices[inside]]
        found = np.bincount(cells, minlength=order.n_samples * self.n_classes)
        return found.reshape(order.n_samples, self.n_classes).astype(np.float64)


class WithinVotes:
    """The records of all rows in one component (or under a law that has none)."""

    def __init__(
        self, question: Question, component: CountsComponent | None, around: Around
    ) -> None:
        self.question = question
        self.places = WithinPlaces.of(question)
        law, sizes = question.columns[0].law, around.counts.sum(axis=1)
        share = question.options.share
        asks = Asks(
            share, self.places.tops,
            np.array([smoothing or 0.0 for smoothing in self.places.logs], dtype=np.float64),
            self.places.n_voting,
            legendre_rules(question.n_classes // 2 + 1 if share else 0),
        )  # fmt: skip
        self.election = Election(
            around, drawn_of(question, component), totals_of(law, sizes), asks,
            longest_chances(law, int(sizes.max())),
        )  # fmt: skip

    @property
    def rounding(self) -> float:
        """What sums and products of chances lose, times the weights of the sum over powers.

        A chance loses a few roundings for each number of voters up to it, a sum one for each term,
        a product one for each class; none of them exceeds 1.
        """
        (counts, _), _, totals, _, longest = self.election
        steps = 16 * np.minimum(counts, longest).sum(axis=1) + 32 * counts.shape[1] + 64
        largest = np.maximum(np.add.reduceat(np.abs(totals.weights), totals.starts), 1.0)
        return float((steps * largest[totals.place[counts.sum(axis=1)]]).max() * UNIT_ROUNDOFF)

    def empty(self) -> Values:
        """P(no voter)."""
        out = np.empty(len(self.election.around.own))
        empty_rows(self.election, 0, len(out), out)
        return out

    def __call__(self) -> Values:
        """Records of votes with voters."""
        places, n = self.places, len(self.election.around.own)
        wins, tops = np.zeros((n, places.n_classes)), np.zeros((n, places.tops))
        shares = np.zeros((n, places.first_top - places.n_classes))

        def run(start: int, stop: int) -> None:
            vote_rows(self.election, start, stop, wins, tops)
            if places.soft:
                share_rows(self.election, start, stop, shares)

        n_threads = thread_count(self.question.options.n_jobs)
        map_timed_rows(run, n, n_threads, scale=1.0, cheaper=_CHEAPER, smallest=8)
        return np.concatenate([wins, shares, tops], axis=1)


def _components(question: Question) -> list[tuple[CountsComponent | None, Counted]]:
    """The components of the law, with what samples count in each; one where it draws no classes."""
    law = question.columns[0].law
    if isinstance(law, CountsLaw):
        return [(component, Counted.of(question, component)) for component in law.components]
    n, sizes = question.n_questions, question.question_sizes.tolist()
    if isinstance(law, EpisodeLaw):
        return _episodes(question, law)
    balanced = class_weights(replace(question, balanced=True))
    recall = [Fraction(1, max(size, 1)) for size in sizes]
    return [(None, Counted([Fraction(1, n)] * question.n_classes, balanced, recall))]


def _episodes(question: Question, law: EpisodeLaw) -> list[tuple[CountsComponent | None, Counted]]:
    """Every set of classes: class counts, met by the questions of its classes."""
    sets = ClassSets.of(question, law, "n_way and the number of classes must be smaller")
    C, sizes = question.n_classes, question.question_sizes.tolist()
    n_sets = comb(C - 1, law.n_way - 1)
    found: list[tuple[CountsComponent | None, Counted]] = []
    for train in sets.trains:
        recall = [
            Fraction(int(a > 0), max(size, 1) * n_sets)
            for a, size in zip(train, sizes, strict=True)
        ]
        # The classes of an episode count equally, so does every class in the end.
        plain = [each / C for each in recall]
        component = CountsComponent(train, (), Fraction(1))
        found.append((component, Counted(plain, plain, recall)))
    return found


def _in_fractions(
    question: Question, component: CountsComponent | None, rows: Distinct
) -> tuple[Values, Values]:
    """exact=True: records of votes with voters of the distinct rows, and P(no voter)."""
    places = WithinPlaces.of(question)
    records = np.empty((len(rows.around.own), places.width), dtype=object)
    empty = np.empty(len(records), dtype=object)
    check_votes(question.columns[0].law, rows.around.counts.tolist())
    pairs = zip(rows.around.counts.tolist(), rows.around.own.tolist(), strict=True)
    for row, (counts, own) in enumerate(pairs):
        records[row], empty[row] = exact_record(question, component, counts, own, places)
    return records, empty


def _outlier_table(question: Question, component: CountsComponent | None) -> Values:
    """The record of a question of each class where nobody is within the radius."""
    places = WithinPlaces.of(question)
    label, share = outlier_class(question, component), question.options.share
    lines = [outlier_record(own, label, places, share) for own in range(places.n_classes)]
    return np.array(lines, dtype=object)


def _ballots(question: Question, counts: Floats) -> Ballots:
    """From the numbers of candidates within the radius."""
    rows, exact = Distinct.of(question, counts), question.options.exact
    own, kind = rows.around.own, object if exact else np.float64
    components = _components(question)
    tables = [_outlier_table(question, component).astype(kind) for component, _ in components]
    shares = [np.array(counted, dtype=kind) for _, counted in components]
    if exact:
        found = [_in_fractions(question, component, rows) for component, _ in components]
        empties, bound = [empty for _, empty in found], 0.0
    else:
        votes = [WithinVotes(question, each, rows.around) for each, _ in components]
        empties, bound = [vote.empty() for vote in votes], max(vote.rounding for vote in votes)
    ways: Any = sum(shares)
    weighed: Any = sum(empty * way[0, own] for empty, way in zip(empties, shares, strict=True))
    # A class that is never held out is never asked.
    plain = np.where(ways[0, own] != 0, ways[0, own], 1)
    bound += check_empty(question, (weighed / plain)[rows.place])
    sums: Any = 0
    rights: Any = 0
    for i, (table, way) in enumerate(zip(tables, shares, strict=True)):
        records = (found[i][0] if exact else votes[i]()) + empties[i][:, None] * table[own]
        right = records[np.arange(len(own)), own]
        sums = sums + records * way[0, own][:, None]
        rights = rights + right[:, None] * way[1:, own].T
    means = CountedMeans.of(question, sums[rows.place], rights[rows.place], ways.tolist())
    C, most = question.n_classes, int(rows.around.counts.sum(axis=1).max(initial=1))
    places = WithinPlaces.of(question)
    return WithinBallots(
        Places.of(ONLY_WINNERS, C, max(most, 1)), means.records[:, :C], question.own_codes,
        places.n_voting, means.weight, means.balanced, means.recall, bound, means.records, places,
    )  # fmt: skip


def solve_within(question: Question) -> Solver:
    """How the votes of those within a radius fall."""
    within = within_of(question)
    if isinstance(question.columns[0].law, EpisodeLaw):
        refuse_tops(question)

    def finish(counts: Floats) -> Answer:
        return answer_from_ballots(_ballots(question, counts))

    part = CountsWithin(question.codes, question.n_classes, within.radius)
    return Solver(within.depth, part, FromRows(question, finish, width=question.n_classes))

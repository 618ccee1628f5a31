"""Records of votes under laws of fixed size and independent draws."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_pair_ballots import pair_work
from allsplits.exact.answer import Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    ballots_from_rows,
    ballots_in_fractions,
    ballots_of,
    votes_within,
)
from allsplits.exact.ballots import Ballots
from allsplits.exact.effort import is_long, majority_seconds, map_timed_rows
from allsplits.exact.kernel_types import Places
from allsplits.exact.laws.fixed_size._kernels_ballots import ballots_of_prefixes, prefix_work
from allsplits.exact.laws.fixed_size.fractions import groups_of, weigh_subsets
from allsplits.exact.laws.fixed_size.majority import CHEAPER, VoteTable, class_rows
from allsplits.exact.masses import column_value, deepest_prefix, prefixes_for
from allsplits.exact.question import Question
from allsplits.exact.ties import distinct_rows, legendre_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]


def record_rounding(places: Places, depth: int) -> float:
    """What the sums of a record round by, besides the chances that go into them."""
    factors = min(places.n_classes, depth)
    return 8 * (depth + (places.k + 3) * (places.k + factors + 2)) * UNIT_ROUNDOFF


class PrefixBallots:
    """The records of the rows of a block."""

    def __init__(self, question: Question) -> None:
        self.question, self.options = question, question.options
        self.places = question.places
        self.prefixes = prefixes_for(question.columns, self.options.tol)
        self.table = VoteTable(self.prefixes)
        largest = self.places.k // 2 + 1 if self.options.share else 0
        self.quadrature = legendre_rules(largest)
        #: What the votes of all rows take on one core, without ties between classes.
        self.seconds = majority_seconds(
            question.n_questions, self.prefixes.depth, question.n_classes, self.places.k
        ) * (2 + self.places.n_tops)

    @property
    def error_bound(self) -> float:
        """Mass left out, and rounding."""
        rounding = VoteTable.rounding(self.prefixes, self.question.n_classes)
        more = record_rounding(self.places, self.prefixes.depth)
        return float(self.prefixes.missing[0]) + rounding + more

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Shape (rows, width)."""
        rows = class_rows(order, self.question.codes)
        place: Any = slice(None)
        if self.options.average:
            rows, _, place = distinct_rows(rows, np.zeros_like(rows.own))
        out = np.zeros((len(rows.own), self.places.width))
        has_ties = self.options.average and bool(rows.tied.any())

        def run(start: int, stop: int) -> None:
            work = prefix_work(self.places, self.options.share, self.quadrature)
            ties = None
            if has_ties:
                ties = pair_work(self.places, self.options.share, self.quadrature)
            ballots_of_prefixes(
                rows, start, stop, self.prefixes.columns, self.table.values, work, ties, out
            )

        # What ties cost is seen from the first rows; the first block speaks for the others.
        foreseen = is_long(self.seconds, n_threads) or not self.question.is_first(order)
        scale = 0.0 if foreseen else self.question.n_questions / order.n_samples
        map_timed_rows(run, len(rows.own), n_threads, scale=scale, cheaper=CHEAPER)
        found: Floats = out[place]
        return found


def solve_ballots(question: Question) -> Solver:
    """How the votes fall, of the only column."""
    n = question.n_questions
    if question.options.exact:
        weight = [Fraction(1, n)] * n
        depth = deepest_prefix(question.columns)
        return ballots_in_fractions(question, vote_chances(question), weight, depth)
    part = PrefixBallots(question)

    def finish(records: Floats) -> Ballots:
        return ballots_of(question, records, np.full(n, 1 / n), part.error_bound)

    solver = ballots_from_rows(question, part.prefixes.depth, part, finish)
    return solver._replace(seconds=part.seconds, cheaper=CHEAPER)


def vote_chances(question: Question) -> Any:
    """The chances of all votes of a row, by order and row."""
    column, codes, C = question.columns[0], question.codes, question.n_classes

    def chances(order: NeighborOrder, row: int) -> VoteChances:
        by_prefix: dict[tuple[int, ...], dict[int, Any]] = {}
        before, s = [0] * C, 0
        for group in groups_of(order, row, question.options.average):
            tied, g = np.bincount(codes[group], minlength=C).tolist(), len(group)
            for votes, by_members in votes_within(column.k, before, tied).items():
                ways = [by_members.get(i, 0) for i in range(column.k + 1)]
                for t in range(max(1, column.k - s), g + 1):
                    by_prefix.setdefault(votes, {})[s + t] = weigh_subsets(ways, g, t)
            before = [n + t for n, t in zip(before, tied, strict=True)]
            s += g
        return {votes: column_value(column, values) for votes, values in by_prefix.items()}

    return chances

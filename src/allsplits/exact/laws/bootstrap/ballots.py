"""Records of votes for draws with replacement."""

from fractions import Fraction
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Solver
from allsplits.exact.ballot_answer import (
    VoteChances,
    ballots_from_rows,
    ballots_in_fractions,
    ballots_of,
)
from allsplits.exact.ballots import Ballots
from allsplits.exact.effort import is_long, map_timed_rows
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.bootstrap._kernels_ballots import (
    ballots_tied,
    ballots_untied,
    draw_work,
)
from allsplits.exact.laws.bootstrap.fractions import ends_here, vote_vectors
from allsplits.exact.laws.bootstrap.vote import CHEAPER, BootstrapVote
from allsplits.exact.laws.fixed_size.ballots import record_rounding
from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question, neighbor_labels, own_rows, tie_runs
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]


class BootstrapBallots:
    """The records of the rows of a block."""

    def __init__(self, question: Question) -> None:
        self.question, self.places = question, question.places
        self.vote = BootstrapVote(question)
        self.seconds = self.vote.seconds() * (1.5 + self.places.n_tops / 2)

    @property
    def error_bound(self) -> float:
        """Mass left out, and rounding."""
        return self.vote.error_bound + record_rounding(self.places, self.vote.depth)

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Shape (rows, width)."""
        codes, options = self.question.codes, self.question.options
        rows = Rows(order.indptr, neighbor_labels(order, codes), order.tied, codes[own_rows(order)])
        out = np.zeros((order.n_samples, self.places.width))

        def run(start: int, stop: int) -> None:
            work = draw_work(self.places, options.share, self.vote.quadrature)
            for first, last, has_ties in tie_runs(
                order.indptr, order.tied, options.average, start, stop
            ):
                walk = ballots_tied if has_ties else ballots_untied
                walk(rows, first, last, self.vote.draws, work, out)

        # What ties cost is seen from the first rows; the first block speaks for the others.
        foreseen = is_long(self.seconds, n_threads) or not self.question.is_first(order)
        scale = 0.0 if foreseen else self.question.n_questions / order.n_samples
        map_timed_rows(run, order.n_samples, n_threads, scale=scale, cheaper=CHEAPER)
        return out


def solve_ballots(question: Question) -> Solver:
    """How the votes fall, of the only column."""
    n = question.n_questions
    if question.options.exact:
        return ballots_in_fractions(
            question, _vote_chances(question), [Fraction(1, n)] * n, question.n_candidates
        )
    part = BootstrapBallots(question)

    def finish(records: Floats) -> Ballots:
        return ballots_of(question, records, np.full(n, 1 / n), part.error_bound)

    solver = ballots_from_rows(question, part.vote.depth, part, finish)
    return solver._replace(seconds=part.seconds, cheaper=CHEAPER)


def _vote_chances(question: Question) -> Any:
    """The chances of all votes of a row, by order and row."""
    k, codes, C = question.columns[0].k, question.codes, question.n_classes
    classes = list(range(C))

    def chances(order: NeighborOrder, row: int) -> VoteChances:
        found: VoteChances = {}
        before, s = dict.fromkeys(classes, 0), 0
        for members in groups_of(order, row, question.options.average):
            labels = codes[members].tolist()
            tied, g = {c: labels.count(c) for c in classes}, len(labels)
            for u in range(k):
                weight = ends_here(question.n_samples, question.n_candidates, s, g, k, u)
                if not weight or (u and not s):
                    continue
                scale = weight * factorial(u) * factorial(k - u)
                scale /= Fraction(s) ** u * Fraction(g) ** (k - u) if u else Fraction(g) ** k
                for votes, ways in vote_vectors(classes, before, tied, u, k - u).items():
                    found[votes] = found.get(votes, Fraction(0)) + scale * ways
            before = {c: before[c] + tied[c] for c in classes}
            s += g
        return found

    return chances

"""Draws with replacement (the bootstrap): out-of-bag scores averaged over all n^n samples.

Cost per sample, neighbour and k: O(C·k³) with C classes met so far, vectorised. A row with ties
costs O(k⁴) for each tie group in the worst case.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows, in_fractions
from allsplits.exact.effort import class_votes_seconds, is_long, map_timed_rows
from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.bootstrap._kernels import (
    BootstrapDraws,
    Votes,
    bootstrap_ranked,
    bootstrap_scores,
    bootstrap_untied,
)
from allsplits.exact.laws.bootstrap.fractions import exact_right
from allsplits.exact.question import (
    Question,
    class_weights,
    neighbor_labels,
    own_rows,
    sample_weights,
    tie_runs,
)
from allsplits.exact.ties import legendre_rules
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder

Floats = NDArray[np.float64]
#: What a long run is told.
CHEAPER = "fewer neighbours"


def needed_depth(n_draws: int, n_candidates: int, k: int, tol: float) -> int:
    """Shortest prefix that holds k draws with probability above 1 - tol."""
    lengths = np.arange(1, n_candidates + 1)
    missing = bdtr(k - 1, n_draws, lengths / n_candidates)
    return int(lengths[np.argmax(missing <= tol)])


class BootstrapVote:
    """Values of the rows of a block: for each column, or for each class."""

    def __init__(self, question: Question) -> None:
        self.question = question
        n_draws, n_candidates = question.n_samples, question.n_candidates
        self.ks = np.array([min(column.k, n_draws) for column in question.columns])
        self.k_max = int(self.ks.max())
        self.depth = needed_depth(n_draws, n_candidates, self.k_max, question.options.tol)
        self.draws = BootstrapDraws(n_draws, n_candidates, self.depth)
        self.quadrature = legendre_rules(self.k_max // 2 + 1 if question.options.share else 0)

    @property
    def error_bound(self) -> float:
        """Mass left out, and rounding.

        Powers (1-p)^n lose n roundings, the sums over votes k² and k for each class, the survival a
        few units.
        """
        votes = self.k_max * (self.k_max + min(self.question.n_classes, self.depth))
        steps = 8 * self.question.n_samples + 8 * self.depth + 8 * votes
        return self.question.options.tol + (steps + 64) * UNIT_ROUNDOFF

    def seconds(self) -> float:
        """What the votes of all rows take on one core, without ties; each k has its own."""
        if self.question.vote == "ranked":
            return 0.0
        n_rows, n_classes = self.question.n_questions, self.question.n_classes
        return sum(
            class_votes_seconds(n_rows, self.depth, n_classes, [k], k, every_class=True)
            for k in self.ks.tolist()
        )

    def __call__(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Values of the rows of a block."""
        codes, options = self.question.codes, self.question.options
        labels = neighbor_labels(order, codes)
        rows = Rows(order.indptr, labels, order.tied, codes[own_rows(order)])
        rule = Rule(self.question.wants_classes, options.average, options.share)
        votes = Votes(self.ks, self.question.n_classes, self.quadrature)
        out = np.zeros((order.n_samples, self.question.width))

        def run(start: int, stop: int) -> None:
            if self.question.vote == "ranked":
                bootstrap_ranked(rows, start, stop, options.average, self.draws, self.ks, out)
                return
            for first, last, has_ties in tie_runs(
                order.indptr, order.tied, options.average, start, stop
            ):
                scores = bootstrap_scores if has_ties else bootstrap_untied
                scores(rows, first, last, rule, self.draws, votes, out)

        # What ties cost is seen from the first rows; the first block speaks for the others.
        foreseen = is_long(self.seconds(), n_threads) or not self.question.is_first(order)
        scale = 0.0 if foreseen else self.question.n_questions / order.n_samples
        map_timed_rows(run, order.n_samples, n_threads, scale=scale, cheaper=CHEAPER)
        return out


def solve_bootstrap(question: Question) -> Solver:
    """Equal votes or recall@R; the columns' k are the voters or the ranks."""
    if question.options.exact:
        per_class = class_weights(question)
        weights = [per_class[code] for code in question.own_codes]
        line = partial(exact_right, question)
        return in_fractions(question, line, question.n_candidates, weights)
    vote = BootstrapVote(question)

    def finish(values: Floats) -> Answer:
        return answer_from_rows(question, values, sample_weights(question), vote.error_bound)

    total = FromRows(question, finish)
    return Solver(vote.depth, vote, total, vote.seconds(), CHEAPER)

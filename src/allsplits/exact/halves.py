"""The unbiased variance of a score over training sets of a fixed size, from disjoint halves.

Let U be the mean over all training sets S of a samples and all questions i outside of S. Two scores
whose training sets and questions share no sample are independent, so with

    Q = mean of right(i | S) · right(j | S') over all disjoint S ∪ i and S' ∪ j

E[Q] = E[U]², and V = U² - Q has the expectation Var U (Wang & Lindsay 2014). Such pairs exist where
2a + 2 ≤ n. All of those that a cut of the data in two disjoint halves holds come together as the
product of the scores of both halves, each over all of its own training sets of a samples. Both
scores have the mean U over all cuts, so

    V = - mean over all cuts of (U₁ - U)(U₂ - U),

which is computed for all cuts where they are few, and otherwise for some that are drawn. No search
is repeated: the order of a half is the order of all without the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.leaving_out import without_samples
from allsplits.exact.masses import Column
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.question import Question
from allsplits.exact.solve import solve, solver_for
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.splits import SizeLaw

#: So many cuts are all taken.
_FEW_CUTS = 1000


@dataclass(frozen=True, repr=False)
class UnbiasedVariance:
    """An estimate of the variance of a score over data sets from the same source.

    Attributes
    ----------
    variance : float
        Its expectation is the variance of the score. It may be negative.
    fraction : Fraction or None
        The same as a fraction, with ``exact=True`` and few samples.
    n_cuts : int
        Cuts of the data in two halves that were drawn; 0 if all of them were taken.
    standard_error : float
        Of a `variance` from drawn cuts.
    """

    variance: float
    fraction: Fraction | None = None
    n_cuts: int = 0
    standard_error: float = 0.0

    @property
    def sampled(self) -> bool:
        """Whether cuts were drawn, instead of all of them taken."""
        return self.n_cuts > 0

    def __repr__(self) -> str:
        if not self.sampled:
            return f"UnbiasedVariance({self.variance:.4g}, from all cuts in two halves)"
        return (
            f"UnbiasedVariance({self.variance:.4g}, SAMPLED from {self.n_cuts:,} cuts in two "
            f"halves with standard error {self.standard_error:.1g})"
        )


def unbiased_variance(
    neighbors: Neighbors, question: Question, *, n_cuts: int, seed: int
) -> UnbiasedVariance:
    """For a question of one column under a law of one fixed size."""
    _check(question)
    n, size = question.n_samples, question.columns[0].law.components[0].train
    every = comb(n, n // 2) <= _FEW_CUTS
    neighbors.expect()
    [answer] = solve(neighbors, question)
    order = _order_for(neighbors, question, size)
    cuts = _every_cut(n) if every else _drawn_cuts(n, n_cuts, seed)
    products: list[Any] = []
    with progress_bar(question.options.progress, "halves", 0 if every else n_cuts) as step:
        for half in cuts:
            mean = answer.fractions[0] if answer.fractions else answer.scores[0]
            one, other = (_score(order, question, keep, size) for keep in (half, ~half))
            products.append((one - mean) * (other - mean))
            step(1)
    if every:
        total = -sum(products) / len(products)
        fraction = total if isinstance(total, Fraction) else None
        return UnbiasedVariance(float(total), fraction)
    values = -np.array([float(value) for value in products])
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    return UnbiasedVariance(float(values.mean()), None, n_cuts, error)


def _check(question: Question) -> None:
    """Raise where there is no unbiased variance."""
    law, n = question.columns[0].law, question.n_samples
    if question.outside:
        raise UnsupportedError(
            "the unbiased variance is of samples that ask each other; with a fixed test set "
            "(X_test) interval() says what other test samples might have given"
        )
    if not isinstance(law, SizeLaw) or len(law.components) > 1 or question.exclusion is not None:
        raise UnsupportedError(
            "the unbiased variance exists for training sets of one fixed size (FixedSize, "
            f"LeavePOut, ShuffleSplit); got {law}"
        )
    size = law.components[0].train
    if 2 * size + 2 > n:
        raise UnsupportedError(
            "the unbiased variance needs two training sets and two questions that share no "
            f"sample: at most {(n - 2) // 2} of {n} samples in training; got {size}"
        )
    if question.balanced:
        raise UnsupportedError(
            "the unbiased variance is for scores that are means over samples; got "
            "balanced_accuracy, and a half may miss a class"
        )


def _every_cut(n: int) -> Iterator[NDArray[np.bool_]]:
    for chosen in combinations(range(n), n // 2):
        half = np.zeros(n, dtype=bool)
        half[list(chosen)] = True
        yield half


def _drawn_cuts(n: int, n_cuts: int, seed: int) -> Iterator[NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    for _ in range(n_cuts):
        half = np.zeros(n, dtype=bool)
        half[rng.permutation(n)[: n // 2]] = True
        yield half


def _half_question(question: Question, keep: NDArray[np.bool_], size: int) -> Question:
    """The question of the samples that are kept, with as large training sets."""
    column = Column(question.columns[0].k, SizeLaw.of_size(int(keep.sum()), size))
    return replace(
        question,
        codes=question.codes[keep] if question.n_classes else question.codes,
        targets=question.targets if question.n_classes else question.targets[keep],
        columns=[column],
    )


def _order_for(neighbors: Neighbors, question: Question, size: int) -> NeighborOrder:
    """An order of which every half is deep enough, or the complete one."""
    n = question.n_samples
    keep = np.zeros(n, dtype=bool)
    keep[: n - n // 2] = True
    half = solver_for(_half_question(question, keep, size)).depth
    # Of m neighbours m/2 are in a half, give or take √m / 2; nine of those are never seen.
    depth = min(n - 1, int(2 * half + 9 * (2 * half) ** 0.5) + 9)
    blocks = neighbors.blocks(depth, whole_order)
    return concatenate([part for block in blocks for part in block.parts])


def _score(
    order: NeighborOrder, question: Question, keep: NDArray[np.bool_], size: int
) -> Fraction | float:
    """The score of one half over all of its training sets."""
    half = _half_question(question, keep, size)
    solver = solver_for(half)
    rows = without_samples(order, keep)
    if rows.depth < min(solver.depth, rows.n_candidates):
        raise AssertionError("a half has fewer neighbours than were foreseen")
    solver.total.add(solver.part(rows, thread_count(question.options.n_jobs)))
    answer = solver.total.finish()
    return answer.fractions[0] if answer.fractions else float(answer.scores[0])

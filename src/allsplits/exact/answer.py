"""What comes back: what rows contribute, how it is put together, and the two ways to finish.

Every solver goes one way: data → order → part → total → answer. Parts run anywhere (threads, a
GPU, a cluster); totals stay at the caller.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.ballots import Ballots
from allsplits.exact.effort import announced
from allsplits.exact.question import Question
from allsplits.orders import NeighborOrder, SearchReport

Floats = NDArray[np.float64]
Found_co = TypeVar("Found_co", covariant=True)
Found_contra = TypeVar("Found_contra", contravariant=True)
#: The value of a sample for each column, or None where it is never held out.
FractionLine = Sequence[Fraction | None]


@dataclass(frozen=True)
class ScoresWithout:
    """Scores when one unit (a sample, or a group) is gone from the data.

    Attributes
    ----------
    scores : ndarray of shape (units, columns)
    error_bound : ndarray of shape (columns,)
        They are off by no more than this.
    fractions : tuple of tuples of Fraction, or None
        The scores in Fractions, with exact=True.
    """

    scores: Floats
    error_bound: Floats
    fractions: tuple[tuple[Fraction, ...], ...] | None = None


@dataclass(frozen=True)
class Answer:
    """Scores of all columns, and values of the samples where they were asked for.

    `without` are the scores when a sample, or a group, is gone from the data; `ballots` are how the
    votes fall, of the only column.
    """

    scores: Floats
    error_bound: Floats
    sample_weight: Floats | None = None
    fractions: tuple[Fraction, ...] | None = None
    sample_scores: Floats | None = None
    sample_fractions: tuple[tuple[Any, ...], ...] | None = None
    prediction_proba: Floats | None = None
    standard_error: Floats = field(default_factory=lambda: np.zeros(1))
    without: ScoresWithout | None = None
    ballots: Ballots | None = None
    search: SearchReport = field(default_factory=SearchReport)


class Part(Protocol[Found_co]):
    """What the rows of a block contribute.

    It may run in any thread or on another machine, so it changes nothing and holds no more than it
    needs. Compiled kernels are called by functions of a module, not by closures, which would carry
    the kernels about.
    """

    def __call__(self, order: NeighborOrder, n_threads: int) -> Found_co:
        """What these rows contribute."""


class Total(Protocol[Found_contra]):
    """Sums up at the caller. Values of rows come in the order of the rows."""

    def add(self, found: Found_contra) -> None:
        """Add what a block contributed."""

    def finish(self) -> Answer:
        """The answer, once all rows have been added."""


class Solver(NamedTuple):
    """One way through.

    Attributes
    ----------
    depth : int
        How deep the orders must be.
    part : Part
        What the rows of a block contribute.
    total : Total
        Puts it together.
    seconds : float
        What the parts of all rows take together, on one core, roughly: for a word before long runs.
    cheaper : str
        What would take less time, for that word.
    """

    depth: int
    part: Part[Any]
    total: Total[Any]
    seconds: float = 0.0
    cheaper: str = "fewer samples"


class FromRows:
    """Values of all samples, put together from blocks that come in the order of their rows."""

    def __init__(
        self, question: Question, finish: Callable[[Floats], Answer], *, width: int = 0
    ) -> None:
        self._values = np.empty((question.n_questions, width or question.width))
        self._finish = finish
        self._filled = 0

    def add(self, found: Floats) -> None:
        """Put the values of the next rows in their place."""
        self._values[self._filled : self._filled + len(found)] = found
        self._filled += len(found)

    def finish(self) -> Answer:
        """The answer that the values give."""
        return self._finish(self._values)


class FromFractions:
    """What was found for each sample in Fractions, one line after the other."""

    def __init__(self, finish: Callable[[list[Any]], Answer]) -> None:
        self._lines: list[Any] = []
        self._finish = finish

    def add(self, found: list[Any]) -> None:
        """Append the lines of the next rows."""
        self._lines.extend(found)

    def finish(self) -> Answer:
        """The answer that the lines give."""
        return self._finish(self._lines)


@dataclass(frozen=True, eq=False)
class RowFractions:
    """exact=True: one line of Fractions for each row of a block."""

    line: Callable[[NeighborOrder, int], Any]
    question: Question

    def __call__(self, order: NeighborOrder, n_threads: int) -> list[Any]:
        """The lines of these rows. All splits in Python numbers: long runs are announced."""
        n_all = self.question.n_questions if self.question.is_first(order) else 0
        rows = announced(order.n_samples, n_all)
        return [self.line(order, row) for row in rows]


def answer_from_rows(
    question: Question,
    values: Floats,
    weight: Floats | None,
    error_bound: Floats | float,
    *,
    weighted: bool = False,
) -> Answer:
    """Scores from the values of samples for each column (or class), and what each sample counts.

    Without `weight` values are negative errors and all count alike; with `weighted` they are
    multiplied by it already. Summing one fixed array gives the same bits for any number of blocks
    or threads.
    """
    right = values
    if question.wants_classes:
        right = values[np.arange(len(values)), question.own_codes][:, None]
    if weight is None:
        # Of errors, not of their negatives: a perfect fit has -0.0, as in scikit-learn.
        scores, weight = -(-right).mean(axis=0), np.full(len(right), 1 / len(right))
    else:
        scores = np.sum(right if weighted else right * weight[:, None], axis=0)
    # A sample that is never held out has no score.
    unit = np.where(weight > 0, weight, np.nan)[:, None] if weighted else 1.0
    return Answer(
        scores=scores,
        error_bound=np.broadcast_to(error_bound, scores.shape).copy(),
        sample_weight=weight,
        sample_scores=right / unit if question.want_samples or question.want_rows else None,
        prediction_proba=values / unit if question.wants_classes else None,
    )


def answer_from_fractions(
    values: Sequence[FractionLine],
    weights: Sequence[Fraction],
    *,
    proba: Sequence[FractionLine] | None = None,
) -> Answer:
    """The same in Fractions; a sample that counts nothing has no values (None)."""
    fractions = tuple(
        sum((w * line[c] for w, line in zip(weights, values, strict=True) if w), Fraction(0))  # type: ignore[operator]
        for c in range(len(values[0]))
    )
    return Answer(
        scores=np.array([float(value) for value in fractions]),
        error_bound=np.zeros(len(fractions)),
        sample_weight=np.array([float(w) for w in weights]),
        fractions=fractions,
        sample_scores=np.array(values, dtype=np.float64),
        sample_fractions=tuple(tuple(line) for line in values),
        prediction_proba=None if proba is None else np.array(proba, dtype=np.float64),
    )


def in_fractions(
    question: Question,
    line: Callable[[NeighborOrder, int], FractionLine],
    depth: int,
    weights: Sequence[Fraction],
) -> Solver:
    """exact=True: the values of a row for each column, and what each question counts."""

    def finish(lines: list[FractionLine]) -> Answer:
        return answer_from_fractions(lines, weights)

    return Solver(depth, RowFractions(line, question), FromFractions(finish))


class _SideBySide:
    """Totals of several solvers that share the parts' orders."""

    def __init__(self, totals: list[Total[Any]], join: Callable[[list[Answer]], Answer]) -> None:
        self._totals, self._join = totals, join

    def add(self, found: list[Any]) -> None:
        """Add to each total what its part found."""
        for total, one in zip(self._totals, found, strict=True):
            total.add(one)

    def finish(self) -> Answer:
        """All answers in one."""
        return self._join([total.finish() for total in self._totals])


@dataclass(frozen=True, eq=False)
class _Parts:
    parts: list[Part[Any]]

    def __call__(self, order: NeighborOrder, n_threads: int) -> list[Any]:
        return [part(order, n_threads) for part in self.parts]


def side_by_side(solvers: list[Solver], places: Sequence[Sequence[int]]) -> Solver:
    """Several solvers as one, with one search: solver i answers the columns places[i]."""
    n_columns = sum(len(place) for place in places)

    def join(answers: list[Answer]) -> Answer:
        joined = np.zeros((3, n_columns))
        for place, answer in zip(places, answers, strict=True):
            joined[:, place] = (
                answer.scores,
                answer.error_bound,
                np.broadcast_to(answer.standard_error, len(place)),
            )
        fractions: list[Fraction] = [Fraction(0)] * n_columns
        for place, answer in zip(places, answers, strict=True):
            for c, value in zip(place, answer.fractions or (), strict=False):
                fractions[c] = value
        exact = all(answer.fractions is not None for answer in answers)
        return Answer(
            scores=joined[0],
            error_bound=joined[1],
            standard_error=joined[2],
            fractions=tuple(fractions) if exact else None,
            sample_weight=answers[0].sample_weight,
            sample_scores=_join_samples(answers, places),
        )

    return Solver(
        max(solver.depth for solver in solvers),
        _Parts([solver.part for solver in solvers]),
        _SideBySide([solver.total for solver in solvers], join),
        sum(solver.seconds for solver in solvers),
        solvers[-1].cheaper,
    )


def _join_samples(answers: list[Answer], places: Sequence[Sequence[int]]) -> Floats | None:
    """Scores of the samples in all columns, where every answer has them."""
    found = [answer.sample_scores for answer in answers if answer.sample_scores is not None]
    if len(found) < len(answers):
        return None
    joined: Floats = np.concatenate(found, axis=1)[:, np.argsort(np.concatenate(places))]
    return joined


def by_law(question: Question, solve_one: Callable[[Question], Solver]) -> Solver:
    """Columns that share a law (a curve over k) share the passes, all share the search."""
    laws = list(dict.fromkeys(column.law for column in question.columns))
    if len(laws) == 1:
        return solve_one(question)
    places = [[c for c, column in enumerate(question.columns) if column.law == law] for law in laws]
    return side_by_side(
        [
            solve_one(question.with_columns([question.columns[c] for c in place]))
            for place in places
        ],
        places,
    )

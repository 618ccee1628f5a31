"""What is asked and what comes back: the two ends of every exact computation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.effort import warn_if_long
from allsplits.exact.masses import Column
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import NeighborOrder, SearchReport, iter_parts, search_seconds

__all__ = [
    "Answer",
    "Exclusion",
    "Options",
    "Problem",
    "RowValues",
    "Solver",
    "neighbor_labels",
    "run",
    "tie_runs",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Options:
    """How to compute: the keywords that all public functions share."""

    distance_ties: Literal["average", "index"] = "average"
    label_ties: Literal["first", "share"] = "first"
    exact: bool = False
    tol: float = 1e-15
    vote_tol: float = 1e-4
    max_states: int = 1 << 17
    allow_sampling: bool = False
    backend: str = "auto"
    n_jobs: int | None = None
    progress: bool = False

    @property
    def average(self) -> bool:
        """Whether orders of tied neighbours are averaged."""
        return self.distance_ties == "average"

    @property
    def share(self) -> bool:
        """Whether tied classes share the vote."""
        return self.label_ties == "share"


@dataclass(frozen=True)
class Exclusion:
    """Candidates that a query must not meet: those of its group (camera, session, patient).

    With `same_class_only` just those that have its class as well.
    """

    groups: NDArray[np.int32]
    same_class_only: bool

    def apply(self, order: NeighborOrder, codes: NDArray[np.int32]) -> NeighborOrder:
        """The order without the excluded candidates."""
        rows = own_rows(order)
        lengths = np.diff(order.indptr)
        neighbors = order.flat_indices
        excluded = np.repeat(self.groups[rows], lengths) == self.groups[neighbors]
        if self.same_class_only:
            excluded &= np.repeat(codes[rows], lengths) == codes[neighbors]
        return order.where(~excluded)

    def pools(self, codes: NDArray[np.int32], n_classes: int) -> tuple[Any, Any]:
        """Candidates of each class for a query of each group: (other classes, own class)."""
        n_groups = int(self.groups.max()) + 1
        table = np.zeros((n_groups, n_classes), dtype=np.int64)
        np.add.at(table, (self.groups, codes), 1)
        elsewhere = table.sum(axis=0) - table
        everywhere = np.broadcast_to(table.sum(axis=0), table.shape)
        return (everywhere if self.same_class_only else elsewhere), elsewhere


@dataclass(frozen=True)
class Problem:
    """Validated data and the columns (k, law) to answer.

    `X` is an array of points, a distance matrix or a NeighborOrder; with `balanced`, classes count
    equally in the score instead of samples. `codes` (classification) or `targets` (regression)
    is empty where it does not apply.
    """

    X: Any
    metric: Any
    codes: NDArray[np.int32]
    n_classes: int
    targets: Floats
    vote: Literal["majority", "ranked", "mean", "weighted", "weighted mean"]
    columns: list[Column]
    balanced: bool
    want_samples: bool
    options: Options
    exclusion: Exclusion | None = None
    weights: VoteWeights | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.columns[0].law.n_samples)

    def without_data(self) -> Problem:
        """The same problem without X: what solvers see, so that parts carry no data about."""
        return replace(self, X=None)

    def with_columns(self, columns: list[Column]) -> Problem:
        """The same problem for other columns."""
        return replace(self, columns=columns)


@dataclass(frozen=True)
class Answer:
    """Scores of all columns, and values of the samples where they were asked for."""

    scores: Floats
    error_bound: Floats
    sample_weight: Floats | None = None
    fractions: tuple[Fraction, ...] | None = None
    sample_scores: Floats | None = None
    sample_fractions: tuple[tuple[Any, ...], ...] | None = None
    prediction_proba: Floats | None = None
    standard_error: Floats = field(default_factory=lambda: np.zeros(1))
    search: SearchReport = field(default_factory=SearchReport)

    def mixed(self, mixing: list[list[Fraction]]) -> Answer:
        """Columns replaced by mixtures of columns (no class probabilities)."""
        matrix = np.array(mixing, dtype=np.float64)

        def mix(values: Sequence[Fraction]) -> tuple[Fraction, ...]:
            return tuple(
                sum((w * v for w, v in zip(line, values, strict=True)), Fraction(0))
                for line in mixing
            )

        if self.fractions is not None and self.sample_fractions is not None:
            fractions = mix(self.fractions)
            of_samples = tuple(mix(row) for row in self.sample_fractions)
            return Answer(
                scores=np.array([float(value) for value in fractions]),
                error_bound=np.zeros(len(fractions)),
                sample_weight=self.sample_weight,
                fractions=fractions,
                sample_scores=np.array(of_samples, dtype=np.float64),
                sample_fractions=of_samples,
            )
        samples = self.sample_scores
        return Answer(
            scores=matrix @ self.scores,
            error_bound=matrix @ self.error_bound,
            sample_weight=self.sample_weight,
            sample_scores=None if samples is None else samples @ matrix.T,
        )


class Solver(NamedTuple):
    """One way through: data → order → part → sum → result.

    Attributes
    ----------
    depth : int
        How deep the orders must be.
    part : callable
        (order, n_threads) -> what these rows contribute. It may run in any thread or on another
        machine, so it changes nothing and holds no more than it needs. Compiled kernels are called
        by functions of a module, not by closures, which would carry the kernels about.
    add : callable
        (part) -> None, at the caller, who sums up. Values of rows come in the order of the rows.
    finish : callable
        () -> Answer.
    seconds : float
        What the parts of all rows take together, on one core, roughly: for a word before long runs.
    cheaper : str
        What would take less time, for that word.
    """

    depth: int
    part: Any
    add: Any
    finish: Any
    seconds: float = 0.0
    cheaper: str = "fewer samples"


class RowValues:
    """Values of all samples, put together from blocks that come in the order of their rows."""

    def __init__(self, n_samples: int, width: int) -> None:
        self.values = np.empty((n_samples, width))
        self._filled = 0

    def add(self, block: Floats) -> None:
        """Put the values of the next rows in their place."""
        self.values[self._filled : self._filled + len(block)] = block
        self._filled += len(block)


def run(problem: Problem, solver: Solver) -> Answer:
    """Sum up what the blocks of rows contribute."""
    options, part = problem.options, solver.part
    warn_if_long(
        search_seconds(problem.X, problem.metric, solver.depth, options.backend),
        solver.seconds,
        thread_count(options.n_jobs),
        solver.depth,
        solver.cheaper,
    )
    if problem.exclusion is not None:
        part = partial(_of_allowed, part, problem.exclusion, problem.codes)
    blocks = iter_parts(
        problem.X, problem.metric, solver.depth, part, backend=options.backend,
        n_jobs=options.n_jobs,
    )  # fmt: skip
    reports: list[SearchReport] = []
    with progress_bar(options.progress, "exact average over all splits", problem.n_samples) as step:
        for block in blocks:
            reports.append(block.search)
            for found in block.parts:
                solver.add(found)
            step(block.n_rows)
    answer: Answer = solver.finish()
    if not np.all(np.isfinite(answer.scores)):
        raise FloatingPointError(
            "a score came out as NaN or infinite: a number in between was too large or too small "
            "for floating point. This is a defect of allsplits, please report it; exact=True "
            "computes in integers"
        )
    given = isinstance(problem.X, NeighborOrder)
    return replace(answer, search=problem.X.search if given else SearchReport.total(reports))


def _of_allowed(
    part: Any, exclusion: Exclusion, codes: NDArray[np.int32], order: NeighborOrder, n_threads: int
) -> Any:
    """The part of an order from which excluded candidates are taken first."""
    return part(exclusion.apply(order, codes), n_threads)


def tie_runs(
    indptr: NDArray[np.int64], tied: NDArray[np.bool_], average: bool, start: int, stop: int
) -> Iterator[tuple[int, int, bool]]:
    """Consecutive rows from start to stop that have ties to average over, or have none.

    Yields (first, last, has ties); without ties the votes take a shorter way.
    """
    has_ties = np.zeros(stop - start, dtype=bool)
    if average:
        low, high = indptr[start], indptr[stop]
        heads = indptr[start:stop] - low
        filled = np.diff(indptr[start : stop + 1]) > 0
        if filled.any():
            has_ties[filled] = np.logical_or.reduceat(tied[low:high], heads[filled])
    cuts = [0, *(np.flatnonzero(np.diff(has_ties)) + 1).tolist(), stop - start]
    for first, last in pairwise(cuts):
        if first < last:
            yield start + first, start + last, bool(has_ties[first])


def own_rows(order: NeighborOrder) -> slice:
    """Sample numbers of the rows of a block."""
    return slice(order.first_row, order.first_row + order.n_samples)


def neighbor_labels(order: NeighborOrder, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Class codes of all neighbours. They are valid: not to check them is three times faster."""
    return codes.take(order.flat_indices, mode="clip")

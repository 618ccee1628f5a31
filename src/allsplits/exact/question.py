"""What is asked: checked labels, the columns to answer, and how to compute; no points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.ballots import ONLY_WINNERS
from allsplits.exact.kernel_types import BallotWants, Places
from allsplits.exact.masses import Column
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import NeighborOrder

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

    With `same_class_only` just those that have its class as well. With `from_the_rest` galleries
    are drawn from what is left, so many of each class; else from all candidates, and those that are
    excluded are passed over.
    """

    groups: NDArray[np.int32]
    same_class_only: bool
    from_the_rest: bool = True

    def __str__(self) -> str:
        """What queries do not meet."""
        return f"without items of a query's own {'class and ' * self.same_class_only}group"

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
        """What is drawn from for a query of each group: (other classes, own class).

        Of other classes these may be candidates that are passed over; of the own class those that
        are left. `codes` are those of the samples; questions from outside have groups after theirs.
        """
        n_groups = int(self.groups.max()) + 1
        table = np.zeros((n_groups, n_classes), dtype=np.int64)
        np.add.at(table, (self.groups[: len(codes)], codes), 1)
        elsewhere = table.sum(axis=0) - table
        everywhere = np.broadcast_to(table.sum(axis=0), table.shape)
        whole = self.same_class_only or not self.from_the_rest
        return (everywhere if whole else elsewhere), elsewhere


#: Outlier labels of `Within`: nobody gave one; one that no sample has.
NOT_GIVEN, NO_CLASS = -2, -1


@dataclass(frozen=True)
class Within:
    """Everybody within a radius votes.

    Attributes
    ----------
    radius : float
    depth : int
        No question has more candidates within it.
    outlier : int
        The class that is predicted where there are none, or one of the two above.
    most_frequent : bool
        Whether it is the most frequent class of each training set instead.
    outlier_target : float or None
        The same for a regressor.
    """

    radius: float
    depth: int
    outlier: int = NOT_GIVEN
    most_frequent: bool = False
    outlier_target: float | None = None


@dataclass(frozen=True)
class Question:
    """Classes or targets and the columns (k, law) to answer; whose neighbours they are is apart.

    With `balanced`, classes count equally in the score instead of samples. `codes` (classification)
    or `targets` (regression) is empty where it does not apply. `want_samples` asks for all that is
    known of each sample, in one column; `want_rows` for its score in each column; `wants` for how
    its votes fall (the vote is "ballot"), in one column. `retrieval` is the score of a gallery
    (then the columns' k are its cut-offs); `within` says who votes where that is a radius.

    The questions are the samples themselves, each answered by the others, or points from outside
    (the law says which). Those are numbered after the samples, in `codes`, in `targets`, in the
    groups of `exclusion` and as rows of orders, so that one array serves neighbours and questions.
    """

    codes: NDArray[np.int32]
    n_classes: int
    targets: Floats
    vote: Literal[
        "majority",
        "ranked",
        "mean",
        "weighted",
        "weighted mean",
        "bias",
        "ballot",
        "retrieval",
        "within",
        "mean within",
    ]
    columns: list[Column]
    balanced: bool
    want_samples: bool
    options: Options
    exclusion: Exclusion | None = None
    weights: VoteWeights | None = None
    want_rows: bool = False
    wants: BallotWants = ONLY_WINNERS
    retrieval: RetrievalScore | None = None
    within: Within | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.columns[0].law.n_samples)

    @property
    def outside(self) -> bool:
        """Whether the questions are not samples."""
        return bool(self.columns[0].law.outside)

    @property
    def n_candidates(self) -> int:
        """Candidates of each question."""
        return int(self.columns[0].law.n_candidates)

    @property
    def passes_over(self) -> bool:
        """Whether galleries may hold candidates that a query must not meet."""
        return self.exclusion is not None and not self.exclusion.from_the_rest

    @property
    def asked(self) -> slice:
        """The numbers of the questions."""
        return slice(self.n_samples if self.outside else 0, None)

    @property
    def sample_codes(self) -> NDArray[np.int32]:
        """The class of each sample; all codes where one of them is struck, and the law smaller."""
        return self.codes[: self.n_samples] if self.outside else self.codes

    @property
    def own_codes(self) -> NDArray[np.int32]:
        """The class of each question."""
        return self.codes[self.asked]

    @property
    def own_targets(self) -> Floats:
        """The target of each question."""
        return self.targets[self.asked]

    @property
    def n_questions(self) -> int:
        """Number of questions: rows of orders, and of what comes back."""
        if not self.outside:
            return self.n_samples
        return max(len(self.own_codes), len(self.own_targets))

    def is_first(self, order: NeighborOrder) -> bool:
        """Whether a block of rows is the first: it speaks for the others."""
        return bool(order.first_row == self.asked.start)

    @property
    def wants_classes(self) -> bool:
        """Whether the chance of every class is asked for, sample by sample."""
        return self.want_samples and self.vote in ("majority", "weighted")

    @property
    def width(self) -> int:
        """Values of a sample: one for each column, or for each class."""
        return self.n_classes if self.wants_classes else len(self.columns)

    @property
    def places(self) -> Places:
        """What a record of the votes holds, in the only column."""
        return Places.of(self.wants, self.n_classes, self.columns[0].k)

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Samples of each class."""
        return np.bincount(self.sample_codes, minlength=self.n_classes)

    @property
    def question_sizes(self) -> NDArray[np.int64]:
        """Questions of each class."""
        return np.bincount(self.own_codes, minlength=self.n_classes)

    def with_columns(self, columns: list[Column]) -> Question:
        """The same question for other columns."""
        return replace(self, columns=columns)


def class_weights(question: Question) -> list[Fraction]:
    """What one question of each class counts in the score."""
    if not question.balanced:
        return [Fraction(1, question.n_questions)] * question.n_classes
    sizes = question.question_sizes.tolist()
    present = sum(1 for size in sizes if size)
    return [Fraction(1, present * max(size, 1)) for size in sizes]


def sample_weights(question: Question) -> Floats:
    """What each question counts in the score."""
    weights = np.array([float(w) for w in class_weights(question)])
    return weights[question.own_codes]


def tie_runs(
    indptr: NDArray[np.int64], tied: NDArray[np.bool_], average: bool, start: int, stop: int
) -> Iterator[tuple[int, int, bool]]:
    """Consecutive rows from start to stop that have ties to average over, or have none.

    Yields (first, last, has ties); without ties the votes take a shorter way. Which way a row takes
    depends on nothing but the row, so that blocks and threads do not change a bit.
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


def own_rows(order: NeighborOrder) -> slice | NDArray[np.intp]:
    """Sample numbers of the rows of a block."""
    if order.numbers is not None:
        return order.numbers
    return slice(order.first_row, order.first_row + order.n_samples)


def neighbor_labels(order: NeighborOrder, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Class codes of all neighbours. They are valid: not to check them is three times faster."""
    return codes.take(order.flat_indices, mode="clip")

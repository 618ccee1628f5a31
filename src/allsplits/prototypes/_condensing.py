"""Condense and reduce: which rows to keep so that 1-NN on them still classifies the sample.

*Hart's rule* (1968), as printed by Ratsaby (1997, page 616): the first sample is a prototype; pass
over the sample and keep what the prototypes get wrong, until a pass keeps nothing. *FCNN* (Angiulli
2007) starts with the sample nearest to the mean of each class and, all at once, keeps for every
prototype the nearest sample of another class among those it is the nearest prototype of; the result
does not depend on the order of rows. A sample is right if all of its nearest prototypes have its
class: nobody is right by the order of rows. Both end with a training error of zero and cost
O(n m d) for m prototypes.

*Reduce* drops prototypes in turn until a pass drops none. Ratsaby's: a prototype goes if the
remaining *prototypes* classify it right, which may leave samples wrong. Gates's (1972): it goes
only if the whole *sample* stays right.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits.orders import TIE_TOLERANCE, has_tiny_values
from allsplits.prototypes._kernels import (
    add_prototypes,
    condense_in_order,
    name_rivals,
    reduce_consistent,
    reduce_paper,
)
from allsplits.prototypes._nearest import class_shares

#: Work (samples x features x prototypes) of one compiled call: about a second at most, so that a
#: progress bar moves and Ctrl-C is heard.
_WORK_PER_CALL = 1 << 29


class _Sample(NamedTuple):
    """The samples, feature by feature as well; who is kept; the two nearest prototypes of each."""

    X: NDArray[np.float64]
    columns: NDArray[np.float64]
    codes: NDArray[np.int32]
    kept: NDArray[np.bool_]
    nearest: NDArray[np.int64]
    distances: NDArray[np.float64]

    def add(self, rows: NDArray[np.intp]) -> None:
        """These rows become prototypes."""
        add_prototypes(self.columns, self.codes, rows, self.kept, self.nearest, self.distances)

    def shares(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Share of each class among the nearest prototypes of these samples."""
        kept, n_classes = np.flatnonzero(self.kept), int(self.codes.max()) + 1
        return class_shares(self.X[rows], self.X[kept], self.codes[kept], n_classes)


def choose_prototypes(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    *,
    fast: bool,
    reduce: str | None,
    visits: NDArray[np.intp] | None = None,
    progress: bool = False,
) -> tuple[NDArray[np.intp], int]:
    """Return the rows of the prototypes, in ascending order, and how many samples stay wrong.

    `visits` is the order of the passes. Only samples so near to one of another class that their
    squared distance is zero in floats stay wrong (before a reduction as printed).
    """
    n = len(X)
    visits = np.arange(n) if visits is None else visits
    X = _scaled_up(X)
    columns = np.ascontiguousarray(X.T)
    kept = np.zeros(n, dtype=np.bool_)
    nearest = np.full((2, n), n, dtype=np.int64)
    distances = np.full((2, n), np.inf)
    sample = _Sample(X, columns, codes, kept, nearest, distances)
    step = max(1, _WORK_PER_CALL // columns.size)

    def condense() -> None:
        _pass_over(
            lambda rows: condense_in_order(columns, codes, rows, kept, nearest, distances),
            visits, step, "condensing", progress,
        )  # fmt: skip

    if fast:
        _condense_fast(sample, step, progress)
    else:
        sample.add(visits[:1])
        condense()
    n_wrong = _count_wrong(sample)
    if reduce == "consistent":
        _pass_over(
            lambda rows: reduce_consistent(X, codes, rows, kept, nearest, distances),
            visits, step, "reducing", progress,
        )  # fmt: skip
    elif reduce == "paper":
        other = np.full(n, -1, dtype=np.int64)
        _pass_over(
            lambda rows: reduce_paper(X, codes, rows, kept, other),
            visits, step, "reducing", progress,
        )  # fmt: skip
        return np.flatnonzero(kept), n_wrong
    while len(wrong := _wrongly_tied(sample)):
        sample.add(wrong)
        condense()
    return np.flatnonzero(kept), n_wrong


def _scaled_up(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """X times a power of two, which does not round, if squares of its differences may underflow."""
    if not has_tiny_values(X):
        return X
    return np.ldexp(X, 490 - int(np.frexp(np.abs(X).max())[1]))


def _wrongly_tied(sample: _Sample) -> NDArray[np.intp]:
    """Samples that are right by their two nearest prototypes, and not for certain in `predict`.

    There a chain of distances, each equal to the next one, is one tie, of which two show no more
    than the beginning.
    """
    _, _, codes, kept, nearest, distances = sample
    near = distances[1] <= distances[0] * (1 + 8 * TIE_TOLERANCE)
    doubtful = np.flatnonzero(near & (codes[nearest[0]] == codes) & ~kept)
    if len(doubtful) == 0:
        return doubtful
    own = codes[doubtful]
    wrong: NDArray[np.intp] = doubtful[sample.shares(doubtful)[np.arange(len(own)), own] < 1]
    return wrong


def _count_wrong(sample: _Sample) -> int:
    """How many samples `predict` gets wrong: such as are too near to one of another class."""
    not_right = np.flatnonzero(sample.codes[sample.nearest[0]] != sample.codes)
    if len(not_right) == 0:
        return 0
    predicted = np.argmax(sample.shares(not_right), axis=1)
    return int(np.count_nonzero(predicted != sample.codes[not_right]))


def _pass_over(
    visit: Callable[[NDArray[np.intp]], int],
    visits: NDArray[np.intp],
    step: int,
    what: str,
    progress: bool,
) -> None:
    """Visit all rows in turn, again and again until a pass changes nothing."""
    number = 0
    changed = 1
    while changed:
        changed = 0
        number += 1
        with progress_bar(progress, f"{what}, pass {number}", len(visits)) as advance:
            for start in range(0, len(visits), step):
                rows = visits[start : start + step]
                changed += visit(rows)
                advance(len(rows))


def _condense_fast(sample: _Sample, step: int, progress: bool) -> None:
    """FCNN: rivals join all at once, until nobody names one; the bar counts who is right."""
    X, _, codes, kept, nearest, distances = sample
    n = len(codes)
    named = np.empty(n, dtype=np.int64)
    joining = _central_rows(X, codes)
    right = 0
    with progress_bar(progress, "condensing, classified right", n) as advance:
        while len(joining):
            for start in range(0, len(joining), step):
                sample.add(joining[start : start + step])
                now = int(np.count_nonzero(codes[nearest[0]] == codes))
                advance(now - right)
                right = now
            name_rivals(codes, kept, nearest, distances, named)
            joining = named[named < n]


def _central_rows(X: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The row nearest to the mean of each class, the first one if several are."""
    rows = []
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        squares = ((X[own] - X[own].mean(axis=0)) ** 2).sum(axis=1)
        rows.append(own[np.argmax(squares <= squares.min() * (1 + 2 * TIE_TOLERANCE))])
    return np.array(rows, dtype=np.int64)

"""Condense and reduce: which rows to keep so that 1-NN on them still classifies the sample.

*Hart's rule* (1968), as printed by Ratsaby (1997): the first sample is a prototype; pass over the
sample and keep what the prototypes get wrong, until a pass keeps nothing. *FCNN* (Angiulli 2007)
starts with the sample nearest to the mean of each class and, all at once, keeps for every prototype
the nearest sample of another class among those it is the nearest prototype of; the result does not
depend on the order of rows. Both end with a training error of zero and cost O(n m d) for m
prototypes.

*Reduce* drops prototypes in turn until a pass drops none. Ratsaby's: a prototype goes if the
remaining *prototypes* classify it right, which may leave samples wrong. Gates's (1972): it goes
only if the whole *sample* stays right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from allsplits.prototypes._kernels import (
    condense_fast,
    condense_in_order,
    reduce_consistent,
    reduce_paper,
)

__all__ = ["REDUCTIONS", "choose_prototypes"]

REDUCTIONS = ("consistent", "paper", None)


def choose_prototypes(
    X: NDArray[np.float64],
    codes: NDArray[np.int32],
    *,
    fast: bool,
    reduce: str | None,
    visits: NDArray[np.intp] | None = None,
) -> tuple[NDArray[np.intp], int]:
    """Return the rows of the prototypes, in ascending order, and how many samples stay wrong.

    `visits` is the order of the passes. Only samples so near to one of another class that their
    squared distance is zero in floats stay wrong (before a reduction as printed).
    """
    n = len(X)
    visits = np.arange(n) if visits is None else visits
    columns = np.ascontiguousarray(X.T)
    kept = np.zeros(n, dtype=np.bool_)
    nearest = np.full((2, n), n, dtype=np.int64)
    distances = np.full((2, n), np.inf)
    if fast:
        condense_fast(columns, codes, _central_rows(X, codes), kept, nearest, distances)
    else:
        condense_in_order(columns, codes, visits, kept, nearest, distances)
    n_wrong = np.count_nonzero(codes[nearest[0]] != codes)
    if reduce == "consistent":
        reduce_consistent(X, codes, visits, kept, nearest, distances)
    elif reduce == "paper":
        reduce_paper(X, codes, visits, kept)
    return np.flatnonzero(kept), int(n_wrong)


def _central_rows(X: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.int64]:
    """The row nearest to the mean of each class, the first one if several are."""
    rows = []
    for code in np.unique(codes):
        own = np.flatnonzero(codes == code)
        squares = ((X[own] - X[own].mean(axis=0)) ** 2).sum(axis=1)
        rows.append(own[np.argmin(squares)])
    return np.array(rows, dtype=np.int64)

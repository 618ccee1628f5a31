"""The named state that Python and compiled kernels share: NamedTuples of arrays and numbers.

numba compiles and caches functions of them; a field's type is that of the value it is given.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns", "Quadrature", "Rows", "Rule"]

Floats = NDArray[np.float64]


class Rows(NamedTuple):
    """The rows of an order as the kernels see them: classes instead of neighbours.

    Row i has the entries indptr[i]:indptr[i + 1], nearest first; `tied` tells that an entry is as
    far away as the one before it. `own` is the class of each row.
    """

    indptr: NDArray[np.int64]
    labels: NDArray[np.int32]
    tied: NDArray[np.bool_]
    own: NDArray[np.int32]


class Rule(NamedTuple):
    """How a vote is counted.

    Attributes
    ----------
    every_class : bool
        Whether the chance of every class is asked for, or only that of a row's own.
    average : bool
        Whether orders of tied neighbours are averaged.
    share : bool
        Whether tied classes share the vote, instead of the first getting it.
    """

    every_class: bool
    average: bool
    share: bool


class Columns(NamedTuple):
    """The votes that are asked for: ks[c] voters, and masses[c, j] of the prefix of length j.

    Prefix j matters for k_low[j] to k_high[j] voters.
    """

    ks: NDArray[np.int64]
    masses: Floats
    k_low: NDArray[np.int64]
    k_high: NDArray[np.int64]


class Quadrature(NamedTuple):
    """Gauss-Legendre rules on [0, 1]: line q of `nodes` and `weights` holds the rule of q nodes."""

    nodes: Floats
    weights: Floats

"""The named state of boosting: what the kernels get instead of long lists of arguments."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class LossCode(NamedTuple):
    """A loss: its number, and addresses of ψ, -ψ' and ψ'' if it is a user's."""

    kind: int
    addresses: NDArray[np.int64]


class Problem(NamedTuple):
    """One class: it does not change while it is boosted."""

    loss: LossCode
    #: ``members[indptr[j]:indptr[j + 1]]`` have j among their nearest.
    indptr: NDArray[np.int64]
    members: NDArray[np.int32]
    #: ±1 memberships of the examples.
    signs: NDArray[np.int8]
    #: What is added to sums of weights, and the same as a number of examples at margin 0.
    smoothing: float
    pseudo: float
    #: Whether both are shares of the sum of all weights.
    normalized: bool


class Rule(NamedTuple):
    """Which example steps next."""

    #: Only positive steps, or those of either sign.
    positive: bool
    #: Each example at most once.
    once: bool
    #: No step that is not longer than this.
    tol: float


class State(NamedTuple):
    """Where the examples are: it changes with every step."""

    margins: NDArray[np.float64]
    weights: NDArray[np.float64]
    losses: NDArray[np.float64]
    #: Columns W+, what rounding took from it, W-, what rounding took from it.
    sums: NDArray[np.float64]
    #: One such row for everybody: the sum of the losses, and that of the weights in size.
    totals: NDArray[np.float64]


class Queue(NamedTuple):
    """A heap of the examples by their keys, and where each one is in it."""

    heap: NDArray[np.int64]
    place: NDArray[np.int64]
    keys: NDArray[np.float64]


class Lists(NamedTuple):
    """Neighbour lists in which those come first whose step may get longer while margins rise."""

    rows: NDArray[np.int32]
    #: How many of those each list has.
    n_impure: NDArray[np.int64]
    #: The last round in which each example was looked at.
    stamps: NDArray[np.int64]


class Trace(NamedTuple):
    """What comes out: example and step of each round, mean losses, margins at the end."""

    chosen: NDArray[np.int32]
    steps: NDArray[np.float64]
    risks: NDArray[np.float64]
    margins: NDArray[np.float64]

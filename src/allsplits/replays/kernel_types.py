"""The named state that Python and the kernels of replays share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class ReplayRows(NamedTuple):
    """An order as the replay sees it; `weights` of the entries is empty where all weigh 1."""

    indptr: Ints
    neighbors: NDArray[np.int32]
    tied: NDArray[np.bool_]
    weights: Floats


class ReplayVote(NamedTuple):
    """How the k nearest make a prediction.

    Attributes
    ----------
    k : int
    average, share : bool
        Whether tied neighbours are drawn or averaged, and tied classes share.
    ranked, mean, weighted : bool
        Which vote it is; none of them: equal votes for classes.
    tolerance : float
        Share of the lightest vote that two equal sums may differ by.
    labels, targets : ndarray
    """

    k: int
    average: bool
    share: bool
    ranked: bool
    mean: bool
    weighted: bool
    tolerance: float
    labels: NDArray[np.int32]
    targets: Floats


class ReplayRun(NamedTuple):
    """One run: the fold of each sample (-1: it is not tested), its copies in training, its unit.

    A sample votes in all folds but its own; units are what tested samples count in the score.
    """

    folds: NDArray[np.int32]
    copies: NDArray[np.int32]
    units: Floats


class Pools(NamedTuple):
    """What draws come from: pool p has the samples members[starts[p]:starts[p + 1]]."""

    members: Ints
    starts: Ints


class Dealt(NamedTuple):
    """Where a drawn run is written: folds and copies as in a `ReplayRun`, and room to shuffle."""

    folds: NDArray[np.int32]
    copies: NDArray[np.int32]
    scratch: Ints

    @classmethod
    def room_for(cls, n: int) -> "Dealt":
        """Room for runs of n samples."""
        return cls(np.empty(n, np.int32), np.empty(n, np.int32), np.empty(2 * n, np.int64))


class ReplayWork(NamedTuple):
    """Work space of the replay.

    Attributes
    ----------
    sums : array of shape (2, classes)
        Votes of each class; or of means, the sum of targets and of weights. The second line has
        those of voters at distance 0, who decide alone where weights are one over distance.
    extremes : array of shape (3,)
        The lightest and the heaviest vote, and the number of voters at distance 0.
    state : array of shape (1,)
        Of the random numbers.
    """

    sums: Floats
    extremes: Floats
    state: NDArray[np.uint64]


class ChoiceWork(NamedTuple):
    """Work space for averages over all choices among the tied.

    Attributes
    ----------
    members : array of shape (classes,)
        The tied of each class.
    own, chances : arrays of shape (k + 1,)
        How likely each number of voters of a class is.
    before, after : arrays of shape (k + 1, rivals + 1)
        Chances by places that are left and rivals that are even; of the latter one column alone
        where even votes are not shared.
    left : array of shape (3,)
        Tied ones of the classes that are to come, the places they may have at most, and all tied.
    """

    members: Ints
    own: Floats
    chances: Floats
    before: Floats
    after: Floats
    left: Ints

    @classmethod
    def room_for(cls, k: int, n_classes: int, *, share: bool) -> "ChoiceWork":
        """Room for k voters of so many classes."""
        shape = (k + 1, n_classes if share else 1)
        numbers = np.zeros(n_classes, dtype=np.int64), np.zeros(k + 1), np.zeros(k + 1)
        return cls(*numbers, np.zeros(shape), np.zeros(shape), np.zeros(3, dtype=np.int64))


class Answers(NamedTuple):
    """What is said of the tested samples of a run, fold by fold.

    Attributes
    ----------
    tested : array of shape (n_samples + 1,)
        Fold f tests the samples tested[starts[f]:starts[f + 1]]; what follows is room.
    starts : array of shape (n_folds + 1,)
    given : array of shape (n_samples,)
        The class that wins, or the mean; -1 if a row of classes ended before k voters were met.
    votes : array of shape (n_samples, n_classes)
        Votes of each class; of means, whether k voters were met.
    """

    tested: Ints
    starts: Ints
    given: Floats
    votes: Floats

    @classmethod
    def room_for(cls, n_samples: int, n_classes: int, n_folds: int) -> "Answers":
        """Room for the answers of runs."""
        return cls(
            np.zeros(n_samples + 1, dtype=np.int64),
            np.zeros(n_folds + 1, dtype=np.int64),
            np.zeros(n_samples),
            np.zeros((n_samples, max(1, n_classes))),
        )

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


class Drawing(NamedTuple):
    """How the runs of a law are drawn. What a way does not take is empty, or 0.

    Attributes
    ----------
    way : int
        One of those in `_kernels_draw`.
    pools : Pools
    trains, tests : arrays of shape (components, pools)
        Samples of each pool for training and for test; of folds: `tests` of shape (folds, pools).
    ends : array
        Where the shares of the components end, from 0 to 1; without the last.
    groups : array of shape (n_samples,)
    n_groups, n_train, n_test : int
        How many groups there are, train, and are tested.
    n_way, k_shot : int
        Classes of an episode, and training samples of each.
    q : float
        Chance to be a training sample.
    k : int
        Training samples without which nobody is tested.
    outside : bool
        Whether questions come from outside.
    fewest : int
        Training samples that these need.
    """

    way: int
    pools: Pools
    trains: Ints
    tests: Ints
    ends: Floats
    groups: NDArray[np.int32]
    n_groups: int
    n_train: int
    n_test: int
    n_way: int
    k_shot: int
    q: float
    k: int
    outside: bool
    fewest: int


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

    @classmethod
    def room_for(cls, n_classes: int, state: NDArray[np.uint64]) -> "ReplayWork":
        """Work space, with the state of its random numbers."""
        return cls(np.zeros((2, max(2, n_classes))), np.zeros(3), state)


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


class Room(NamedTuple):
    """Where one thread writes a run and its answers.

    Attributes
    ----------
    dealt, run : Dealt, ReplayRun
        The mask, for those who write it and for those who read it: the same arrays.
    answers : Answers
    marks : array of shape (n_samples,)
        One more than the class of a training sample, 0 for others.
    tally : array of shape (n_classes + 1,)
        Votes of each class, after those who do not vote; 0 between samples.
    late, everybody : arrays of shape (n_samples,)
        Places of the tested that are asked one by one: some, or all numbers in turn.
    levels : array of shape (n_classes, 2, k + 1)
        How many samples of other classes, and of the own, have so many votes for a class.
    work : ReplayWork
    """

    dealt: Dealt
    run: ReplayRun
    answers: Answers
    marks: NDArray[np.uint8] | NDArray[np.int32]
    tally: Ints
    late: Ints
    everybody: Ints
    levels: Ints
    work: ReplayWork

    @property
    def n_folds(self) -> int:
        """Folds of a mask."""
        return len(self.answers.starts) - 1

    @classmethod
    def room_for(cls, n: int, n_classes: int, n_folds: int, k: int) -> "Room":
        """Room for runs of n samples, so many folds at a time."""
        dealt = Dealt.room_for(n)
        # As small as can be: they are looked up in any order.
        marks = np.empty(n, np.uint8) if n_classes < 255 else np.empty(n, np.int32)
        return cls(
            dealt,
            ReplayRun(dealt.folds, dealt.copies, np.empty(0)),
            Answers.room_for(n, n_classes, n_folds),
            marks,
            np.zeros(max(1, n_classes) + 1, dtype=np.int64),
            np.empty(n, dtype=np.int64),
            np.arange(n),
            np.zeros((n_classes, 2, k + 1), dtype=np.int64),
            ReplayWork.room_for(n_classes, np.zeros(1, dtype=np.uint64)),
        )


class Scored(NamedTuple):
    """What is kept of the runs of a batch. Sums that no score needs have no runs.

    Attributes
    ----------
    states : array of shape (n_runs,)
        Of the random numbers, at the start of each run.
    counts, areas, losses, errors, reached : arrays of shape (n_runs, n_folds, ...)
        What `_kernels_scores` sums, of each split.
    totals : array of shape (n_runs, 2)
        Answers for which somebody was drawn among the tied; answers.
    done : array of shape (n_runs,)
        Runs of which all is written.
    """

    states: NDArray[np.uint64]
    counts: Ints
    areas: Floats
    losses: Floats
    errors: Floats
    reached: Floats
    totals: Ints
    done: NDArray[np.bool_]


class MeansRule(NamedTuple):
    """How the nearest class mean is found.

    Attributes
    ----------
    points, labels : ndarray
        The samples, and their classes.
    manhattan : bool
        Sums of differences, and medians for means; else squares, and means.
    average : bool
        Whether one of equally distant means is drawn; else the first class has it.
    tolerance : float
        Relative difference of keys that are equal.
    """

    points: Floats
    labels: NDArray[np.int32]
    manhattan: bool
    average: bool
    tolerance: float


class MeansRoom(NamedTuple):
    """Where one thread writes the means of classes: only those that train have a column.

    Attributes
    ----------
    sizes, columns : arrays of shape (n_classes,)
        Training samples of each class, and its column.
    classes : array of shape (n_classes,)
        The class of each column.
    centres : array of shape (n_features, n_classes)
        The mean of each column.
    keys : array of shape (n_classes,)
        Distances of one sample.
    values : array of shape (n_samples,)
        One coordinate of the training samples, column by column.
    ends : array of shape (n_classes,)
        Where those of a column end.
    """

    sizes: Ints
    columns: Ints
    classes: Ints
    centres: Floats
    keys: Floats
    values: Floats
    ends: Ints

    @classmethod
    def room_for(cls, n: int, n_features: int, n_classes: int) -> "MeansRoom":
        """Room for the means of classes."""
        numbers = [np.zeros(n_classes, dtype=np.int64) for _ in range(4)]
        return cls(
            numbers[0], numbers[1], numbers[2], np.zeros((n_features, n_classes)),
            np.zeros(n_classes), np.zeros(n), numbers[3],
        )  # fmt: skip

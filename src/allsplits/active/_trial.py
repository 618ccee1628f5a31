"""One repetition of a simulation: a pool to learn from, and samples that judge what was learnt.

Samples that judge are held out before anything is asked. What is left of a pool is no fair judge
of those who chose what to take from it: an active learner takes the hard samples, and leaves the
easy ones.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits._validation import check_count, check_fraction, check_labels
from allsplits.active._learner import ActiveLearner
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import Metric, NeighborOrder, Reference, read_queries, read_samples

#: The value of `test_size` that measures errors on what is left of the pool.
POOL_REMAINDER = "pool_remainder"
_DEFAULT_SHARE = 0.25
#: Most candidate numbers of neighbours, times classes, times samples, counted at a time.
_COUNTS_PER_BLOCK = 1 << 22

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


@dataclass(frozen=True)
class TrialData:
    """All samples, checked, and how those that judge are found.

    `test` holds samples of their own; otherwise `n_held_out` samples are drawn for each trial, and
    if that is 0, what is left of the pool judges.
    """

    X: Any
    codes: Codes
    metric: Metric
    n_held_out: int
    test: tuple[Any, Codes] | None

    @classmethod
    def read(cls, learner: Any, X: Any, y: Any, test: tuple[Any, Any], test_size: Any) -> TrialData:
        """Check what `simulate` was given."""
        if not isinstance(learner, ActiveLearner):
            raise InvalidTypeError(
                f"learner must be an ActiveLearner; got {type(learner).__name__}"
            )
        metric = Metric.resolve(learner.metric, metric_params=learner.metric_params)
        points = read_samples(X, metric)
        classes, codes = check_labels(y, len(points))
        if test[0] is None and test[1] is None:
            return cls(points, codes, metric, _read_size(test_size, len(points)), None)
        if test_size is not None:
            raise InvalidInputError(
                f"test_size must be None with X_test and y_test; got {test_size!r}"
            )
        return cls(points, codes, metric, 0, _read_test(test, points, classes, metric))

    @property
    def measured_on(self) -> str:
        """What errors are measured on, in words."""
        if self.test is not None:
            return f"{len(self.test[1])} test samples"
        return f"{self.n_held_out} held-out samples" if self.n_held_out else "the rest of the pool"

    @property
    def n_pool(self) -> int:
        """Samples that may be asked for."""
        return len(self.X) - self.n_held_out

    def trial(self, rng: np.random.RandomState) -> Trial:
        """A pool and, if wanted, samples held out from it."""
        if not self.n_held_out:
            return Trial(self.metric.fixed_by_sample(self.X), self.X, self.codes, self.test)
        judges = _stratified(self.codes, self.n_held_out, rng)
        pool = np.setdiff1d(np.arange(len(self.X)), judges)
        X, others = self.X[pool], self.X[judges]
        if self.metric.precomputed:
            X, others = X[:, pool], others[:, pool]
        return Trial(
            self.metric.fixed_by_sample(X), X, self.codes[pool], (others, self.codes[judges])
        )


@dataclass(frozen=True)
class Trial:
    """The pool of one repetition and its judges; None: whatever is left of the pool."""

    metric: Metric
    X: Any
    codes: Codes
    test: tuple[Any, Codes] | None

    def labels_at(self, rows: NDArray[np.intp]) -> Floats:
        """The start: class numbers of some rows, NaN elsewhere."""
        y = np.full(len(self.X), np.nan)
        y[rows] = self.codes[rows]
        return y

    def errors(self, learner: ActiveLearner, ks: list[int]) -> Floats:
        """Error rate of each number of neighbours (ascending), all from one neighbour search."""
        X, truth = self._judges(learner)
        rows, labels = learner.labelled_, learner.labels_.astype(np.int32)
        n_threads = thread_count(learner.n_jobs)
        n_classes = int(max(truth.max(), labels.max())) + 1
        search = Reference(self.X[rows], self.metric, n_threads)
        step = min(search.rows_per_block, max(64, _COUNTS_PER_BLOCK // (ks[-1] * n_classes)))
        wrong = np.zeros(len(ks), dtype=np.int64)
        for start in range(0, len(X), step):
            block = X[start : start + step]
            order = search.of(block[:, rows] if self.metric.precomputed else block, ks[-1])
            own = truth[start : start + step]
            tied = np.logical_or.reduceat(order.tied, order.indptr[:-1])
            wrong += _count_wrong(labels[order.indices[~tied]], own[~tied], ks, n_classes)
            if tied.any():
                wrong += _count_wrong_tied(_rows_of(order, tied), labels, own[tied], ks)
        return wrong / len(X)

    def _judges(self, learner: ActiveLearner) -> tuple[Any, Codes]:
        """Samples to measure errors on (rows of distances to the pool, if precomputed)."""
        if self.test is not None:
            return self.test
        rest = learner.pool_
        return self.X[rest], self.codes[rest]


def _read_size(test_size: Any, n_samples: int) -> int:
    """How many samples to hold out; 0 for what is left of the pool."""
    if isinstance(test_size, str):
        if test_size == POOL_REMAINDER:
            return 0
        raise InvalidInputError(
            "test_size must be a share, a number of samples, None or "
            f"{POOL_REMAINDER!r}; got {test_size!r}"
        )
    if isinstance(test_size, (int, np.integer)):
        return check_count("test_size", test_size, at_least=1, at_most=n_samples - 1)
    share = _DEFAULT_SHARE if test_size is None else check_fraction("test_size", test_size)
    return min(max(1, round(share * n_samples)), n_samples - 1)


def _read_test(
    test: tuple[Any, Any], X: Any, classes: NDArray[Any], metric: Metric
) -> tuple[Any, Codes]:
    if test[0] is None or test[1] is None:
        raise InvalidInputError("X_test and y_test must be given both or not at all; got one")
    points = read_queries(test[0], X, metric, name="X_test")
    found, numbers = check_labels(test[1], len(points), several=False)
    known = np.isin(found, classes)
    if not known.all():
        raise InvalidInputError(
            f"y_test must have the classes of y, {classes.tolist()}; "
            f"got {found[~known].tolist()} besides"
        )
    return points, np.searchsorted(classes, found).astype(np.int32)[numbers]


def _stratified(codes: Codes, size: int, rng: np.random.RandomState) -> NDArray[np.intp]:
    """`size` rows at random, of each class its share of them, up or down to a whole number.

    Every (n / size)-th row of a shuffled list that is sorted by class, from a random place on.
    Unlike scikit-learn's stratified splits it takes classes of one sample.
    """
    shuffled = rng.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    places = np.floor((np.arange(size) + rng.random_sample()) * (len(codes) / size))
    chosen: NDArray[np.intp] = by_class[np.minimum(places.astype(np.intp), len(codes) - 1)]
    return chosen


def _count_wrong_tied(
    order: NeighborOrder, labels: Codes, truth: Codes, ks: list[int]
) -> NDArray[np.int64]:
    """The same for rows with ties: who is tied at the k-th place shares the votes left."""
    n_classes = int(max(truth.max(), labels.max())) + 1
    rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
    places = rows * n_classes + labels[order.flat_indices]
    wrong = np.empty(len(ks), dtype=np.int64)
    for position, k in enumerate(ks):
        votes = np.bincount(places, order.votes(k)[0], order.n_samples * n_classes)
        guesses = votes.reshape(-1, n_classes).argmax(axis=1)
        wrong[position] = np.count_nonzero(guesses != truth)
    return wrong


def _rows_of(order: NeighborOrder, chosen: NDArray[np.bool_]) -> NeighborOrder:
    lengths = np.diff(order.indptr)
    kept = order.where(np.repeat(chosen, lengths))
    return replace(kept, indptr=np.append(0, np.cumsum(lengths[chosen])))


def _count_wrong(
    neighbors: Codes, truth: Codes, ks: list[int], n_classes: int
) -> NDArray[np.int64]:
    """How many votes are wrong for each k; equal votes go to the first class."""
    if len(ks) == 1:
        votes = (neighbors[:, :, None] == np.arange(n_classes)).sum(axis=1, dtype=np.int32)
        return np.array([np.count_nonzero(votes.argmax(axis=1) != truth)])
    wrong = np.empty(len(ks), dtype=np.int64)
    votes = np.zeros((len(neighbors), n_classes), dtype=np.int32)
    everyone = np.arange(len(neighbors))
    done = 0
    for position, k in enumerate(ks):
        for rank in range(done, k):
            votes[everyone, neighbors[:, rank]] += 1
        done = k
        wrong[position] = np.count_nonzero(votes.argmax(axis=1) != truth)
    return wrong

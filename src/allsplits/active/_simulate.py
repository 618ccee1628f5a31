"""`simulate`: what active learning would have saved, on data whose labels are all known."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits._validation import check_count, check_labels, check_points
from allsplits.active._learner import ActiveLearner
from allsplits.active._simulation import Simulation
from allsplits.active._tuning import read_neighbors
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.orders import CrossSearch, Metric

__all__ = ["simulate"]

_STRATEGIES = ("active", "passive")
#: Most candidate numbers of neighbours, times classes, times samples, counted at a time.
_COUNTS_PER_BLOCK = 1 << 22

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


def simulate(
    learner: ActiveLearner,
    X: Any,
    y: Any,
    rounds: int,
    *,
    batch_size: int = 5,
    n_start: int = 50,
    repetitions: int = 10,
    test: tuple[Any, Any] | None = None,
    oracle: bool = False,
    random_state: Any = None,
    progress: bool = False,
) -> Simulation:
    """Run active against passive learning on data whose labels are known.

    Each repetition draws a start at random. The active learner then asks for its samples, the
    passive one gets as many at random; both choose k anew in every round by exact leave-p-out.

    Parameters
    ----------
    learner : ActiveLearner
        The parameters to use. It is not changed, and nothing is saved.
    X : array-like of shape (n_samples, n_features)
        The pool.
    y : array-like of shape (n_samples,)
        All labels.
    rounds : int
        How often labels are asked for.
    batch_size : int, default=5
        Labels per round.
    n_start : int, default=50
        Labels at the start.
    repetitions : int, default=10
        How often everything is repeated.
    test : tuple (X, y), default=None
        Samples to measure errors on; None measures on what is left of the pool, as the paper does.
    oracle : bool, default=False
        Also find, in every round, which candidate k would have had the smallest error.
    random_state : int, RandomState instance or None, default=None
        Decides starts, ties and the passive choice.
    progress : bool, default=False
        Show a progress bar.

    Returns
    -------
    Simulation

    Examples
    --------
    >>> from allsplits import ActiveLearner, simulate
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> learner = ActiveLearner(range(1, 8), tune_leave_out=2)
    >>> simulate(learner, X, y, rounds=4, n_start=15, repetitions=3, random_state=0)
    Simulation(3 repetitions of 4 rounds, 15 to 35 labels: final error active ..., passive ...)
    """
    data = _Data.read(learner, X, y, test)
    check_count("rounds", rounds, at_least=1)
    check_count("batch_size", batch_size, at_least=1)
    check_count("n_start", n_start, at_least=1)
    check_count("repetitions", repetitions, at_least=1)
    needed = n_start + rounds * batch_size + (data.test is None)
    if needed > len(data.X):
        raise InvalidInputError(
            f"X must have at least {needed} samples for n_start = {n_start} and {rounds} rounds "
            f"of {batch_size}{' with one left to test' * (data.test is None)}; got {len(data.X)}"
        )
    rng = check_random_state(random_state)
    shape = (repetitions, rounds + 1)
    tables = {name: _Table.empty(shape) for name in _STRATEGIES}
    total = repetitions * len(_STRATEGIES) * (rounds + 1)
    with progress_bar(progress, "active against passive", total, "rounds") as step:
        for repetition in range(repetitions):
            start = rng.permutation(len(data.X))[:n_start]
            seed = int(rng.randint(2**31 - 1))
            for name, table in tables.items():
                one = clone(learner).set_params(random_state=seed, autosave=None)
                one.fit(data.X, data.labels_at(start))
                passive = None if name == "active" else np.random.RandomState(seed)
                for column in range(rounds + 1):
                    if column:
                        _teach(one, data, batch_size, passive)
                    table.write(repetition, column, one, data, oracle)
                    step(1)
    return _result(n_start + batch_size * np.arange(rounds + 1), tables, oracle)


def _teach(
    learner: ActiveLearner, data: _Data, size: int, passive: np.random.RandomState | None
) -> None:
    """One round: the learner's own question, or samples at random."""
    chosen = learner.ask(size) if passive is None else passive.permutation(learner.pool_)[:size]
    learner.teach(chosen, data.codes[chosen])


class _Data:
    """The pool and what errors are measured on, checked once."""

    def __init__(self, X: Floats, codes: Codes, test: tuple[Floats, Codes] | None) -> None:
        self.X = X
        self.codes = codes
        self.test = test

    @classmethod
    def read(cls, learner: Any, X: Any, y: Any, test: Any) -> _Data:
        if not isinstance(learner, ActiveLearner):
            raise InvalidTypeError(
                f"learner must be an ActiveLearner; got {type(learner).__name__}"
            )
        metric = Metric.resolve(learner.metric, metric_params=learner.metric_params)
        points = check_points(X, precomputed=metric.precomputed, allow_nan=metric.allows_nan)
        classes, codes = check_labels(y, len(points))
        if test is None:
            return cls(points, codes, None)
        if not isinstance(test, (tuple, list)) or len(test) != 2:
            raise InvalidTypeError(f"test must be a pair (X, y) or None; got {test!r}")
        others = check_points(test[0], name="test X", at_least=1, allow_nan=metric.allows_nan)
        if others.shape[1] != points.shape[1]:
            raise InvalidInputError(
                f"test X must have {points.shape[1]} features as X has; got {others.shape[1]}"
            )
        found, numbers = check_labels(test[1], len(others), several=False)
        known = np.isin(found, classes)
        if not known.all():
            raise InvalidInputError(
                f"test y must have the classes of y, {classes.tolist()}; "
                f"got {found[~known].tolist()} besides"
            )
        in_y = np.searchsorted(classes, found).astype(np.int32)
        return cls(points, codes, (others, in_y[numbers]))

    def labels_at(self, rows: NDArray[np.intp]) -> Floats:
        """The start: class numbers of some rows, NaN elsewhere."""
        y = np.full(len(self.X), np.nan)
        y[rows] = self.codes[rows]
        return y

    def measured_on(self, learner: ActiveLearner) -> tuple[Floats, Codes]:
        """Samples to measure errors on (rows of distances to all samples, if precomputed)."""
        if self.test is not None:
            return self.test
        pool = learner.pool_
        return self.X[pool], self.codes[pool]


def errors_by_neighbors(
    learner: ActiveLearner, X: Floats, codes: Codes, ks: list[int], n_classes: int
) -> Floats:
    """Error rate of each number of neighbours (ascending), all from one neighbour search."""
    rows = learner.labelled_
    labels = learner.labels_.astype(np.int32)
    metric = learner._metric
    n_threads = thread_count(learner.n_jobs)
    search = CrossSearch(learner._points[rows], metric, ks[-1], n_threads)
    step = min(search.rows_per_block, max(64, _COUNTS_PER_BLOCK // (ks[-1] * n_classes)))
    wrong = np.zeros(len(ks), dtype=np.int64)
    for start in range(0, len(X), step):
        block = X[start : start + step]
        order = search.order(block[:, rows] if metric.precomputed else block)
        wrong += _count_wrong(labels[order.indices], codes[start : start + step], ks, n_classes)
    return wrong / len(X)


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


class _Table:
    """Measurements of one strategy."""

    def __init__(self, errors: Floats, ks: Any, best_errors: Floats, best_ks: Any) -> None:
        self.errors, self.ks = errors, ks
        self.best_errors, self.best_ks = best_errors, best_ks

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> _Table:
        return cls(np.empty(shape), np.empty(shape, int), np.empty(shape), np.empty(shape, int))

    def write(self, i: int, j: int, learner: ActiveLearner, data: _Data, oracle: bool) -> None:
        """Measure a learner as it is now."""
        X, codes = data.measured_on(learner)
        k = learner.n_neighbors_
        n_labels = len(learner.labelled_)
        if k > n_labels:
            raise InvalidInputError(
                f"n_start must be at least {k}, the smallest of n_neighbors; got {n_labels}"
            )
        ks = [k]
        if oracle:
            fitting = [one for one in read_neighbors(learner.n_neighbors) if one <= n_labels]
            ks = sorted({k, *fitting})
        errors = errors_by_neighbors(learner, X, codes, ks, int(data.codes.max()) + 1)
        self.errors[i, j] = errors[ks.index(k)]
        self.ks[i, j] = k
        self.best_errors[i, j] = errors.min()
        self.best_ks[i, j] = ks[int(errors.argmin())]


def _result(n_labels: Any, tables: dict[str, _Table], oracle: bool) -> Simulation:
    return Simulation(
        n_labels,
        {name: table.errors for name, table in tables.items()},
        {name: table.ks for name, table in tables.items()},
        {name: table.best_errors for name, table in tables.items()} if oracle else None,
        {name: table.best_ks for name, table in tables.items()} if oracle else None,
    )

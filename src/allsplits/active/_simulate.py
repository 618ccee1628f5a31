"""`simulate`: what active learning would have saved, on data whose labels are all known."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from allsplits._progress import progress_bar
from allsplits._validation import check_parameters
from allsplits.active._learner import ActiveLearner
from allsplits.active._simulation import Simulation
from allsplits.active._trial import Trial, TrialData
from allsplits.active._tuning import read_neighbors
from allsplits.exceptions import InvalidInputError
from allsplits.orders import as_given

_STRATEGIES = ("active", "passive")

Floats = NDArray[np.float64]


def simulate(
    learner: ActiveLearner,
    X: Any,
    y: Any,
    rounds: int,
    *,
    batch_size: int = 5,
    n_start: int = 50,
    repetitions: int = 10,
    test_size: float | int | Literal["pool_remainder"] | None = None,
    X_test: Any = None,
    y_test: Any = None,
    oracle: bool = False,
    random_state: Any = None,
    progress: bool = False,
) -> Simulation:
    """Run active against passive learning on data whose labels are known.

    Each repetition first holds samples out; the others are the pool. The active learner asks for
    its samples, the passive one gets as many at random; both choose k anew in every round by exact
    leave-p-out, and both are judged by the samples that were held out. With ``start="cover"`` the
    active learner asks for its first `n_start` samples, too; with ``start="random"`` both learners
    have the same ones, drawn at random.

    Parameters
    ----------
    learner : ActiveLearner
        The parameters to use. It is not changed, and nothing is saved.
    X : array-like of shape (n_samples, n_features)
        The samples.
    y : array-like of shape (n_samples,)
        All labels.
    rounds : int
        How often labels are asked for.
    batch_size : int, default=5
        Labels per round.
    n_start : int, default=50
        Labels of both learners at the start.
    repetitions : int, default=10
        How often everything is repeated.
    test_size : float, int or "pool_remainder", default=None
        Share or number of samples held out in each repetition, before anything is asked, with each
        class's share of them; both learners' errors are measured there. None: 0.25, or nothing
        if there is an `X_test`. "pool_remainder" holds nothing out and measures on what is left of
        the pool, as Celisse & Mary-Huard do: the active learner has taken the hard samples from it,
        so that its error comes out smaller than it is on new samples.
    X_test, y_test : array-like, default=None
        Samples of their own to measure errors on (rows of distances to X with
        ``metric="precomputed"``).
    oracle : bool, default=False
        Also find, in every round, which candidate k would have had the smallest error on the
        samples that errors are measured on.
    random_state : int, RandomState instance or None, default=None
        Decides what is held out, starts, ties and the passive choice.
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
    Simulation(3 repetitions of 4 rounds, 15 to 35 labels; final error on 38 held-out samples,
    ± standard error over repetitions: active ... ± ..., passive ... ± ...)
    """
    data = TrialData.read(learner, X, y, (X_test, y_test), test_size)
    check_parameters(
        oracle=oracle, progress=progress, rounds=rounds, batch_size=batch_size, n_start=n_start,
        repetitions=repetitions,
    )  # fmt: skip
    _check_enough(data, n_start, rounds, batch_size)
    rng = check_random_state(random_state)
    shape = (repetitions, rounds + 1)
    tables = {name: _Table.empty(shape) for name in _STRATEGIES}
    total = repetitions * len(_STRATEGIES) * (rounds + 1)
    with progress_bar(progress, "active against passive", total, "rounds") as step:
        for repetition in range(repetitions):
            trial = data.trial(rng)
            start = rng.permutation(len(trial.X))[:n_start]
            seed = int(rng.randint(2**31 - 1))
            for name, table in tables.items():
                one = clone(learner).set_params(random_state=seed, autosave=None)
                passive = None if name == "active" else np.random.RandomState(seed)
                if passive is None and learner.start == "cover":
                    _teach(one.fit(as_given(trial.X)), trial, n_start, None)
                else:
                    one.fit(as_given(trial.X), trial.labels_at(start))
                for column in range(rounds + 1):
                    if column:
                        _teach(one, trial, batch_size, passive)
                    table.write(repetition, column, one, trial, oracle)
                    step(1)
    n_labels = n_start + batch_size * np.arange(rounds + 1)
    return _result(n_labels, tables, data.measured_on, oracle)


def _check_enough(data: TrialData, n_start: int, rounds: int, batch_size: int) -> None:
    rest = data.test is None and not data.n_held_out
    needed = n_start + rounds * batch_size + rest
    if needed > data.n_pool:
        besides = f" besides {data.n_held_out} held out" * bool(data.n_held_out)
        raise InvalidInputError(
            f"X must have at least {needed} samples for n_start = {n_start} and {rounds} rounds of "
            f"{batch_size}{' with one left to test' * rest}{besides}; got {data.n_pool}"
        )


def _teach(
    learner: ActiveLearner, trial: Trial, size: int, passive: np.random.RandomState | None
) -> None:
    """One round: the learner's own question, or samples at random."""
    chosen = learner.ask(size) if passive is None else passive.permutation(learner.pool_)[:size]
    learner.teach(chosen, trial.codes[chosen])


class _Table:
    """Measurements of one strategy."""

    def __init__(self, errors: Floats, ks: Any, best_errors: Floats, best_ks: Any) -> None:
        self.errors, self.ks = errors, ks
        self.best_errors, self.best_ks = best_errors, best_ks

    @classmethod
    def empty(cls, shape: tuple[int, int]) -> _Table:
        return cls(np.empty(shape), np.empty(shape, int), np.empty(shape), np.empty(shape, int))

    def write(self, i: int, j: int, learner: ActiveLearner, trial: Trial, oracle: bool) -> None:
        """Measure a learner as it is now."""
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
        errors = trial.errors(learner, ks)
        self.errors[i, j] = errors[ks.index(k)]
        self.ks[i, j] = k
        self.best_errors[i, j] = errors.min()
        self.best_ks[i, j] = ks[int(errors.argmin())]


def _result(n_labels: Any, tables: dict[str, _Table], measured_on: str, oracle: bool) -> Simulation:
    return Simulation(
        n_labels,
        {name: table.errors for name, table in tables.items()},
        {name: table.ks for name, table in tables.items()},
        measured_on,
        {name: table.best_errors for name, table in tables.items()} if oracle else None,
        {name: table.best_ks for name, table in tables.items()} if oracle else None,
    )

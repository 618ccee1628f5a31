"""`CommitteeQuery`: which samples to label next, by all leave-p-out classifiers."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from allsplits._constructor import stores_parameters
from allsplits._validation import check_count, check_parameters
from allsplits.active._candidates import read_candidates
from allsplits.active._labels import read_labels
from allsplits.active._utility import agreement_of
from allsplits.active._votes import Votes, ask_committee, choose_batch
from allsplits.exact import Options
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.orders import Metric, read_samples

Floats = NDArray[np.float64]


@stores_parameters
class CommitteeEstimator(BaseEstimator):  # type: ignore[misc]
    """The parameters of a committee, but for who its members are."""

    _: KW_ONLY
    utility: Literal["agreement", "entropy", "margin"] = "agreement"
    diversity: int = 1
    metric: str | Callable[..., float] = "minkowski"
    metric_params: Mapping[str, Any] | None = None
    missing_label: Any = None
    distance_ties: Literal["average", "index"] = "average"
    label_ties: Literal["first", "share"] = "first"
    random_state: Any = None
    n_jobs: int | None = None
    progress: bool = False

    def _options(self, *, progress: bool = False) -> Options:
        return check_options(
            distance_ties=self.distance_ties, label_ties=self.label_ties, n_jobs=self.n_jobs,
            progress=progress,
        )  # fmt: skip

    def _resolve_metric(self) -> Metric:
        return Metric.resolve(self.metric, metric_params=self.metric_params)


@stores_parameters
class CommitteeQuery(CommitteeEstimator):
    """Query by the committee of all C(n, p) nearest-neighbour classifiers, in closed form.

    Each member is trained on all but p of the n labelled samples. The candidates on which the
    members disagree most are asked first. No member is ever fitted: the share of the committee
    for each class is an exact sum over the first k + p neighbours (Celisse & Mary-Huard 2011).

    Parameters
    ----------
    n_neighbors : int, default=5
        Voters of each member.
    leave_out : int, default=1
        Labelled samples that each member leaves out, p in the formulas. The paper finds that 1
        chooses points as well as larger values, and that half of the labelled samples is too many.
    utility : {"agreement", "entropy", "margin"}, default="agreement"
        What makes a candidate worth asking: low agreement (its most frequent prediction is rare),
        high entropy of the votes, or a small margin between the two most frequent predictions. For
        two classes they rank candidates alike.
    diversity : int, default=1
        A batch is spread over the ``diversity * batch_size`` most useful candidates: first the
        most useful one, then each time the one farthest from those chosen. 1 takes the most
        useful ones, however close they are to each other.
    metric, metric_params :
        As in scikit-learn's KNeighborsClassifier (the power of "minkowski" goes into
        `metric_params`); "precomputed" takes the distances between all samples as X.
    missing_label : object, default=None
        A value of y that stands for "no label", besides NaN and None.
    distance_ties, label_ties :
        As in `evaluate`.
    random_state : int, RandomState instance or None, default=None
        Decides between equally useful candidates.
    n_jobs : int, default=None
        Threads; None uses all cores. The result does not depend on it.
    progress : bool, default=False
        Show a progress bar over the candidates.

    Examples
    --------
    >>> import numpy as np
    >>> from allsplits import CommitteeQuery
    >>> X = [[0.0], [1.0], [4.0], [5.0], [1.5], [2.6], [4.4]]
    >>> y = [0, 0, 1, 1, np.nan, np.nan, np.nan]
    >>> strategy = CommitteeQuery(n_neighbors=1, leave_out=2)
    >>> strategy.agreement(X, y).round(3)
    array([0.667, 0.333, 0.667])
    >>> strategy.query(X, y)
    array([5])
    """

    n_neighbors: int = 5
    leave_out: int = 1

    def shares(self, X: Any, y: Any, candidates: Any = None) -> Floats:
        """Share of the committee for each class, shape (n_candidates, n_classes).

        The parameters are those of `query`. Classes are in the order of ``numpy.unique`` of the
        known labels.
        """
        return self._votes(X, y, candidates, cold_start=False).shares

    def agreement(self, X: Any, y: Any, candidates: Any = None) -> Floats:
        """How much the members agree, from 0 (all classes get equal shares) to 1 (all agree).

        With C classes it is (C · largest share - 1) / (C - 1): for two classes the paper's
        ``2 · |share - 1/2|``. The parameters are those of `query`; the shape is (n_candidates,).
        """
        return agreement_of(self.shares(X, y, candidates))

    def query(
        self,
        X: Any,
        y: Any,
        candidates: Any = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> NDArray[np.intp] | tuple[NDArray[np.intp], Floats]:
        """Choose the candidates to label next.

        The conventions are scikit-activeml's. While y has fewer than n_neighbors + leave_out
        labels, even none, there is no committee: the utilities are 0, and candidates are drawn at
        random (spread by `diversity`).

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Labelled and unlabelled samples.
        y : array-like of shape (n_samples,)
            Their labels; NaN or None where a label is missing.
        candidates : array-like, default=None
            None: the samples without a label. Integers of shape (n_candidates,): rows of X. Numbers
            of shape (n_candidates, n_features): points that need not be in X.
        batch_size : int, default=1
            How many to choose. If there are fewer candidates, all are returned with a warning.
        return_utilities : bool, default=False
            Also return the utilities.

        Returns
        -------
        indices : ndarray of shape (batch_size,)
            Rows of X, or of `candidates` if those are points; the most useful first (with
            `diversity`, in the order in which they were chosen).
        utilities : ndarray of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Only with `return_utilities`. Row i holds the utilities before the i-th choice: NaN for
            what is not a candidate or has been chosen already.
        """
        check_parameters(batch_size=batch_size, return_utilities=return_utilities)
        votes = self._votes(X, y, candidates, cold_start=True)
        found = votes.candidates
        if batch_size > len(found):
            warnings.warn(
                f"batch_size is {batch_size}, but there are {len(found)} candidates: "
                "all of them are returned",
                UserWarning,
                stacklevel=2,
            )
            batch_size = len(found)
        rng = check_random_state(self.random_state)
        positions, utilities = choose_batch(votes, self.utility, self.diversity, batch_size, rng)
        indices = found.indices[positions]
        if not return_utilities:
            return indices
        table = np.full((batch_size, found.n_rows), np.nan)
        table[:, found.indices] = utilities
        for i, chosen in enumerate(indices):
            table[i + 1 :, chosen] = np.nan
        return indices, table

    def _votes(self, X: Any, y: Any, candidates: Any, *, cold_start: bool) -> Votes:
        """Check everything, then ask the committee block by block."""
        options, metric = self._check_parameters()
        points = read_samples(X, metric)
        labels = read_labels(y, len(points), self.missing_label)
        if not metric.precomputed:
            metric = metric.fixed_by_sample(points)
        found = read_candidates(candidates, points, labels, metric)
        if not cold_start:
            self._check_committee(len(labels.rows))
        return ask_committee(
            found, labels, self.n_neighbors, self.leave_out, points[labels.rows], options
        )

    def _check_parameters(self) -> tuple[Options, Metric]:
        check_count("n_neighbors", self.n_neighbors, at_least=1)
        check_parameters(leave_out=self.leave_out, diversity=self.diversity, utility=self.utility)
        return self._options(progress=self.progress), self._resolve_metric()

    def _check_committee(self, n_labelled: int) -> None:
        if self.n_neighbors > n_labelled - self.leave_out:
            raise InvalidInputError(
                "y must have at least n_neighbors + leave_out = "
                f"{self.n_neighbors + self.leave_out} labels, so that each member has "
                f"n_neighbors = {self.n_neighbors} voters; got {n_labelled}"
            )

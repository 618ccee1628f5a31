"""Condensers as estimators: 1-NN classifiers that keep only the samples that matter."""

from abc import abstractmethod
from dataclasses import KW_ONLY
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_random_state

from allsplits._constructor import stores_parameters
from allsplits._threads import thread_count
from allsplits._validation import check_parameters
from allsplits.prototypes._condensing import choose_prototypes
from allsplits.prototypes._copies import uncontradicted, warn_of_contradictions
from allsplits.prototypes._nearest import PrototypeClassifier


class _Condenser(PrototypeClassifier):
    """What all condensers share: rows are chosen in `fit`, the nearest one decides."""

    def fit(self, X: Any, y: Any) -> Self:
        """Choose the prototypes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Training samples.
        y : array-like of shape (n_samples,)
            Class labels.
        """
        check_parameters(reduce=self.reduce, progress=self.progress)
        thread_count(self.n_jobs)
        points, codes = self._read(X, y)
        points = np.ascontiguousarray(points)
        rows = np.flatnonzero(uncontradicted(points, codes))
        chosen, n_wrong = self._choose(points[rows], codes[rows])
        self.n_contradictions_ = len(points) - len(rows) + n_wrong
        warn_of_contradictions(self.n_contradictions_, stacklevel=2)
        self.sample_indices_: NDArray[np.intp] = rows[chosen]
        self.prototypes_: NDArray[np.float64] = points[self.sample_indices_]
        self.prototype_labels_: NDArray[Any] = self.classes_[codes[self.sample_indices_]]
        return self

    @abstractmethod
    def _choose(
        self, points: NDArray[np.float64], codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], int]: ...

    def fit_resample(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Choose the prototypes and return them: the rows `sample_indices_` of X and y.

        The parameters are those of `fit`; frames come back as frames.
        """
        self.fit(X, y)
        return _safe_indexing(X, self.sample_indices_), _safe_indexing(y, self.sample_indices_)


@stores_parameters
class CondensedReduced(_Condenser):
    """1-NN classifier on prototypes chosen by condensing and reducing.

    Condensing passes over the samples and keeps what the prototypes get wrong, until a pass keeps
    nothing (Hart 1968). Reducing then drops prototypes that are not needed. Distances are
    Euclidean; a sample is right if all of its equally near prototypes have its class.

    Parameters
    ----------
    reduce : {"consistent", "paper", None}, default="consistent"
        Which prototypes go. "consistent": those without which every training sample is still
        classified right (Gates 1972), so the training error stays zero. "paper": those that the
        remaining prototypes classify right, as Ratsaby (1997) printed it; fewer prototypes, but
        training samples may be wrong. None: all stay.
    shuffle : bool, default=False
        Pass over the rows in random order instead of row order.
    random_state : int, RandomState or None, default=None
        Decides the order with ``shuffle=True``.
    n_jobs : int, default=None
        Threads for `predict`; None means all cores.
    progress : bool, default=False
        Show a progress bar over each pass of `fit`.

    Attributes
    ----------
    sample_indices_ : ndarray of shape (n_prototypes,)
        Rows of the prototypes, in ascending order.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        The prototypes.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Their classes.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_contradictions_ : int
        Samples left out because most samples at the same place have another class. Only these
        are classified wrong (with "consistent" and None).
    n_features_in_ : int
        Number of features seen in `fit`.

    See Also
    --------
    FastCondensed : Does not depend on the order of rows.

    Examples
    --------
    >>> from allsplits import CondensedReduced
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = CondensedReduced().fit(X, y)
    >>> len(X), len(model.sample_indices_), model.score(X, y)
    (1797, 143, 1.0)
    >>> X_small, y_small = CondensedReduced(reduce="paper").fit_resample(X, y)
    >>> X_small.shape
    (113, 64)
    """

    _: KW_ONLY
    reduce: Literal["consistent", "paper"] | None = "consistent"
    shuffle: bool = False
    random_state: Any = None

    def _choose(
        self, points: NDArray[np.float64], codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], int]:
        check_parameters(shuffle=self.shuffle)
        visits = None
        if self.shuffle:
            visits = check_random_state(self.random_state).permutation(len(points))
        return choose_prototypes(
            points, codes, fast=False, reduce=self.reduce, visits=visits, progress=self.progress
        )


@stores_parameters
class FastCondensed(_Condenser):
    """1-NN classifier on prototypes chosen by the FCNN rule (Angiulli 2007).

    It starts with the sample nearest to the mean of each class. In every round each prototype
    names, among the samples it is the nearest prototype of, the nearest one of another class; those
    join, until no sample is wrong. The training error is zero and the order of rows plays no part
    (but for samples at equal distance that could join, of which the lower row does).

    Parameters
    ----------
    reduce : {"consistent", "paper", None}, default=None
        Which prototypes are dropped afterwards, as in `CondensedReduced`.
    n_jobs : int, default=None
        Threads for `predict`; None means all cores.
    progress : bool, default=False
        Show a progress bar over the samples that `fit` gets right.

    Attributes
    ----------
    sample_indices_, prototypes_, prototype_labels_, n_contradictions_, classes_, n_features_in_ :
        As in `CondensedReduced`.

    See Also
    --------
    CondensedReduced : Passes over the rows in order, as printed in the papers.

    Examples
    --------
    >>> from allsplits import FastCondensed
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = FastCondensed().fit(X, y)
    >>> len(model.sample_indices_), model.score(X, y)
    (151, 1.0)
    """

    _: KW_ONLY
    reduce: Literal["consistent", "paper"] | None = None

    def _choose(
        self, points: NDArray[np.float64], codes: NDArray[np.int32]
    ) -> tuple[NDArray[np.intp], int]:
        return choose_prototypes(
            points, codes, fast=True, reduce=self.reduce, progress=self.progress
        )

"""A fixed test set: questions that are not samples, as users pass them in X_test and y_test."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import row_names
from allsplits._validation import (
    check_groups_with,
    check_labels,
    check_same_columns,
    check_same_kind,
    check_same_rows,
    check_targets,
    shown,
)
from allsplits.exceptions import InvalidInputError, UnknownClassWarning, UnsupportedError
from allsplits.model_selection._estimator import VoteSettings
from allsplits.orders import SparsePoints, read_queries
from allsplits.splits import CountsLaw, EpisodeLaw, Law, Samples

#: Backends that search for points from outside.
_BACKENDS = ("auto", "exact")


@dataclass(frozen=True, eq=False)
class TestSet:
    """Checked questions from outside.

    Attributes
    ----------
    points : ndarray of shape (n_test, n_features), or SparsePoints
        With ``metric="precomputed"`` their distances to the samples.
    y : ndarray of shape (n_test,)
        Labels or targets.
    classes : ndarray or None
        The sorted classes of samples and questions; None for targets.
    codes : ndarray of shape (n_samples + n_test,)
        Those of the samples, then those of the questions; empty for targets.
    places : tuple of int
        Where the classes of the samples stand among `classes`.
    row_names : ndarray or None
        The pandas index of X_test (or of y_test).
    """

    __test__ = False  # not a test, whatever its name says to pytest

    points: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None
    codes: NDArray[np.int32]
    places: tuple[int, ...]
    row_names: NDArray[Any] | None

    @classmethod
    def read(
        cls, X_test: Any, y_test: Any, X: Any, points: Any, samples: Samples,
        settings: VoteSettings,
    ) -> TestSet:  # fmt: skip
        """Check them against X as it was given, and as it was read."""
        check_both_given(X_test, y_test)
        check_same_rows(X_test=X_test, y_test=y_test)
        check_same_columns(X=X, X_test=X_test)
        queries = read_outside(X_test, points, settings)
        names, n = row_names(X_test, y_test), len(queries)
        if settings.regression or samples.classes is None or samples.codes is None:
            targets = check_targets(y_test, n, name="y_test")
            return cls(queries, targets, None, np.empty(0, dtype=np.int32), (), names)
        found, codes = check_labels(y_test, n, several=False, name="y_test")
        check_same_kind("y_test", found, "y", samples.classes)
        classes = np.union1d(samples.classes, found)
        places = np.searchsorted(classes, samples.classes)
        own = np.searchsorted(classes, found)[codes]
        both = np.concatenate([places[samples.codes], own]).astype(np.int32)
        new_classes(found, samples.classes, codes)
        return cls(queries, classes[own], classes, both, tuple(places.tolist()), names)

    def widened(self, law: Law) -> Law:
        """The law when there are classes that no sample has."""
        if self.classes is None:
            return law
        if isinstance(law, EpisodeLaw):
            self._check_episodes(law)
        if isinstance(law, CountsLaw) and len(self.classes) > len(self.places):
            return law.among(self.places, len(self.classes))
        return law

    def _check_episodes(self, law: EpisodeLaw) -> None:
        """Every class of an episode has queries, and every query may be in one."""
        asked = np.unique(self.codes[law.n_samples :])
        if len(self.places) < len(np.asarray(self.classes)) or len(asked) < len(self.places):
            raise InvalidInputError(
                f"y_test must hold exactly the classes of y for {law}: an episode asks queries of "
                f"all its classes; got {len(asked)} classes, and y has {len(self.places)}"
            )


def check_both_given(X_test: Any, y_test: Any) -> None:
    """Raise if one of them is missing."""
    if X_test is None or y_test is None:
        given, missing = ("y_test", "X_test") if X_test is None else ("X_test", "y_test")
        raise InvalidInputError(f"{missing} must be given with {given}; got None")


def read_outside(X_test: Any, points: Any, settings: VoteSettings) -> Any:
    """Checked points from outside, an array or sparse ones, for references that were read."""
    metric = settings.metric
    if not isinstance(points, (np.ndarray, SparsePoints)):
        raise InvalidInputError(
            "X must be an array of points, a sparse one, or one of distances with "
            "metric='precomputed', for a fixed test set (X_test); got neighbours that were "
            "searched elsewhere, or a dask collection"
        )
    queries = read_queries(X_test, points, metric, name="X_test", keep_type=not metric.precomputed)
    if metric.precomputed and queries.min() < 0:
        raise InvalidInputError("X_test must hold distances, none of them negative")
    return queries


def check_outside_backend(backend: str) -> None:
    """Raise if a backend does not search for points from outside."""
    if backend not in _BACKENDS:
        raise UnsupportedError(
            f"backend must be one of {_BACKENDS} for a fixed test set (X_test); got {backend!r}"
        )


def with_test_groups(
    groups: Any, groups_test: Any, n_samples: int, n_test: int
) -> NDArray[np.int32]:
    """Numbers of the groups of samples, then of questions, equal where their values are."""
    if groups is None or groups_test is None:
        given, missing = ("groups_test", "groups") if groups is None else ("groups", "groups_test")
        raise InvalidInputError(
            f"{missing} must be given with {given}, so that queries do not meet what they must "
            "not; got None"
        )
    return check_groups_with(groups, n_samples, groups_test, n_test)


def new_classes(
    found: NDArray[Any], classes: NDArray[Any], codes: NDArray[np.int32]
) -> NDArray[Any]:
    """Those of the classes found that no sample has, with a warning if there are any."""
    new = np.setdiff1d(found, classes)
    if len(new):
        number = int(np.isin(found, new)[codes].sum())
        warnings.warn(
            f"y_test has classes that no sample of X has, {shown(new.tolist())}: the {number} of "
            f"{len(codes)} test samples that have them are counted as wrong",
            UnknownClassWarning,
            stacklevel=2,
        )
    return new

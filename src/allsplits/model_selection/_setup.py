"""What all public functions do first: check the input and put the problem together."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits._validation import check_choice, check_labels, check_points
from allsplits.exact import Column, Options, Problem
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._estimator import VoteSettings, read_classifier
from allsplits.model_selection._scoring import Scoring
from allsplits.orders import NeighborOrder
from allsplits.splits import Law, Samples, resolve_cv

__all__ = ["Setup", "check_options"]


def check_options(**values: Any) -> Options:
    """Check the keywords that all functions share."""
    options = Options(**values)
    check_choice("distance_ties", options.distance_ties, ("average", "index"))
    check_choice("label_ties", options.label_ties, ("first", "share"))
    check_choice("backend", options.backend, ("auto", "exact"))
    if not isinstance(options.tol, numbers.Real) or not 0 <= options.tol < 1:
        raise InvalidInputError(f"tol must be a number from 0 to below 1; got {options.tol!r}")
    thread_count(options.n_jobs)
    return options


@dataclass(frozen=True)
class Setup:
    """Validated data of one call."""

    X: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    codes: NDArray[np.int32]
    settings: VoteSettings
    scoring: Scoring
    options: Options

    @classmethod
    def read(cls, estimator: Any, X: Any, y: Any, scoring: Any, options: Options) -> Setup:
        """Check everything before any work is done."""
        settings = read_classifier(estimator)
        parsed = Scoring.parse(scoring)
        if not isinstance(X, NeighborOrder):
            metric = settings.metric
            X = check_points(X, precomputed=metric.precomputed, allow_nan=metric.allows_nan)
        n = X.n_samples if isinstance(X, NeighborOrder) else len(X)
        classes, codes = check_labels(y, n)
        return cls(X, classes[codes], classes, codes, settings, parsed, options)

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return len(self.codes)

    def resolve(self, cv: Any) -> Law:
        """The law that `cv` stands for on these samples."""
        return resolve_cv(cv, Samples(self.n_samples, self.classes, self.codes))

    def check_neighbors(self, k: int, law: Any) -> None:
        """Raise if some training set has fewer than k voters (recall@R looks at what is there)."""
        most = law.smallest_training_set
        if k > most and self.scoring.rank is None:
            raise InvalidInputError(
                f"n_neighbors must be at most {most}, the size of the smallest training set "
                f"({law}); got {k}"
            )

    def problem(self, columns: list[Column], *, want_samples: bool) -> Problem:
        """The problem for these columns (k, law)."""
        for column in columns:
            self.check_neighbors(column.k, column.law)
        return Problem(
            X=self.X,
            metric=self.settings.metric,
            codes=self.codes,
            n_classes=len(self.classes),
            vote="majority" if self.scoring.rank is None else "ranked",
            columns=columns,
            balanced=self.scoring.name == "balanced_accuracy",
            want_samples=want_samples,
            options=self.options,
        )

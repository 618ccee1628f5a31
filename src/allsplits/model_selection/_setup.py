"""What all public functions do first: check the input and put the question together."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import row_names
from allsplits._threads import thread_count
from allsplits._validation import (
    check_choice,
    check_count,
    check_flag,
    check_groups,
    check_labels,
    check_same_rows,
    check_targets,
    shown,
)
from allsplits.exact import Column, Options, Question
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._estimator import VoteSettings, read_estimator
from allsplits.model_selection._scoring import Scoring
from allsplits.orders import NeighborOrder, check_backend, read_points
from allsplits.splits import Law, Samples, resolve_cv

__all__ = ["Setup", "check_options"]


def check_options(**values: Any) -> Options:
    """Check the keywords that all functions share."""
    options = Options(**values)
    check_choice("distance_ties", options.distance_ties, ("average", "index"))
    check_choice("label_ties", options.label_ties, ("first", "share"))
    check_flag("exact", options.exact)
    check_flag("progress", options.progress)
    check_flag("allow_sampling", options.allow_sampling)
    check_backend(options.backend)
    if not isinstance(options.tol, numbers.Real) or not 0 <= options.tol < 1:
        raise InvalidInputError(f"tol must be a number from 0 to below 1; got {shown(options.tol)}")
    if not isinstance(options.vote_tol, numbers.Real) or not 0 < options.vote_tol < 1:
        raise InvalidInputError(
            f"vote_tol must be a number between 0 and 1; got {shown(options.vote_tol)}"
        )
    check_count("max_states", options.max_states, at_least=64)
    thread_count(options.n_jobs)
    return options


@dataclass(frozen=True)
class Setup:
    """Validated data of one call."""

    X: Any
    y: NDArray[Any]
    samples: Samples
    settings: VoteSettings
    scoring: Scoring
    options: Options
    row_names: NDArray[Any] | None = None

    @classmethod
    def read(
        cls, estimator: Any, X: Any, y: Any, scoring: Any, options: Options, groups: Any = None
    ) -> Setup:
        """Check everything before any work is done."""
        settings = read_estimator(estimator)
        parsed = Scoring.parse(scoring, regression=settings.regression)
        check_same_rows(X=X, y=y, groups=groups)
        names = row_names(X, y)
        if isinstance(X, NeighborOrder):
            X.check_metric(settings.metric)
        else:
            X = read_points(X, settings.metric)
        n = X.n_samples if isinstance(X, NeighborOrder) else len(X)
        numbers_of_groups = None if groups is None else check_groups(groups, n)
        if settings.regression:
            targets = check_targets(y, n)
            samples = Samples(n, groups=numbers_of_groups)
            return cls(X, targets, samples, settings, parsed, options, names)
        classes, codes = check_labels(y, n)
        samples = Samples(n, classes, codes, numbers_of_groups)
        return cls(X, classes[codes], samples, settings, parsed, options, names)

    def class_codes(self) -> NDArray[np.int32]:
        """Class numbers, or an error for regression."""
        if self.samples.codes is None:
            raise InvalidInputError("stratify must be False for a regressor: y has no classes")
        return self.samples.codes

    def resolve(self, cv: Any) -> Law:
        """The law that `cv` stands for on these samples."""
        return resolve_cv(cv, self.samples)

    def check_neighbors(self, k: int, law: Any) -> None:
        """Raise if some training set has fewer than k voters (recall@R looks at what is there)."""
        most = law.smallest_training_set
        if k > most and self.scoring.rank is None:
            raise InvalidInputError(
                f"n_neighbors must be at most {most}, the size of the smallest training set "
                f"({law}); got {k}"
            )

    def question(self, columns: list[Column], *, want_samples: bool) -> Question:
        """The question for these columns (k, law)."""
        for column in columns:
            self.check_neighbors(column.k, column.law)
        regression, samples = self.settings.regression, self.samples
        weights = self.settings.weights
        vote: Literal["majority", "ranked", "mean", "weighted", "weighted mean"]
        if self.scoring.rank is not None:
            vote = "ranked"
            columns = [_within_reach(column) for column in columns]
        elif weights is None:
            vote = "mean" if regression else "majority"
        else:
            vote = "weighted mean" if regression else "weighted"
        return Question(
            X=self.X,
            metric=self.settings.metric,
            codes=np.empty(0, dtype=np.int32) if samples.codes is None else samples.codes,
            n_classes=0 if samples.classes is None else len(samples.classes),
            targets=self.y if regression else np.empty(0),
            vote=vote,
            columns=columns,
            balanced=self.scoring.name == "balanced_accuracy",
            want_samples=want_samples,
            options=self.options,
            weights=weights,
        )


def _within_reach(column: Column) -> Column:
    """The column for a rank that some training set has: beyond that nothing is left to look at."""
    law = column.law
    if law.kind == "independent draws":
        # Here R is a condition on the training set, so a larger one asks something else.
        return column
    copies = law.kind == "draws with replacement"
    return Column(min(column.k, law.n_samples if copies else law.n_samples - 1), law)

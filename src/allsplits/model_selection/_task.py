"""One call: its input, checked once, and the questions it is asked, searched for once.

`evaluate`, the curves, the CV estimators, reports and the command line are shells over a `Task`.
Tasks that differ in weights, law or score share their `Neighbors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import row_names
from allsplits._validation import (
    check_groups,
    check_labels,
    check_same_rows,
    check_targets,
    keep_fitting,
)
from allsplits.exact import (
    Answer,
    Ballots,
    BallotWants,
    Column,
    Exclusion,
    Neighbors,
    Options,
    Question,
    solve,
    solve_together,
    solver_for,
)
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._asking import check_neighbors, question_of
from allsplits.model_selection._ballot_scores import score_ballots
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._error_parts import ErrorParts, parts_of
from allsplits.model_selection._estimator import VoteSettings, read_estimator, read_weights
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._scoring import Scoring, plain_score, read_scores
from allsplits.model_selection._several_scores import (
    check_equal_votes,
    curve_of_all,
    evaluate_all,
)
from allsplits.model_selection._strata import read_strata, refuse_strata, refuse_unused_strata
from allsplits.model_selection._test_set import TestSet, check_both_given, check_outside_backend
from allsplits.model_selection._train_sizes import read_shots, read_sizes
from allsplits.model_selection._within import curve_within, evaluate_within
from allsplits.orders import DevicePoints, NeighborOrder, SparsePoints, read_points
from allsplits.splits import (
    BernoulliLaw,
    ClassCounts,
    FixedSize,
    Law,
    Samples,
    resolve_cv,
)


class Given(NamedTuple):
    """What users pass beside an estimator and options, not checked yet."""

    X: Any
    y: Any
    cv: Any = None
    scoring: Any = None
    groups: Any = None
    X_test: Any = None
    y_test: Any = None
    outlier_target: Any = None
    strata: Any = None


class Asked(NamedTuple):
    """Labels or targets of the questions, and their names."""

    y: NDArray[Any]
    row_names: NDArray[Any] | None


@dataclass(frozen=True)
class Task:
    """Estimator, X, y, cv, score and options of one call, checked.

    Attributes
    ----------
    neighbors : Neighbors
        The samples, and the orders that were found. `neighbors.expect` says before the first
        question that more follow, so that orders are kept for them where they fit.
    law : Law
        What `cv` stands for on these samples.
    test_set : TestSet or None
        The questions, where they are not the samples: a fixed test set.
    exclusion : Exclusion or None
        What the questions must not meet, for scores of galleries.
    """

    neighbors: Neighbors
    y: NDArray[Any]
    samples: Samples
    law: Law
    settings: VoteSettings
    scoring: Scoring
    options: Options
    row_names: NDArray[Any] | None = None
    exclusion: Exclusion | None = None
    others: tuple[Scoring, ...] = ()
    test_set: TestSet | None = None

    @classmethod
    def read(
        cls,
        estimator: Any,
        given: Given,
        options: Options,
        *,
        every_score: bool = False,
        within: bool = False,
        many_laws: bool = False,
    ) -> Task:
        """Check everything before any work is done.

        With `every_score` scoring may be any score, or several; `others` are all but the first.
        With `within` the estimator may be one of those within a radius. With `many_laws` others
        follow, and strata may be for those.
        """
        X, y, cv, scoring, groups, X_test, y_test, outlier_target, strata = given
        outside = X_test is not None or y_test is not None
        if outside:
            check_both_given(X_test, y_test)
            check_outside_backend(options.backend)
        settings = read_estimator(estimator, within=within, outlier_target=outlier_target)
        read = read_scores if every_score else _one_plain_score
        scores = read(scoring, regression=settings.regression)
        check_same_rows(X=X, y=y, groups=groups, strata=strata)
        names = row_names(X, y)
        if isinstance(X, NeighborOrder):
            X.check_metric(settings.metric)
        else:
            # Questions from outside are searched for on the host.
            backend = "exact" if outside else options.backend
            X = read_points(X, settings.metric, backend=backend)
        n = X.n_samples if isinstance(X, NeighborOrder) else len(X)
        numbers_of_groups = None if groups is None else check_groups(groups, n)
        if settings.regression:
            y = check_targets(y, n)
            samples = Samples(n, *read_strata(strata, n), numbers_of_groups, outside)
        else:
            refuse_strata(strata)
            classes, codes = check_labels(y, n)
            y = classes[codes]
            samples = Samples(n, classes, codes, numbers_of_groups, outside)
        if settings.weights is not None:
            check_equal_votes(scores)
        law = resolve_cv(cv, samples)
        if not many_laws:
            refuse_unused_strata(strata, cv, law)
        if not outside:
            first, *others = (score.fitted(samples.classes) for score in scores)
            neighbors = Neighbors(X, settings.metric, options)
            return cls(
                neighbors, y, samples, law, settings, first, options, names, others=tuple(others)
            )
        tests = TestSet.read(X_test, y_test, given.X, X, samples, settings)
        first, *others = (score.fitted(tests.classes) for score in scores)
        neighbors = Neighbors(X, settings.metric.fixed_by_sample(X), options, tests.points)
        return cls(
            neighbors, y, samples, tests.widened(law), settings, first, options, names,
            test_set=tests, others=tuple(others),
        )  # fmt: skip

    @property
    def classes(self) -> NDArray[Any] | None:
        """The classes of samples and questions; None for a regressor."""
        if self.settings.regression:
            return None
        return self.samples.classes if self.test_set is None else self.test_set.classes

    @property
    def asked(self) -> Asked:
        """Who the questions are: the samples, or the test set."""
        if self.test_set is None:
            return Asked(self.y, self.row_names)
        return Asked(self.test_set.y, self.test_set.row_names)

    def resolve(self, cv: Any) -> Law:
        """What another `cv` stands for on these samples."""
        law = resolve_cv(cv, self.samples)
        return law if self.test_set is None else self.test_set.widened(law)

    @property
    def points(self) -> Any:
        """The checked samples, where they are an array or sparse points; None elsewhere."""
        X = self.neighbors.X
        if isinstance(X, SparsePoints):
            return X
        return np.asarray(X) if isinstance(X, (np.ndarray, DevicePoints)) else None

    @property
    def n_neighbors(self) -> int:
        """The estimator's k, the R of recall@R, or the cut-off of a score of retrieval."""
        return self.scoring.rank or self.scoring.cut or self.settings.n_neighbors

    # ------------------------------------------------------------ what is asked

    @property
    def scores(self) -> tuple[Scoring, ...]:
        """All scores, the first of which is that of the task."""
        return (self.scoring, *self.others)

    def evaluate(self) -> Evaluation:
        """The estimator's k, with what every sample contributes; all scores in one pass."""
        if self.settings.radius is not None:
            return evaluate_within(self)
        if not self.others and self.scoring.is_plain:
            return self._evaluate_plain()
        if self.options.exact:
            self.neighbors.expect()
        self.neighbors.keep_if_small()
        return evaluate_all(self)

    @property
    def column(self) -> Column:
        """The estimator's k (or R) under the law."""
        return Column(self.n_neighbors, self.law)

    def with_score(self, score: Scoring) -> Task:
        """The same task with one score."""
        return replace(self, scoring=score, others=())

    def ballots(self, wants: BallotWants) -> Ballots:
        """How the votes of the estimator's k fall."""
        if self.settings.regression or self.scoring.ignores_neighbors:
            raise UnsupportedError(f"{self.scoring.name} has no votes of classes")
        if self.settings.weights is not None:
            raise UnsupportedError(
                "how votes fall is counted for equal ones alone, weights='uniform'; how often each "
                "class is given is in `confusion` and `prediction_proba`"
            )
        if self.settings.radius is not None:
            raise UnsupportedError(
                "how votes within a radius fall is known by expected shares only"
            )
        [answer] = solve(self.neighbors, self.ballot_question(self.column, wants))
        if answer.ballots is None:
            raise AssertionError("ballots were asked for")
        return answer.ballots

    def error_parts(self) -> ErrorParts:
        """Bias and variance of the estimator's k."""
        plain = self.settings.weights is None and self.settings.radius is None
        if not self.settings.regression or not plain:
            raise UnsupportedError(
                "squared_error_parts is known of a KNeighborsRegressor with weights='uniform'"
            )
        question = replace(self.ask([self.column]), want_rows=True)
        errors, bias = solve_together(self.neighbors, [question, replace(question, vote="bias")])
        return parts_of(errors, bias, self.asked.row_names)

    def ballot_question(self, column: Column, wants: BallotWants) -> Question:
        """How the votes of a column fall."""
        plain = replace(self, scoring=Scoring("accuracy")).ask([column])
        return replace(plain, vote="ballot", wants=wants)

    def _evaluate_plain(self) -> Evaluation:
        """One score that counts how often samples are right."""
        question = self.samples_question()
        if question.vote == "majority" and question.n_classes > 2:
            # Which classes are given is asked for later, if at all: it takes longer.
            question = replace(question, want_samples=False, want_rows=True)
        if self.options.exact:
            self.neighbors.expect()
        self.neighbors.keep_if_small()
        [answer] = solve(self.neighbors, question)
        return self.evaluation(answer)

    def class_shares(self) -> NDArray[np.float64] | None:
        """How often each sample is given each class by equal votes; None for all others."""
        question = self.inexact.samples_question()
        if question.vote != "majority":
            return None
        [answer] = solve(self.neighbors, question)
        return answer.prediction_proba

    def evaluation(self, answer: Answer) -> Evaluation:
        """The result of the estimator's k."""
        k = self.n_neighbors
        if answer.ballots is not None:
            found = score_ballots(self.scoring, answer.ballots)._asdict()
        elif answer.sample_scores is None or answer.sample_weight is None:
            raise AssertionError("sample values were asked for")
        else:
            lines = answer.sample_fractions
            found = {
                "score": float(answer.scores[0]),
                "error_bound": float(answer.error_bound[0]),
                "fraction": answer.fractions[0] if answer.fractions else None,
                "sample_scores": answer.sample_scores[:, 0],
                "sample_weight": answer.sample_weight,
                "sample_fractions": tuple(line[0] for line in lines) if lines else None,
            }
        return Evaluation(
            **found,
            scoring=self.scoring.name,
            n_neighbors=k,
            given=answer.prediction_proba,
            y=self.asked.y,
            classes=self.classes,
            law=self.law.given(k) if isinstance(self.law, BernoulliLaw) else self.law,
            search=answer.search,
            row_names=self.asked.row_names,
            standard_error=float(answer.standard_error[0]),
            task=self,
            ballots=answer.ballots,
            radius=self.settings.radius,
        )

    def question(self) -> Question:
        """What the estimator's k scores under the law."""
        return self.ask([Column(self.n_neighbors, self.law)])

    def samples_question(self) -> Question:
        """The same, with what every sample contributes."""
        return self.ask([self.column], want_samples=True)

    @property
    def inexact(self) -> Task:
        """The same task without Fractions."""
        return replace(self, options=replace(self.options, exact=False))

    def over_neighbors(self, ks: list[int]) -> Curve:
        """Every k, in one pass."""
        return self.choices(ks, [self.settings.weights])[0]

    def over_radii(self, radii: list[float]) -> Curve:
        """Every radius, from one search."""
        return curve_within(self, "radius", radii, [self.with_radius(radius) for radius in radii])

    def choices(self, ks: list[int], weights: Sequence[Any]) -> list[Curve]:
        """A curve over k for each of several weights."""
        for score in self.scores:
            if score.ignores_neighbors:
                raise InvalidInputError(
                    "scoring must be 'accuracy' or 'balanced_accuracy' here, or another score of "
                    "votes: recall@R and scores of retrieval do not depend on n_neighbors; got "
                    f"{score.name!r}"
                )
        columns = [Column(k, self.law) for k in ks]
        tasks = [self._weighted(choice) for choice in weights]
        for task in tasks:
            if task.settings.weights is not None:
                check_equal_votes(self.scores)
        if len(self.scores) > 1 or not self.scoring.is_plain:
            return [curve_of_all(task, "n_neighbors", ks, columns) for task in tasks]
        self.neighbors.keep_if_small()
        answers = solve(self.neighbors, *(task.ask(columns) for task in tasks))
        return [
            task.curve("n_neighbors", ks, answer, columns)
            for task, answer in zip(tasks, answers, strict=True)
        ]

    def over_sizes(self, train_sizes: Any = None, *, stratify: bool = False) -> Curve:
        """Every size of the training set, in one pass; the law of the task does not matter."""
        n, k = self.samples.n_samples, self.n_neighbors
        most = n if self.test_set is not None else n - 1
        votes = any(not score.ignores_neighbors for score in self.scores)
        k = self.settings.n_neighbors if votes else k
        voters = k if votes else max(score.cut or 1 for score in self.scores)
        if self.settings.radius is not None and train_sizes is None:
            # A grid: all sizes come from one table for one nearest neighbour only.
            voters = min(2, most)
        if stratify:
            if self.samples.codes is None:
                raise InvalidInputError(
                    "stratify must be False for a regressor without strata: y has no classes"
                )
            held_out = n - most
            sizes = read_shots(train_sizes, voters, np.bincount(self.samples.codes), held_out)
            laws: list[Law] = [self.resolve(ClassCounts(size)) for size in sizes]
        else:
            check_neighbors(k, self.resolve(FixedSize(most)), self.scoring)
            sizes = read_sizes(train_sizes, voters, n, most)
            laws = [self.resolve(FixedSize(size)) for size in sizes]
        columns, parameter = [Column(k, law) for law in laws], "shots" if stratify else "train_size"
        if self.settings.radius is not None:
            return curve_within(self, parameter, sizes, [replace(self, law=law) for law in laws])
        if self.others or not self.scoring.is_plain:
            return curve_of_all(self, parameter, sizes, columns)
        [answer] = solve(self.neighbors, self.ask(columns))
        return self.curve(parameter, sizes, answer, columns)

    def over_ranks(self, ranks: list[int]) -> Curve:
        """Recall, or a score of retrieval, at every rank."""
        columns = [Column(rank, self.law) for rank in ranks]
        [answer] = solve(self.neighbors, self.ask(columns))
        return self.curve("rank", ranks, answer, columns)

    def expect_evaluation(self) -> None:
        """Say that `evaluate` will be asked beside other questions."""
        self.neighbors.expect(solver_for(self.samples_question()).depth)

    def fitting(self, ks: list[int]) -> list[int]:
        """Those candidates for k that some training set is not too small for, with a warning."""
        check_neighbors(min(ks), self.law, self.scoring)
        what = f"the size of the smallest training set ({self.law})"
        return keep_fitting("n_neighbors", ks, self.law.smallest_training_set, what)

    def with_neighbors(self, k: int) -> Task:
        """The same task with another k."""
        return replace(self, settings=replace(self.settings, n_neighbors=k))

    def with_radius(self, radius: float) -> Task:
        """The same task with another radius."""
        return replace(self, settings=replace(self.settings, radius=radius))

    # ------------------------------------------------------------ how

    def _weighted(self, weights: Any) -> Task:
        """The same task with other weights."""
        read = read_weights(weights, positive=self.settings.regression)
        return replace(self, settings=replace(self.settings, weights=read))

    @property
    def is_plain(self) -> bool:
        """Whether it is counted who is right of a fixed number of voters, all of whom they meet."""
        within = self.settings.radius is not None
        return self.scoring.is_plain and not within and self.exclusion is None

    def ask(self, columns: list[Column], *, want_samples: bool = False) -> Question:
        """The question for these columns (k, law)."""
        return question_of(self, columns, want_samples=want_samples)

    def curve(
        self, parameter: str, values: Sequence[float], answer: Answer, columns: list[Column]
    ) -> Curve:
        """The result of several columns."""
        return Curve(
            parameter=parameter,
            x=np.array(values),
            scores=answer.scores,
            scoring=self._name_along(parameter),
            error_bounds=answer.error_bound,
            fractions=answer.fractions,
            search=answer.search,
            standard_errors=answer.standard_error,
            task=self,
            columns=tuple(columns),
        )

    def _name_along(self, parameter: str) -> str:
        """What a curve shows: the score without the rank that varies."""
        if parameter != "rank":
            return self.scoring.name
        return "recall" if self.scoring.retrieval is None else self.scoring.retrieval.name


def _one_plain_score(scoring: Any, *, regression: bool) -> tuple[Scoring, ...]:
    return (plain_score(scoring, regression=regression),)

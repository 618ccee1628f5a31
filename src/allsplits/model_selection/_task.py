"""One call: its input, checked once, and the questions it is asked, searched for once.

`evaluate`, the curves, the CV estimators, reports and the command line are shells over a `Task`.
Tasks that differ in weights, law or score share their `Neighbors`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

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
    Column,
    Exclusion,
    GivenSplit,
    Neighbors,
    Options,
    Question,
    ScoresWithout,
    SplitSpread,
    solve,
    solver_for,
)
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._estimator import VoteSettings, read_estimator, read_weights
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._interval import Moves, SampleScores
from allsplits.model_selection._scoring import Scoring
from allsplits.model_selection._train_sizes import read_shots, read_sizes
from allsplits.orders import NeighborOrder, read_points
from allsplits.splits import BernoulliLaw, ClassCounts, Law, Samples, SizeLaw, resolve_cv

if TYPE_CHECKING:
    from allsplits.exact.halves import UnbiasedVariance
    from allsplits.replays.given import SplitScore
    from allsplits.replays.spread import SpreadAndRuns


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

    @classmethod
    def read(
        cls, estimator: Any, X: Any, y: Any, options: Options, *,
        cv: Any = None, scoring: Any = None, groups: Any = None,
    ) -> Task:  # fmt: skip
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
            y = check_targets(y, n)
            samples = Samples(n, groups=numbers_of_groups)
        else:
            classes, codes = check_labels(y, n)
            y = classes[codes]
            samples = Samples(n, classes, codes, numbers_of_groups)
        neighbors = Neighbors(X, settings.metric, options)
        law = resolve_cv(cv, samples)
        return cls(neighbors, y, samples, law, settings, parsed, options, names)

    @property
    def points(self) -> NDArray[Any] | None:
        """The checked samples, where they are an array."""
        return self.neighbors.X if isinstance(self.neighbors.X, np.ndarray) else None

    @property
    def n_neighbors(self) -> int:
        """The estimator's k, or the R of recall@R."""
        return self.scoring.rank or self.settings.n_neighbors

    # ------------------------------------------------------------ what is asked

    def evaluate(self) -> Evaluation:
        """The estimator's k, with what every sample contributes."""
        k = self.n_neighbors
        question = self._question([Column(k, self.law)], want_samples=True)
        if self.options.exact:
            self.neighbors.expect()
        self.neighbors.keep_if_small()
        [answer] = solve(self.neighbors, question)
        shares = answer.prediction_proba
        if self.options.exact and shares is None and question.vote == "majority":
            inexact = replace(question, options=replace(self.options, exact=False))
            shares = solve(self.neighbors, inexact)[0].prediction_proba
        if answer.sample_scores is None or answer.sample_weight is None:
            raise AssertionError("sample values were asked for")
        lines = answer.sample_fractions
        return Evaluation(
            score=float(answer.scores[0]),
            scoring=self.scoring.name,
            error_bound=float(answer.error_bound[0]),
            fraction=answer.fractions[0] if answer.fractions else None,
            n_neighbors=k,
            sample_scores=answer.sample_scores[:, 0],
            sample_weight=answer.sample_weight,
            sample_fractions=tuple(line[0] for line in lines) if lines else None,
            prediction_proba=shares,
            y=self.y,
            classes=self.samples.classes,
            law=self.law.given(k) if isinstance(self.law, BernoulliLaw) else self.law,
            search=answer.search,
            row_names=self.row_names,
            standard_error=float(answer.standard_error[0]),
            task=self,
        )

    def question(self) -> Question:
        """What the estimator's k scores under the law."""
        return self._question([Column(self.n_neighbors, self.law)])

    def without_one(self) -> ScoresWithout | None:
        """The score of the estimator's k without each sample (or group) in turn."""
        question = self.question()
        # Loaded when it is asked for: a first evaluation does without.
        from allsplits.exact.leaving_out import scores_without_one

        return scores_without_one(self.neighbors, question)

    def moves(self, columns: Sequence[Column]) -> list[Moves]:
        """What each sample (or group) moves the score of each column by.

        Columns that share a law (a curve over k) share the passes, all share the search.
        """
        self.neighbors.expect()
        found: dict[int, Moves] = {}
        for law in dict.fromkeys(column.law for column in columns):
            places = [c for c, column in enumerate(columns) if column.law == law]
            found.update(zip(places, self._moves_of_law([columns[c] for c in places]), strict=True))
        return [found[c] for c in range(len(columns))]

    def _moves_of_law(self, columns: list[Column]) -> list[Moves]:
        # Loaded when it is asked for: a first evaluation does without.
        from allsplits.exact.leaving_out import scores_without_one

        question = self._question(columns)
        [answer] = solve(self.neighbors, replace(question, want_rows=True))
        if answer.sample_scores is None or answer.sample_weight is None:
            raise AssertionError("sample scores were asked for")
        without = scores_without_one(self.neighbors, question)
        return [
            SampleScores.of(
                float(answer.scores[c]), answer.sample_scores[:, c], answer.sample_weight,
                y=self.y, law=column.law, scoring=self.scoring.name,
            ).moves(None if without is None else without.scores[:, c])
            for c, column in enumerate(columns)
        ]  # fmt: skip

    def unbiased_variance(self, *, n_cuts: int, seed: int) -> UnbiasedVariance:
        """The unbiased variance of the score, where there is one."""
        question = self._question([Column(self.n_neighbors, self.law)])
        # Loaded when it is asked for: a first evaluation does without.
        from allsplits.exact.halves import unbiased_variance

        return unbiased_variance(self.neighbors, question, n_cuts=n_cuts, seed=seed)

    def split_spread(self, *, method: str, n_runs: int, seed: int) -> SplitSpread:
        """How much the score of one run differs from the average over all."""
        question = self._question([Column(self.n_neighbors, self.law)], want_samples=True)
        # Loaded when it is asked for: a first evaluation does without.
        from allsplits.replays.spread import split_spread

        return split_spread(self.neighbors, question, method=method, n_runs=n_runs, seed=seed)

    def spread_in_passing(self) -> SplitSpread | None:
        """The same in a few seconds, for a sentence beside the score; None if it takes longer."""
        question = self._question([Column(self.n_neighbors, self.law)], want_samples=True)
        from allsplits.replays.spread import spread_in_passing

        return spread_in_passing(self.neighbors, question)

    def runs_in_passing(self, n_runs: int) -> NDArray[np.float64] | None:
        """Scores of a few drawn runs, for a picture; None if that takes longer."""
        question = self._question([Column(self.n_neighbors, self.law)], want_samples=True)
        from allsplits.replays.spread import runs_in_passing

        return runs_in_passing(self.neighbors, question, n_runs)

    def replay(
        self, split: GivenSplit, *, n_runs: int, seed: int
    ) -> tuple[SplitScore, SpreadAndRuns]:
        """The score of one split, and of drawn ones with their spread."""
        question = self._question([Column(self.n_neighbors, self.law)], want_samples=True)
        from allsplits.replays.given import score_split
        from allsplits.replays.spread import spread_and_runs

        found = score_split(self.neighbors, question, split)
        return found, spread_and_runs(self.neighbors, question, n_runs=n_runs, seed=seed)

    def over_neighbors(self, ks: list[int]) -> Curve:
        """Every k, in one pass."""
        return self.choices(ks, [self.settings.weights])[0]

    def choices(self, ks: list[int], weights: Sequence[Any]) -> list[Curve]:
        """A curve over k for each of several weights."""
        if self.scoring.rank is not None:
            raise InvalidInputError(
                "scoring must be 'accuracy' or 'balanced_accuracy' here: recall@R does not depend "
                f"on n_neighbors; got {self.scoring.name!r}"
            )
        columns = [Column(k, self.law) for k in ks]
        questions = [self._weighted(choice)._question(columns) for choice in weights]
        answers = solve(self.neighbors, *questions)
        return [
            self._weighted(choice)._curve("n_neighbors", ks, answer, columns)
            for choice, answer in zip(weights, answers, strict=True)
        ]

    def over_sizes(self, train_sizes: Any = None, *, stratify: bool = False) -> Curve:
        """Every size of the training set, in one pass; the law of the task does not matter."""
        n, k = self.samples.n_samples, self.n_neighbors
        voters = k if self.scoring.rank is None else 1
        if stratify:
            if self.samples.codes is None:
                raise InvalidInputError("stratify must be False for a regressor: y has no classes")
            sizes = read_shots(train_sizes, voters, np.bincount(self.samples.codes))
            laws: list[Law] = [resolve_cv(ClassCounts(size), self.samples) for size in sizes]
        else:
            self._check_neighbors(k, SizeLaw.of_size(n, n - 1))
            sizes = read_sizes(train_sizes, voters, n)
            laws = [SizeLaw.of_size(n, size) for size in sizes]
        columns = [Column(k, law) for law in laws]
        [answer] = solve(self.neighbors, self._question(columns))
        return self._curve("shots" if stratify else "train_size", sizes, answer, columns)

    def over_ranks(self, ranks: list[int], exclusion: Exclusion | None = None) -> Curve:
        """Recall at every rank; excluded candidates are never met."""
        columns = [Column(rank, self.law) for rank in ranks]
        task = replace(self, exclusion=exclusion)
        [answer] = solve(self.neighbors, task._question(columns))
        return task._curve("rank", ranks, answer, columns)

    def expect_evaluation(self) -> None:
        """Say that `evaluate` will be asked beside other questions."""
        question = self._question([Column(self.n_neighbors, self.law)], want_samples=True)
        self.neighbors.expect(solver_for(question).depth)

    def fitting(self, ks: list[int]) -> list[int]:
        """Those candidates for k that some training set is not too small for, with a warning."""
        self._check_neighbors(min(ks), self.law)
        what = f"the size of the smallest training set ({self.law})"
        return keep_fitting("n_neighbors", ks, self.law.smallest_training_set, what)

    def with_neighbors(self, k: int) -> Task:
        """The same task with another k."""
        return replace(self, settings=replace(self.settings, n_neighbors=k))

    # ------------------------------------------------------------ how

    def _weighted(self, weights: Any) -> Task:
        """The same task with other weights."""
        read = read_weights(weights, positive=self.settings.regression)
        return replace(self, settings=replace(self.settings, weights=read))

    def _check_neighbors(self, k: int, law: Law) -> None:
        """Raise if some training set has fewer than k voters (recall@R looks at what is there)."""
        most = law.smallest_training_set
        if k > most and self.scoring.rank is None:
            raise InvalidInputError(
                f"n_neighbors must be at most {most}, the size of the smallest training set "
                f"({law}); got {k}"
            )

    def _question(self, columns: list[Column], *, want_samples: bool = False) -> Question:
        """The question for these columns (k, law)."""
        for column in columns:
            self._check_neighbors(column.k, column.law)
        regression, samples = self.settings.regression, self.samples
        vote: Literal["majority", "ranked", "mean", "weighted", "weighted mean"]
        if self.scoring.rank is not None:
            vote = "ranked"
            columns = [_within_reach(column) for column in columns]
        elif self.settings.weights is None:
            vote = "mean" if regression else "majority"
        else:
            vote = "weighted mean" if regression else "weighted"
        return Question(
            codes=np.empty(0, dtype=np.int32) if samples.codes is None else samples.codes,
            n_classes=0 if samples.classes is None else len(samples.classes),
            targets=self.y if regression else np.empty(0),
            vote=vote,
            columns=columns,
            balanced=self.scoring.name == "balanced_accuracy",
            want_samples=want_samples,
            options=self.options,
            exclusion=self.exclusion,
            weights=self.settings.weights,
        )

    def _curve(
        self, parameter: str, values: list[int], answer: Answer, columns: list[Column]
    ) -> Curve:
        return Curve(
            parameter=parameter,
            x=np.array(values),
            scores=answer.scores,
            scoring="recall" if parameter == "rank" else self.scoring.name,
            error_bounds=answer.error_bound,
            fractions=answer.fractions,
            search=answer.search,
            standard_errors=answer.standard_error,
            task=self,
            columns=tuple(columns),
        )


def _within_reach(column: Column) -> Column:
    """The column for a rank that some training set has: beyond that nothing is left to look at."""
    law = column.law
    if law.kind == "independent draws":
        # Here R is a condition on the training set, so a larger one asks something else.
        return column
    copies = law.kind == "draws with replacement"
    return Column(min(column.k, law.n_samples if copies else law.n_samples - 1), law)

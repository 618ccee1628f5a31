"""The result of `evaluate`."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import log10
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._ranking import rounding_of_chances, smallest_first
from allsplits._validation import check_choice, check_count, check_fraction
from allsplits.exact import Ballots, ScoresWithout, SplitSpread
from allsplits.exceptions import SampledWarning, UnsupportedError
from allsplits.model_selection._interval import Interval, make_interval
from allsplits.model_selection._many_scores import ManyScores
from allsplits.model_selection._moves import (
    Moves,
    SampleScores,
    jackknife_moves,
    jackknife_variance,
)
from allsplits.model_selection._scoring import ignores_neighbors, in_digits
from allsplits.model_selection._spreads import split_spread, unbiased_variance, without_one
from allsplits.model_selection._variance import METHODS
from allsplits.orders import SearchReport
from allsplits.splits import Law

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from allsplits.exact.halves import UnbiasedVariance
    from allsplits.model_selection._task import Task


def count_in_words(number: int) -> str:
    """Write a count so that one can read it: digits up to a million, then powers of ten."""
    if number < 10**6:
        return f"{number:,}"
    exponent = int(log10(number))
    if exponent >= 300:
        return f"about 10^{exponent}"
    mantissa, _, power = f"{float(number):.2e}".partition("e+")
    return f"{mantissa}e{int(power)}"


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(ManyScores):
    """The exact average over all splits, and what it is made of.

    Exactness removes the noise of *splitting*: another seed, more repeats or other folds cannot
    change the value. It does not remove the noise of *sampling*: another data set would give
    another value.

    Attributes
    ----------
    score : float
        The average score over all splits.
    scoring : str
        Name of the score.
    error_bound : float
        The score is off by no more than this (mass left out and rounding).
    fraction : Fraction or None
        The score as a fraction, with ``exact=True``.
    n_neighbors : int
        Number of voters (1, the least, for an estimator within a radius).
    sample_scores : ndarray of shape (n_samples,)
        How often each sample is right when it is held out; for regression its negative expected
        squared error (NaN if the law never holds it out). Where test sets differ in size (unequal
        folds, groups) each split counts the same, so the splits that hold a sample out are
        averaged by one over the size of their test sets.
    sample_weight : ndarray of shape (n_samples,)
        What each sample counts: ``score == sum(sample_weight * sample_scores)``.
    sample_fractions : tuple of Fraction or None
        The sample scores as fractions, with ``exact=True`` (None where the law never holds a
        sample out).
    given : ndarray of shape (n_samples, n_classes) or None
        `prediction_proba` where it came with the score.
    y : ndarray of shape (n_samples,)
        The true labels or targets.
    classes : ndarray of shape (n_classes,) or None
        The classes, in the order of the columns (None for regression).
    law : SizeLaw, CountsLaw, GroupLaw, EpisodeLaw, BernoulliLaw or BootstrapLaw
        The law of the training sets.
    search : SearchReport
        How neighbours were found: ``search.backend``, ``search.approximate``.
    row_names : ndarray of shape (n_samples,) or None
        The pandas index of X (or of y), where there is one other than 0, 1, 2, …:
        ``result.row_names[result.hardest()]`` names the hardest samples.
    standard_error : float
        With ``allow_sampling=True``: of that part of the score that was sampled; 0 if nothing was.
        It comes on top of `error_bound`.
    task : Task or None
        What was asked, for what is computed when it is asked for.
    ballots : Ballots or None
        How the votes fall, where the score is one of votes.
    others : tuple of Evaluation
        Of several scores all but the first, whose evaluation this is: ``evaluation[name]`` is the
        one of any of them.
    names : tuple of str
        The names of all scores.
    radius : float or None
        For an estimator within a radius: everybody no farther than this votes.

    Notes
    -----
    With a fixed test set (`X_test`) the samples of all these are the test samples: they are asked
    under every training set, and a split is a training set of the references.
    """

    score: float
    scoring: str
    error_bound: float
    fraction: Fraction | None
    n_neighbors: int
    sample_scores: NDArray[np.float64]
    sample_weight: NDArray[np.float64]
    sample_fractions: tuple[Fraction | None, ...] | None
    given: NDArray[np.float64] | None
    y: NDArray[Any]
    classes: NDArray[Any] | None
    law: Law
    search: SearchReport = field(default_factory=SearchReport)
    row_names: NDArray[Any] | None = None
    standard_error: float = 0.0
    task: Task | None = None
    ballots: Ballots | None = None
    others: tuple[Evaluation, ...] = ()
    names: tuple[str, ...] = ()
    radius: float | None = None

    @property
    def n_splits(self) -> int:
        """How many splits the average runs over (an exact integer)."""
        return int(self.law.n_splits)

    @property
    def unknown_classes(self) -> NDArray[Any] | None:
        """Classes of a fixed test set that no reference has, so that they are always wrong.

        None for regression; empty without a test set.
        """
        if self.classes is None:
            return None
        known = None if self.task is None else self.task.samples.classes
        return np.setdiff1d(self.classes, self.classes if known is None else known)

    @cached_property
    def prediction_proba(self) -> NDArray[np.float64] | None:
        """How often each sample, when held out, is given each class: (n_samples, n_classes).

        None for recall@R and for regression. The score of equal votes does without: they are
        counted for all classes when they are looked at first, here or in `confusion`, `frame` and
        `plot`, which may take longer than the evaluation did.
        """
        if self.given is not None or self.task is None:
            return self.given
        return self.task.class_shares()

    @property
    def confusion(self) -> NDArray[np.float64] | None:
        """Expected share of predictions: true class in rows, given class in columns.

        Entries sum to one; the diagonal sums to the accuracy.
        """
        if self.prediction_proba is None or self.classes is None:
            return None
        matrix = np.zeros((len(self.classes), len(self.classes)))
        rows = np.searchsorted(self.classes, self.y)
        shares = np.nan_to_num(self.prediction_proba) * self.sample_weight[:, None]
        np.add.at(matrix, rows, shares)
        return matrix

    def hardest(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the samples most often wrong, worst first.

        They count from 0 whatever the index of X is; `row_names` has the names. Those that differ
        by rounding alone stay in the order of the rows.

        Parameters
        ----------
        n : int, default=10
            How many.
        """
        check_count("n", n)
        rounding = rounding_of_chances(self.sample_scores, self.error_bound)
        return smallest_first(self.sample_scores, rounding)[:n]

    def interval(self, confidence: float = 0.95, *, method: str = "combined") -> Interval:
        """What another data set from the same source might have given.

        The score is exact over all splits of *these* samples; other samples would give another one.
        How much, is read off the scores with each sample taken out of the data, computed exactly
        and for all samples at once (whole groups under laws of groups), less what this counts
        twice. The study `interval_coverage` says how often the interval covers. It knows nothing of
        a k chosen by the same scores. Where no sample can be taken out (episodes, scores of votes
        such as the log-loss) the interval comes from the sample scores alone, is too narrow for few
        neighbours, and says so (`Interval.method`).

        With a fixed test set (`X_test`) the interval holds what *other test samples* might have
        given, the references being these: it comes from the sample scores alone, which for
        independent test samples is right. It is no narrower than that of as many
        single answers, right or wrong, so where sample scores are averages over many training sets
        it covers more often than it promises. It knows nothing of other references.

        The first call takes the samples out. With equal votes that costs about as much as a few
        evaluations. Weighted votes are counted anew for every sample that a row may lose: up to as
        many times the evaluation as there are samples within the rows' depth (all of them for few
        shots). What will take over ten seconds is announced (`LongRunWarning`), and
        ``method="sample scores"`` takes nobody out.

        Parameters
        ----------
        confidence : float, default=0.95
            Between 0 and 1.
        method : {"combined", "jackknife", "sample scores"}, default="combined"
            How the variance is estimated. "jackknife" errs on the safe side, and is an error where
            no sample can be taken out; "sample scores" (Bayle et al. 2020) errs on the other. The
            default is the first less nine tenths of what samples change in each other's rows, which
            it counts twice, and no less than the second.

        Returns
        -------
        Interval
            ``low, high = evaluation.interval()`` unpacks it.

        Examples
        --------
        >>> from allsplits import evaluate
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> evaluate(KNeighborsClassifier(5), X, y).interval()
        Interval(0.9... to 0.98..., 0.95 confidence, sampling noise of 150 samples)
        """
        check_fraction("confidence", confidence)
        check_choice("method", method, METHODS)
        return make_interval(
            self.score,
            self._moves(None) if method == "sample scores" else self.moves,
            confidence=confidence,
            method=method,
            error_bound=self.error_bound,
            scoring=self.scoring,
        )

    @property
    def without_one(self) -> NDArray[np.float64] | None:
        """The score with each sample (or group) taken out of the data, exactly.

        None where law and vote have no such pass.
        """
        found = self._smaller_data
        return None if found is None else found.scores[:, 0]

    @property
    def fractions_without_one(self) -> tuple[Fraction, ...] | None:
        """The same as fractions, with ``exact=True``."""
        found = self._smaller_data
        if found is None or found.fractions is None:
            return None
        return tuple(line[0] for line in found.fractions)

    @property
    def jackknife_variance(self) -> Fraction | float | None:
        """Σ (score without one - their mean)² · (n-1)/n: a fraction with ``exact=True``.

        None where law and vote have no such pass.
        """
        if self.fractions_without_one is not None:
            return jackknife_variance(self.fractions_without_one)
        if self.without_one is None:
            return None
        return float(np.sum(jackknife_moves(self.without_one) ** 2))

    @cached_property
    def _smaller_data(self) -> ScoresWithout | None:
        return None if self.task is None else without_one(self.task)

    @cached_property
    def moves(self) -> Moves:
        """What each sample, or group, moves the score by."""
        if self.task is None or not self.task.options.exact:
            return self._moves(self._smaller_data)
        return self._moves(without_one(self.task.inexact))

    def paired_moves(self) -> Moves:
        """The same with what samples change in each other's rows, for a comparison."""
        if self.task is None:
            return self.moves
        return self._moves(without_one(self.task.inexact, keep=True))

    def _moves(self, without: ScoresWithout | None) -> Moves:
        found = SampleScores.of(
            self.score, self.sample_scores, self.sample_weight, y=self.y, law=self.law,
            k=self.n_neighbors, scoring=self.scoring,
        )  # fmt: skip
        return found.moves(without)

    def unbiased_variance(self, *, n_cuts: int = 400, random_state: int = 0) -> UnbiasedVariance:
        """An unbiased estimate of the variance of the score over data sets from the same source.

        It exists for training sets of one fixed size a with 2a + 2 ≤ n: two of them and two
        questions must fit into the data without a common sample. It is noisier than the variance of
        `interval`, of which it is no part, and may be negative: over many data sets it is right on
        average. It comes from cuts of the data in two halves, all of them where they are few.

        Parameters
        ----------
        n_cuts : int, default=400
            Cuts to draw if there are many.
        random_state : int, default=0
            Seed of these.

        Returns
        -------
        UnbiasedVariance

        Examples
        --------
        >>> from allsplits import FixedSize, evaluate
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> evaluate(KNeighborsClassifier(1), X, y, cv=FixedSize(60)).unbiased_variance()
        UnbiasedVariance(0.000..., SAMPLED from 400 cuts in two halves with standard error ...)
        """
        check_count("n_cuts", n_cuts, at_least=2)
        check_count("random_state", random_state, at_least=0)
        if self.task is None:
            raise UnsupportedError(
                "unbiased_variance needs what was evaluated: use the result of evaluate as it came"
            )
        return unbiased_variance(self.task, n_cuts=n_cuts, seed=random_state)

    @cached_property
    def split_std(self) -> float:
        """Standard deviation of the score that one random split would have shown.

        For folds it is that of one shuffled run, the mean of its folds. It is exact where pairs can
        be counted, or all splits scored; elsewhere it is sampled, and a `SampledWarning` names its
        error and the reason. `split_spread` has all of this in its result.
        """
        found = self._split_spread("exact if possible", 4000, 0)
        if found.sampled:
            warnings.warn(
                f"split_std={found.std:.6f} is SAMPLED from {found.n_runs:,} runs with standard "
                f"error {found.standard_error:.1g}: {found.reason}. split_spread() has its error "
                "beside it",
                SampledWarning,
                stacklevel=3,
            )
        return found.std

    def split_spread(
        self, *, method: str = "auto", n_runs: int = 4000, random_state: int = 0
    ) -> SplitSpread:
        """How far a single run of the cross-validation may be off, by chance of its splits.

        A run is one random split of the law; for folds it is all folds of one shuffle, and its
        score the mean over them, as in ``cross_val_score(...).mean()``. Counted exactly for one
        neighbour (laws of fixed size, class counts, folds) and for two classes with any k (single
        splits), as long as tied neighbours have few orders (``distance_ties="index"`` has one);
        from all splits where there are at most 4,000; sampled otherwise, which the result says.

        Parameters
        ----------
        method : {"auto", "exact", "sampled"}, default="auto"
            "exact" counts whatever time it takes, or is an error; "sampled" draws runs; "auto"
            counts where that is possible in some minutes, and samples otherwise.
        n_runs : int, default=4000
            Runs to draw if it is sampled.
        random_state : int, default=0
            Seed of these.

        Returns
        -------
        SplitSpread

        Examples
        --------
        >>> from allsplits import evaluate
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = load_wine(return_X_y=True)
        >>> evaluate(KNeighborsClassifier(1), X, y, cv=5).split_spread()
        SplitSpread(std=0.0193... ± ..., exact, of the mean of 5 folds)
        """
        check_choice("method", method, ["auto", "exact", "sampled"])
        check_count("n_runs", n_runs, at_least=2)
        check_count("random_state", random_state, at_least=0)
        return self._split_spread(method, n_runs, random_state)

    def _split_spread(self, method: str, n_runs: int, seed: int) -> SplitSpread:
        if self.task is None:
            raise UnsupportedError(
                "split_spread needs what was evaluated: use the result of evaluate as it came"
            )
        return split_spread(self.task, method=method, n_runs=n_runs, seed=seed)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per sample, as a pandas or polars data frame.

        Row names are the index of the pandas frame, and a column "row" of the polars frame.
        """
        columns: dict[str, Any] = {
            "label": self.y,
            "score": self.sample_scores,
            "weight": self.sample_weight,
        }
        # Of several scores, each has its name.
        for name in self.names[1:]:
            columns[name] = self[name].sample_scores
        if self.prediction_proba is not None and self.classes is not None:
            columns["most_often"] = self.classes[np.argmax(self.prediction_proba, axis=1)]
            for name, share in zip(self.classes, self.prediction_proba.T, strict=True):
                columns[f"share_{name}"] = share
        return make_frame(columns, backend, self.row_names)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the expected confusion matrix, each row as shares of its class."""
        from allsplits.plots._confusion import draw_confusion

        return draw_confusion(self, ax)

    def __repr__(self) -> str:
        k = "" if ignores_neighbors(self.scoring) else f", n_neighbors={self.n_neighbors}"
        k = k if self.radius is None else f", radius={self.radius:g}"
        bound = self.search.bound_text(self.error_bound)
        if self.standard_error:
            bound = f" (sampled votes, standard error {self.standard_error:.1g})"
        others = "".join(f", {name}={in_digits(self[name].score)}" for name in self.names[1:])
        splits = "training sets" if self.law.outside else "splits"
        asked = f", {len(self.y):,} test samples" if self.law.outside else ""
        exclusion = None if self.task is None else self.task.exclusion
        law = self.law if exclusion is None else f"{self.law}, {exclusion}"
        return (
            f"Evaluation({self.scoring}={in_digits(self.score)}{bound}{others}{k}{asked}, "
            f"exact over {count_in_words(self.n_splits)} {splits}: {law}{self.search.note})"
        )

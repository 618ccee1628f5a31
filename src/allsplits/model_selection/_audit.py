"""`audit_split`: was this split lucky? Its score beside all splits like it.

The samples of the split are those that train or test. The splits like it are all that have as many
training samples: of each class where the split is stratified, in all otherwise; or as many training
groups. Their mean score is exact (`evaluate`). How much single splits differ from it is counted
over pairs of samples where that is possible (`Evaluation.split_spread`). How rare the score is has
no formula: splits are drawn and scored on the stored neighbours as this one is, tied neighbours
averaged, and the share that is at least as good has a standard error. Where there are few splits
all of them are scored, and nothing is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeavePGroupsOut

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_choice, check_count, shown
from allsplits.exact import GivenSplit, Options, SplitSpread
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._evaluation import Evaluation, count_in_words
from allsplits.model_selection._options import check_options
from allsplits.model_selection._scoring import in_digits
from allsplits.model_selection._split_rows import SplitRows, only_rows, read_split
from allsplits.model_selection._spreads import split_beside_runs
from allsplits.model_selection._task import Given, Task
from allsplits.splits import ClassCounts, FixedSize, Samples, resolve_cv

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from allsplits.splits import Law

#: Scores that differ by less, in units of the largest, are equal but for rounding.
_ROUNDING = 1e-9
#: A split is called lucky or unlucky if fewer are like it.
_RARE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class Audit:
    """One split beside all splits like it.

    Attributes
    ----------
    score : float
        The score of this split; equally distant neighbours are averaged over their orders.
    evaluation : Evaluation
        The exact average over all splits like it.
    spread : SplitSpread
        The standard deviation between such splits: counted, or sampled, which it says.
    run_scores : ndarray of shape (n_runs,)
        Scores of drawn splits, or of all.
    test_mean : float
        What the test samples of this split score on average over all training sets: what this split
        owes to its test samples is ``test_mean - mean``, and to its training samples
        ``score - test_mean``.
    n_train, n_test : int
        Samples of this split.
    sampled : bool
        Whether the splits of `run_scores` were drawn; False if these are all there are.
    """

    score: float
    evaluation: Evaluation
    spread: SplitSpread
    run_scores: NDArray[np.float64]
    test_mean: float
    n_train: int
    n_test: int
    sampled: bool = True

    @property
    def mean(self) -> float:
        """The average score over all splits like this one, exactly."""
        return self.evaluation.score

    @property
    def law(self) -> Law:
        """Which splits are like this one."""
        return self.evaluation.law

    @property
    def scoring(self) -> str:
        """Name of the score."""
        return self.evaluation.scoring

    @property
    def split_std(self) -> float:
        """Standard deviation of the score between splits."""
        return self.spread.std

    @property
    def z(self) -> float:
        """How many standard deviations this split is above the mean."""
        off = self.score - self.mean
        if abs(off) <= self._same + self.evaluation.error_bound:
            return 0.0
        return off / self.split_std if self.split_std > 0 else float(np.copysign(inf, off))

    @property
    def at_least_as_good(self) -> float:
        """Share of the splits, drawn or all, that score at least as high."""
        return float(np.mean(self.run_scores >= self.score - self._same))

    @property
    def at_least_as_bad(self) -> float:
        """Share of them that score at most as high."""
        return float(np.mean(self.run_scores <= self.score + self._same))

    @property
    def luck(self) -> float:
        """Share of them at least as far from the mean on the same side: the tail."""
        return self.at_least_as_good if self.z >= 0 else self.at_least_as_bad

    @property
    def luck_error(self) -> float:
        """Standard error of a sampled `luck`; not 0 where no draw, or every one, is there.

        It is that of the share with one more draw on either side. 0 if all splits were scored.
        """
        if not self.sampled:
            return 0.0
        n = len(self.run_scores)
        share = (self.luck * n + 1) / (n + 2)
        return sqrt(share * (1 - share) / n)

    @property
    def share_in_words(self) -> str:
        """How many of the splits are as far from the mean, as a sentence begins."""
        if not self.sampled:
            return f"{self.luck:.1%} of all {len(self.run_scores):,} splits"
        drawn = f"{len(self.run_scores):,} drawn splits"
        if self.luck == 0:
            return f"none of {drawn}"
        return f"{self.luck:.1%} ± {self.luck_error:.1%} of {drawn}"

    @property
    def verdict(self) -> Literal["lucky", "ordinary", "unlucky"]:
        """In a word: fewer than 5 % score as high (lucky), or as low (unlucky), or neither."""
        if self.luck >= _RARE:
            return "ordinary"
        return "lucky" if self.z > 0 else "unlucky"

    @property
    def _same(self) -> float:
        largest = max(abs(self.score), float(np.abs(self.run_scores).max()))
        return _ROUNDING * max(largest, 1e-300)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row with all numbers, as a pandas or polars data frame."""
        columns = {
            "scoring": [self.scoring],
            "score": [self.score],
            "mean": [self.mean],
            "split_std": [self.split_std],
            "split_std_sampled": [self.spread.sampled],
            "z": [self.z],
            "luck": [self.luck],
            "luck_error": [self.luck_error],
            "luck_sampled": [self.sampled],
            "n_runs": [len(self.run_scores)],
            "test_mean": [self.test_mean],
            "n_train": [self.n_train],
            "n_test": [self.n_test],
            "verdict": [self.verdict],
        }
        return make_frame(columns, backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the scores of the drawn splits, with the exact mean and this split marked."""
        from allsplits.plots._audit import draw_audit

        return draw_audit(self, ax)

    def __repr__(self) -> str:
        n_splits = count_in_words(self.evaluation.n_splits)
        side, tail = ("above", "high") if self.z >= 0 else ("below", "low")
        far = f"{abs(self.z):.1f} standard deviations {side}" if self.z else "the same"
        sampled = ", SAMPLED" if self.spread.sampled else ""
        return (
            f"Audit({self.verdict}: {self.scoring} {in_digits(self.score)} on this split, "
            f"{in_digits(self.mean)} on average over all {n_splits} "
            f"splits like it: {far} (std {self.split_std:.4f}{sampled}); {self.share_in_words} "
            f"score as {tail}; like it: {self.law}{self.evaluation.search.note})"
        )


def audit_split(
    estimator: Any,
    X: Any,
    y: Any,
    train: Any,
    test: Any,
    *,
    stratify: bool | None = None,
    groups: Any = None,
    scoring: str | None = None,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    n_runs: int = 4000,
    random_state: int = 0,
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Audit:
    """Set the score of one split beside all splits like it, to see whether it was lucky.

    Splits like it train on as many of the same samples. Their average is exact, how far single ones
    are from it is counted where it can be, and how rare this score is, is sampled.

    Parameters
    ----------
    estimator : KNeighborsClassifier or KNeighborsRegressor
        As in `evaluate`. It is not fitted.
    X : array-like, data frame or NeighborOrder of shape (n_samples, n_features)
        The samples; the distance matrix with ``metric="precomputed"``.
    y : array-like of shape (n_samples,)
        The class labels, or the targets of a regressor.
    train, test : array-like
        Row numbers, or True and False for each row. Rows that are in neither are left out: they
        play no part.
    stratify : bool, default=None
        True: splits with the same number of training samples of each class. False: with the same
        number in all. None reads it off the split: True if every class has its share of the
        training samples, rounded up or down; the result's `law` says which it was.
    groups : array-like of shape (n_samples,), default=None
        Groups that stay together: then splits with as many training groups. No group may be in both
        train and test.
    scoring, distance_ties, label_ties, backend, n_jobs, progress :
        As in `evaluate`. Equally distant neighbours are averaged over all their orders, exactly, in
        drawn splits as in this one.
    n_runs : int, default=4000
        Splits to draw; if there are no more, and at most 4,000, all of them are scored instead.
    random_state : int, default=0
        Seed of these.

    Returns
    -------
    Audit

    Examples
    --------
    >>> from allsplits import audit_split
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> train, test = train_test_split(range(150), test_size=30, stratify=y, random_state=4)
    >>> audit_split(KNeighborsClassifier(5), X, y, train, test)
    Audit(ordinary: accuracy 0.933333 on this split, 0.964498 on average over all 1.08e30 splits
    like it: 1.0 standard deviations below (std 0.029..., SAMPLED); 28.0% ± 0.7% of 4,000 drawn
    splits score as low; like it: every training set with 40 samples of each of 3 classes)
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    check_choice("stratify", stratify, [None, True, False])
    check_count("n_runs", n_runs, at_least=100)
    check_count("random_state", random_state, at_least=0)
    rows = read_split(X, train, test)
    task = _read_task(estimator, X, y, rows, options, scoring=scoring, groups=groups)
    split = GivenSplit(*(np.searchsorted(rows.used, part) for part in (rows.train, rows.test)))
    task = replace(task, law=_law_of(task.samples, split, stratify))
    if task.scoring.name == "balanced_accuracy" and task.law.kind != "class counts":
        raise InvalidInputError(
            "scoring='balanced_accuracy' needs splits that test every class alike: pass "
            f"stratify=True, or scoring='accuracy'; got {task.law}"
        )
    task.neighbors.expect()
    evaluation = task.evaluate()
    found, drawn = split_beside_runs(task, split, n_runs=n_runs, seed=random_state)
    return Audit(
        score=found.score,
        evaluation=evaluation,
        spread=drawn.spread,
        run_scores=drawn.scores,
        test_mean=float(np.sum(found.units * np.nan_to_num(evaluation.sample_scores))),
        n_train=len(split.train),
        n_test=len(split.test),
        sampled=drawn.sampled,
    )


def _read_task(
    estimator: Any, X: Any, y: Any, rows: SplitRows, options: Options, *, scoring: Any, groups: Any
) -> Task:
    """The task on the rows of the split alone."""
    precomputed = getattr(estimator, "metric", None) == "precomputed"
    given = Given(
        only_rows("X", X, rows, square=precomputed),
        only_rows("y", y, rows),
        FixedSize(len(rows.train)),
        scoring,
        only_rows("groups", groups, rows),
    )
    return Task.read(estimator, given, options)


def _law_of(samples: Samples, split: GivenSplit, stratify: bool | None) -> Law:
    """The law of the splits that are like this one."""
    if samples.codes is not None:
        _refuse_new_classes(samples, split)
    if samples.groups is not None:
        return _law_of_groups(samples, split, stratify)
    if samples.codes is None or samples.classes is None:
        if stratify:
            raise InvalidInputError("stratify must be None or False for a regressor; got True")
        return resolve_cv(FixedSize(len(split.train)), samples)
    counts = np.bincount(samples.codes[split.train], minlength=len(samples.classes))
    if _in_proportion(np.bincount(samples.codes), counts) if stratify is None else stratify:
        by_class = dict(zip(samples.classes.tolist(), counts.tolist(), strict=True))
        return resolve_cv(ClassCounts(by_class), samples)
    return resolve_cv(FixedSize(len(split.train)), samples)


def _in_proportion(sizes: NDArray[np.int64], train: NDArray[np.int64]) -> bool:
    """Whether each class has its share, rounded up or down: of this split, or of equal folds."""
    n, test = int(sizes.sum()), sizes - train
    n_folds = max(2, round(n / int(test.sum())))
    of_split = np.abs(train * n - sizes * train.sum()) < n
    of_folds = np.abs(test * n_folds - sizes) < n_folds
    return bool(of_split.all() or of_folds.all())


def _law_of_groups(samples: Samples, split: GivenSplit, stratify: bool | None) -> Law:
    """As many groups for training; one sample in each group is no group."""
    if stratify:
        raise InvalidInputError("stratify must be None or False with groups; got True")
    groups: NDArray[np.int32] = np.asarray(samples.groups)
    both = np.intersect1d(groups[split.train], groups[split.test])
    if len(both):
        raise InvalidInputError(
            "groups must be in train or in test as a whole; got "
            f"{np.sum(np.isin(groups[split.train], both))} training samples and "
            f"{np.sum(np.isin(groups[split.test], both))} test samples of {len(both)} groups that "
            "are in both"
        )
    return resolve_cv(LeavePGroupsOut(len(np.unique(groups[split.test]))), samples)


def _refuse_new_classes(samples: Samples, split: GivenSplit) -> None:
    codes, classes = np.asarray(samples.codes), np.asarray(samples.classes)
    new = np.setdiff1d(codes[split.test], codes[split.train])
    if len(new):
        raise InvalidInputError(
            f"train must have a sample of every class that is tested; got none of "
            f"{shown(classes[new])}"
        )

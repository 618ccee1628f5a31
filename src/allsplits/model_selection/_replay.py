"""`replay`: the scores of many splits from one neighbour search, drawn or given."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from sklearn.base import is_regressor
from sklearn.model_selection import LeaveOneOut
from sklearn.utils import check_random_state

from allsplits._tensors import to_array
from allsplits._validation import check_count, check_flag, shown
from allsplits.exact.neighbors import cut_rows
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._replay_exact import Exact, control_of, exact_means
from allsplits.model_selection._replay_means import (
    as_nearest_sample,
    check_class_means,
    has_exact_mean,
)
from allsplits.model_selection._replay_scores import read_ranked, read_votes, with_as_many
from allsplits.model_selection._replay_splits import Data, in_words, read_runs
from allsplits.model_selection._task import Given, Task
from allsplits.orders import NeighborOrder, as_given
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.replays.batch import Plan
from allsplits.replays.class_means import replay_means
from allsplits.replays.engine import Replayed, replay_runs, stored_depth
from allsplits.replays.kernel_types import Floats
from allsplits.replays.lacking import is_of_shares, splits_that_lack_a_class
from allsplits.replays.result import Control, Replay, check_until
from allsplits.replays.scores import Score, read_scores
from allsplits.replays.sources import LawRuns, Source
from allsplits.splits import Law

#: Splits that are drawn, and the most of them with `until`.
_N_SPLITS, _MOST_SPLITS = 1000, 1_000_000


def replay(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    strata: Any = None,
    n_splits: int | None = None,
    until: float | None = None,
    random_state: Any = None,
    error_score: Any = "raise",
    control: bool = True,
    distance_ties: Literal["average", "index"] = "average",
    label_ties: Literal["first", "share"] = "first",
    backend: str = "auto",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Any:
    """Score many splits of a nearest-neighbour model from one neighbour search.

    For what has no closed form: any split, any score, and the distribution behind a mean. With the
    neighbours stored, a split is a mask, and scoring it takes microseconds. Splits are drawn, and
    every number has its Monte Carlo error beside it; where the mean is known exactly it is shown.

    Parameters
    ----------
    estimator : KNeighborsClassifier, KNeighborsRegressor or NearestCentroid
        As in `evaluate`; class means may be of any number of samples. It is not fitted.
    X : array-like, data frame or NeighborOrder of shape (n_samples, n_features)
        The samples; the distance matrix with ``metric="precomputed"``.
    y : array-like of shape (n_samples,)
        The class labels, or the targets of a regressor.
    cv : law, splitter, int, None or iterable of (train, test), default=None
        Whatever `evaluate` takes is drawn from at random, whatever its random state; LeaveOneOut,
        LeavePOut, LeaveOneGroupOut and LeavePGroupsOut are taken as they are if they have at most
        `n_splits` splits. Any other splitter of scikit-learn is asked for its splits
        (TimeSeriesSplit, PredefinedSplit, GroupKFold, StratifiedGroupKFold): all of them, once; a
        random one again and again, with other random states. Pairs of row numbers are all the
        splits there are.
    scoring : str, callable, list or dict, default=None
        A name that scikit-learn knows, a scorer (`make_scorer`), or a function of (y_true, y_pred).
        None is "accuracy", or "neg_mean_squared_error". Several are scored on the same splits.
        Compiled: accuracy, balanced_accuracy, matthews_corrcoef, roc_auc, roc_auc_ovr,
        roc_auc_ovr_weighted, neg_log_loss; f1, precision, recall and jaccard, each also _macro,
        _micro and _weighted; r2, explained_variance, neg_mean_squared_error,
        neg_root_mean_squared_error, neg_mean_absolute_error, neg_max_error. Others are called.
        "recall@R" looks at R neighbours, whatever the estimator's number is; beside scores of votes
        R must be that number. `LogLoss`, `CostMatrix`, "top_K_accuracy" and "recall_of:CLASS" are
        taken as in `evaluate`. A NearestCentroid has scores of predictions.
    groups : array-like of shape (n_samples,), default=None
        Groups, for the splitters that need them.
    strata : array-like of shape (n_samples,), default=None
        Classes that stratified folds and ClassCounts draw from, for a regressor.
    n_splits : int, default=None
        Splits to draw, in whole runs of folds: 1,000; with `until` at most so many: 1,000,000.
    until : float, default=None
        Stop as soon as the standard error of the mean is at most this. It is looked at after 128
        runs, and after every tenth more.
    random_state : int, RandomState or None, default=None
        Seed. The same seed gives the same bits, whatever `n_jobs` is.
    error_score : "raise" or float, default="raise"
        What a split counts if its score fails or is NaN: "raise" stops and says which split it was;
        np.nan leaves its run out and counts it in `n_failed`.
    control : bool, default=True
        Whether the exact mean is computed where there is one, and used to sharpen the means of
        other scores. It costs what `evaluate` costs.
    distance_ties : {"average", "index"}, default="average"
        A split needs one answer: equally distant neighbours at the k-th place are drawn at random,
        so that means tend to the average over all their orders; or the lower row number is first,
        and nothing is drawn. Of equally distant class means one is drawn, or the first has it.
    label_ties : {"first", "share"}, default="first"
        Equally many votes: the class that comes first (as scikit-learn does), or one of them drawn.
    backend, n_jobs, progress :
        As in `evaluate`.

    Returns
    -------
    Replay
        Or a dict of them by name, if `scoring` has several. Ctrl-C ends it early: the result has
        the runs that were scored until then, and says so.

    Examples
    --------
    >>> from allsplits import replay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import TimeSeriesSplit
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> replay(KNeighborsClassifier(5), X, y, cv=5, scoring="f1_macro", random_state=0)
    Replay(f1_macro=0.96... ± ... SAMPLED from 200 drawn runs of 5 folds; std ...; ties drawn in
    ... of the predictions; n_neighbors=5, every training set with 40 samples of each of 3 classes)
    >>> found = replay(KNeighborsClassifier(5), X, y, cv=TimeSeriesSplit(3), random_state=0)
    >>> found.split_scores.shape, found.sampled
    ((3, 1), False)
    """
    options = check_options(
        distance_ties=distance_ties, label_ties=label_ties, backend=backend, n_jobs=n_jobs,
        progress=progress,
    )  # fmt: skip
    wanted = check_until(until)
    if n_splits is None:
        n_splits = _N_SPLITS if wanted is None else _MOST_SPLITS
    check_count("n_splits", n_splits, at_least=1)
    check_flag("control", control)
    _check_error_score(error_score)
    y, groups, strata = to_array(y, "y"), to_array(groups, "groups"), to_array(strata, "strata")
    asked_for = read_ranked(scoring, regression=is_regressor(estimator))
    estimator = with_as_many(estimator, asked_for)
    k = getattr(estimator, "n_neighbors", 1)
    n = X.n_samples if isinstance(X, NeighborOrder) else None
    data = Data(X if n is None else np.zeros((n, 1)), y, groups, k if isinstance(k, int) else 1)
    given = read_runs(cv, data, n_splits)
    law = cv if given is None else LeaveOneOut()
    task = Task.read(estimator, Given(X, y, law, groups=groups, strata=strata), options)
    scores = read_scores(read_votes(asked_for, task), task.classes)
    n_scores, class_means = len(scores), task.settings.class_means
    if class_means:
        check_class_means(estimator, task, task.law if given is None else None, scores)
        control, task = control and has_exact_mean(task), as_nearest_sample(task)
    question = task.question()
    source: Source = LawRuns(question) if given is None else given
    scores, known = _with_controls(task, scores) if control and given is None else (scores, [])
    asked = _Asked(
        plan=Plan(
            task.neighbors, question, source, scores, as_given(task.points), task.y, task.classes,
            _seed(random_state), error_score,
        ),
        known=known or [None] * len(scores),
        n_scores=n_scores,
        until=wanted,
        n_runs=source.n_runs or -(-n_splits // source.n_folds),
        law=task.law if given is None else None,
        cv=str(task.law) if given is None else in_words(cv, given),
        class_means=class_means,
    )  # fmt: skip
    results = asked.counted(asked.replayed())
    several = isinstance(scoring, (list, tuple, set, dict))
    return results if several else results[scores[0].name]


@dataclass(frozen=True)
class _Asked:
    """What was asked, to make results of the scores that come back.

    The first `n_scores` scores of the plan are asked for, others are controls; `known` has their
    exact means, where they have one.
    """

    plan: Plan
    known: list[Exact | None]
    n_scores: int
    until: float | None
    n_runs: int
    law: Law | None
    cv: str
    class_means: bool

    def replayed(self) -> Replayed:
        """Score the runs."""
        drawn_until = self.until is not None and self.plan.source.n_runs is None
        enough = self.is_enough if drawn_until else None
        if self.class_means:
            found = replay_means(self.plan, self.n_runs, enough)
        else:
            found = replay_runs(self.plan, _stored(self.plan), self.n_runs, enough)
        for s, score in enumerate(self.plan.scores[: self.n_scores]):
            if np.isnan(found.scores[..., s]).any(axis=1).all():
                raise InvalidInputError(
                    f"error_score={self.plan.error_score!r} leaves out runs that cannot be scored, "
                    f"and no run was left: scoring={score.name!r} failed, or was NaN, in all "
                    f"{len(found.scores):,} of them{_why(found, score)}"
                )
        return found

    def is_enough(self, kept: list[Floats]) -> bool:
        """Whether the standard errors are small enough to stop."""
        results = self.results(Replayed(np.concatenate(kept), False, 0, 1, ()))
        return all(result.reached for result in results.values())

    def results(self, found: Replayed) -> dict[str, Replay]:
        """The result for each of the scores, by name."""
        asked = self.plan.scores[: self.n_scores]
        return {score.name: self._result(found, s) for s, score in enumerate(asked)}

    def counted(self, found: Replayed) -> dict[str, Replay]:
        """The same, and how many splits lack a class."""
        results = self.results(found)
        of_shares = {score.name for score in self.plan.scores if is_of_shares(score)} & set(results)
        if not of_shares or self.class_means:
            return results
        lacking = splits_that_lack_a_class(self.plan, self.law, len(found.scores))
        of_these = {name: replace(results[name], n_lacking=lacking) for name in of_shares}
        return results | of_these

    def _result(self, found: Replayed, s: int) -> Replay:
        plan, score, exact = self.plan, self.plan.scores[s], self.known[s]
        return Replay(
            scoring=score.name,
            split_scores=found.scores[..., s],
            sampled=plan.source.n_runs is None,
            exact_mean=None if exact is None else exact.mean,
            error_bound=0.0 if exact is None else exact.error_bound,
            control=self._control(found) if exact is None else None,
            cv=self.cv,
            n_neighbors=plan.question.columns[0].k,
            seed=plan.seed,
            stopped=found.stopped,
            n_asked=self.n_runs,
            until=self.until,
            tied_share=found.n_drawn / max(1, found.n_answers),
            n_failed=sum(failed.score == score.name for failed in found.failed),
            class_means=self.class_means,
        )

    def _control(self, found: Replayed) -> Control | None:
        """The first score of these runs whose mean is known."""
        for place, exact in enumerate(self.known):
            if exact is not None:
                runs = found.scores[..., place].mean(axis=1)
                return Control(self.plan.scores[place].standard, runs, exact.mean)
        return None


def _why(found: Replayed, score: Score) -> str:
    """The first error, if there was one."""
    errors = [one.error for one in found.failed if one.score == score.name and one.error]
    return f": {type(errors[0]).__name__}: {errors[0]}" if errors else ""


def _with_controls(task: Task, scores: list[Score]) -> tuple[list[Score], list[Exact | None]]:
    """The scores, then one that sharpens them if that is needed, and the exact means of all."""
    known = exact_means(task, scores)
    more = control_of(task, scores, known)
    exact = exact_means(task, more)
    return (scores, known) if None in exact else (scores + more, known + exact)


def _stored(plan: Plan) -> NeighborOrder:
    """Rows of all samples, nearly always deep enough."""
    depth = stored_depth(plan.question, plan.source.smallest_training_set)
    if isinstance(plan.neighbors.X, NeighborOrder):
        depth = min(depth, plan.neighbors.X.depth)
    blocks = plan.neighbors.blocks(depth, whole_order)
    return cut_rows(concatenate([part for block in blocks for part in block.parts]), depth)


def _seed(random_state: Any) -> int:
    """An integer is the seed; others are asked for one."""
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        return check_count("random_state", random_state, at_least=0)
    try:
        return int(check_random_state(random_state).randint(1 << 31))
    except ValueError as error:
        raise InvalidInputError(
            f"random_state must be an integer, a RandomState or None; got {shown(random_state)}"
        ) from error


def _check_error_score(error_score: Any) -> None:
    number = isinstance(error_score, (int, float, np.number)) and not isinstance(error_score, bool)
    if not number and not (isinstance(error_score, str) and error_score == "raise"):
        raise InvalidInputError(
            f"error_score must be 'raise' or a number, such as np.nan; got {shown(error_score)}"
        )

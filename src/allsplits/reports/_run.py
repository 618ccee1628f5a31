"""What a report computes when it is given samples: the best k, its evaluation, the curves."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any, TypeVar

from sklearn.model_selection import LeaveOneOut

from allsplits._validation import check_counts
from allsplits.exact import Options
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection import Curve, Evaluation
from allsplits.model_selection._estimator import VoteSettings, read_estimator
from allsplits.model_selection._suspects import judge_of
from allsplits.model_selection._task import Task
from allsplits.orders import NeighborOrder
from allsplits.reports._text import as_text
from allsplits.splits import Law

_LARGEST_K = 50
_T = TypeVar("_T")


@dataclass(frozen=True)
class Run:
    """What was computed, how long it took, and what readers should know."""

    evaluation: Evaluation
    curves: list[Curve]
    #: What judges the labels: a second look where it can be had, else the evaluation itself.
    judged: Evaluation
    #: Metric and weights in words, as far as they are known.
    model: dict[str, str]
    timings: dict[str, float]
    notes: list[str]


def read_again(
    evaluation: Evaluation, X: Any, estimator: Any, options: Options
) -> tuple[VoteSettings | None, Task | None]:
    """What its estimator tells of an evaluation, and the task of its samples.

    None where nothing is given, or nothing could be judged.
    """
    if estimator is None:
        return None, None
    settings = read_estimator(estimator)
    if settings.regression != (evaluation.classes is None):
        raise InvalidInputError(
            f"estimator must be the one of the Evaluation; got {type(estimator).__name__} for "
            f"{evaluation.scoring}"
        )
    ranked = evaluation.scoring.startswith("recall@")
    if settings.n_neighbors != evaluation.n_neighbors and not ranked:
        raise InvalidInputError(
            f"estimator must be the one of the Evaluation, n_neighbors={evaluation.n_neighbors}; "
            f"got n_neighbors={settings.n_neighbors}"
        )
    judged = evaluation.task if evaluation.law.outside else None
    if judged is not None and _can_be_judged(evaluation.law, evaluation.classes, X):
        return settings, judged
    if X is None or evaluation.law.outside:
        return settings, None
    if not _can_be_judged(evaluation.law, evaluation.classes, X):
        return settings, None
    return settings, Task.read(estimator, X, evaluation.y, options, cv=LeaveOneOut())


def look_again(
    evaluation: Evaluation,
    curves: list[Curve],
    settings: VoteSettings | None,
    X: Any,
    task: Task | None,
) -> Run:
    """What an evaluation that is already computed allows: its metric named, its labels judged."""
    timings: dict[str, float] = {}
    words = {} if settings is None else _model_in_words(settings, X)
    judged = _judge(timings, evaluation, task)
    return Run(evaluation, curves, judged, words, timings, [])


def judge(task: Task, evaluation: Evaluation, curves: list[Curve]) -> Run:
    """The labels judged by the task that the evaluation is of."""
    again = task if _can_be_judged(task.law, task.samples.classes, task.neighbors.X) else None
    return look_again(evaluation, curves, task.settings, task.neighbors.X, again)


def expect(task: Task, *, sizes: bool) -> None:
    """Say what a report will ask, before the first question: one search serves all."""
    if _can_be_judged(task.law, task.samples.classes, task.neighbors.X):
        judge_of(task).expect_evaluation()
    task.neighbors.expect(task.law.n_candidates if sizes else 0)


def run(task: Task, n_neighbors: Any, *, choose: bool, curves: list[Curve] | None) -> Run:
    """Choose k, evaluate it, judge the labels, and draw the curves that make sense."""
    if n_neighbors is None:
        n_neighbors = range(1, min(_LARGEST_K, task.law.smallest_training_set) + 1)
    ks = check_counts("n_neighbors", n_neighbors)
    sizes = curves is None and not in_groups(task.law)
    expect(task, sizes=sizes)
    timings: dict[str, float] = {}
    shown: list[Curve] = []
    notes: list[str] = []
    if task.scoring.rank is None and (choose or curves is None):
        over_k = _timed(timings, "score against k", lambda: task.over_neighbors(ks))
        shown.append(over_k)
        if choose:
            task = task.with_neighbors(over_k.best)
        if choose and len(ks) > 1:
            notes.append(
                f"k = {over_k.best} is the best of {len(ks)} by these same scores: its own score "
                "is a little optimistic."
            )
    evaluation = _timed(timings, "evaluation", task.evaluate)
    if sizes:
        shown.append(_timed(timings, "learning curve", task.over_sizes))
    X = task.neighbors.X
    can_be_judged = _can_be_judged(task.law, task.samples.classes, X)
    judged = _judge(timings, evaluation, task if can_be_judged else None)
    words = _model_in_words(task.settings, X)
    return Run(evaluation, shown if curves is None else curves, judged, words, timings, notes)


def in_groups(law: Law) -> bool:
    """Whether a law keeps groups together."""
    return getattr(law, "groups", None) is not None


def _can_be_judged(law: Law, classes: Any, X: Any) -> bool:
    """Whether labels can be judged: not where only an order is known, or groups vote together."""
    return not isinstance(X, NeighborOrder) and classes is not None and not in_groups(law)


def _judge(timings: dict[str, float], evaluation: Evaluation, task: Task | None) -> Evaluation:
    """A second look at the labels, where there is a task to judge them by."""
    if task is None:
        return evaluation
    return _timed(timings, "a second look at the labels", judge_of(task).evaluate)


def _model_in_words(settings: VoteSettings, X: Any) -> dict[str, str]:
    metric, weights = settings.metric, settings.weights
    params = [f"{k} = {v:g}" for k, v in metric.params.items() if isinstance(v, Real)]
    name = ", ".join([_name(metric.name), *params])
    return {
        "metric": "that of the given order" if isinstance(X, NeighborOrder) else name,
        "weights": "uniform" if weights is None else _name(weights.function),
    }


def _name(choice: Any) -> str:
    return as_text(getattr(choice, "__name__", choice))


def _timed(timings: dict[str, float], name: str, work: Callable[[], _T]) -> _T:
    start = perf_counter()
    done = work()
    timings[name] = perf_counter() - start
    return done

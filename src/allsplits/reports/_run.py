"""What a report computes when it is given samples: the best k, its evaluation, the curves."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneOut

from allsplits._validation import check_counts, shown
from allsplits.exact import Options
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection import Curve, Evaluation
from allsplits.model_selection._estimator import VoteSettings, read_estimator
from allsplits.model_selection._nested import NestedScore
from allsplits.model_selection._optimism import choice_in_words
from allsplits.model_selection._task import Given, Task
from allsplits.orders import NeighborOrder
from allsplits.reports._text import as_text
from allsplits.splits import Law
from allsplits.values import SampleValues, Suspects
from allsplits.values._doubt import can_be_judged, depth_to_judge, judge_labels
from allsplits.values._sample_values import depth_in_passing, value_in_passing

_LARGEST_K = 50
_T = TypeVar("_T")


@dataclass(frozen=True)
class Run:
    """What was computed, how long it took, and what readers should know."""

    evaluation: Evaluation
    curves: list[Curve]
    #: Whose labels are doubted, and what samples are worth; None where that cannot be had.
    judged: Suspects | None
    valued: SampleValues | None
    #: Metric and weights in words, as far as they are known.
    model: dict[str, str]
    timings: dict[str, float]
    notes: list[str]


def read_again(
    evaluation: Evaluation, X: Any, estimator: Any, options: Options
) -> tuple[VoteSettings | None, Task | None]:
    """What its estimator tells of an evaluation, and the task of its samples.

    The task is the evaluation's own where no samples are given; results from elsewhere have none.
    """
    if estimator is None:
        return None, evaluation.task
    settings = read_estimator(estimator, within=True)
    if settings.regression != (evaluation.classes is None):
        raise InvalidInputError(
            f"estimator must be the one of the Evaluation; got {type(estimator).__name__} for "
            f"{evaluation.scoring}"
        )
    if settings.radius != evaluation.radius:
        raise InvalidInputError(
            f"estimator must be the one of the Evaluation, radius={evaluation.radius}; got "
            f"radius={settings.radius}"
        )
    ranked = evaluation.scoring.startswith("recall@")
    if settings.n_neighbors != evaluation.n_neighbors and not ranked:
        raise InvalidInputError(
            f"estimator must be the one of the Evaluation, n_neighbors={evaluation.n_neighbors}; "
            f"got n_neighbors={settings.n_neighbors}"
        )
    if X is None or evaluation.law.outside:
        return settings, evaluation.task
    again = Given(X, evaluation.y, LeaveOneOut(), evaluation.scoring)
    return settings, Task.read(estimator, again, options, within=True)


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
    if task is not None:
        expect(task, [task.settings.n_neighbors], sizes=False)
    judged = _judge(timings, evaluation.law, task)
    return Run(evaluation, curves, judged, _value(timings, task), words, timings, [])


def judge(task: Task, evaluation: Evaluation, curves: list[Curve]) -> Run:
    """The labels judged by the task that the evaluation is of."""
    return look_again(evaluation, curves, task.settings, task.neighbors.X, task)


def expect(task: Task, ks: list[int], *, sizes: bool) -> None:
    """Say what a report will ask, before the first question: one search serves all."""
    if task.test_set is not None:
        task.neighbors.expect(task.law.n_candidates if sizes else 0)
        return
    n = task.samples.n_samples
    judged = depth_to_judge(n, groups_of(task.law))
    valued = depth_in_passing(task.with_neighbors(max(ks)))
    task.neighbors.expect(n - 1 if sizes else max(judged, valued))


def run(
    task: Task, n_neighbors: Any, *, choose: bool, curves: list[Curve] | None,
    nested: Callable[[Task, list[int]], NestedScore | None],
) -> Run:  # fmt: skip
    """Choose k, evaluate it, judge the labels, and draw the curves that make sense.

    `nested` is asked what choosing scores, if there is a choice.
    """
    counted = task.settings.radius is None
    if not counted and n_neighbors is not None:
        raise InvalidInputError(
            "n_neighbors must be None for an estimator within a radius; evaluate the candidates, "
            f"or validation_curve(…, radius=[…]), and pass the best; got {shown(n_neighbors)}"
        )
    if n_neighbors is None:
        n_neighbors = range(1, min(_LARGEST_K, task.law.smallest_training_set) + 1)
    ks = check_counts("n_neighbors", n_neighbors)
    # Small training sets leave samples without anybody within a radius.
    sizes = counted and curves is None and groups_of(task.law) is None
    expect(task, ks, sizes=sizes)
    timings: dict[str, float] = {}
    drawn: list[Curve] = []
    notes: list[str] = []
    if counted and task.scoring.rank is None and (choose or curves is None):
        over_k = _timed(timings, "score against k", lambda: task.over_neighbors(ks))
        drawn.append(over_k)
        if choose and len(ks) > 1:
            judged = _timed(timings, "what the choice flatters by", lambda: nested(task, ks))
            notes.append(f"{choice_in_words(over_k.best, len(ks), judged, 'k')}.")
        if choose:
            task = task.with_neighbors(over_k.best)
    evaluation = _timed(timings, "evaluation", task.evaluate)
    if sizes:
        drawn.append(_timed(timings, "learning curve", task.over_sizes))
    words = _model_in_words(task.settings, task.neighbors.X)
    return Run(
        evaluation,
        drawn if curves is None else curves,
        _judge(timings, task.law, task),
        _value(timings, task),
        words,
        timings,
        notes,
    )


def groups_of(law: Law) -> NDArray[np.int32] | None:
    """The groups that a law keeps together."""
    groups: NDArray[np.int32] | None = getattr(law, "groups", None)
    return groups


def _judge(timings: dict[str, float], law: Law, task: Task | None) -> Suspects | None:
    """Whose labels look wrong; members of a group that stays together do not judge each other.

    A test set is not judged: nobody learns from it.
    """
    groups = groups_of(law)
    if task is None or task.test_set is not None:
        return None
    classes = None if task.settings.regression else task.samples.classes
    if classes is None or not can_be_judged(task, groups):
        return None
    found = _timed(timings, "a look at the labels", lambda: judge_labels(task, groups))
    return Suspects.of(found, task.y, classes, task.row_names)


def _value(timings: dict[str, float], task: Task | None) -> SampleValues | None:
    """What the samples are worth, where that takes some seconds at most."""
    if task is None:
        return None
    return _timed(timings, "what samples are worth", lambda: value_in_passing(task))


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

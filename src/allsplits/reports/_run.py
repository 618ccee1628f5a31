"""What a report computes when it is given samples: the best k, its evaluation, the curves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any, TypeVar

from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from allsplits.exceptions import InvalidInputError
from allsplits.model_selection import (
    Curve,
    Evaluation,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.model_selection._estimator import VoteSettings, read_estimator
from allsplits.model_selection._setup import Setup, check_options
from allsplits.orders import NeighborOrder
from allsplits.reports._suspects import second_look
from allsplits.reports._text import as_text

__all__ = ["Run", "look_again", "run"]

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


def look_again(
    evaluation: Evaluation, X: Any, estimator: Any, curves: list[Curve], n_jobs: int | None
) -> Run:
    """What an evaluation that is already computed allows.

    Its estimator tells the metric, and with the samples themselves the labels can be judged.
    """
    if estimator is None:
        return Run(evaluation, curves, evaluation, {}, {}, [])
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
    timings: dict[str, float] = {}
    judged = _judge(timings, evaluation, estimator, X, n_jobs=n_jobs)
    return Run(evaluation, curves, judged, _model_in_words(settings, X), timings, [])


def run(
    X: Any, y: Any, *, estimator: Any, n_neighbors: Any, cv: Any, scoring: Any, groups: Any,
    curves: list[Curve] | None, n_jobs: int | None, progress: bool,
) -> Run:  # fmt: skip
    """Choose k, evaluate it, judge the labels, and draw the curves that make sense."""
    model = KNeighborsClassifier() if estimator is None else estimator
    options: dict[str, Any] = {"scoring": scoring, "n_jobs": n_jobs, "progress": progress}
    setup = Setup.read(model, X, y, scoring, check_options(n_jobs=n_jobs), groups)
    law = setup.resolve(cv)
    ranked = setup.scoring.rank is not None
    choose = n_neighbors is not None or estimator is None
    if n_neighbors is None:
        n_neighbors = range(1, min(_LARGEST_K, law.smallest_training_set) + 1)
    timings: dict[str, float] = {}
    shown: list[Curve] = []
    notes: list[str] = []
    if not ranked and (choose or curves is None):
        over_k = _timed(timings, "score against k", lambda: validation_curve(
            model, X, y, n_neighbors=n_neighbors, cv=cv, groups=groups, **options))  # fmt: skip
        shown.append(over_k)
        if choose:
            model = clone(model).set_params(n_neighbors=over_k.best)
        if choose and len(over_k.x) > 1:
            notes.append(
                f"k = {over_k.best} is the best of {len(over_k.x)} by these same scores: its own "
                "score is a little optimistic."
            )
    evaluation = _timed(timings, "evaluation", lambda: evaluate(
        model, X, y, cv=cv, groups=groups, **options))  # fmt: skip
    if curves is None and getattr(law, "groups", None) is None:
        shown.append(_timed(timings, "learning curve", lambda: learning_curve(
            model, X, y, **options)))  # fmt: skip
    judged = _judge(timings, evaluation, model, X, n_jobs=n_jobs)
    described = _model_in_words(setup.settings, X)
    return Run(evaluation, shown if curves is None else curves, judged, described, timings, notes)


def _judge(
    timings: dict[str, float], evaluation: Evaluation, model: Any, X: Any, *, n_jobs: int | None
) -> Evaluation:
    """A second look at the labels; none where only an order is known, or groups vote together."""
    grouped = getattr(evaluation.law, "groups", None) is not None
    if X is None or isinstance(X, NeighborOrder) or evaluation.classes is None or grouped:
        return evaluation
    return _timed(
        timings, "a second look at the labels", lambda: second_look(model, X, evaluation.y, n_jobs)
    )


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

"""Estimators within a radius: everybody no farther than that votes, and there may be nobody."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits._validation import shown
from allsplits.exact import ONLY_WINNERS, Answer, BallotWants, Question, Within, solve
from allsplits.exact.question import NO_CLASS, NOT_GIVEN
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._ballot_scores import combined_wants
from allsplits.model_selection._several_scores import answer_of_scored, score_answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allsplits.model_selection._curve import Curve
    from allsplits.model_selection._evaluation import Evaluation
    from allsplits.model_selection._task import Task


def evaluate_within(task: Task) -> Evaluation:
    """The estimator's radius, all scores in one pass."""
    wants, outlier = _wants(task), _read_outlier(task)
    depth = task.neighbors.depth_within(_radius(task))
    [answer] = solve(task.neighbors, _question(task, wants, replace(outlier, depth=depth)))
    first, *others = (task.with_score(score).evaluation(answer) for score in task.scores)
    names = tuple(score.label for score in task.scores)
    return replace(first, others=tuple(others), names=names if others else ())


def curve_within(
    task: Task, parameter: str, values: Sequence[float], tasks: Sequence[Task]
) -> Curve:
    """The curve of the first score along tasks, with those of the others."""
    wants, outlier = _wants(task), _read_outlier(task)
    # The largest radius is searched for, and serves the others.
    depth = task.neighbors.depth_within(max(_radius(each) for each in tasks))
    outlier = replace(outlier, depth=depth)
    found = [solve(task.neighbors, _question(each, wants, outlier))[0] for each in tasks]
    columns = [each.column for each in tasks]
    curves = []
    for score in task.scores:
        if task.settings.regression:
            answers = _joined(found)
        else:
            answers = answer_of_scored([score_answer(score, answer) for answer in found])
        search = found[0].search
        one = task.with_score(score)
        curves.append(one.curve(parameter, values, replace(answers, search=search), columns))
    names = tuple(score.label for score in task.scores)
    return replace(curves[0], others=tuple(curves[1:]), names=names if len(names) > 1 else ())


def _joined(answers: list[Answer]) -> Answer:
    """One answer with a column for each."""
    fractions = [answer.fractions[0] for answer in answers if answer.fractions]
    return Answer(
        np.concatenate([answer.scores for answer in answers]),
        np.concatenate([answer.error_bound for answer in answers]),
        fractions=tuple(fractions) if len(fractions) == len(answers) else None,
    )


def _radius(task: Task) -> float:
    if task.settings.radius is None:
        raise AssertionError("a radius was asked for")
    return task.settings.radius


def _question(task: Task, wants: BallotWants, outlier: Within) -> Question:
    regression = task.settings.regression
    return replace(
        task.ask([task.column]),
        vote="mean within" if regression else "within",
        wants=wants,
        want_samples=regression,
        within=replace(outlier, radius=_radius(task)),
    )


def _wants(task: Task) -> BallotWants:
    """What the scores need to know of the votes."""
    for score in task.scores:
        if score.ignores_neighbors:
            raise UnsupportedError(
                f"scoring={score.name!r} is of ranks, not of a radius: pass a KNeighborsClassifier"
            )
    return ONLY_WINNERS if task.settings.regression else combined_wants(task.scores)


def _read_outlier(task: Task) -> Within:
    """What is predicted where nobody is within the radius; radius and depth are filled in later."""
    given, classes = task.settings.outlier, task.classes
    if task.settings.regression or classes is None:
        return Within(0.0, 0, outlier_target=given)
    if given is None:
        return Within(0.0, 0, NOT_GIVEN)
    if isinstance(given, str) and given == "most_frequent":
        return Within(0.0, 0, most_frequent=True)
    place = _place_among(classes, given)
    if place == NO_CLASS:
        for score in task.scores:
            if score.measure is not None:
                raise InvalidInputError(
                    f"outlier_label must be one of the classes {shown(classes)} or "
                    f"'most_frequent' for scoring={score.name!r}: a label that no sample has gives "
                    f"all classes a share of 0; got {shown(given)}"
                )
    return Within(0.0, 0, place)


def _place_among(classes: Any, label: Any) -> int:
    """The number of a label, NO_CLASS if no sample has it; an error if none could."""
    if isinstance(label, (list, tuple, np.ndarray)) and len(label) == 1:
        label = label[0]
    if not np.isscalar(label) or np.append(classes, label).dtype != classes.dtype:
        raise InvalidInputError(
            f"outlier_label must be None, 'most_frequent' or a label like those of y, "
            f"{shown(classes)}; got {shown(label)}"
        )
    places = np.flatnonzero(classes == label)
    return int(places[0]) if len(places) else NO_CLASS

"""Exact means of the scores of drawn runs: where a score of `evaluate` is the same on every split.

Under some laws an exact average counts all splits alike. There a score that is a mean over test
samples has the mean that `evaluate` finds. Micro averages are the accuracy. The macro recall is the
balanced accuracy where every test set has samples of every class.
"""

from __future__ import annotations

from typing import NamedTuple

from allsplits._threads import thread_count
from allsplits.exact import solve, solver_for
from allsplits.exceptions import UnsupportedError
from allsplits.model_selection._ballot_scores import combined_wants
from allsplits.model_selection._measures import TopK
from allsplits.model_selection._scoring import Scoring
from allsplits.model_selection._several_scores import score_answer
from allsplits.model_selection._task import Task
from allsplits.replays.scores import Score, read_score
from allsplits.splits import CountsLaw, EpisodeLaw, Law

#: Laws that count all splits alike: the exact mean is that of the scores of splits.
_ALIKE = ("fixed size", "class counts", "whole groups")
#: An exact mean that takes longer is not computed beside the replay.
_SECONDS = 60.0
#: Names of scikit-learn -> what `evaluate` calls the same.
_SAME = {
    "f1_micro": "accuracy",
    "precision_micro": "accuracy",
    "recall_micro": "accuracy",
    "recall_macro": "balanced_accuracy",
}
_OF_CLASSES, _OF_MEANS = (
    ("accuracy", "balanced_accuracy", "neg_log_loss"),
    ("neg_mean_squared_error",),
)


class Exact(NamedTuple):
    """An exact mean, and what it may be off by."""

    mean: float
    error_bound: float


def exact_means(task: Task, scores: list[Score]) -> list[Exact | None]:
    """The exact mean of each score that has one, under the law of the task."""
    same = [_same(task, score) for score in scores]
    voted = [one for one in same if one is not None and not one.is_plain]
    of_votes = _solved(task, voted) if voted else []
    by_votes = {id(one): exact for one, exact in zip(voted, of_votes, strict=True)}
    by_name: dict[str, Exact | None] = {}
    found: list[Exact | None] = []
    for one in same:
        if one is None or id(one) in by_votes:
            found.append(None if one is None else by_votes[id(one)])
            continue
        if one.name not in by_name:
            [by_name[one.name]] = _solved(task, [one])
        found.append(by_name[one.name])
    return found


def control_of(task: Task, scores: list[Score], known: list[Exact | None]) -> list[Score]:
    """The usual score, to go with those that have no exact mean, unless it was asked for."""
    usual = "neg_mean_squared_error" if task.settings.regression else "accuracy"
    needed = None in known and usual not in {score.standard for score in scores}
    return [read_score(usual, task.classes)] if needed else []


def _same(task: Task, score: Score) -> Scoring | None:
    """What `evaluate` calls it, if that is the same on every split."""
    regression = task.settings.regression
    if isinstance(score.same, Scoring):
        found = score.same
    else:
        name = _SAME.get(score.standard, score.standard)
        if score.rank is None and name not in (_OF_MEANS if regression else _OF_CLASSES):
            return None
        found = Scoring.parse(name, regression=regression).fitted(task.classes)
    if not found.is_plain and task.settings.weights is not None:
        return None
    return found if _counts_splits_alike(task.law, found) else None


def _counts_splits_alike(law: Law, scoring: Scoring) -> bool:
    """Whether the exact average is the mean of the scores of splits."""
    if isinstance(law, EpisodeLaw):
        # It counts the classes of an episode alike: its samples, too, if there are as many of each.
        even = len(set(law.class_sizes)) == 1 and scoring.of_class is None and scoring.rank is None
        return scoring.name == "balanced_accuracy" or (
            even and not isinstance(scoring.measure, TopK)
        )
    if scoring.name == "balanced_accuracy" or scoring.of_class is not None:
        return isinstance(law, CountsLaw) and all(min(part.test) > 0 for part in law.components)
    return law.kind in _ALIKE


def _solved(task: Task, scores: list[Scoring]) -> list[Exact | None]:
    """One score that counts who is right, or several of the votes, in one pass."""
    other = task.with_score(scores[0])
    plain = scores[0].is_plain
    question = (
        other.question() if plain else other.ballot_question(other.column, combined_wants(scores))
    )
    try:
        solver = solver_for(question)
    except UnsupportedError:
        return [None] * len(scores)
    # Weighted votes are known within an interval, which may be wide.
    if solver.seconds / thread_count(task.options.n_jobs) > _SECONDS or question.vote == "weighted":
        return [None] * len(scores)
    task.neighbors.expect()
    [answer] = solve(task.neighbors, question)
    if plain:
        return [Exact(float(answer.scores[0]), float(answer.error_bound[0]))]
    scored = [score_answer(score, answer) for score in scores]
    return [Exact(one.score, one.error_bound) for one in scored]

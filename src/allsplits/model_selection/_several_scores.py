"""Several scores of one task: each block of rows is searched once, and the votes are counted once.

Scores of the votes (log-loss, Brier, accuracy beside them, …) are read off the same records;
recall@R and scores of retrieval are other questions, which the same rows answer. Along a curve
every column has records of its own, made one after the other, so that no more than those of one
column are held.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from allsplits.exact import Answer, Column, solve, solve_together, solver_for
from allsplits.exceptions import UnsupportedError
from allsplits.model_selection._ballot_scores import Scored, combined_wants, score_ballots
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._scoring import Scoring

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from allsplits.model_selection._task import Task


def check_equal_votes(scores: Iterable[Scoring]) -> None:
    """Raise if one of these scores is of the votes: weighted votes are known by who wins them."""
    for score in scores:
        if not score.is_plain and not score.ignores_neighbors:
            raise UnsupportedError(
                f"scoring={score.name!r} is counted for equal votes alone, weights='uniform'. Of "
                "weighted ones 'accuracy' and 'balanced_accuracy' are; how often each class is "
                "given is in `confusion` and `prediction_proba` of these"
            )


def evaluate_all(task: Task) -> Evaluation:
    """The evaluation of the first score, with those of the others."""
    shared = task.settings.weights is None and not task.settings.regression
    alone = [score for score in task.scores if score.ignores_neighbors or not shared]
    voted = [score for score in task.scores if score not in alone]
    questions = [_plain_question(task.with_score(score)) for score in alone]
    if voted:
        questions.append(task.ballot_question(task.column, combined_wants(voted)))
    answers = solve_together(task.neighbors, questions)
    by_name = {score.label: answer for score, answer in zip(alone, answers, strict=False)}
    first, *others = (
        task.with_score(score).evaluation(by_name.get(score.label, answers[-1]))
        for score in task.scores
    )
    names = tuple(score.label for score in task.scores)
    return replace(first, others=tuple(others), names=names)


def _plain_question(task: Task):  # type: ignore[no-untyped-def]
    return task.ask([task.column], want_samples=True)


def curve_of_all(task: Task, parameter: str, values: list[int], columns: Sequence[Column]) -> Curve:
    """The curve of the first score, with those of the others; k is R, or the cut-off."""
    tasks = [task.with_score(score) for score in task.scores]
    columns_of = [
        [Column(each.n_neighbors, c.law) for c in columns]
        if each.scoring.ignores_neighbors
        else list(columns)
        for each in tasks
    ]
    voted = [each.scoring for each in tasks if not each.scoring.ignores_neighbors]
    plain = all(score.is_plain for score in voted)
    asked = [i for i, each in enumerate(tasks) if plain or each.scoring.ignores_neighbors]
    # Scores that count who is right have all columns of a law in one pass.
    found = solve(task.neighbors, *(tasks[i].ask(columns_of[i]) for i in asked)) if asked else []
    answers = dict(zip(asked, found, strict=True))
    if not plain:
        lines = score_columns(task, columns, voted)
        of_votes = (i for i in range(len(tasks)) if i not in answers)
        answers.update(zip(of_votes, map(answer_of_scored, zip(*lines, strict=True)), strict=True))
    curves = [
        each.curve(parameter, values, answers[i], columns_of[i]) for i, each in enumerate(tasks)
    ]
    names = tuple(score.label for score in task.scores)
    return replace(curves[0], others=tuple(curves[1:]), names=names)


def score_columns(
    task: Task, columns: Sequence[Column], scores: list[Scoring]
) -> list[list[Scored]]:
    """Scores of the votes of each column."""
    wants = combined_wants(scores)
    questions = [task.ballot_question(column, wants) for column in columns]
    if len(questions) > 1:
        task.neighbors.expect(max(solver_for(question).depth for question in questions))
    lines = []
    for question in questions:
        [answer] = solve(task.neighbors, question)
        lines.append([score_answer(score, answer) for score in scores])
    return lines


def score_answer(score: Scoring, answer: Answer) -> Scored:
    """One score of the ballots of an answer."""
    if answer.ballots is None:
        raise AssertionError("ballots were asked for")
    return score_ballots(score, answer.ballots)


def answer_of_scored(scored: Sequence[Scored]) -> Answer:
    """One score in all columns."""
    fractions = tuple(each.fraction for each in scored if each.fraction is not None)
    return Answer(
        scores=np.array([each.score for each in scored]),
        error_bound=np.array([each.error_bound for each in scored]),
        fractions=fractions if len(fractions) == len(scored) else None,
    )

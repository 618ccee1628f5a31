"""What each sample moves the score of each column of a curve by: for intervals along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from allsplits.exact import Column, Neighbors, Question, ScoresWithout, solve
from allsplits.exceptions import UnsupportedError
from allsplits.model_selection._moves import Moves, SampleScores
from allsplits.model_selection._several_scores import score_columns

if TYPE_CHECKING:
    from allsplits.model_selection._task import Task


def column_moves(
    task: Task, columns: Sequence[Column], *, keep: bool = False, take_out: bool = True
) -> list[Moves]:
    """What each sample (or group) moves the score of each column by.

    With `keep` what they change in each other's rows is kept, for comparisons. Unless `take_out`
    no samples are taken out: sample scores alone.
    Columns that share a law (a curve over k) share the passes, all share the search.
    """
    if task.settings.radius is not None:
        raise UnsupportedError(
            "interval is not known along a curve of votes within a radius: evaluate has it for "
            "one radius"
        )
    task.neighbors.expect()
    found: dict[int, Moves] = {}
    for law in dict.fromkeys(column.law for column in columns):
        places = [c for c, column in enumerate(columns) if column.law == law]
        moves = _moves_of_law(task, [columns[c] for c in places], keep, take_out)
        found.update(zip(places, moves, strict=True))
    return [found[c] for c in range(len(columns))]


def _moves_of_law(task: Task, columns: list[Column], keep: bool, take_out: bool) -> list[Moves]:
    scoring = task.scoring
    if not scoring.is_plain and scoring.retrieval is None:
        return [_moves_of_votes(task, column) for column in columns]
    question = task.ask(columns)
    [answer] = solve(task.neighbors, replace(question, want_rows=True))
    if answer.sample_scores is None or answer.sample_weight is None:
        raise AssertionError("sample scores were asked for")
    without: dict[int, tuple[ScoresWithout, int]] = {}
    if scoring.is_plain and take_out and task.exclusion is None:
        inexact = replace(question, options=replace(task.options, exact=False))
        without = _without_one(task.neighbors, inexact, keep)
    return [
        SampleScores.of(
            float(answer.scores[c]), answer.sample_scores[:, c], answer.sample_weight,
            y=task.asked.y, law=column.law, k=column.k, scoring=scoring.name,
        ).moves(*without.get(c, (None, 0)))
        for c, column in enumerate(columns)
    ]  # fmt: skip


def _without_one(
    neighbors: Neighbors, question: Question, keep: bool
) -> dict[int, tuple[ScoresWithout, int]]:
    """The scores without each unit, and the place in them, of all columns that have some.

    The most voters are the first that a smaller training set has not: such columns have none, and
    the others share a pass.
    """
    # Loaded when it is asked for: a first evaluation does without.
    from allsplits.exact.leaving_out import scores_without_one

    places = sorted(range(len(question.columns)), key=lambda c: question.columns[c].k)
    while places:
        some = question.with_columns([question.columns[c] for c in places])
        found = scores_without_one(neighbors, some, keep=keep)
        if found is not None:
            return {c: (found, at) for at, c in enumerate(places)}
        places.pop()
    return {}


def _moves_of_votes(task: Task, column: Column) -> Moves:
    """By sample scores alone: a score of votes is not known without a sample."""
    [[found]] = score_columns(task, [column], [task.scoring])
    return SampleScores.of(
        found.score, found.sample_scores, found.sample_weight, y=task.y, law=column.law,
        k=column.k, scoring=task.scoring.name,
    ).moves(None)  # fmt: skip

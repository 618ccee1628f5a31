"""What each sample moves the score of each column of a curve by: for intervals along it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from allsplits.exact import Column, solve
from allsplits.exceptions import UnsupportedError
from allsplits.model_selection._moves import Moves, SampleScores
from allsplits.model_selection._several_scores import score_columns

if TYPE_CHECKING:
    from allsplits.model_selection._task import Task


def column_moves(task: Task, columns: Sequence[Column], *, keep: bool = False) -> list[Moves]:
    """What each sample (or group) moves the score of each column by.

    With `keep` what they change in each other's rows is kept, for comparisons.
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
        moves = _moves_of_law(task, [columns[c] for c in places], keep)
        found.update(zip(places, moves, strict=True))
    return [found[c] for c in range(len(columns))]


def _moves_of_law(task: Task, columns: list[Column], keep: bool) -> list[Moves]:
    # Loaded when it is asked for: a first evaluation does without.
    from allsplits.exact.leaving_out import scores_without_one

    scoring = task.scoring
    if not scoring.is_plain and scoring.retrieval is None:
        return [_moves_of_votes(task, column) for column in columns]
    question = task.ask(columns)
    [answer] = solve(task.neighbors, replace(question, want_rows=True))
    if answer.sample_scores is None or answer.sample_weight is None:
        raise AssertionError("sample scores were asked for")
    without = None
    if scoring.is_plain and task.exclusion is None:
        inexact = replace(question, options=replace(task.options, exact=False))
        without = scores_without_one(task.neighbors, inexact, keep=keep)
    return [
        SampleScores.of(
            float(answer.scores[c]), answer.sample_scores[:, c], answer.sample_weight,
            y=task.asked.y, law=column.law, k=column.k, scoring=scoring.name,
        ).moves(without, c)
        for c, column in enumerate(columns)
    ]  # fmt: skip


def _moves_of_votes(task: Task, column: Column) -> Moves:
    """By sample scores alone: a score of votes is not known without a sample."""
    [[found]] = score_columns(task, [column], [task.scoring])
    return SampleScores.of(
        found.score, found.sample_scores, found.sample_weight, y=task.y, law=column.law,
        k=column.k, scoring=task.scoring.name,
    ).moves(None)  # fmt: skip

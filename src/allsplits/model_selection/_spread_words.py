"""What a single run would have shown, or why that is not told: one sentence beside a score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from allsplits.model_selection._spreads import spread_in_passing

if TYPE_CHECKING:
    from allsplits.model_selection._evaluation import Evaluation


def spread_in_words(evaluation: Evaluation) -> str:
    """The spread between runs in a sentence, counted or sampled in a few seconds."""
    task = evaluation.task
    if task is None:
        return ""
    if evaluation.radius is not None:
        return "How far a single run would be off is not known of votes within a radius."
    if not task.scoring.is_plain:
        return f"How far a single run would be off is not known of {evaluation.scoring}."
    found = spread_in_passing(task)
    if found is not None:
        return found.in_words(evaluation.scoring, evaluation.law.kind)
    from allsplits.replays.spread import is_alone, leaves_one_out

    question = task.question()
    if is_alone(question):
        return "There is one training set only: no split is left to chance."
    if leaves_one_out(question):
        unit = "group" if evaluation.law.kind == "whole groups" else "row"
        return (
            f"No run is left to chance: leaving out one {unit} after the other is all splits there "
            "are."
        )
    return "How far a single run would be off takes longer to tell: split_spread() in Python does."

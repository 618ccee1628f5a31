"""What the displays of an Evaluation share."""

from __future__ import annotations

from allsplits.exceptions import InvalidTypeError
from allsplits.model_selection import Evaluation

__all__ = ["EvaluationDisplay"]


class EvaluationDisplay:
    """Holds the Evaluation that is drawn."""

    def __init__(self, evaluation: Evaluation) -> None:
        if not isinstance(evaluation, Evaluation):
            raise InvalidTypeError(
                f"evaluation must be an Evaluation; got {type(evaluation).__name__}"
            )
        self.evaluation = evaluation

"""What the page says after an answer: k, accuracy, forecast, labels that look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import LeaveOneOut

from allsplits.active._explain import task_of
from allsplits.active._learner import ActiveLearner
from allsplits.labelling._accuracy import Accuracy, accuracy_of, judge_labels
from allsplits.labelling._forecast import Forecast, forecast
from allsplits.labelling._labels import label_text, plain_label
from allsplits.values._doubt import can_be_judged
from allsplits.values._doubt import judge_labels as doubt_labels

#: Fewer labels have no suspects: one odd sample would be doubted by strangers.
_FEWEST_FOR_SUSPECTS = 20
_MOST_SUSPECTS = 50


@dataclass(frozen=True)
class Measure:
    """Numbers for the labels that there were.

    Attributes
    ----------
    tuned : float
        The exact leave-p-out accuracy on all labels by which k was chosen; NaN before.
    """

    n_labelled: int
    n_neighbors: int
    tuned: float
    leave_out: int
    accuracy: Accuracy | None
    forecast: Forecast | None
    suspects: tuple[tuple[int, str, float], ...]

    def document(self) -> dict[str, Any]:
        """The numbers for the page."""
        ahead = self.forecast
        return {
            "n_labelled": self.n_labelled,
            "n_neighbors": self.n_neighbors,
            "tuned": None if np.isnan(self.tuned) else self.tuned,
            "leave_out": self.leave_out,
            "accuracy": None if self.accuracy is None else self.accuracy._asdict(),
            "forecast": None
            if ahead is None
            else {
                "more": ahead.more, "gain": ahead.gain, "high": ahead.high,
                "verdict": ahead.verdict, "ratio": ahead.ratio, "sizes": ahead.sizes.tolist(),
                "errors": ahead.errors.tolist(),
            },
        }  # fmt: skip


def measure(learner: ActiveLearner, checks: list[int]) -> Measure:
    """All numbers for the labels of now."""
    judged = judge_labels(learner)
    labelled = learner.labelled_
    accuracy = accuracy_of(judged, labelled, checks)
    last = learner.rounds_[-1]
    return Measure(
        len(labelled),
        last.n_neighbors,
        last.score,
        learner.tune_leave_out,
        accuracy,
        forecast(learner, accuracy, checks),
        _suspects(learner),
    )


def _suspects(learner: ActiveLearner) -> tuple[tuple[int, str, float], ...]:
    """Rows whose label looks wrong, the class their neighbours say, and how clearly."""
    rows = learner.labelled_
    if len(rows) < _FEWEST_FOR_SUSPECTS or len(learner.classes_) < 2:
        return ()
    task = task_of(learner, LeaveOneOut())
    classes = task.samples.classes
    if classes is None or not can_be_judged(task):
        return ()
    doubts = doubt_labels(task)
    found = []
    for place in doubts.suspects[:_MOST_SUSPECTS].tolist():
        other = plain_label("label", classes[doubts.suggested[place]])
        share = min(float(doubts.probability[place]), 1.0)
        found.append((int(rows[place]), label_text(other), share))
    return tuple(found)

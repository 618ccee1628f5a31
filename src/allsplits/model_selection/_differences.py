"""What is fitted within each split, beside what is fixed: differences on a few splits.

    E[score] = exact score of what is fixed + E[difference on the same split]

A split shows two differences. The *plain* one is that between its two scores: its mean is the right
one, but a test sample is right or wrong, and turns over for little. The *smoothed* one asks the
same test samples under every training set of the law, exactly, with what was fitted on this split:

    mean over the test samples i of  m_i(fitted here) - m_i(fixed),    m_i: the sample scores

Nothing that was fitted has seen the samples that are asked. Some of the voters it has not seen
either: a share u, while a split has none of these. That moves the mean, as far as it was measured
(studies/replay_pipelines.md) by about u/2 of the standard deviation s of plain - smoothed. So a
part w of the plain one is mixed in, with the least mean square error if that is what it is off by,

    w = n / (n + 4/u²),    standard error² = variance of the mixed / n + ((1 - w) s u/2)²

for n splits: little of it for a few refits of folds, all of it in the end, and most of it at once
where training sets are small.

Where a choice seldom changes, most splits show no difference at all, and those that do are too few
to tell how many more would: if less than a quarter of them differ, the error is at least as if two
more had, by the standard deviation of the scores of splits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import hypot
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact import GivenSplit
from allsplits.model_selection._task import Task
from allsplits.replays.given import score_split
from allsplits.replays.result import Sampled, error_of_mean

Floats = NDArray[np.float64]
#: Laws whose score is the mean over splits.
ALIKE = ("fixed size", "class counts", "whole groups", "episodes")


class Model(NamedTuple):
    """A neighbour model, and its sample scores over all splits."""

    task: Task
    sample_scores: Floats


@dataclass(frozen=True, eq=False)
class Differences:
    """What was fitted on each of a few splits, beside what is fixed.

    Attributes
    ----------
    scores, fixed_scores : ndarray of shape (n_splits,)
        Of what was fitted on each split, and of what is fixed.
    smoothed : ndarray of shape (n_splits,)
        How much better the test samples of each split do with what was fitted on it, averaged over
        all training sets.
    unseen : float
        The share of voters, in these averages, that were not fitted on.
    least_error : float
        What the standard error is at least if nothing differs: one sample of one split may have
        come out otherwise.
    stopped : bool
        Whether Ctrl-C ended it early: there are fewer splits than were asked for.
    """

    scores: Floats
    fixed_scores: Floats
    smoothed: Floats
    unseen: float
    least_error: float
    stopped: bool = False

    @property
    def plain(self) -> Floats:
        """The differences of the scores themselves."""
        return self.scores - self.fixed_scores

    @property
    def weight(self) -> float:
        """The part of the plain differences in the mixed ones."""
        known = len(self.scores) * self.unseen**2
        return known / (known + 4)

    @property
    def mixed(self) -> Floats:
        """Smoothed differences, with a part of the plain ones."""
        return self.smoothed + self.weight * (self.plain - self.smoothed)

    @property
    def mean(self) -> Sampled:
        """The mean difference, with its standard error."""
        n, n_differ = len(self.scores), np.count_nonzero((self.plain != 0) | (self.smoothed != 0))
        apart = float((self.plain - self.smoothed).std(ddof=1))
        off = (1 - self.weight) * apart * self.unseen / 2
        rare = 2 * float(self.fixed_scores.std(ddof=1)) / n if 4 * n_differ < n else 0.0
        error = hypot(error_of_mean(self.mixed), off, rare)
        return Sampled(
            float(self.mixed.mean()), error if n_differ else max(error, self.least_error)
        )

    def minus(self, other: Differences) -> Differences:
        """Of two on the same splits: what the one changes less what the other does."""
        return Differences(
            self.scores - other.scores,
            self.fixed_scores - other.fixed_scores,
            self.smoothed - other.smoothed,
            self.unseen,
            max(self.least_error, other.least_error),
        )

    @property
    def note(self) -> str:
        """What to say of it where it is shown."""
        return " STOPPED by Ctrl-C" if self.stopped else ""


def differences_on(splits: list[GivenSplit], fitted: Iterable[Model], fixed: Model) -> Differences:
    """Ask the test samples of each split with what was fitted on it; Ctrl-C keeps two or more."""
    found, stopped = [], False
    try:
        for split, one in zip(splits, fitted, strict=True):
            found.append(_on_split(split, one, fixed))
    except KeyboardInterrupt:
        if len(found) < 2:
            raise
        stopped = True
    splits = splits[: len(found)]
    scores, fixed_scores, smoothed = np.array(found).T
    others = len(fixed.sample_scores) - 1
    unseen = float(np.mean([1 - len(split.train) / others for split in splits]))
    least = _least_error(fixed.task, splits)
    return Differences(scores, fixed_scores, smoothed, unseen, least, stopped)


def _on_split(split: GivenSplit, fitted: Model, fixed: Model) -> tuple[float, float, float]:
    here, there = (
        score_split(model.task.neighbors, model.task.question(), split) for model in (fitted, fixed)
    )
    asked = np.flatnonzero(here.units)
    better = fitted.sample_scores[asked] - fixed.sample_scores[asked]
    return here.score, there.score, float(here.units[asked] @ better)


def _least_error(task: Task, splits: list[GivenSplit]) -> float:
    if task.settings.regression:
        return 0.0
    return float(np.mean([1 / len(split.test) for split in splits])) / len(splits)

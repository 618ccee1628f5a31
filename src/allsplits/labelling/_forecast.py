"""What more labels are expected to bring: a forecast, with its uncertainty.

The labels give their own learning curve, exactly: e(m), the mean error of a check (a sample drawn
at random) that is held out while m of the other labels are learned from, over all sets of m. A
curve  a + b · m^(-c),  a, b ≥ 0,  is fitted to it from a quarter of the labels to all, and gives

    r = e(n + more) / e(n),      gain = error on the checks · (1 - r).

The band goes from nothing to a most, the smaller of two: the error on the checks at its upper end
(Clopper & Pearson) with r at its lower end over 200 resamplings (95 %), of the checks, or of all
labels if that is less; and the share of predictions that as many of the last labels have changed
(`_changes.py`). It is a forecast: the curve learns from random sets of labels, while the next ones
are chosen, and they could change more than the last. What happened beside what it said:
studies/labelling_page.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import LeaveOneOut

from allsplits.active._explain import task_of
from allsplits.active._learner import ActiveLearner
from allsplits.exact import Column, solve
from allsplits.labelling._accuracy import Accuracy
from allsplits.labelling._changes import most_changed
from allsplits.splits import SizeLaw

Floats = NDArray[np.float64]

#: Fewer labels, or checks, are too few to say anything about more of them.
FEWEST_LABELS, FEWEST_CHECKS = 40, 10
#: How many more the forecast is about.
MORE = 50
#: A gain below this (in accuracy) is hardly worth the labels.
SMALL_GAIN = 0.01
_SIZES, _RESAMPLINGS = 8, 200
_POWERS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0, 1.4, 2.0])


@dataclass(frozen=True)
class Forecast:
    """The gain in accuracy that is expected from more labels, and the curve behind it.

    Attributes
    ----------
    sizes, errors : ndarray
        The exact learning curve of the labels, on the checks.
    ratio : float
        The error that is left after `more` labels, as a share of that of now.
    gain, high : float
        What is expected, and at most; at least it may be nothing.
    """

    more: int
    gain: float
    high: float
    ratio: float
    sizes: NDArray[np.intp]
    errors: Floats

    @property
    def verdict(self) -> str:
        """What the forecast says about going on: "stop", "unsure" or "go on"."""
        if self.high < SMALL_GAIN:
            return "stop"
        return "unsure" if self.gain < SMALL_GAIN else "go on"


def forecast(
    learner: ActiveLearner, accuracy: Accuracy | None, checks: list[int], more: int = MORE
) -> Forecast | None:
    """What `more` labels are expected to bring; None while it is too early to say."""
    labelled = learner.labelled_
    n = len(labelled)
    if accuracy is None or accuracy.n_checks < FEWEST_CHECKS or n < FEWEST_LABELS:
        return None
    sizes, wrong = learning_curve_rows(learner)
    of_checks = wrong[np.isin(labelled, checks)]
    errors = of_checks.mean(axis=0)
    ratio = float(ratios(sizes, errors[None, :], n, more)[0])
    # Checks that are all right say nothing about the shape; then all labels have the word.
    least = min(ratio, *(_least_ratio(sizes, rows, n, more) for rows in (of_checks, wrong)))
    high = min((1 - accuracy.low) * (1 - least), most_changed(learner, more))
    return Forecast(
        more=more,
        gain=min((1 - accuracy.score) * (1 - ratio), high),
        high=high,
        ratio=ratio,
        sizes=sizes,
        errors=errors,
    )


def _least_ratio(sizes: NDArray[np.intp], wrong: Floats, n: int, more: int) -> float:
    """The lower end of the ratio over resamplings of the rows."""
    size = len(wrong)
    weights = np.random.RandomState(0).multinomial(size, np.full(size, 1 / size), _RESAMPLINGS)
    return float(np.quantile(ratios(sizes, weights @ wrong / size, n, more), 0.025))


def learning_curve_rows(learner: ActiveLearner) -> tuple[NDArray[np.intp], Floats]:
    """Sizes, and how often each label (rows) is wrong, learned from so many of the others."""
    n, k = len(learner.labelled_), learner.n_neighbors_
    task = task_of(learner, LeaveOneOut())
    sizes = np.unique(np.geomspace(max(k, n // 4), n - 1, _SIZES).astype(np.intp))
    question = task.ask([Column(k, SizeLaw.of_size(n, int(m))) for m in sizes])
    [answer] = solve(task.neighbors, replace(question, want_rows=True))
    if answer.sample_scores is None:
        raise AssertionError("sample scores were asked for")
    return sizes, 1 - np.clip(answer.sample_scores, 0.0, 1.0)


def ratios(sizes: NDArray[np.intp], errors: Floats, n: int, more: int) -> Floats:
    """What is left of the error after more labels, for each of several curves (rows).

    a + b · m^(-c) is fitted by least squares for each of some powers c; the best one counts. A
    curve without errors, or that does not fall, stays where it is.
    """
    best = np.full(len(errors), np.inf)
    found = np.ones(len(errors))
    mean = errors.mean(axis=1)
    for power in _POWERS:
        x = (sizes / n) ** -power
        slope = np.maximum(
            (errors - mean[:, None]) @ (x - x.mean()) / ((x - x.mean()) ** 2).sum(), 0
        )
        level = mean - slope * x.mean()
        # Below zero no error can end: the line through the origin is the best that may be.
        through = errors @ x / (x @ x)
        slope = np.where(level < 0, through, slope)
        level = np.maximum(level, 0.0)
        misfit = ((errors - level[:, None] - slope[:, None] * x) ** 2).sum(axis=1)
        now = level + slope
        then = level + slope * (1 + more / n) ** -power
        ratio = np.divide(then, now, out=np.ones_like(now), where=now > 1e-12)
        found = np.where(misfit < best, ratio, found)
        best = np.minimum(misfit, best)
    return np.clip(found, 0.0, 1.0)

"""How often the labels are right about samples that are not labelled: the measure of the page.

Each check (a sample drawn at random, `_checks.py`) is held out and predicted from all other labels
with the k of now: exact leave-one-out, ties averaged. The mean over the checks is the accuracy over
*all* samples of the file, labelled or not. Its interval is Clopper & Pearson's (1934) for as many
draws: never too short for independent draws, and it has a width when every check was right. The
learner chooses its questions as if checks had no label, and knows one only when it would have asked
for it itself (`_desk.py`): so a check held out is in no worse a place than any other sample. That
checks are also neighbours of each other, and that k was chosen by the same labels, the interval
does not know; how often it holds the truth all the same is in studies/labelling_page.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta
from sklearn.model_selection import LeaveOneOut

from allsplits.active._explain import task_of
from allsplits.active._learner import ActiveLearner
from allsplits.model_selection._evaluation import Evaluation

CONFIDENCE = 0.95


class Accuracy(NamedTuple):
    """A mean over checks with the ends of its interval."""

    score: float
    low: float
    high: float
    n_checks: int


def judge_labels(learner: ActiveLearner) -> Evaluation | None:
    """Every label predicted from the others, exactly; None while there are too few."""
    n, k = len(learner.labelled_), learner.n_neighbors_
    if n <= k or len(learner.classes_) < 2:
        return None
    return task_of(learner, LeaveOneOut()).evaluate()


def accuracy_of(
    judged: Evaluation | None, labelled: NDArray[np.intp], checks: list[int]
) -> Accuracy | None:
    """The accuracy over all samples, from the checks; None while there are none."""
    if judged is None or not checks:
        return None
    places = np.searchsorted(labelled, np.array(checks))
    return clopper_pearson(float(judged.sample_scores[places].sum()), len(checks))


def clopper_pearson(n_right: float, n: int, confidence: float = CONFIDENCE) -> Accuracy:
    """The interval of a share; `n_right` may be broken where ties were shared."""
    tail = (1 - confidence) / 2
    n_right = min(max(n_right, 0.0), float(n))
    low = float(beta.ppf(tail, n_right, n - n_right + 1)) if n_right > 0 else 0.0
    high = float(beta.ppf(1 - tail, n_right + 1, n - n_right)) if n_right < n else 1.0
    return Accuracy(n_right / n, low, high, n)

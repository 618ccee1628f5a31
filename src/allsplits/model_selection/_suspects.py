"""Labels that look wrong, judged by the samples nearest to each.

A sample is held out and given the class of its nearest neighbour, over all training sets of a
fifth of the samples: the j-th nearest sample then decides with probability 0.2 · 0.8^(j-1), so
that about five have a say and the nearest most of all. The doubt about a label is

    share of the other class given most - share of its own class / what its class could reach,

where a class reaches its share if all its other samples come first: small classes are not doubted
for being small, and the label of a class of one is beyond judging. A label is suspected from a
doubt of 0.8 on. One pass over the 40 nearest of each sample. How well that finds planted errors,
and how it was chosen, is in studies/suspects.md.
"""

from dataclasses import replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import hypergeom

from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._scoring import Scoring
from allsplits.model_selection._task import Task
from allsplits.splits import FixedSize

#: A label is suspected from this doubt on.
SUSPICION = 0.8
#: About so many nearest samples have a say (fewer where there are few samples).
_VOICES = 5
#: What may be left out of the shares.
_ACCURACY = 1e-4


def judge_of(task: Task) -> Task:
    """The task that judges each sample by its nearest ones, in the same metric."""
    n, outside = task.samples.n_samples, task.test_set is not None
    size = min(n if outside else n - 1, ceil(n / min(_VOICES, sqrt(n))))
    return replace(
        task,
        law=task.resolve(FixedSize(size)),
        settings=replace(task.settings, n_neighbors=1, weights=None),
        scoring=Scoring("accuracy"),
        options=replace(task.options, tol=_ACCURACY, progress=False),
    )


def find_suspects(judged: Evaluation) -> NDArray[np.intp]:
    """Rows of the suspected labels, the most doubtful first."""
    doubt = doubts(judged)
    found = np.flatnonzero(doubt >= SUSPICION)
    return found[np.argsort(-doubt[found], kind="stable")]


def doubts(judged: Evaluation) -> NDArray[np.float64]:
    """The doubt about each label; none where no classes are given."""
    if judged.prediction_proba is None or judged.classes is None:
        return np.zeros(len(judged.y))
    others = _clean(judged.prediction_proba)
    rows, labels = np.arange(len(others)), np.searchsorted(judged.classes, judged.y)
    own = others[rows, labels]
    others[rows, labels] = 0.0
    reach = _reach(judged)
    supported = np.divide(own, reach, out=np.ones_like(own), where=reach > 0)
    # Rounded, so that neither noise nor what was left out decides between equal doubts.
    rounded: NDArray[np.float64] = np.round(others.max(axis=1) - supported, 3)
    return rounded


def best_other(evaluation: Evaluation, row: int) -> tuple[Any, float] | None:
    """The class beside its own that a sample is given most often, and how often."""
    if evaluation.prediction_proba is None or evaluation.classes is None:
        return None
    others = evaluation.classes != evaluation.y[row]
    shares = _clean(evaluation.prediction_proba[row][others])
    return evaluation.classes[others][np.argmax(shares)], float(shares.max())


def _clean(shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Shares within 0 and 1, whatever rounding made of them; never held out counts as never."""
    return np.clip(np.nan_to_num(shares), 0.0, 1.0)


def _reach(judged: Evaluation) -> NDArray[np.float64]:
    """The largest share that the own class of each sample could have; 0 for a class of one.

    With one neighbour and m of the n - 1 others to learn from it is the chance that one of the
    other samples of its class is among them. With more neighbours, or other laws, it is taken as 1.
    """
    codes = np.unique(judged.y, return_inverse=True)[1]
    peers = np.bincount(codes) - 1
    if judged.n_neighbors != 1 or judged.law.kind != "fixed size":
        return np.minimum(peers, 1.0)[codes]
    chance = hypergeom(len(codes) - 1, peers, judged.law.smallest_training_set)
    return np.asarray(chance.sf(0), dtype=float)[codes]

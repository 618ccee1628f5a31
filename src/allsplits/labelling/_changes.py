"""How many predictions the last labels have changed: to count them no further label is needed.

Labels that change no prediction gain nothing, and an accuracy rises by no more than the share of
predictions that change (Bloodgood & Vijay-Shanker 2009 stop labelling by it). So what the last
labels have changed among the samples without a label is the most that they can have gained there,
and, as long as the next ones change no more than the last, the most that those will. Of a large
pool some samples are drawn; the share is then the upper end of its interval.
"""

from __future__ import annotations

import numpy as np

from allsplits.active._explain import predict_from
from allsplits.active._learner import ActiveLearner
from allsplits.labelling._accuracy import clopper_pearson

#: Samples that a pool is represented by.
_MOST_DRAWN = 4000
#: A pool of fewer says little, and is soon labelled.
_FEWEST = 50


def most_changed(learner: ActiveLearner, last: int) -> float:
    """The share of predictions that the `last` labels have changed, at most; 1 if nobody knows."""
    state = learner._fitted()
    labels, pool = state.partial_labels(), state.pool
    in_turn = np.array([i for i, label in state.labels.items() if label is not None], dtype=np.intp)
    before = labels.without(in_turn[-last:])
    if len(pool) < _FEWEST or len(before.rows) < max(last, learner.n_neighbors_):
        return 1.0
    n = min(len(pool), _MOST_DRAWN)
    rows = np.random.RandomState(0).permutation(pool)[:n]
    same = predict_from(learner, rows, labels) == predict_from(learner, rows, before)
    n_changed = int(n - same.sum())
    return n_changed / n if n == len(pool) else clopper_pearson(n_changed, n).high

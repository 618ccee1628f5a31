"""How many predictions the last labels have changed: to count them no further label is needed.

Labels that change no prediction gain nothing, and an accuracy rises by no more than the share of
predictions that change (Bloodgood & Vijay-Shanker 2009 stop labelling by it). So what the last
labels have changed among the samples without a label is the most that they can have gained there,
and, as long as the next ones change no more than the last, the most that those will. A few labels
may change much and many nothing: the last ones and as many before them are looked at, and the
larger share counts; and never less than half a point, which is as fine as it can be told
(studies/labelling_page.md). Of a large pool some samples are drawn; a share is then the upper end
of its interval.
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
#: Less than this is not told apart from nothing.
_LEAST = 0.005


def most_changed(learner: ActiveLearner, last: int) -> float:
    """The share of predictions that `last` labels have changed lately; 1 if nobody knows."""
    state = learner._fitted()
    labels, pool = state.partial_labels(), state.pool
    in_turn = np.array([i for i, label in state.labels.items() if label is not None], dtype=np.intp)
    earlier = labels.without(in_turn[-last:]), labels.without(in_turn[-2 * last :])
    if len(pool) < _FEWEST or len(earlier[1].rows) < max(last, learner.n_neighbors_):
        return 1.0
    n = min(len(pool), _MOST_DRAWN)
    rows = np.random.RandomState(0).permutation(pool)[:n]
    now, then, before = (predict_from(learner, rows, known) for known in (labels, *earlier))
    changed = max(int((now != then).sum()), int((then != before).sum()))
    share = changed / n if n == len(pool) else clopper_pearson(changed, n).high
    return max(share, _LEAST)

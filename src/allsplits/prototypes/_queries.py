"""The ways to choose the class that an incremental learner asks for."""

import numpy as np
from numpy.typing import NDArray

from allsplits.prototypes._greedy import GreedyClassQuery
from allsplits.prototypes._learnt import Learnt
from allsplits.prototypes._loop import ClassQuery
from allsplits.prototypes._shares import ShareClassQuery, farthest_behind

_Flags = NDArray[np.bool_]


def _by_bound(learnt: Learnt, available: _Flags) -> int:
    """The class whose next example lowers the bound on the error most."""
    last = len(learnt.steps) - 1
    counts, n_features = learnt.steps[last].counts, learnt.points.shape[1]
    rule = GreedyClassQuery(learnt.priors)
    return rule.query(counts, learnt.facets(last), n_features, available=available)


def _by_shares(learnt: Learnt, available: _Flags) -> int:
    """The class farthest behind the shares that did best so far; of a single class, that one."""
    if len(learnt.priors) == 1:
        return 0
    return ShareClassQuery(learnt.priors).query(learnt.points, learnt.codes, available=available)


def _by_priors(learnt: Learnt, available: _Flags) -> int:
    """The class that is farthest behind its prior."""
    return farthest_behind(learnt.steps[-1].counts, learnt.priors, available)


CLASS_QUERIES: dict[str, ClassQuery] = {
    "shares": _by_shares,
    "greedy": _by_bound,
    "priors": _by_priors,
}

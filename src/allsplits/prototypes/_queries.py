"""The ways to choose the class that an incremental learner asks for."""

import numpy as np
from numpy.typing import NDArray

from allsplits.prototypes._greedy import GreedyClassQuery
from allsplits.prototypes._loop import ClassQuery, Learnt
from allsplits.prototypes._thinning import ThinningClassQuery

_Priors = NDArray[np.float64]
_Flags = NDArray[np.bool_]


def _by_bound(learnt: Learnt, priors: _Priors, available: _Flags) -> int:
    """The class whose next example lowers the bound on the error most."""
    step = learnt.steps[-1]
    n_features = learnt.points.shape[1]
    return GreedyClassQuery(priors).query(step.counts, step.facets, n_features, available=available)


def _by_worth(learnt: Learnt, priors: _Priors, available: _Flags) -> int:
    """The class whose own error falls fastest; a single class has no error."""
    if len(priors) == 1:
        return 0
    return ThinningClassQuery(priors).query(learnt.points, learnt.codes, available=available)


def _by_priors(learnt: Learnt, priors: _Priors, available: _Flags) -> int:
    """The class that is farthest behind its prior."""
    wanted = np.where(priors > 0, priors, 1e-300)
    return int(np.argmin(np.where(available, learnt.steps[-1].counts / wanted, np.inf)))


CLASS_QUERIES: dict[str, ClassQuery] = {
    "thinning": _by_worth,
    "greedy": _by_bound,
    "priors": _by_priors,
}

"""Which class to ask examples of next: the one whose examples are worth most now.

What are the examples of class l worth? Leave out h = ⌊m_l/2⌋ of its m_l examples, in all possible
ways, and see how much the leave-one-out error of 1-NN rises on average, all classes weighted by
their priors p:

    worth_l = (1/h) Σ_x p_x/m_x · ( P(x wrong without h of class l) - [x wrong] ).

No way of leaving out is drawn. Let the nearest example of x have class q, and let s examples of q
come before the first one of another class z. Only without all s does the answer for x change, from
q to z, and only leaving out class q does that: with n_q examples of q beside x, the probability is

    h/n_q · (h - 1)/(n_q - 1) · ... · (h - s + 1)/(n_q - s + 1).

So x counts for q if q is right, against q if z is right, and not at all otherwise. A class that
crowds out its neighbours loses worth by that, which the number of its facets does not show. Where
errors fall as a power of m, the worth is in proportion to what the next example brings.

The cost is a search for the nearest examples of each example.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from allsplits._validation import check_labels, check_points
from allsplits.orders import Metric, Reference
from allsplits.prototypes._class_inputs import check_available, check_priors

#: Runs of one class that are longer than this are all left out with a chance below 1e-18.
_LONGEST_RUN = 60


class ThinningClassQuery(BaseEstimator):  # type: ignore[misc]
    """The class whose examples are worth most: without half of them the error rises most.

    The rise is that of the leave-one-out error of 1-NN (Euclidean distance), averaged over all
    ways to leave out half of the examples of a class, and divided by their number.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Probability of each class in sorted order, up to a common factor; None means all the same.

    See Also
    --------
    GreedyClassQuery : The choice by facets, as published.
    IncrementalNNClassifier : The whole loop.

    Examples
    --------
    Setosa is easy to tell from the two others:

    >>> from allsplits import ThinningClassQuery
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ThinningClassQuery().query(X, y)
    2
    >>> (1000 * ThinningClassQuery().utilities(X, y)).round(2)
    array([0.  , 0.56, 0.64])
    """

    def __init__(self, priors: ArrayLike | None = None) -> None:
        self.priors = priors

    def utilities(self, X: Any, y: Any) -> NDArray[np.float64]:
        """What an example of each class is worth, in sorted order of the classes.

        Negative for a class that takes more from its neighbours than it needs itself; infinite for
        a class with one example, which cannot be halved.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples so far.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        points, codes, priors = self._read(X, y)
        return _worth_of_classes(points, codes, priors)

    def query(self, X: Any, y: Any, *, available: ArrayLike | None = None) -> int:
        """Position of the class to ask for; of equals the one farthest behind its prior.

        Parameters
        ----------
        X, y :
            As in `utilities`.
        available : array-like of bool of shape (n_classes,), default=None
            Classes that have examples left; None means all.
        """
        points, codes, priors = self._read(X, y)
        allowed = check_available(available, len(priors))
        worth = np.where(allowed, _worth_of_classes(points, codes, priors), -np.inf)
        return farthest_behind(np.bincount(codes), priors, allowed & (worth == worth.max()))

    def _read(
        self, X: Any, y: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        points = check_points(X)
        classes, codes = check_labels(y, len(points))
        return points, codes, check_priors(self.priors, len(classes))


def farthest_behind(
    counts: NDArray[np.int64], priors: NDArray[np.float64], available: NDArray[np.bool_]
) -> int:
    """Position of the class that has the fewest examples for its prior."""
    wanted = np.where(priors > 0, priors, 1e-300)
    return int(np.argmin(np.where(available, counts / wanted, np.inf)))


def _worth_of_classes(
    points: NDArray[np.float64], codes: NDArray[np.int32], priors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What an example of each class is worth; infinite for a class that has only one."""
    counts = np.bincount(codes, minlength=len(priors))
    left_out = counts // 2
    order = Reference(points, Metric("euclidean"), 1).within(min(len(points) - 1, _LONGEST_RUN + 1))
    classes = codes[order.indices]
    first = classes[:, 0]
    others = classes != first[:, None]
    changes = others.any(axis=1)
    run = np.where(changes, others.argmax(axis=1), 0)
    behind = classes[np.arange(len(codes)), run]
    gain = np.where(first == codes, 1.0, np.where(behind == codes, -1.0, 0.0)) * changes
    beside = counts[first] - (first == codes)
    chance = _chance_of_losing_all(run, left_out[first], beside)
    rises = np.bincount(
        first, weights=gain * chance * (priors / counts)[codes], minlength=len(priors)
    )
    return np.where(left_out > 0, rises / np.maximum(left_out, 1), np.inf)


def _chance_of_losing_all(
    run: NDArray[np.intp], left_out: NDArray[np.intp], beside: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Chance that the first `run` of `beside` examples are among `left_out` drawn ones."""
    chance = np.ones(len(run))
    for i in range(int(run.max(initial=0))):
        within = i < run
        ratio = (left_out - i) / np.maximum(beside - i, 1)
        chance = np.where(within, chance * np.maximum(ratio, 0.0), chance)
    return chance

"""Which class to ask examples of next: the one whose own error falls fastest.

Leave out h = ⌊m_l/2⌋ of the m_l examples of class l, in all possible ways: how much does its
leave-one-out error under 1-NN rise on average? No way of leaving out is drawn. Let s examples of
the class be nearer to its example x than any of another class. The answer for x turns wrong where
all s are left out, which of the m_l - 1 examples beside x has the probability

    P_x = h/(m_l - 1) · (h - 1)/(m_l - 2) · ... · (h - s + 1)/(m_l - s),

and is wrong anyway if s = 0. With prior p_l, an example of class l is worth

    worth_l = p_l/h · ( Σ_x [s > 0] P_x + 1/2 ) / m_l,

where the 1/2 keeps classes in play whose examples all seem safe. Where errors fall as a power of
m, the worth is in proportion to what the next example brings; in any dimension, and wherever the
border of the class is, which the number of its facets does not tell.

What more examples of a class take from its neighbours is left out on purpose: classes that are
still mixed as by chance gain together nothing from the next example, only from many.

The cost is a search for the nearest examples of each example.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from allsplits._validation import check_labels, check_points
from allsplits.orders import Metric, Reference
from allsplits.prototypes._class_inputs import check_available, check_priors

#: So many examples that are nearer than all others are left out together with a chance below 1e-17.
_MOST_NEARER = 60


class ThinningClassQuery(BaseEstimator):  # type: ignore[misc]
    """The class whose own error rises most, for each example, without half of its examples.

    The error is that of 1-NN, leaving one out (Euclidean distance), averaged over all ways to leave
    out half of the examples of the class, and weighted by its prior.

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
    array([0.13, 0.3 , 0.7 ])
    """

    def __init__(self, priors: ArrayLike | None = None) -> None:
        self.priors = priors

    def utilities(self, X: Any, y: Any) -> NDArray[np.float64]:
        """What an example of each class is worth, in sorted order of the classes.

        Infinite for a class with one example, which cannot be halved.

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
        """Position of the class to ask for, the first one if several are as good.

        Parameters
        ----------
        X, y :
            As in `utilities`.
        available : array-like of bool of shape (n_classes,), default=None
            Classes that have examples left; None means all.
        """
        points, codes, priors = self._read(X, y)
        allowed = check_available(available, len(priors))
        return int(np.argmax(np.where(allowed, _worth_of_classes(points, codes, priors), -np.inf)))

    def _read(
        self, X: Any, y: Any
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.float64]]:
        points = check_points(X)
        classes, codes = check_labels(y, len(points))
        return points, codes, check_priors(self.priors, len(classes))


def _worth_of_classes(
    points: NDArray[np.float64], codes: NDArray[np.int32], priors: NDArray[np.float64]
) -> NDArray[np.float64]:
    """What an example of each class is worth; infinite for a class that has only one."""
    counts = np.bincount(codes)
    left_out = counts // 2
    order = Reference(points, Metric("euclidean"), 1).within(min(len(points) - 1, _MOST_NEARER + 1))
    others = codes[order.indices] != codes[:, None]
    nearer = np.where(others.any(axis=1), others.argmax(axis=1), 0)
    turns = (nearer > 0) * _chance_of_losing_all(nearer, left_out[codes], counts[codes] - 1)
    rises = (np.bincount(codes, weights=turns) + 0.5) / counts
    return np.where(left_out > 0, priors * rises / np.maximum(left_out, 1), np.inf)


def _chance_of_losing_all(
    nearer: NDArray[np.intp], left_out: NDArray[np.intp], beside: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Chance that the `nearer` first of `beside` examples are among `left_out` drawn ones."""
    chance = np.ones(len(nearer))
    for i in range(int(nearer.max(initial=0))):
        ratio = np.maximum(left_out - i, 0) / np.maximum(beside - i, 1)
        chance = np.where(i < nearer, chance * ratio, chance)
    return chance

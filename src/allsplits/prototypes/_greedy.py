"""Which class to ask examples of next (Ratsaby 1997, pages 615 and 616).

With m_l examples of class l, k_l Voronoi facets between it and the others, prior p_l and d
features, the error is bounded, up to a constant, by

    f(m, k) = Σ_l p_l · sqrt( ((d + 1)·k_l·ln m_l + (e·k_l/d)^d) / m_l ).

The greedy rule asks for the class whose next example lowers f most: the largest −∂f/∂m_l.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from allsplits._validation import check_count
from allsplits.exceptions import InvalidInputError
from allsplits.prototypes._class_inputs import check_available, check_class_numbers, check_priors

#: Beyond exp(600) the bound is scaled down: the choice does not depend on a common factor.
_LARGEST_EXPONENT = 600.0


class GreedyClassQuery(BaseEstimator):  # type: ignore[misc]
    """The class whose examples lower the bound on the error most.

    Parameters
    ----------
    priors : array-like of shape (n_classes,), default=None
        Probability of each class, up to a common factor; None means all the same.

    See Also
    --------
    IncrementalNNClassifier : The whole loop.

    Examples
    --------
    Two classes with as many examples; the second has a longer boundary:

    >>> from allsplits import GreedyClassQuery
    >>> GreedyClassQuery().query([20, 20], [3, 9], n_features=2)
    1
    >>> GreedyClassQuery().utilities([20, 20], [3, 9], n_features=2).round(4)
    array([0.0146, 0.0375])
    """

    def __init__(self, priors: ArrayLike | None = None) -> None:
        self.priors = priors

    def bound(self, n_samples: ArrayLike, facets: ArrayLike, n_features: int) -> float:
        """The bound f itself, without its constant.

        Parameters
        ----------
        n_samples : array-like of shape (n_classes,)
            Examples of each class so far, at least 1.
        facets : array-like of shape (n_classes,)
            Voronoi facets of each class, as counted by `voronoi_complexity`.
        n_features : int
            Dimension of the space.
        """
        m, k, priors, d = self._read(n_samples, facets, n_features)
        logs, volumes, shift = _parts(m, k, d)
        with np.errstate(over="ignore"):
            return float(priors @ np.sqrt((logs + volumes) / m) * np.exp(shift / 2))

    def utilities(
        self, n_samples: ArrayLike, facets: ArrayLike, n_features: int
    ) -> NDArray[np.float64]:
        """−∂f/∂m of each class; negative while a class has too few examples for the bound.

        The parameters are those of `bound`.
        """
        scaled, shift = self._scaled_utilities(n_samples, facets, n_features)
        with np.errstate(over="ignore", invalid="ignore"):
            return np.where(scaled == 0, 0.0, scaled * np.exp(shift / 2))

    def query(
        self,
        n_samples: ArrayLike,
        facets: ArrayLike,
        n_features: int,
        *,
        available: ArrayLike | None = None,
    ) -> int:
        """Position of the class to ask for, the first one if several are as good.

        Parameters
        ----------
        n_samples, facets, n_features :
            As in `bound`.
        available : array-like of bool of shape (n_classes,), default=None
            Classes that have examples left; None means all.
        """
        scaled, _ = self._scaled_utilities(n_samples, facets, n_features)
        allowed = check_available(available, len(scaled))
        return int(np.argmax(np.where(allowed, scaled, -np.inf)))

    def _scaled_utilities(
        self, n_samples: ArrayLike, facets: ArrayLike, n_features: int
    ) -> tuple[NDArray[np.float64], float]:
        """Utilities divided by exp(shift / 2), and the shift."""
        m, k, priors, d = self._read(n_samples, facets, n_features)
        logs, volumes, shift = _parts(m, k, d)
        # The derivative of (logs + volumes) / m is ((d + 1) k - logs - volumes) / m².
        falls = (logs + volumes - (d + 1) * k * np.exp(-shift)) / m**2
        roots = np.sqrt((logs + volumes) / m)
        safe = np.where(roots > 0, roots, 1.0)
        return np.where(roots > 0, priors * falls / (2 * safe), 0.0), shift

    def _read(
        self, n_samples: ArrayLike, facets: ArrayLike, n_features: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], int]:
        m = check_class_numbers("n_samples", n_samples, at_least=1)
        k = check_class_numbers("facets", facets, at_least=0)
        if len(m) != len(k):
            raise InvalidInputError(
                f"facets must have one value for each of the {len(m)} classes of n_samples; "
                f"got {len(k)}"
            )
        return (
            m,
            k,
            check_priors(self.priors, len(m)),
            check_count("n_features", n_features, at_least=1),
        )


def _parts(
    m: NDArray[np.float64], k: NDArray[np.float64], d: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Return (d + 1) k ln m and (e k / d)^d, both divided by exp(shift), and the shift."""
    with np.errstate(divide="ignore"):
        exponents = d * (1.0 + np.log(k) - np.log(d))
    shift = max(0.0, float(exponents.max()) - _LARGEST_EXPONENT)
    return (d + 1) * k * np.log(m) * np.exp(-shift), np.exp(exponents - shift), shift

"""Which class to ask examples of next: the one farthest behind the shares that did best so far.

Had N of the examples so far been drawn in shares q of the classes, how often would 1-NN be wrong?
Keep n_l = N·q_l of the m_l examples of class l, in all possible ways. Let x be an example that is
left out, and i_j the number of examples of its class that are nearer to x than its j-th neighbour.
If none of the nearer ones is kept, the neighbour is kept with the chance

    π_j = n_l / (m_l - i_j),        with m_l - 1 in place of m_l for the class of x,

at most 1 (where n_l is no whole number, this is the definition), so the nearest one that is kept is
of class c with the chance

    P_x(c) = Σ_{j of class c} π_j · Π_{i<j} (1 - π_i).

With priors p the error is E(q) = Σ_l p_l/m_l · Σ_{x of l} Σ_{c ≠ l} P_x(c). Nothing is drawn.

Shares are tried on the way from the priors to the hard classes,

    q_l ∝ p_l · r_l^t,    t = 0, 1/4, 1/2, 3/4, 1,

where p_l·r_l is half of the error in which class l takes part, as the right class or as the wrong
one, if half of each class is kept (and r_l has half an example more wrong, of one more). N is the
largest number that all of them allow. A border belongs to two classes: examples of one side make
errors on the other, so r counts both sides alike, and E the errors of all classes.

Of these the shares with the least E(q) are taken, the first of several. What the hard classes gain
is weighed against what the others lose, so the priors (t = 0) stay where nothing can be won.

The cost is a search for the nearest examples of each example.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from allsplits._validation import check_labels
from allsplits.orders import Metric, Reference, read_samples
from allsplits.prototypes._class_inputs import check_available, check_priors
from allsplits.prototypes._kernels_shares import class_chances

#: How far shares go from the priors towards the hard classes.
_POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)

#: Neighbours that are looked at. One of them is kept, as good as always.
_MOST_NEIGHBORS = 100


class Examples(NamedTuple):
    """Classes of examples and of their neighbours, nearest first; how many of each, and priors."""

    codes: NDArray[np.int32]
    neighbor_codes: NDArray[np.int32]
    counts: NDArray[np.intp]
    priors: NDArray[np.float64]

    def chances_with(self, kept: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chance of each class to be the nearest, by example, with so many of each class."""
        chances: NDArray[np.float64] = class_chances(
            self.neighbor_codes, self.codes, self.counts, kept
        )
        return chances

    def wrong_with(self, kept: NDArray[np.float64]) -> NDArray[np.float64]:
        """Chance of each example to be wrong with so many of each class."""
        chances = self.chances_with(kept)
        # One less the chance to be right would not be 0 where it should be.
        chances[np.arange(len(self.codes)), self.codes] = 0.0
        wrong: NDArray[np.float64] = chances.sum(axis=1)
        return wrong


class ShareClassQuery(BaseEstimator):  # type: ignore[misc]
    """The class farthest behind the shares that would have done best with the examples so far.

    Shares are those of the priors, or more of the hard classes where that would have made fewer
    errors on all classes together. The error is that of 1-NN, leaving one out (Euclidean distance),
    averaged over all ways to keep examples in these shares.

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
    Setosa is easy to tell from the two others, so a third of the examples is more than it needs:

    >>> from allsplits import ShareClassQuery
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ShareClassQuery().shares(X, y).round(2)
    array([0.06, 0.47, 0.47])
    >>> ShareClassQuery().query(X, y)
    1
    """

    def __init__(self, priors: ArrayLike | None = None) -> None:
        self.priors = priors

    def shares(self, X: Any, y: Any) -> NDArray[np.float64]:
        """The share that each class should have, in sorted order of the classes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Examples so far.
        y : array-like of shape (n_samples,)
            Their classes.
        """
        return best_shares(self._read(X, y))

    def query(self, X: Any, y: Any, *, available: ArrayLike | None = None) -> int:
        """Position of the class to ask for, the first one if several are as far behind.

        Parameters
        ----------
        X, y :
            As in `shares`.
        available : array-like of bool of shape (n_classes,), default=None
            Classes that have examples left; None means all.
        """
        examples = self._read(X, y)
        allowed = check_available(available, len(examples.priors))
        return farthest_behind(examples.counts, best_shares(examples), allowed)

    def _read(self, X: Any, y: Any) -> Examples:
        points = read_samples(X, Metric("euclidean"))
        classes, codes = check_labels(y, len(points))
        return read_examples(points, codes, check_priors(self.priors, len(classes)))


def read_examples(points: Any, codes: NDArray[np.int32], priors: NDArray[np.float64]) -> Examples:
    """Search the neighbours of examples."""
    depth = min(len(points) - 1, _MOST_NEIGHBORS)
    order = Reference(points, Metric("euclidean"), 1).within(depth)
    return Examples(codes, codes[order.indices], np.bincount(codes), priors)


def farthest_behind(
    counts: NDArray[np.intp], shares: NDArray[np.float64], available: NDArray[np.bool_]
) -> int:
    """The available class with the fewest examples for its share, the first one of several."""
    return int(np.argmax(np.where(available, shares / counts, -np.inf)))


def best_shares(examples: Examples) -> NDArray[np.float64]:
    """The shares with the least error; the priors, which come first, if all are as good."""
    tried, wrong = try_shares(examples)
    weights = (examples.priors / examples.counts)[examples.codes]
    return tried[int(np.argmin([weights @ chances for chances in wrong]))]


def try_shares(
    examples: Examples,
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    """Shares, and the chances of examples to be wrong with as many examples in each of them."""
    tried = _shares_to_try(examples)
    # What is kept must be there beside an example that is left out; at least one is granted.
    beside = np.maximum(examples.counts - 1, 1)
    n_kept = min(float(np.min(beside[shares > 0] / shares[shares > 0])) for shares in tried)
    return tried, [examples.wrong_with(n_kept * shares) for shares in tried]


def _shares_to_try(examples: Examples) -> list[NDArray[np.float64]]:
    """The priors first, then more and more of the hard classes."""
    hardness = _hardness(examples)
    weights = [examples.priors * hardness**power for power in _POWERS]
    return [weight / weight.sum() for weight in weights]


def _hardness(examples: Examples) -> NDArray[np.float64]:
    """Half of the error in which each class takes part, by its prior, with half of the examples."""
    counts, priors = examples.counts, examples.priors
    errors = np.zeros((len(counts), len(counts)))
    weights = (priors / counts)[examples.codes]
    np.add.at(errors, examples.codes, weights[:, None] * examples.chances_with(counts / 2))
    np.fill_diagonal(errors, 0.0)
    taking_part = (errors.sum(axis=0) + errors.sum(axis=1)) / 2
    rates = np.divide(taking_part, priors, out=np.zeros(len(priors)), where=priors > 0)
    hardness: NDArray[np.float64] = (counts * rates + 0.5) / (counts + 1)
    return hardness

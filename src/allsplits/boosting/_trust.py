"""What the votes say about the examples: whom to trust, whom to look at again.

An example that steps first, while all weights are equal, takes the step

    ½ ln((A + 1) / (D + 1))

where A of those who have it among their nearest agree with its label and D do not (the exponential
step; smoothing, 1/m of m weights of 1, is one vote). That is its *trust*; while its step is
negative, an example is not chosen by default. The fitted leverage also depends on who stepped
before, and on noise that boosting learns by heart, which is why it is a worse guide to wrong
labels.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame
from allsplits._validation import check_choice, check_count
from allsplits.boosting._boost import Neighborhoods
from allsplits.boosting._targets import Targets


@dataclass(frozen=True)
class Agreement:
    """How the neighbours of each example agree with it (labels of a matrix: their mean)."""

    #: ½ ln((A + 1) / (D + 1)).
    trust: NDArray[np.float64]
    #: How many have the example among their nearest.
    n_reciprocal: NDArray[np.int64]
    #: Share of the example's own nearest that agree with it.
    support: NDArray[np.float64]


def count_agreement(near: Neighborhoods, targets: Targets) -> Agreement:
    """Count who agrees with whom, for each example's own class."""
    m = len(near.neighbors)
    n_reciprocal = np.diff(near.indptr)
    voters = np.repeat(np.arange(m), n_reciprocal)
    trust = np.empty((m, len(targets.signs)))
    support = np.empty_like(trust)
    for c, signs in enumerate(targets.signs):
        same = signs[near.members] == signs[voters]
        agree = np.bincount(voters, weights=same, minlength=m)
        trust[:, c] = 0.5 * np.log((agree + 1) / (n_reciprocal - agree + 1))
        support[:, c] = np.mean(signs[near.neighbors] == signs[:, None], axis=1)
    return Agreement(targets.own(trust), n_reciprocal, targets.own(support))


@dataclass(frozen=True, eq=False, repr=False)
class Trust:
    """How far each training example can be trusted (`UNNClassifier.trust`).

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        The given labels.
    trust : ndarray of shape (n_samples,)
        The step each example would take first: positive if those who have it near share its label,
        negative if they do not.
    leverages : ndarray of shape (n_samples,)
        The fitted leverages for the example's own class; 0 if it was not chosen.
    margins : ndarray of shape (n_samples,)
        The fitted vote of its neighbours on its own class, positive if right.
    support : ndarray of shape (n_samples,)
        Share of its nearest neighbours with its label.
    n_reciprocal : ndarray of shape (n_samples,)
        How many examples have it among their nearest.
    """

    labels: NDArray[Any]
    trust: NDArray[np.float64]
    leverages: NDArray[np.float64]
    margins: NDArray[np.float64]
    support: NDArray[np.float64]
    n_reciprocal: NDArray[np.int64]

    def least(self, n: int = 10, by: Literal["trust", "leverages"] = "trust") -> NDArray[np.intp]:
        """Row numbers of the least trusted examples, worst first; ties by support."""
        check_count("n", n, at_least=0)
        return self._order(by)[:n]

    def most(self, n: int = 10, by: Literal["trust", "leverages"] = "trust") -> NDArray[np.intp]:
        """Row numbers of the most trusted examples, best first; ties by support."""
        check_count("n", n, at_least=0)
        return self._order(by)[::-1][:n]

    def _order(self, by: str) -> NDArray[np.intp]:
        check_choice("by", by, ("trust", "leverages"))
        return np.lexsort((self.support, getattr(self, by)))

    def frame(self, backend: str | None = None) -> Any:
        """One row per example, the least trusted first, as a pandas or polars data frame."""
        order = self._order("trust")
        columns = {
            "sample": order,
            "label": self.labels[order],
            "trust": self.trust[order],
            "leverage": self.leverages[order],
            "margin": self.margins[order],
            "support": self.support[order],
            "n_reciprocal": self.n_reciprocal[order],
        }
        return make_frame(columns, backend)

    def plot(self, ax: Any = None, n: int = 5) -> Any:
        """Draw the trust of all examples in order, the n least trusted with their row numbers."""
        from allsplits.plots._boosting import draw_trust

        return draw_trust(self, ax, n)

    def __repr__(self) -> str:
        doubted = int(np.sum(self.trust < 0))
        worst = ", ".join(map(str, self.least(5)))
        return (
            f"Trust({len(self.trust)} examples, {doubted} with negative trust; "
            f"least trusted: {worst})"
        )

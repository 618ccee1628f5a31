"""What a vote is worth: scores that are means over test samples of a function of the votes.

With v_c of the k votes for class c, y the true class and C classes:

    log-loss     log p_y, p_y = (v_y + s) / (k + s C), or v_y/k clipped as scikit-learn does
    Brier        Σ_c (v_c/k - [c = y])², half of it for two classes, as in scikit-learn
    top-K        whether y is among the K most voted
    costs        L[y, winner]

Each is linear in the chances of the votes (`exact/ballots.py`), so its average over all splits is
exact. A measure says what it wants to know of the votes, how large it can be, and its value.
"""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import shown
from allsplits.exact import Ballots, BallotWants, log_shares
from allsplits.exceptions import InvalidInputError

Values = NDArray[Any]


class Measure(Protocol):
    """A score as a function of the votes."""

    @property
    def wants(self) -> BallotWants:
        """What it needs to know of the votes."""

    def fitted(self, classes: NDArray[Any]) -> Measure:
        """The measure for these classes, or an error if it does not fit them."""

    def values(self, ballots: Ballots) -> Values:
        """The value of each sample."""

    def largest(self, k: int, n_classes: int) -> float:
        """No value is larger than this, with either sign."""


@dataclass(frozen=True)
class LogLoss:
    """Log-loss of the vote, with the smoothing that a vote of zero needs: ``scoring=LogLoss(1)``.

    The share of the votes v/k is the probability that a vote of k gives a class. No vote for the
    true class is an infinite loss, unless all votes are smoothed: (v + s) / (k + s C) with C
    classes.

    Parameters
    ----------
    smoothing : float or None, default=1
        s, what is added to the votes of every class; 1 is Laplace's rule. None clips v/k to
        [eps, 1 - eps] with the eps of float64, as scikit-learn does: this is
        ``scoring="neg_log_loss"``, in which a vote of zero costs 36.04 and little else counts.

    Examples
    --------
    >>> from allsplits import LogLoss, evaluate
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluate(KNeighborsClassifier(5), X, y, scoring=LogLoss(smoothing=1))
    Evaluation(neg_log_loss+1=-0.3... ± ..., n_neighbors=5, exact over ... splits: ...)
    """

    smoothing: float | None = 1.0

    def __post_init__(self) -> None:
        s = self.smoothing
        if s is None:
            return
        if isinstance(s, bool) or not isinstance(s, numbers.Real) or not 0 < float(s) < 1e300:
            raise InvalidInputError(
                "smoothing must be a number above 0, which is added to the votes of every class, "
                "or None to clip as scikit-learn does: without it the log-loss of a vote of zero "
                f"is infinite; got {shown(s)}"
            )

    @property
    def name(self) -> str:
        """As in `scoring`."""
        return "neg_log_loss" if self.smoothing is None else f"neg_log_loss+{self.smoothing:.6g}"

    @property
    def wants(self) -> BallotWants:
        """The votes of the own class."""
        return BallotWants(own=True, logs=(self.smoothing,))

    def fitted(self, classes: NDArray[Any]) -> LogLoss:
        """Fits all."""
        return self

    def values(self, ballots: Ballots) -> Values:
        """E log p_y."""
        return ballots.log_share(self.smoothing)

    def largest(self, k: int, n_classes: int) -> float:
        """Of a vote of zero, or of all."""
        return float(np.abs(log_shares(self.smoothing, k, n_classes)).max())


@dataclass(frozen=True)
class Brier:
    """Minus the Brier score of the votes."""

    name = "neg_brier_score"

    @property
    def wants(self) -> BallotWants:
        """The votes of the own class, and the squares of all."""
        return BallotWants(own=True, squares=True)

    def fitted(self, classes: NDArray[Any]) -> Brier:
        """Fits all."""
        return self

    def values(self, ballots: Ballots) -> Values:
        """Σ_c (v_c/k - [c = y])² = Σ v_c²/k² - 2 v_y/k + 1, halved for two classes."""
        one: Any = Fraction(1) if ballots.exact else 1.0
        loss = ballots.share_squares - 2 * ballots.own_share + one
        found: Values = -loss / 2 if ballots.n_classes == 2 else -loss
        return found

    def largest(self, k: int, n_classes: int) -> float:
        """Its three terms together, which round on their own."""
        return 4.0


@dataclass(frozen=True)
class TopK:
    """Whether the true class is among the k most voted."""

    k: int

    @property
    def name(self) -> str:
        """As in `scoring`."""
        return f"top_{self.k}_accuracy"

    @property
    def wants(self) -> BallotWants:
        """The rank of the own class."""
        return BallotWants(tops=self.k)

    def fitted(self, classes: NDArray[Any]) -> TopK:
        """Needs more classes than places."""
        if self.k >= len(classes):
            raise InvalidInputError(
                f"scoring={self.name!r} needs more than {self.k} classes: of {len(classes)} "
                f"each is among the {self.k} most voted, so the score is always 1"
            )
        return self

    def values(self, ballots: Ballots) -> Values:
        """P(among the k most voted)."""
        return ballots.top(self.k)

    def largest(self, k: int, n_classes: int) -> float:
        """A chance."""
        return 1.0


@dataclass(frozen=True, eq=False)
class CostMatrix:
    """Minus the expected cost of the predictions: ``scoring=CostMatrix(costs)``.

    Parameters
    ----------
    costs : array-like of shape (n_classes, n_classes), or mapping
        costs[true, predicted] in the sorted order of the classes; or {(true, predicted): cost},
        where what is not named costs 0. What is right may cost something as well.

    Examples
    --------
    >>> from allsplits import CostMatrix, evaluate
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> missed = CostMatrix({(2, 1): 10, (1, 2): 1})
    >>> evaluate(KNeighborsClassifier(5), X, y, scoring=missed)
    Evaluation(neg_cost=-0.1... ± ..., n_neighbors=5, exact over ... splits: ...)
    """

    costs: Any

    name = "neg_cost"

    @property
    def wants(self) -> BallotWants:
        """Who wins."""
        return BallotWants()

    def fitted(self, classes: NDArray[Any]) -> CostMatrix:
        """With a finite number for each pair of these classes."""
        C = len(classes)
        if isinstance(self.costs, Mapping):
            table = _named_costs(self.costs, classes)
        else:
            try:
                table = np.array(self.costs, dtype=np.float64)
            except (ValueError, TypeError) as error:
                raise InvalidInputError(
                    f"costs must be a matrix of numbers; got: {error}"
                ) from None
            if table.shape != (C, C):
                raise InvalidInputError(
                    f"costs must be a matrix of {C} by {C} for the classes "
                    f"{shown(classes)}, true in rows and predicted in columns; got the shape "
                    f"{table.shape}"
                )
        if not np.isfinite(table).all():
            raise InvalidInputError("costs must be finite; got NaN or infinity")
        table.flags.writeable = False
        return CostMatrix(table)

    def values(self, ballots: Ballots) -> Values:
        """-Σ_c L[y, c] P(c wins)."""
        costs = self.costs[ballots.codes]
        if ballots.exact:
            costs = np.vectorize(Fraction, otypes=[object])(costs)
        found: Values = -(ballots.proba * costs).sum(axis=1)
        return found

    def largest(self, k: int, n_classes: int) -> float:
        """The largest cost."""
        return float(np.abs(self.costs).max())


def _shown_pair(pair: Any) -> str:
    """As it was written."""
    return f"({shown(pair)[1:-1]})" if isinstance(pair, tuple) else shown(pair)


def _named_costs(costs: Mapping[Any, Any], classes: NDArray[Any]) -> NDArray[np.float64]:
    place = {label: c for c, label in enumerate(classes.tolist())}
    table = np.zeros((len(classes), len(classes)))
    for pair, cost in costs.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or any(c not in place for c in pair):
            raise InvalidInputError(
                "costs must name pairs (true, predicted) of the classes "
                f"{shown(classes)}; got {_shown_pair(pair)}"
            )
        if isinstance(cost, bool) or not isinstance(cost, numbers.Real):
            raise InvalidInputError(f"costs must be numbers; got {shown(cost)}")
        table[place[pair[0]], place[pair[1]]] = float(cost)
    return table

"""Scores of votes that `evaluate` knows and scikit-learn does not, or not in this way: called.

Each is a mean over tested samples of a function of the votes for one. A class that does not train
has no votes, and a class that is not tested counts for nothing: no split is left without a score,
but the recall of a class that it does not test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.replays.scores import KnownClasses

Floats = NDArray[np.float64]
#: From an estimator that knows its answers, X and y.
Scorer = Callable[[Any, Any, Any], float]


def _codes(known: Any, y: NDArray[Any]) -> NDArray[np.intp]:
    return np.searchsorted(known.classes, y)


def _own(values: NDArray[Any], codes: NDArray[np.intp]) -> NDArray[Any]:
    return values[np.arange(len(codes)), codes]


def smoothed_log_loss(smoothing: float, n_classes: int) -> Scorer:
    """Mean of log (v_y + s) / (k + s C) with C classes."""

    def score(known: KnownClasses, X: Any, y: Any) -> float:
        total = known.votes.sum(axis=1) + smoothing * n_classes
        shares = (_own(known.votes, _codes(known, y)) + smoothing) / total
        return float(np.log(shares).mean())

    return score


def brier(n_classes: int) -> Scorer:
    """Minus the mean of Σ_c (v_c/k - [c = y])², half of it for two classes."""

    def score(known: KnownClasses, X: Any, y: Any) -> float:
        off = known.predict_proba(X)
        off[np.arange(len(off)), _codes(known, y)] -= 1.0
        loss = float((off**2).sum(axis=1).mean())
        return -loss / 2 if n_classes == 2 else -loss

    return score


def top(n: int, *, share: bool, tested_only: bool) -> Scorer:
    """Share of samples whose class is among the n most voted.

    Of classes with as many votes the first is ahead, or all orders count alike (`share`). Classes
    that are not tested may be left out: in an episode they are those that take no part.
    """

    def score(known: KnownClasses, X: Any, y: Any) -> float:
        codes = _codes(known, y)
        own = _own(known.votes, codes)[:, None]
        ahead, even = (known.votes > own).sum(axis=1), known.votes == own
        if tested_only:
            even &= np.isin(np.arange(known.votes.shape[1]), codes)
        if share:
            return float(np.clip((n - ahead) / even.sum(axis=1), 0, 1).mean())
        before = np.arange(known.votes.shape[1]) < codes[:, None]
        return float((ahead + (even & before).sum(axis=1) < n).mean())

    return score


def cost(costs: Floats) -> Scorer:
    """Minus the mean of costs[y, winner]."""

    def score(known: Any, X: Any, y: Any) -> float:
        return float(-costs[_codes(known, y), known.given].mean())

    return score


def recall_of(code: int) -> Scorer:
    """Share of right answers among the samples of a class; NaN if none is tested."""

    def score(known: Any, X: Any, y: Any) -> float:
        own = known.given[_codes(known, y) == code]
        return float(np.mean(own == code)) if len(own) else float("nan")

    return score

"""Curves: the score against k, against the training size, and recall against the rank."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits.model_selection import (
    Curve,
    cmc_curve,
    learning_curve,
    retrieval_curve,
    validation_curve,
)
from allsplits.plots._base import EstimatorDisplay, checked
from allsplits.plots._style import BLUE, axes_or_new, mark_best, parameter_in_words, tick_integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Up to this many values have a dot each.
_MOST_MARKED = 100
#: A longer curve has a band through about this many values.
_MOST_INTERVALS = 40


class _CurveDisplay(EstimatorDisplay):
    """What the displays share: a Curve, with its best value marked."""

    _title: ClassVar[str]

    def __init__(self, curve: Curve) -> None:
        self.curve: Curve = checked("curve", curve, Curve)

    def _draw(self) -> None:
        draw_curve(self.curve, self.ax_, self._title)


class ValidationCurveDisplay(_CurveDisplay):
    """The exact score against the number of neighbours, with the best marked.

    Parameters
    ----------
    curve : Curve
        Result of `validation_curve`.

    Examples
    --------
    >>> from allsplits.plots import ValidationCurveDisplay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ValidationCurveDisplay.from_estimator(
    ...     KNeighborsClassifier(), X, y, n_neighbors=range(1, 21))
    >>> display.ax_.get_xlabel()
    'number of neighbours'
    """

    _title = "exact average over all splits"
    _compute = staticmethod(validation_curve)


class LearningCurveDisplay(_CurveDisplay):
    """The exact score against the size of the training set.

    Parameters
    ----------
    curve : Curve
        Result of `learning_curve`.

    Examples
    --------
    >>> from allsplits.plots import LearningCurveDisplay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(KNeighborsClassifier(1), X, y)
    >>> len(display.curve.x)
    149
    """

    _title = "exact average over all training sets of each size"
    _compute = staticmethod(learning_curve)


def _metric_of(estimator: Any) -> dict[str, Any]:
    """What says how far apart samples are."""
    checked("estimator", estimator, KNeighborsClassifier)
    return {name: getattr(estimator, name) for name in ("metric", "p", "metric_params")}


def _match_curve(estimator: Any, X: Any, y: Any, **options: Any) -> Curve:
    """`cmc_curve` with the metric of the estimator."""
    return cmc_curve(X, y, **_metric_of(estimator), **options)


class CMCCurveDisplay(_CurveDisplay):
    """Cumulative match curve: recall@R against the rank R, over all galleries.

    Parameters
    ----------
    curve : Curve
        Result of `cmc_curve`.

    Examples
    --------
    >>> from allsplits.plots import CMCCurveDisplay
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> display = CMCCurveDisplay.from_estimator(KNeighborsClassifier(), X[:300], y[:300])
    >>> display.ax_.get_ylabel()
    'recall'
    """

    _title = "recall at each rank, exact over all galleries"
    _compute = staticmethod(_match_curve)


def _retrieval_curve(estimator: Any, X: Any, y: Any, **options: Any) -> Curve:
    """`retrieval_curve` with the metric of the estimator."""
    return retrieval_curve(X, y, **_metric_of(estimator), **options)


class RetrievalCurveDisplay(_CurveDisplay):
    """A score of retrieval against its cut-off, over all galleries.

    Parameters
    ----------
    curve : Curve
        Result of `retrieval_curve`.

    Examples
    --------
    >>> from allsplits.plots import RetrievalCurveDisplay
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> display = RetrievalCurveDisplay.from_estimator(KNeighborsClassifier(), X[:300], y[:300])
    >>> display.ax_.get_ylabel()
    'precision@k'
    """

    _title = "retrieval at each cut-off, exact over all galleries"
    _compute = staticmethod(_retrieval_curve)


def draw_curve(
    curve: Curve,
    ax: Axes | None = None,
    title: str = "exact average over all splits",
    confidence: float | None = None,
) -> Axes:
    """Draw the curve with the best value marked, and its band; returns the Axes."""
    ax = axes_or_new(ax)
    if confidence is not None:
        places = np.unique(np.geomspace(1, len(curve.x), _MOST_INTERVALS).astype(int)) - 1
        some = None if len(curve.x) <= _MOST_MARKED else curve.x[places]
        band = curve.interval(confidence, at=some)
        label = f"{band.confidence:.4g} intervals, by {band.method}"
        ax.fill_between(band.x, band.low, band.high, color=BLUE, alpha=0.2, label=label)
    marker = "o" if len(curve.x) <= _MOST_MARKED else None
    ax.plot(curve.x, curve.scores, color="black", linewidth=1.2, marker=marker, markersize=3)
    if curve.n_wide:
        low, high = curve.scores - curve.error_bounds, curve.scores + curve.error_bounds
        ax.fill_between(curve.x, low, high, color="black", alpha=0.15, label="certain to lie here")
    if curve.log_scale:
        ax.set_xscale("log")
    else:
        tick_integers(ax.xaxis)
    ax.set(xlabel=parameter_in_words(curve.parameter), ylabel=curve.scoring, title=title)
    mark_best(ax, curve.best, curve.best_score, f"{curve.best_score:.4f} at {curve.best}")
    return ax

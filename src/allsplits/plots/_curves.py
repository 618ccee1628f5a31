"""Curves: the score against k, against the training size, and recall against the rank."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from sklearn.neighbors import KNeighborsClassifier

from allsplits.exceptions import InvalidTypeError
from allsplits.model_selection import Curve, cmc_curve, learning_curve, validation_curve
from allsplits.plots._style import axes_or_new, parameter_in_words

__all__ = ["CMCCurveDisplay", "LearningCurveDisplay", "ValidationCurveDisplay"]


class _CurveDisplay:
    """What the three displays share: a Curve, drawn by its own `plot`."""

    _title: ClassVar[str]

    def __init__(self, curve: Curve) -> None:
        if not isinstance(curve, Curve):
            raise InvalidTypeError(f"curve must be a Curve; got {type(curve).__name__}")
        self.curve = curve

    def plot(self, ax: Any = None) -> Self:
        """Draw the curve with its best value marked.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        self.curve.plot(self.ax_)
        best = f"best: {self.curve.best_score:.4f} at {self.curve.best}"
        self.ax_.get_lines()[-1].set_label(best)
        self.ax_.legend()
        self.ax_.set(xlabel=parameter_in_words(self.curve.parameter), title=self._title)
        return self


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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw; `options` are those of `validation_curve`."""
        return cls(validation_curve(estimator, X, y, **options)).plot(ax)


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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw; `options` are those of `learning_curve`."""
        return cls(learning_curve(estimator, X, y, **options)).plot(ax)


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

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw with the estimator's metric; `options` are those of `cmc_curve`."""
        if not isinstance(estimator, KNeighborsClassifier):
            raise InvalidTypeError(
                "estimator must be a KNeighborsClassifier, whose metric is used; got "
                f"{type(estimator).__name__}"
            )
        metric = {name: getattr(estimator, name) for name in ("metric", "p", "metric_params")}
        return cls(cmc_curve(X, y, **metric, **options)).plot(ax)

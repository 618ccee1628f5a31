"""The expected confusion matrix."""

from __future__ import annotations

from typing import Any, Self

from allsplits.model_selection import evaluate
from allsplits.plots._base import EvaluationDisplay
from allsplits.plots._style import axes_or_new

__all__ = ["ConfusionMatrixDisplay"]


class ConfusionMatrixDisplay(EvaluationDisplay):
    """How often samples of each class are given each class, averaged over all splits.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `evaluate` with a classifier.

    Examples
    --------
    >>> from allsplits.plots import ConfusionMatrixDisplay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = ConfusionMatrixDisplay.from_estimator(KNeighborsClassifier(5), X, y)
    >>> display.evaluation.confusion.shape
    (3, 3)
    """

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw; `options` are those of `evaluate`."""
        return cls(evaluate(estimator, X, y, **options)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the matrix, each row as shares of its class.

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
        self.evaluation.plot(self.ax_)
        return self

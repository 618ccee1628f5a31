"""The expected confusion matrix."""

from __future__ import annotations

from math import ceil
from typing import Any, Self

from allsplits.model_selection import evaluate
from allsplits.plots._base import EvaluationDisplay
from allsplits.plots._style import axes_or_new, shortened

__all__ = ["ConfusionMatrixDisplay"]

#: Class names are cut to this many characters.
_LONGEST_NAME = 20
#: Size of the names in points: the largest, and the least that can be read.
_LARGEST_FONT, _LEAST_FONT = 10.0, 5.0
#: Height of a line, and width of a letter, in units of the font size.
_LINE, _LETTER = 1.35, 0.65


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
        if self.evaluation.classes is not None:
            _name_classes(self.ax_, [str(name) for name in self.evaluation.classes])
        return self


def _name_classes(ax: Any, names: list[str]) -> None:
    """Names that do not overlap: smaller, upright and at last not all of them."""
    box, figure = ax.get_position(), ax.figure
    # Names, bar and title take about two fifths from what the axes begin with.
    side = 0.6 * 72 * min(box.width * figure.get_figwidth(), box.height * figure.get_figheight())
    room = side / len(names)
    every = ceil(_LEAST_FONT * _LINE / room)
    size = min(_LARGEST_FONT, every * room / _LINE)
    shown = range(0, len(names), every)
    texts = [shortened(names[i], _LONGEST_NAME) for i in shown]
    upright = max(map(len, texts)) * size * _LETTER > every * room
    ax.set_xticks(shown, texts, fontsize=size, rotation=90 if upright else 0)
    ax.set_yticks(shown, texts, fontsize=size)

"""The expected confusion matrix."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits.exceptions import InvalidInputError
from allsplits.model_selection import Evaluation
from allsplits.model_selection._evaluation import count_in_words
from allsplits.plots._base import EvaluationDisplay
from allsplits.plots._style import axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Class names are cut to this many characters.
_LONGEST_NAME = 20
#: Size of the names in points: the largest, and the least that can be read.
_LARGEST_FONT, _LEAST_FONT = 10.0, 5.0
#: Height of a line, and width of a letter, in units of the font size.
_LINE, _LETTER = 1.35, 0.65
#: Shares are written into the cells of at most this many classes.
_MOST_WRITTEN = 12


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

    def _draw(self) -> None:
        draw_confusion(self.evaluation, self.ax_)


def draw_confusion(evaluation: Evaluation, ax: Axes | None = None) -> Axes:
    """Draw the expected confusion matrix, each row as shares of its class; returns the Axes."""
    if evaluation.confusion is None or evaluation.classes is None:
        raise InvalidInputError(f"{evaluation.scoring} gives no classes, so there is no confusion")
    ax = axes_or_new(ax)
    shares = evaluation.confusion / evaluation.confusion.sum(axis=1, keepdims=True)
    _name_classes(ax, [str(name) for name in evaluation.classes])
    image = ax.imshow(shares, vmin=0, vmax=1, cmap="cividis")
    splits = count_in_words(evaluation.n_splits)
    ax.set(
        xlabel="given class",
        ylabel="true class",
        title=f"{evaluation.scoring} {evaluation.score:.4f} over {splits} splits",
    )
    if len(shares) <= _MOST_WRITTEN:
        for (r, c), share in np.ndenumerate(shares):
            color = "white" if share < 0.5 else "black"
            ax.text(c, r, f"{share:.2f}", ha="center", va="center", color=color, fontsize=8)
    ax.figure.colorbar(image, ax=ax, label="share of the true class")
    return ax


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

"""How hard the samples are: their scores in order, class by class."""

from typing import Any, Self

import numpy as np

from allsplits._validation import check_count
from allsplits.plots._base import EvaluationDisplay
from allsplits.plots._style import class_looks

#: With more classes than this all samples make one line.
_MOST_LINES = 7


class SampleDifficultyDisplay(EvaluationDisplay):
    """How often each sample is right when it is held out, hardest first, one line per class.

    A class that is easy lies flat at the top; the height at the left is that of its hardest
    samples. For regression it is the expected squared error, largest first.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `evaluate`.

    Examples
    --------
    >>> from allsplits.plots import SampleDifficultyDisplay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> display = SampleDifficultyDisplay.from_estimator(KNeighborsClassifier(5), X, y)
    >>> len(display.ax_.get_lines())
    3
    """

    #: How many of the hardest samples are named.
    n_named = 5

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, n_named: int = 5, **options: Any
    ) -> Self:
        """Compute and draw; `options` are those of `evaluate`, `n_named` is that of `plot`."""
        return cls(cls._compute(estimator, X, y, **options)).plot(ax, n_named=n_named)

    def plot(self, ax: Any = None, *, n_named: int = 5) -> Self:
        """Draw the lines, with the row numbers of the hardest samples.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.
        n_named : int, default=5
            How many of the hardest samples are named.

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        self.n_named = check_count("n_named", n_named)
        return super().plot(ax)

    def _draw(self) -> None:
        places = self._draw_lines()
        for row in self.evaluation.hardest(self.n_named).tolist():
            if row in places:
                self.ax_.annotate(
                    str(row), places[row], xytext=(6, 4), textcoords="offset points", fontsize=8
                )
        self.ax_.set(xlabel="share of the samples, hardest first", title="difficulty of samples")
        self.ax_.grid(alpha=0.3)

    def _draw_lines(self) -> dict[int, tuple[float, float]]:
        """Draw each class; returns where each row is."""
        evaluation = self.evaluation
        regression = evaluation.classes is None
        values = -evaluation.sample_scores if regression else evaluation.sample_scores
        places: dict[int, tuple[float, float]] = {}
        parts = self._parts()
        for (name, rows), look in zip(parts, class_looks(len(parts)), strict=True):
            held = rows[np.isfinite(values[rows])]
            order = held[np.argsort(evaluation.sample_scores[held], kind="stable")]
            share = (np.arange(len(order)) + 0.5) / max(1, len(order))
            self.ax_.plot(
                share, values[order], color=look.color, linestyle=look.line, marker=look.marker,
                markevery=max(1, len(order) // 12), markersize=5, label=name,
            )  # fmt: skip
            places.update(zip(order.tolist(), zip(share, values[order], strict=True), strict=True))
        if len(parts) > 1:
            self.ax_.legend(loc="lower right")
        if regression:
            self.ax_.set(ylabel="expected squared error", yscale="log")
        else:
            self.ax_.set(ylabel="how often right when held out", ylim=(-0.03, 1.03))
        return places

    def _parts(self) -> list[tuple[str, Any]]:
        classes, y = self.evaluation.classes, self.evaluation.y
        if classes is None or len(classes) > _MOST_LINES:
            return [("all samples", np.arange(len(y)))]
        return [(str(name), np.flatnonzero(y == name)) for name in classes]

"""Which of two is better: the differences of the samples, and the interval of their mean."""

from __future__ import annotations

from typing import Any, Self

from allsplits.exceptions import InvalidTypeError
from allsplits.model_selection import Comparison, compare
from allsplits.plots._style import axes_or_new

__all__ = ["ComparisonDisplay"]


class ComparisonDisplay:
    """On how many samples each of two is better and by how much, beside the mean difference.

    Where the band of the interval leaves out zero, the samples decide between the two.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.

    Examples
    --------
    >>> from allsplits import evaluate
    >>> from allsplits.plots import ComparisonDisplay
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> few, many = (evaluate(KNeighborsClassifier(k), X, y) for k in (1, 11))
    >>> ComparisonDisplay.from_evaluations(many, few).ax_.get_ylabel()
    'difference of accuracy'
    """

    def __init__(self, comparison: Comparison) -> None:
        if not isinstance(comparison, Comparison):
            raise InvalidTypeError(
                f"comparison must be a Comparison; got {type(comparison).__name__}"
            )
        self.comparison = comparison

    @classmethod
    def from_evaluations(
        cls, evaluation_a: Any, evaluation_b: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compare and draw; `options` are those of `compare`."""
        return cls(compare(evaluation_a, evaluation_b, **options)).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the differences of the samples, largest first.

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
        self.comparison.plot(self.ax_)
        return self

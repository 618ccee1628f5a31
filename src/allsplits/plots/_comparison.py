"""Which is better: of two, the differences of the samples; of many, who is tied for first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from allsplits.model_selection import Comparison, Standings, compare
from allsplits.plots._base import Display, checked
from allsplits.plots._standings import draw_standings
from allsplits.plots._style import ORANGE, SKY, axes_or_new, shortened, tick_integers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ComparisonDisplay(Display):
    """On how many samples each of two is better and by how much, beside the mean difference.

    Where the band of the interval leaves out zero, the samples decide between the two. Of many, the
    difference of each to the best of the others, those tied for first marked.

    Parameters
    ----------
    comparison : Comparison or Standings
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

    def __init__(self, comparison: Comparison | Standings) -> None:
        many = isinstance(comparison, Standings)
        self.comparison: Comparison | Standings = (
            comparison if many else checked("comparison", comparison, Comparison)
        )

    @classmethod
    def from_evaluations(cls, *evaluations: Any, ax: Any = None, **options: Any) -> Self:
        """Compare and draw; `options` are those of `compare`."""
        return cls(compare(*evaluations, **options)).plot(ax)

    def _draw(self) -> None:
        if isinstance(self.comparison, Standings):
            draw_standings(self.comparison, self.ax_)
        else:
            draw_comparison(self.comparison, self.ax_)


def draw_comparison(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw how the difference adds up, sample by sample; returns the Axes."""
    ax = axes_or_new(ax)
    added, difference = _contributions(comparison), comparison.difference
    first, second = _names(comparison)
    total, top = np.concatenate([[0.0], np.cumsum(added)]), int(np.sum(added > 0))
    for part, sign, color, hatch in (
        (slice(0, top + 1), f"for {first}", SKY, ""),
        (slice(top, None), f"for {second}", ORANGE, "///"),
    ):
        height = total[part]
        ax.fill_between(
            np.arange(len(total))[part], height, facecolor=color, edgecolor="black",
            hatch=hatch, linewidth=0.8,
            label=f"{len(height) - 1:,} samples {sign}: {height[-1] - height[0]:+.4f}",
        )  # fmt: skip
    low, high = comparison.interval
    reach = [[difference - low], [high - difference]]
    label = f"difference {difference:+.4f}, {comparison.interval.confidence:.4g} interval"
    ax.errorbar([len(added)], [difference], reach, fmt="D", color="black", capsize=6,
                markerfacecolor="white", label=label)  # fmt: skip
    ax.axhline(0, color="black", linewidth=0.8)
    tick_integers(ax.xaxis)
    ax.set(
        xlabel=f"samples on which the two differ, best for {first} at the left",
        ylabel=f"difference of {comparison.first.scoring}",
        title=f"{first} less {second}, sample by sample",
    )
    ax.legend(loc="lower center")
    return ax


def _names(comparison: Comparison) -> tuple[str, str]:
    if comparison.names == ("1", "2"):
        return "the first", "the second"
    first, second = (shortened(name, 24) for name in comparison.names)
    return first, second


def _contributions(comparison: Comparison) -> NDArray[np.float64]:
    """What each sample adds to the difference, largest first, if it adds anything."""
    parts = [
        np.nan_to_num(one.sample_scores) * one.sample_weight
        for one in (comparison.first, comparison.second)
    ]
    added = np.sort(parts[0] - parts[1])[::-1]
    return added[np.abs(added) > comparison.error_bound / len(added)]

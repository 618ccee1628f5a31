"""The local models of one query: error against size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits.lazy._results import DEGREE_NAMES
from allsplits.plots._style import (
    BLUE,
    GREEN,
    VERMILION,
    axes_or_new,
    mark_best,
    parameter_in_words,
    tick_integers,
)

if TYPE_CHECKING:
    from allsplits.lazy import LocalPaths

_COLORS = (BLUE, VERMILION, GREEN)


def draw_paths(paths: LocalPaths, ax: Any = None) -> Any:
    """Draw the error against k, a line per degree, the choice marked; returns the Axes."""
    ax = axes_or_new(ax)
    for degree in np.unique(paths.degree):
        own = paths.degree == degree
        ax.plot(
            paths.k[own], paths.mse[own], color=_COLORS[degree], linewidth=1.2, marker="o",
            markersize=3, label=DEGREE_NAMES[degree],
        )  # fmt: skip
    # Small neighbourhoods can be worse by orders of magnitude and would flatten the rest.
    if paths.mse.min() > 0 and paths.mse.max() > 10 * paths.mse.min():
        ax.set_yscale("log")
    tick_integers(ax.xaxis)
    ax.set(
        xlabel=parameter_in_words("n_neighbors"),
        ylabel="leave-one-out mean squared error",
        title="local models of one query",
    )
    best = paths.best
    mark_best(ax, paths.k[best], paths.mse[best], paths.in_words(best))
    return ax

"""Pictures of prototypes: facets of the classes, and an incremental learner's curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits.plots._style import BLUE, GREY, axes_or_new, class_looks, tick_integers

if TYPE_CHECKING:
    from allsplits.prototypes import IncrementalHistory, VoronoiComplexity

#: More classes than this have no legend.
_MOST_NAMED = 10


def draw_facets(complexity: VoronoiComplexity, ax: Any = None) -> Any:
    """Draw the facets of each class as bars; returns the Axes."""
    ax = axes_or_new(ax)
    names = [str(label) for label in complexity.classes]
    ax.bar(names, complexity.facets, color=BLUE, label="facets")
    if not complexity.exact:
        bottom = complexity.facets
        ax.bar(names, complexity.undecided, bottom=bottom, color=GREY, label="undecided")
        ax.legend()
    tick_integers(ax.yaxis)
    ax.set(xlabel="class", ylabel="facets", title="Voronoi facets against other classes")
    return ax


def draw_history(history: IncrementalHistory, ax: Any = None) -> Any:
    """Draw the learning curve, and behind it the share of each class; returns the Axes."""
    ax = axes_or_new(ax)
    error, name = _error_curve(history)
    shares = ax.twinx()
    labels = [f"share of {label}" for label in history.classes]
    colors = [look.color for look in class_looks(len(labels))]
    shares.stackplot(
        history.n_samples, history.class_shares.T, labels=labels, colors=colors, alpha=0.3
    )
    shares.set(ylim=(0, 1), ylabel="share of each class among the examples")
    # The curve must stay in front of the shares, whose axes were made later.
    ax.set_zorder(shares.get_zorder() + 1)
    ax.patch.set_visible(False)
    ax.plot(history.n_samples, error, color="black", linewidth=1.5, label=name)
    tick_integers(ax.xaxis)
    ax.set(xlabel="examples", ylabel=name, ylim=(0, None))
    if len(labels) <= _MOST_NAMED:
        handles = ax.get_lines() + shares.collections
        ax.legend(handles=handles, fontsize=8, loc="upper right")
    return ax


def _error_curve(history: IncrementalHistory) -> tuple[NDArray[np.float64], str]:
    """The error on the test set, or without one the mean error of new batches so far."""
    if not np.all(np.isnan(history.test_error)):
        return history.test_error, "error on the test set"
    mean = np.full(len(history.batch_error), np.nan)
    batches = np.arange(1, len(mean))
    mean[1:] = np.cumsum(history.batch_error[1:]) / batches
    return mean, "mean error of new batches"

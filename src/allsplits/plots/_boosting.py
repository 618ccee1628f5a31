"""Pictures of boosted votes: how far examples are trusted, and scores against θ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits._optional import import_optional
from allsplits.plots._style import SKY, VERMILION, axes_or_new, mark_best, tick_integers

if TYPE_CHECKING:
    from allsplits.boosting import ThetaScores, Trust


def draw_theta_scores(scores: ThetaScores, ax: Any = None) -> Any:
    """Draw the score against θ, one line for each k; returns the Axes."""
    ax = axes_or_new(ax)
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot()")
    colors = pyplot.get_cmap("cividis")(np.linspace(0.1, 0.9, len(scores.n_neighbors)))
    order = np.argsort(scores.thetas)
    for k, means, color in zip(scores.n_neighbors, scores.scores, colors, strict=True):
        ax.plot(
            scores.thetas[order], means[order], color=color, marker="o", markersize=3,
            label=f"k = {k}",
        )  # fmt: skip
    ax.set(xlabel="θ", ylabel=scores.scoring, title="mean over the folds")
    best = scores.best
    words = f"k = {best['n_neighbors']}, θ = {best['theta']:g}"
    mark_best(ax, best["theta"], scores.best_score, words)
    return ax


def draw_trust(trust: Trust, ax: Any = None, n: int = 5) -> Any:
    """Draw the trust of all examples in order, the n least with their rows; returns the Axes."""
    named = trust.least(n)
    ax = axes_or_new(ax)
    order = trust.least(len(trust.trust))
    values, ranks = trust.trust[order], np.arange(len(order))
    ax.axhline(0, color="black", linewidth=0.8)
    ax.fill_between(ranks, values, 0, where=values >= 0, step="mid", color=SKY)
    ax.fill_between(ranks, values, 0, where=values < 0, step="mid", color=VERMILION)
    for rank, row in enumerate(named):
        ax.annotate(
            str(row), (rank, values[rank]), xytext=(12 + 3 * rank, 3 + 10 * rank),
            textcoords="offset points", fontsize=8,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5},
        )  # fmt: skip
    tick_integers(ax.xaxis)
    ax.set(
        xlabel="examples, least trusted first",
        ylabel="trust (leverage on its own)",
        title=f"{int(np.sum(values < 0))} of {len(values)} examples vote against their label",
    )
    return ax

"""The runs of a replay as a strip of dots: where a single cross-validation would have landed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from allsplits.plots._style import ORANGE, SKY, axes_or_new
from allsplits.replays import Replay

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: More dots hide one another.
_MOST_DOTS = 2000


def draw_replay(replay: Replay, ax: Axes | None = None) -> Axes:
    """Draw a dot for each run, the mean as a line, and where nine of ten runs lie."""
    ax = axes_or_new(ax)
    known = replay.run_scores[~np.isnan(replay.run_scores)]
    dots = known[:_MOST_DOTS]
    # Dots are spread evenly in height, in an order that has nothing to do with their scores.
    heights = np.random.default_rng(0).permutation(np.linspace(0.1, 0.9, len(dots)))
    what = f"runs of {replay.n_folds} folds" if replay.n_folds > 1 else "splits"
    shown = f"{len(dots):,} of {len(known):,}" if len(dots) < len(known) else f"{len(known):,}"
    ax.plot(
        dots, heights, "o", markersize=3, color=SKY, markeredgecolor="black", markeredgewidth=0.3,
        alpha=0.7, linestyle="none", label=f"{shown} {what}",
    )  # fmt: skip
    if replay.sampled and len(known) > 1:
        low, high = (replay.quantile(q).value for q in (0.05, 0.95))
        ax.axvspan(low, high, color=ORANGE, alpha=0.2, zorder=0, label="nine of ten")
    exact = replay.exact_mean is not None or not replay.sampled
    error = "exact mean" if exact else f"mean ± {replay.standard_error:.1g}"
    ax.axvline(replay.mean, color="black", label=f"{error}: {replay.mean:.4f}")
    ax.set(xlabel=replay.scoring, ylim=(0, 1), yticks=[], title=replay.cv)
    ax.legend(loc="best")
    return ax

"""Who of many is first: the difference of each to the best of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from allsplits.model_selection import Standings
from allsplits.plots._style import BLUE, GREY, axes_or_new, shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Longer names are cut in the middle.
_MOST_CHARACTERS = 28


def draw_standings(standings: Standings, ax: Axes | None = None) -> Axes:
    """Draw each one's difference with its interval, best first; returns the Axes."""
    ax = axes_or_new(ax)
    rows = standings.best_first
    for tied, color, marker, face, label in (
        (True, BLUE, "o", BLUE, "tied for first" if not standings.decided else "first"),
        (False, "black", "s", "white", "behind"),
    ):
        places = np.flatnonzero(standings.is_tied[rows] == tied)
        if not len(places):
            continue
        found = [standings.differences[i] for i in rows[places]]
        middle = np.array([one.estimate for one in found])
        reach = [
            [max(0.0, one.estimate - one.low) for one in found],
            [max(0.0, one.high - one.estimate) for one in found],
        ]
        ax.errorbar(
            middle, places, xerr=reach, fmt=marker, color=color, markerfacecolor=face, capsize=4,
            linestyle="none", label=label,
        )  # fmt: skip
    ax.axvline(0, color="black", linewidth=0.8)
    ax.grid(axis="x", color=GREY, alpha=0.4)
    names = [shortened(standings.names[i], _MOST_CHARACTERS) for i in rows]
    scores = [f"{score:.4f}" for score in standings.scores[rows]]
    named = [f"{name}\n{score}" for name, score in zip(names, scores, strict=True)]
    ax.set_yticks(np.arange(len(rows)), named)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.set(
        xlabel=f"difference of {standings.scoring} to the best of the others",
        title=f"intervals that hold all at once, {standings.confidence:.4g} confidence",
    )
    ax.legend(loc="best")
    return ax

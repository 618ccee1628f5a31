"""A picture of what samples are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits.plots._style import SKY, VERMILION, axes_or_new, tick_integers

if TYPE_CHECKING:
    from allsplits.values import SampleValues


def draw_values(values: SampleValues, ax: Any = None, n: int = 5) -> Any:
    """Draw all values in order, the n worst with their names; returns the Axes."""
    named = values.worst(n)
    ax = axes_or_new(ax)
    sizes = values.values[values.worst(len(values.values))]
    ranks = np.arange(len(sizes))
    ax.axhline(0, color="black", linewidth=0.8)
    ax.fill_between(ranks, sizes, 0, where=sizes >= 0, step="mid", color=SKY)
    ax.fill_between(ranks, sizes, 0, where=sizes < 0, step="mid", color=VERMILION)
    names = values.row_names if values.groups is None else values.groups
    for rank, row in enumerate(named.tolist()):
        ax.annotate(
            str(row if names is None else names[row]), (rank, sizes[rank]),
            xytext=(12 + 3 * rank, -2 + 10 * rank), textcoords="offset points", fontsize=8,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5},
        )  # fmt: skip
    tick_integers(ax.xaxis)
    units = "samples" if values.groups is None else "groups"
    ax.set(
        xlabel=f"{units}, worst first",
        ylabel=f"value ({values.scoring})",
        title=f"{values.method.replace('_', ' ')} of {len(sizes)} {units}",
    )
    return ax

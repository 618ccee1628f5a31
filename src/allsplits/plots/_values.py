"""Pictures of what samples are worth, and how far their labels are doubted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from allsplits.plots._style import SKY, VERMILION, axes_or_new, tick_integers

if TYPE_CHECKING:
    from allsplits.values import SampleValues, Suspects


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
    _name_rows(ax, named, sizes, names)
    tick_integers(ax.xaxis)
    units = "samples" if values.groups is None else "groups"
    ax.set(
        xlabel=f"{units}, worst first",
        ylabel=f"value ({values.scoring})",
        title=f"{values.method.replace('_', ' ')} of {len(sizes)} {units}",
    )
    return ax


def draw_suspects(suspects: Suspects, ax: Any = None, n: int = 5) -> Any:
    """Draw all doubts, the largest first, the n first with their names; returns the Axes."""
    named = suspects.first(n)
    ax = axes_or_new(ax)
    sizes = suspects.doubt[suspects.first(len(suspects.doubt))]
    ranks = np.arange(len(sizes))
    ax.axhline(0, color="black", linewidth=0.8)
    ax.fill_between(ranks, sizes, 0, where=sizes <= 0, step="mid", color=SKY)
    ax.fill_between(ranks, sizes, 0, where=sizes > 0, step="mid", color=VERMILION)
    ax.axvline(suspects.n_expected, color="black", linewidth=0.8, linestyle=":")
    _name_rows(ax, named, sizes, suspects.row_names)
    tick_integers(ax.xaxis)
    ax.set(
        xlabel="samples, most doubtful first",
        ylabel="doubt about the label",
        title=f"{len(suspects)} suspects of {len(sizes)} labels (dotted: expected errors)",
    )
    return ax


def _name_rows(ax: Any, named: Any, sizes: Any, names: Any) -> None:
    """Write the names of the first rows beside their bars."""
    for rank, row in enumerate(named.tolist()):
        ax.annotate(
            str(row if names is None else names[row]), (rank, sizes[rank]),
            xytext=(12 + 3 * rank, -2 + 10 * rank), textcoords="offset points", fontsize=8,
            arrowprops={"arrowstyle": "-", "linewidth": 0.5},
        )  # fmt: skip

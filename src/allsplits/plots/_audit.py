"""One split beside all splits like it: scores of drawn splits, the exact mean, this split."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from allsplits.model_selection import Audit
from allsplits.plots._style import ORANGE, SKY, VERMILION, axes_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: With more different scores than this, they are put into bins.
_MOST_BARS, _BINS = 60, 40


def draw_audit(audit: Audit, ax: Axes | None = None) -> Axes:
    """Draw how the splits score, drawn or all, the tail beyond this split in another colour."""
    ax = axes_or_new(ax)
    places, shares, width = _bars(audit)
    side, tail = (1, "high") if audit.z >= 0 else (-1, "low")
    beyond = side * (places - audit.score) >= -width / 4
    kind = "drawn" if audit.sampled else "existing"
    for part, color, hatch, label in (
        (~beyond, SKY, "", f"{len(audit.run_scores):,} {kind} splits"),
        (beyond, ORANGE, "///", f"as {tail} as this one: {audit.luck:.1%}"),
    ):
        ax.bar(
            places[part], shares[part], width, color=color, edgecolor="black", linewidth=0.6,
            hatch=hatch, label=label,
        )  # fmt: skip
    ax.axvline(audit.mean, color="black", label=f"exact mean {audit.mean:.4f}")
    ax.axvline(
        audit.score, color=VERMILION, linestyle="--", linewidth=2,
        label=f"this split {audit.score:.4f}",
    )  # fmt: skip
    ax.set(
        xlabel=f"{audit.scoring} of a split",
        ylabel=f"share of the {kind} splits",
        title=f"{audit.n_train:,} training and {audit.n_test:,} test samples",
    )
    ax.legend(loc="best")
    return ax


def _bars(audit: Audit) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """(places, shares, width): one bar for each score if there are few, else bins."""
    rounded = np.round(audit.run_scores, 9)
    values, counts = np.unique(rounded, return_counts=True)
    n = len(rounded)
    if len(values) <= _MOST_BARS:
        gaps = np.diff(values)
        width = 0.9 * float(gaps.min()) if len(gaps) else max(1e-3, 0.05 * abs(float(values[0])))
        return values, counts / n, width
    number, edges = np.histogram(rounded, bins=_BINS)
    return (edges[1:] + edges[:-1]) / 2, number / n, float(edges[1] - edges[0])

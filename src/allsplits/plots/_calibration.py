"""A picture of how far votes can be taken at their word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from allsplits.plots._style import BLUE, axes_or_new

if TYPE_CHECKING:
    from allsplits.model_selection import Calibration


def draw_calibration(calibration: Calibration, ax: Any = None) -> Any:
    """Draw the reliability curve; the area of a point is its share of predictions."""
    ax = axes_or_new(ax)
    ax.plot([0, 1], [0, 1], color="black", linestyle="--", linewidth=1)
    ax.plot(calibration.confidence, calibration.accuracy, color=BLUE)
    ax.scatter(
        calibration.confidence, calibration.accuracy, s=300 * calibration.predictions, color=BLUE
    )
    who = "the winner" if calibration.of_class is None else f"class {calibration.of_class}"
    ax.set(
        xlabel=f"share of the votes for {who}",
        ylabel="share that is right",
        xlim=(-0.02, 1.02),
        ylim=(-0.02, 1.02),
        title=f"expected calibration error {calibration.ece:.4f}",
    )
    return ax

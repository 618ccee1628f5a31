"""What all pictures share: axes, and one look for each class."""

from __future__ import annotations

from typing import Any, NamedTuple

from allsplits._optional import import_optional

__all__ = ["ClassLook", "axes_or_new", "class_looks"]

#: Okabe & Ito's colours, told apart by colour-blind people; the light yellow comes last.
_COLORS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#000000", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


class ClassLook(NamedTuple):
    """Colour, marker and line style of one class."""

    color: str
    marker: str
    line: Any


def class_looks(n: int) -> list[ClassLook]:
    """Looks for n classes: the three lists have different lengths, so that pairs repeat late."""
    return [
        ClassLook(_COLORS[i % len(_COLORS)], _MARKERS[i % len(_MARKERS)], _LINES[i % len(_LINES)])
        for i in range(n)
    ]


def axes_or_new(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot()")
    return pyplot.subplots(layout="constrained")[1]

"""What all pictures share, the report among them: colours, looks of classes, words, axes."""

from typing import Any, Final, NamedTuple

from allsplits._optional import import_optional

#: Okabe & Ito's colours, told apart by colour-blind people; the light yellow comes last.
BLUE: Final = "#0072B2"
ORANGE: Final = "#E69F00"
VERMILION: Final = "#D55E00"
SKY: Final = "#56B4E9"
GREEN: Final = "#009E73"
#: What is left open.
GREY: Final = "#BBBBBB"
COLORS: Final = (BLUE, ORANGE, GREEN, "#CC79A7", VERMILION, SKY, "#000000", "#F0E442")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "p", "h")
_LINES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))
_PARAMETERS = {
    "n_neighbors": "number of neighbours",
    "train_size": "training samples",
    "shots": "training samples of each class",
    "rank": "rank",
}


class ClassLook(NamedTuple):
    """Colour, marker and line style of one class."""

    color: str
    marker: str
    line: Any


def class_looks(n: int) -> list[ClassLook]:
    """Looks for n classes: the three lists have different lengths, so that pairs repeat late."""
    return [
        ClassLook(COLORS[i % len(COLORS)], _MARKERS[i % len(_MARKERS)], _LINES[i % len(_LINES)])
        for i in range(n)
    ]


def parameter_in_words(parameter: str) -> str:
    """What a curve runs over, as an axis says it."""
    return _PARAMETERS.get(parameter, parameter.replace("_", " "))


def shortened(text: str, most: int) -> str:
    """At most so many characters, the middle left out: names differ at their ends as well."""
    if len(text) <= most:
        return text
    head = most // 2
    return f"{text[:head]}…{text[len(text) - (most - head - 1) :]}"


def axes_or_new(ax: Any) -> Any:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot()")
    return pyplot.subplots(layout="constrained")[1]


def tick_integers(*axes: Any) -> None:
    """Ticks of these axes (``ax.xaxis``, ``ax.yaxis``) only at integers: they count something."""
    ticker = import_optional("matplotlib.ticker", extra="plot", purpose="plot()")
    for axis in axes:
        # One tick is enough: for two the locator would go between integers on a short axis.
        axis.set_major_locator(
            ticker.MaxNLocator("auto", integer=True, steps=[1, 2, 5, 10], min_n_ticks=1)
        )


def mark_best(ax: Any, x: float, y: float, words: str) -> None:
    """Mark the best of what is drawn, and say it in the legend."""
    ax.plot(
        [x], [y], marker="D", markersize=9, linestyle="none", markerfacecolor=ORANGE,
        markeredgecolor="black", label=f"best: {words}",
    )  # fmt: skip
    ax.grid(alpha=0.3)
    ax.legend()

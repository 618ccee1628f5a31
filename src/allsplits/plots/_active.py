"""Simulated labelling: the error and the chosen k against the number of labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._optional import import_optional
from allsplits.active._simulation import standard_error
from allsplits.exceptions import InvalidInputError
from allsplits.plots._style import BLUE, ORANGE, parameter_in_words, tick_integers

if TYPE_CHECKING:
    from allsplits.active import Simulation

_COLORS = {"active": BLUE, "passive": ORANGE}


def draw_simulation(result: Simulation, ax: Any = None) -> Any:
    """Draw the error and the chosen k, means over the repetitions; returns the pair of Axes."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot()")
    if ax is None:
        ax = pyplot.subplots(1, 2, figsize=(9, 3.6), layout="constrained")[1]
    if np.size(ax) != 2:
        raise InvalidInputError(f"ax must be a pair of matplotlib Axes or None; got {ax!r}")
    left, right = ax
    for name in result.strategies:
        look = {"color": _COLORS.get(name), "linewidth": 1.3}
        _draw_mean(left, result.n_labels, 100 * result.errors[name], label=name, **look)
        _draw_mean(right, result.n_labels, result.n_neighbors[name], label=name, **look)
        if result.oracle_neighbors is not None:
            best = result.oracle_neighbors[name].mean(axis=0)
            right.plot(result.n_labels, best, "--", label=f"best k for {name}", **look)
    left.set(xlabel="labels", ylabel="error (%)", title=f"error on {result.measured_on}")
    k = parameter_in_words("n_neighbors")
    right.set(xlabel="labels", ylabel=k, title=f"chosen {k}")
    tick_integers(left.xaxis, right.xaxis, right.yaxis)
    repetitions = len(next(iter(result.errors.values())))
    bands = f"mean ± standard error, {repetitions} repetitions"
    for one in (left, right):
        one.grid(alpha=0.3)
        one.legend(title=bands if repetitions > 1 else "one repetition", title_fontsize="small")
    return ax


def _draw_mean(ax: Any, x: NDArray[np.int64], table: NDArray[Any], **look: Any) -> None:
    """Draw the mean over the repetitions, with a band if there are several."""
    mean = table.mean(axis=0)
    (line,) = ax.plot(x, mean, **look)
    if len(table) > 1:
        spread = standard_error(table)
        ax.fill_between(
            x, mean - spread, mean + spread, color=line.get_color(), alpha=0.2, linewidth=0
        )

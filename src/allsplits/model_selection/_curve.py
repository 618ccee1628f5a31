"""The result of `validation_curve` and `learning_curve`: one exact score per value."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame
from allsplits._optional import import_optional
from allsplits.orders import SearchReport

__all__ = ["Curve"]


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Exact scores along one parameter.

    Attributes
    ----------
    parameter : str
        What varies: "n_neighbors", "train_size", …
    x : ndarray
        Its values.
    scores : ndarray
        The exact average over all splits at each value.
    scoring : str
        Name of the score.
    error_bound : float
        No score is off by more than this.
    fractions : tuple of Fraction or None
        The scores as fractions, with ``exact=True``.
    search : SearchReport
        How neighbours were found: ``search.backend``, ``search.approximate``.
    """

    parameter: str
    x: NDArray[np.int64]
    scores: NDArray[np.float64]
    scoring: str
    error_bound: float
    fractions: tuple[Fraction, ...] | None = None
    search: SearchReport = field(default_factory=SearchReport)

    @property
    def best(self) -> int:
        """The value with the best score (the first one if several are equal up to rounding)."""
        equal = self.scores >= self.scores.max() - 2 * self.error_bound
        return int(self.x[np.argmax(equal)])

    @property
    def best_score(self) -> float:
        """The best score."""
        return float(self.scores.max())

    @property
    def log_scale(self) -> bool:
        """Whether the values span so much that a logarithmic axis reads better."""
        return bool(self.x[-1] > 200 * max(1, self.x[0]))

    def frame(self, backend: str | None = None) -> Any:
        """One row per value, as a pandas or polars data frame."""
        return make_frame({self.parameter: self.x, self.scoring: self.scores}, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the curve with the best value marked; returns the matplotlib Axes."""
        pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="plot()")
        ax = pyplot.subplots()[1] if ax is None else ax
        marker = "o" if len(self.x) <= 100 else None
        ax.plot(self.x, self.scores, color="black", linewidth=1.2, marker=marker, markersize=3)
        ax.plot(
            [self.best], [self.best_score], marker="D", markersize=9, linestyle="none",
            markerfacecolor="#E69F00", markeredgecolor="black",
            label=f"best: {self.parameter} = {self.best}, {self.best_score:.4f}",
        )  # fmt: skip
        if self.log_scale:
            ax.set_xscale("log")
        else:
            ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set(xlabel=self.parameter, ylabel=self.scoring, title="exact average over all splits")
        ax.grid(alpha=0.3)
        ax.legend()
        return ax

    def __repr__(self) -> str:
        values = f"{self.x[0]} … {self.x[-1]}" if len(self.x) > 1 else str(self.x[0])
        return (
            f"Curve({self.scoring} for {self.parameter} = {values}: "
            f"best {self.best_score:.6f}{self.search.bound_text(self.error_bound)} at {self.best}"
            f"{self.search.note})"
        )

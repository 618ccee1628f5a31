"""Intervals along a curve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits.model_selection._interval import Interval
from allsplits.model_selection._variance import METHODS

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Band:
    """Intervals along a curve, each on its own; ``low, high = band`` unpacks it.

    Attributes
    ----------
    parameter : str
        What varies along the curve.
    x : ndarray
        Its values.
    intervals : tuple of Interval
        One for each value. They hold together less often than each of them does.
    """

    parameter: str
    x: NDArray[Any]
    intervals: tuple[Interval, ...]

    @property
    def low(self) -> Floats:
        """Lower ends."""
        return np.array([one.low for one in self.intervals])

    @property
    def high(self) -> Floats:
        """Upper ends."""
        return np.array([one.high for one in self.intervals])

    @property
    def standard_errors(self) -> Floats:
        """Estimated spread of each score over data sets from the same source."""
        return np.array([one.standard_error for one in self.intervals])

    @property
    def confidence(self) -> float:
        """How often each interval holds the expected score."""
        return self.intervals[0].confidence

    @property
    def method(self) -> str:
        """How the variance was estimated; the plainest, where methods differ along the curve."""
        return max((one.method for one in self.intervals), key=METHODS.index)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per value, as a pandas or polars data frame; with methods where they differ."""
        columns: dict[str, Any] = {
            self.parameter: self.x,
            "score": [one.estimate for one in self.intervals],
            "low": self.low,
            "high": self.high,
            "standard_error": self.standard_errors,
        }
        if len({one.method for one in self.intervals}) > 1:
            columns["method"] = [one.method for one in self.intervals]
        return make_frame(columns, backend)

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.low, self.high))

    def __repr__(self) -> str:
        plainest = [one for one in self.intervals if one.method == self.method]
        note = plainest[0].note
        if note and len(plainest) < len(self.x):
            note = f", {len(plainest)} of them{note[1:]}"
        one, widths = self.intervals[0], self.high - self.low
        return (
            f"Band({len(self.x)} intervals of width {widths.min():.4f} to {widths.max():.4f}, "
            f"{one.confidence:.4g} confidence each, sampling noise of {one.n_units:,} "
            f"{one.unit}{note})"
        )

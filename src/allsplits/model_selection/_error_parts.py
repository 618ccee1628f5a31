"""The two parts of an expected squared error: what all training sets share, and where they differ.

    E(ŷ - y)² = (Eŷ - y)² + Var ŷ,        over all training sets that hold the sample out

Both are exact. The noise of y is not a part of its own: one target for each sample cannot tell it
from the bias, so it is in the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits.exact import Answer

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ErrorParts:
    """Bias and variance of a regressor, exact over all training sets.

    Attributes
    ----------
    mean_squared_error, squared_bias, variance : float
        Means over the samples; the first is the sum of the others. The noise of the targets is in
        the squared bias.
    sample_bias, sample_variance : ndarray of shape (n_samples,)
        E(prediction) - y, and the variance of the prediction, over the training sets that hold the
        sample out.
    error_bound : float
        Each of the three is off by no more than this.
    fractions : tuple of three Fractions, or None
        The same three, with ``exact=True``.
    row_names : ndarray or None
    """

    mean_squared_error: float
    squared_bias: float
    variance: float
    sample_bias: Floats
    sample_variance: Floats
    error_bound: float
    fractions: tuple[Fraction, Fraction, Fraction] | None = None
    row_names: NDArray[Any] | None = None

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per sample, as a pandas or polars data frame."""
        columns = {
            "bias": self.sample_bias,
            "squared_bias": self.sample_bias**2,
            "variance": self.sample_variance,
        }
        return make_frame(columns, backend, self.row_names)

    def __repr__(self) -> str:
        return (
            f"ErrorParts(mean_squared_error={self.mean_squared_error:.6g} = squared_bias "
            f"{self.squared_bias:.6g} + variance {self.variance:.6g}, over all training sets)"
        )


def parts_of(errors: Answer, bias: Answer, row_names: NDArray[Any] | None) -> ErrorParts:
    """From the answers to both questions."""
    if errors.sample_fractions is not None and bias.sample_fractions is not None:
        pairs = zip(errors.sample_fractions, bias.sample_fractions, strict=True)
        lines = [(-e[0], b[0]) for e, b in pairs]
        return _in_fractions([e for e, _ in lines], [b for _, b in lines], row_names)
    if errors.sample_scores is None or bias.sample_scores is None:
        raise AssertionError("rows were asked for")
    bounds = float(errors.error_bound[0]), float(bias.error_bound[0])
    return _in_floats(-errors.sample_scores[:, 0], bias.sample_scores[:, 0], bounds, row_names)


def _in_floats(
    errors: Floats, bias: Floats, bounds: tuple[float, float], row_names: NDArray[Any] | None
) -> ErrorParts:
    """From squared errors and biases of all samples; `bounds` are how far these are off."""
    of_errors, of_bias = bounds
    variance = np.maximum(errors - bias**2, 0.0)
    # (b + δ)² - b² = δ (2b + δ), and two sums of the same samples.
    bound = of_errors + of_bias * (2 * float(np.abs(bias).max()) + of_bias)
    squares = float(np.mean(bias**2))
    total = float(np.mean(errors))
    return ErrorParts(
        total, squares, max(total - squares, 0.0), bias, variance, bound, None, row_names
    )


def _in_fractions(
    errors: list[Fraction], bias: list[Fraction], row_names: NDArray[Any] | None
) -> ErrorParts:
    """The same in Fractions."""
    n = len(errors)
    total = sum(errors, Fraction(0)) / n
    squares = sum((b * b for b in bias), Fraction(0)) / n
    return ErrorParts(
        float(total), float(squares), float(total - squares),
        np.array([float(b) for b in bias]),
        np.array([float(e - b * b) for e, b in zip(errors, bias, strict=True)]),
        0.0, (total, squares, total - squares), row_names,
    )  # fmt: skip

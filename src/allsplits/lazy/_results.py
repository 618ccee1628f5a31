"""What local models tell about themselves: those chosen for each query, and all of one query."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame

DEGREE_NAMES = ("constant", "linear", "quadratic")


@dataclass(frozen=True, eq=False, repr=False)
class LocalModels:
    """The local models that made the predictions of `LazyRegressor.predict`.

    With several outputs all arrays have one more dimension, (n_queries, n_outputs, …).

    Attributes
    ----------
    predictions : ndarray of shape (n_queries,)
        The predictions.
    std : ndarray of shape (n_queries,)
        Root of the leave-one-out mean squared error: too small for an interval, because it is that
        of the best of many models, and 0 where its neighbours fit without any error
        (`LazyRegressor.predict_interval` has calibrated ones).
    degree, k : ndarray of shape (n_queries, n_combined)
        Degree and number of neighbours of each chosen model, best first.
    mse, weight : ndarray of shape (n_queries, n_combined)
        Its leave-one-out mean squared error, and its weight in the prediction.
    coefficients : ndarray of shape (n_queries, n_terms)
        Coefficients of the prediction as a polynomial centred at the query (the first is the
        prediction itself), weighted if models are combined, 0 for terms a model does not have.
    terms : tuple of str
        Names of the terms; ``x0 - q`` is written ``x0``.
    """

    predictions: NDArray[np.float64]
    std: NDArray[np.float64]
    degree: NDArray[np.int64]
    k: NDArray[np.int64]
    mse: NDArray[np.float64]
    weight: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    terms: tuple[str, ...]

    def frame(self, backend: str | None = None) -> Any:
        """One row per query, output and chosen model, as a pandas or polars data frame."""
        shape = self.degree.shape
        numbers = np.indices(shape).reshape(len(shape), -1)
        columns = {"query": numbers[0]}
        if len(shape) == 3:
            columns["output"] = numbers[1]
        columns["rank"] = numbers[-1]
        for name in ("degree", "k", "mse", "weight"):
            columns[name] = getattr(self, name).ravel()
        return make_frame(columns, backend)

    def __repr__(self) -> str:
        best = self.degree[..., 0]
        shares = ", ".join(
            f"{np.mean(best == degree):.0%} {DEGREE_NAMES[degree]}" for degree in np.unique(best)
        )
        return (
            f"LocalModels({len(self.degree)} queries: {shares}; k from {self.k.min()} to "
            f"{self.k.max()}, median {np.median(self.k[..., 0]):g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LocalPaths:
    """All local models of one query, in the order of degree and size.

    Attributes
    ----------
    degree, k : ndarray of shape (n_models,)
        Degree and number of neighbours.
    mse : ndarray of shape (n_models,)
        Leave-one-out mean squared error.
    predictions : ndarray of shape (n_models,)
        What each model predicts at the query.
    """

    degree: NDArray[np.int64]
    k: NDArray[np.int64]
    mse: NDArray[np.float64]
    predictions: NDArray[np.float64]

    @property
    def best(self) -> int:
        """Position of the model with the smallest error."""
        return int(np.argmin(self.mse))

    def frame(self, backend: str | None = None) -> Any:
        """One row per model, as a pandas or polars data frame."""
        columns = {"degree": self.degree, "k": self.k, "mse": self.mse}
        return make_frame(columns | {"prediction": self.predictions}, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the error against k, a line per degree, the choice marked; returns the Axes."""
        from allsplits.plots._lazy import draw_paths

        return draw_paths(self, ax)

    def in_words(self, model: int) -> str:
        """Degree and k of the model at this position."""
        return f"{DEGREE_NAMES[self.degree[model]]}, k = {self.k[model]}"

    def __repr__(self) -> str:
        best = self.best
        return (
            f"LocalPaths({len(self.k)} models: best {self.in_words(best)}, leave-one-out error "
            f"{self.mse[best]:.6g}, prediction {self.predictions[best]:.6g})"
        )

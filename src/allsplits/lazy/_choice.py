"""Which of a query's local models predict: the best one, or several of them weighted by 1/mse."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.lazy._paths import Paths

Array = NDArray[np.float64]


class ChosenModels(NamedTuple):
    """The chosen models of each query and output, best first, arrays (query, rank, output)."""

    models: NDArray[np.intp]
    mse: Array
    weights: Array

    def combine(self, paths: Paths) -> Array:
        """Weighted coefficients, array (query, coefficient, output)."""
        chosen = np.take_along_axis(paths.values, self.models[:, :, None], axis=1)
        combined: Array = np.einsum("qrco,qro->qco", chosen, self.weights)
        return combined

    def std(self) -> Array:
        """Root of the error to expect, array (query, output): of the best model, or on average.

        The average of errors weighted by their inverse is their harmonic mean.
        """
        root: Array = np.sqrt(np.einsum("qro,qro->qo", self.mse, self.weights))
        return root


def join_choices(blocks: Sequence[ChosenModels]) -> ChosenModels:
    """The choices of consecutive blocks of queries as one."""
    return ChosenModels(
        np.concatenate([block.models for block in blocks]),
        np.concatenate([block.mse for block in blocks]),
        np.concatenate([block.weights for block in blocks]),
    )


def choose(errors: Array, n_best: int) -> ChosenModels:
    """The `n_best` models of smallest error; equal errors go to the lower degree, then size."""
    if n_best == 1:
        models = np.argmin(errors, axis=1)[:, None]
    else:
        models = np.argsort(errors, axis=1, kind="stable")[:, :n_best]
    mse = np.take_along_axis(errors, models, axis=1)
    return ChosenModels(models, mse, _weights(mse))


def _weights(mse: Array) -> Array:
    """Proportional to 1/mse; models without any error share all the weight."""
    best = mse[:, :1]
    # Dividing by the smallest first keeps the inverses within 1, however small the errors are.
    with np.errstate(invalid="ignore", divide="ignore"):
        inverse = np.where(best > 0, best / mse, mse == 0)
    weights: Array = inverse / inverse.sum(axis=1, keepdims=True)
    return weights

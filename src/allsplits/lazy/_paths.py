"""Predictions and leave-one-out errors of all local models of some queries."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.lazy._kernels import constant_models
from allsplits.lazy._kernels_polynomial import polynomial_models
from allsplits.lazy._plan import Plan, count_terms

Array = NDArray[np.float64]


class LocalData(NamedTuple):
    """What local models are made of."""

    points: Array
    targets: Array
    ridge: float
    free_intercept: bool


class Family(NamedTuple):
    """Models of one degree: which sizes, and where they go among all models."""

    degree: int
    k_min: int
    k_max: int
    #: Position of the smallest.
    first: int
    #: How many coefficients are kept.
    n_wanted: int


class Paths(NamedTuple):
    """values[query, model, coefficient, output] and errors[query, model, output].

    Coefficient 0 is the prediction, because terms are centred at the query; terms that a degree
    does not have are 0.
    """

    values: Array
    errors: Array


def make_paths(n_queries: int, n_models: int, n_wanted: int, n_outputs: int) -> Paths:
    """Room for the models of so many queries, to be filled again and again."""
    values = np.zeros((n_queries, n_models, n_wanted, n_outputs))
    return Paths(values, np.empty((n_queries, n_models, n_outputs)))


def fill_paths(
    data: LocalData, plan: Plan, queries: Array, neighbors: NDArray[np.int32], paths: Paths
) -> None:
    """All models of the plan for these queries, into the first rows of `paths`."""
    n_features = data.points.shape[1]
    first = 0
    for part in plan.ranges:
        n_wanted = min(paths.values.shape[2], count_terms(n_features, part.degree))
        family = Family(part.degree, part.k_min, part.k_max, first, n_wanted)
        if part.degree == 0:
            constant_models(data, family, neighbors, paths)
        else:
            polynomial_models(data, family, queries, neighbors, paths)
        first += len(part.sizes)

"""Checks of `p` and `metric_params`: errors in the user's words, before any distance."""

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError, InvalidTypeError

#: What `metric_params` may hold; other metrics take none.
_ALLOWED: dict[str, tuple[str, ...]] = {
    "minkowski": ("p", "w"),
    "seuclidean": ("V",),
    "mahalanobis": ("V", "VI"),
} | dict.fromkeys(
    (
        "canberra",
        "chebyshev",
        "correlation",
        "dice",
        "hamming",
        "jaccard",
        "rogerstanimoto",
        "russellrao",
        "sokalsneath",
        "sqeuclidean",
        "yule",
    ),
    ("w",),
)

Array = NDArray[np.float64]


def read_exponent(p: Any) -> float:
    """Return the exponent of Minkowski's metric."""
    if isinstance(p, (bool, np.bool_)) or not isinstance(p, numbers.Real):
        raise InvalidTypeError(f"p must be a number greater than 0; got {p!r}")
    try:
        exponent = float(p)
    except OverflowError:
        exponent = np.nan
    if not exponent > 0:
        raise InvalidInputError(f"p must be greater than 0 and fit a float; got {p!r}")
    return exponent


def read_params(name: str | None, metric_params: Any) -> dict[str, Any]:
    """Return checked parameters of a metric; a user's function (None) may have any."""
    if metric_params is None:
        return {}
    if not isinstance(metric_params, Mapping):
        raise InvalidTypeError(f"metric_params must be None or a dict; got {metric_params!r}")
    if name is None:
        return dict(metric_params)
    allowed = _ALLOWED.get(name, ())
    unknown = [key for key in metric_params if key not in allowed]
    if unknown:
        takes = f"only {', '.join(allowed)}" if allowed else "none"
        raise InvalidInputError(f"metric_params of metric {name!r} may hold {takes}; got {unknown}")
    given = {key: value for key, value in metric_params.items() if value is not None}
    params = {key: value if key == "p" else _numbers(key, value) for key, value in given.items()}
    if "w" in params and (params["w"].min(initial=0) < 0 or not params["w"].any()):
        raise InvalidInputError(
            "metric_params['w'] must hold weights of at least 0, not all of them 0; "
            f"got {params['w']!r}"
        )
    if name == "seuclidean" and "V" in params and not params["V"].min(initial=np.inf) > 0:
        raise InvalidInputError(
            f"metric_params['V'] must hold variances greater than 0; got {params['V']!r}"
        )
    if name == "mahalanobis" and params:
        return {"VI": _inverse_given(params)}
    return params


def _numbers(key: str, value: Any) -> Array:
    try:
        found = np.asarray(value, dtype=np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"metric_params[{key!r}] must hold numbers; got {error}") from error
    if not np.isfinite(found).all():
        raise InvalidInputError(f"metric_params[{key!r}] must be finite; got {found!r}")
    return found


def _inverse_given(params: dict[str, Array]) -> Array:
    """VI as it is given, or the inverse of the covariance V."""
    key = "VI" if "VI" in params else "V"
    matrix = params[key]
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(
            f"metric_params[{key!r}] must be a square matrix, a row for each feature; "
            f"got shape {matrix.shape}"
        )
    eigenvalues = np.linalg.eigvalsh((matrix + matrix.T) / 2)
    if eigenvalues[0] < -1e-10 * np.abs(eigenvalues).max():
        raise InvalidInputError(
            f"metric_params[{key!r}] must not make squared distances negative; got a matrix with "
            f"the eigenvalue {eigenvalues[0]:g}"
        )
    return matrix if key == "VI" else inverse_covariance(matrix)


def inverse_covariance(covariance: Array) -> Array:
    """The inverse, unless features depend on each other."""
    rank, n_features = int(np.linalg.matrix_rank(covariance, hermitian=True)), len(covariance)
    if rank < n_features:
        raise InvalidInputError(
            "metric 'mahalanobis' needs a covariance that can be inverted; got one of rank "
            f"{rank} for {n_features} features (some are constant, or depend on others, or there "
            "are too few samples): leave features out, or give metric_params={'VI': ...}"
        )
    inverse: Array = np.linalg.inv(covariance).T.astype(np.float64)
    return inverse


def sample_variances(X: Array) -> Array:
    """Variance of each feature, unless one is constant."""
    variances: Array = np.var(X, axis=0, ddof=1)
    constant = np.flatnonzero(~(variances > 0))
    if len(constant):
        raise InvalidInputError(
            "metric 'seuclidean' needs features that vary; got the constant feature "
            f"{constant[0]} (counted from 0): leave it out, or give metric_params={{'V': ...}}"
        )
    return variances


def check_feature_count(name: Any, params: Mapping[str, Any], n_features: int) -> None:
    """Raise unless points with so many features have distances by this metric."""
    if name == "haversine" and n_features != 2:
        raise InvalidInputError(
            "metric 'haversine' needs X with 2 features, latitude and longitude in radians; "
            f"got {n_features}"
        )
    if callable(name):
        return
    shapes = {"w": (n_features,), "V": (n_features,), "VI": (n_features, n_features)}
    for key, shape in shapes.items():
        if key in params and np.shape(params[key]) != shape:
            raise InvalidInputError(
                f"metric_params[{key!r}] must have shape {shape} for X with {n_features} features; "
                f"got {np.shape(params[key])}"
            )

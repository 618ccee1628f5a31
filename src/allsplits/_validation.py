"""Every check of what users pass in. Errors name the parameter, what is allowed, what came."""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from allsplits.exceptions import InvalidInputError, InvalidTypeError

__all__ = [
    "LARGEST_VALUE",
    "check_choice",
    "check_column",
    "check_count",
    "check_counts",
    "check_fraction",
    "check_groups",
    "check_labels",
    "check_not_negative",
    "check_points",
    "check_targets",
    "keep_fitting",
]

#: Beyond this the square of a difference overflows.
LARGEST_VALUE = 1e150
#: Whoever has one of these searches for neighbours.
_SEARCH_METHODS = ("kneighbors", "knn_query", "neighbor_graph", "ntotal")
#: A sparse X is made dense if it has at most this many entries (1 GiB).
_LARGEST_DENSE = 1 << 27
#: Types that embeddings are stored in; all of them fit into float64, which is the first choice.
_KEPT_TYPES = (np.float64, np.float32, np.float16, np.int8, np.uint8)


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise unless `value` is one of `allowed`."""
    if not any(value is option or value == option for option in allowed):
        raise InvalidInputError(f"{name} must be one of {list(allowed)}; got {value!r}")


def check_count(
    name: str, value: Any, *, at_least: int = 0, at_most: int | None = None, why: str = ""
) -> int:
    """Return `value` as an int within bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InvalidTypeError(f"{name} must be an integer; got {value!r}")
    count = int(value)
    if count < at_least or (at_most is not None and count > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise InvalidInputError(f"{name} must be {bounds}{why}; got {count}")
    return count


def check_counts(
    name: str, values: Any, *, at_least: int = 1, at_most: int | None = None, why: str = ""
) -> list[int]:
    """Return a non-empty list of distinct ints within bounds, in the order given."""
    if isinstance(values, numbers.Integral):
        values = [values]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidTypeError(f"{name} must be an integer or a list of integers; got {values!r}")
    counts = [
        check_count(f"each value of {name}", value, at_least=at_least, at_most=at_most, why=why)
        for value in values
    ]
    if not counts:
        raise InvalidInputError(f"{name} must hold at least one value; got none")
    if len(set(counts)) < len(counts):
        raise InvalidInputError(f"{name} must hold each value once; got {counts}")
    return counts


def keep_fitting(name: str, counts: list[int], most: int, what: str) -> list[int]:
    """Candidates of at most `most`; says which are left out, and raises if none remains."""
    fitting = [count for count in counts if count <= most]
    if not fitting:
        raise InvalidInputError(f"{name} must hold a value of at most {most}, {what}; got {counts}")
    if len(fitting) < len(counts):
        warnings.warn(
            f"{name} above {most}, {what}, are left out: {len(fitting)} of {len(counts)} "
            "candidates remain",
            UserWarning,
            stacklevel=4,
        )
    return fitting


def check_fraction(name: str, value: Any, *, allow_one: bool = False) -> float:
    """Return a float between 0 and 1, not 0 itself; 1 itself only if allowed."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number between 0 and 1; got {value!r}")
    if not 0 < float(value) <= 1 or (value == 1 and not allow_one):
        where = "be above 0 and at most 1" if allow_one else "lie strictly between 0 and 1"
        raise InvalidInputError(f"{name} must {where}; got {value!r}")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """Return a finite float of at least 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number; got {value!r}")
    if not 0 <= float(value) < math.inf:
        raise InvalidInputError(f"{name} must be at least 0 and finite; got {value!r}")
    return float(value)


def check_points(
    X: Any,
    *,
    name: str = "X",
    at_least: int = 2,
    precomputed: bool = False,
    allow_nan: bool = False,
    symmetric: bool = True,
    keep_type: bool = False,
) -> NDArray[np.float64]:
    """Return X as a finite float64 array; a distance matrix must also look like one.

    With `keep_type` an array of one of `_KEPT_TYPES` is not copied: whoever computes with it has to
    convert.
    """
    if X is None:
        raise InvalidInputError(
            f"{name} must be given, an array of shape (n_samples, n_features); got None"
        )
    _refuse_neighbors(name, X, precomputed)
    X = _collected(X)
    _refuse_text_columns(name, X)
    if issparse(X):
        if math.prod(X.shape) > _LARGEST_DENSE:
            raise InvalidInputError(
                f"{name} is sparse with shape {X.shape}: distances are computed on dense rows, and "
                f"at most {_LARGEST_DENSE} entries fit; reduce it first (e.g. TruncatedSVD)"
            )
        X = X.toarray()
    try:
        points = check_array(
            X,
            dtype=_KEPT_TYPES if keep_type else np.float64,
            ensure_all_finite="allow-nan" if allow_nan else True,
            ensure_min_samples=at_least,
            input_name=name,
        )
    except (ValueError, TypeError, OverflowError) as error:
        samples = "sample" if at_least == 1 else "samples"
        raise InvalidInputError(
            f"{name} must be a numeric array of shape (n_samples, n_features) without NaN or "
            f"infinity, with at least {at_least} {samples}; got: {error}"
        ) from error
    largest = _largest(points)
    if largest > LARGEST_VALUE:
        raise InvalidInputError(
            f"{name} must hold values below {LARGEST_VALUE:g} in size so that squares stay finite; "
            f"got {largest:g}: rescale it"
        )
    if precomputed:
        _check_distance_matrix(points, symmetric)
    return np.asarray(points)


def _largest(points: NDArray[np.float64]) -> float:
    """The largest size of a value, without a copy of the points."""
    if not points.size:
        return 0.0
    return float(max(np.fmax.reduce(points, axis=None), -np.fmin.reduce(points, axis=None)))


def _refuse_neighbors(name: str, X: Any, precomputed: bool) -> None:
    """Neighbours that are already found, or an index that finds them, are not samples."""
    if any(hasattr(type(X), mark) for mark in _SEARCH_METHODS):
        raise InvalidTypeError(
            f"{name} must hold samples; got the index {type(X).__name__}: evaluate and the curves "
            "take order_from_index(index, X, depth=..., allow_approximate=True) in their place"
        )
    if issparse(X) and (precomputed or _looks_like_graph(X)):
        raise InvalidInputError(
            f"{name} must hold samples; got a sparse {X.shape[0]} × {X.shape[1]} graph of "
            "neighbours: evaluate and the curves take order_from_graph(graph, "
            "allow_approximate=True) in their place"
            + ("" if precomputed else f". If its rows are samples, pass {name}.toarray()")
        )


def _looks_like_graph(X: Any) -> bool:
    """Whether a sparse matrix is square with distances ≥ 0 and nothing on its diagonal."""
    if X.ndim != 2 or X.shape[0] != X.shape[1] or X.nnz == 0:
        return False
    return not X.diagonal().any() and X.min() >= 0


def _collected(values: Any) -> Any:
    """What a lazy frame of polars (`scan_parquet`) holds; anything else as it is."""
    if isinstance(values, np.ndarray):
        return values
    frame = nw.from_native(values, pass_through=True)
    if isinstance(frame, nw.LazyFrame) and frame.implementation.is_polars():
        return frame.collect().to_native()
    return values


def _refuse_text_columns(name: str, X: Any) -> None:
    frame = nw.from_native(X, pass_through=True, eager_only=True)
    if isinstance(frame, nw.DataFrame):
        text = [
            column
            for column, dtype in frame.schema.items()
            if not (dtype.is_numeric() or dtype == nw.Boolean)
        ]
        if text:
            raise InvalidInputError(
                f"{name} must be numeric; got a frame with other columns {text}: "
                "drop or encode them"
            )


def _check_distance_matrix(D: NDArray[np.float64], symmetric: bool) -> None:
    if D.shape[0] != D.shape[1]:
        raise InvalidInputError(
            f"X must be square with metric='precomputed' (n_samples × n_samples); got {D.shape}"
        )
    if D.min() < 0:
        raise InvalidInputError(
            f"X must hold distances ≥ 0 with metric='precomputed'; got {D.min()}"
        )
    worst = int(np.argmax(np.diag(D)))
    if D[worst, worst] != 0:
        raise InvalidInputError(
            "X must have a zero diagonal with metric='precomputed' (the distance of a sample to "
            f"itself); got {D[worst, worst]} in row {worst}: is it a similarity matrix?"
        )
    if symmetric and not np.allclose(D, D.T, rtol=1e-8, atol=1e-12 * D.max()):
        i, j = np.unravel_index(np.argmax(np.abs(D - D.T)), D.shape)
        raise InvalidInputError(
            f"X must be symmetric with metric='precomputed'; got {D[i, j]} from {i} to {j} and "
            f"{D[j, i]} back. If that is meant, pass order_neighbors(X, metric='precomputed')"
        )


def check_labels(
    y: Any, n_samples: int, *, several: bool = True
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return (classes, codes): the sorted classes and each sample's position among them."""
    labels = check_column("y", y, n_samples)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidInputError("y must hold class labels; got NaN or infinity among them")
    try:
        # Integers and strings are labels; looking at them costs more than a small search.
        if labels.dtype.kind not in "iubUS":
            check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"y must hold class labels of one kind; got: {error}") from error
    if several and len(classes) < 2:
        raise InvalidInputError(
            f"y must have at least 2 classes; got 1 class: every one of the {n_samples} samples "
            f"is {classes[0]!r}"
        )
    return classes, codes.astype(np.int32)


def check_targets(y: Any, n_samples: int) -> NDArray[np.float64]:
    """Return y as a finite float64 column for regression."""
    values = check_column("y", y, n_samples)
    try:
        targets = values.astype(np.float64)
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"y must be numeric for regression; got: {error}") from error
    if not np.isfinite(targets).all():
        raise InvalidInputError("y must be finite for regression; got NaN or infinity")
    return targets


def check_groups(groups: Any, n_samples: int) -> NDArray[np.int32]:
    """Return group numbers 0, 1, … for each sample."""
    column = check_column("groups", groups, n_samples)
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise InvalidInputError(f"groups must hold values of one kind; got: {error}") from error


def check_column(name: str, values: Any, n_samples: int) -> NDArray[Any]:
    """Return one value for each sample as a one-dimensional array."""
    if values is None:
        raise InvalidInputError(f"{name} must be given, one value for each sample; got None")
    try:
        column = column_or_1d(_collected(values))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be one column; got: {error}") from error
    if len(column) != n_samples:
        raise InvalidInputError(
            f"{name} must have one value for each of the {n_samples} samples of X; "
            f"got {len(column)}"
        )
    return np.asarray(column)

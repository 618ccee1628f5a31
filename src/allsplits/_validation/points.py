"""Checks of samples: tables of numbers, sparse ones, matrices of distances."""

import math
from collections import Counter
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data as check_data

from allsplits._frames import column_names, pandas_index
from allsplits._tensors import to_array
from allsplits._validation.values import shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError

#: Beyond this the square of a difference overflows.
LARGEST_VALUE = 1e150


#: Whoever has one of these searches for neighbours.
_SEARCH_METHODS = ("kneighbors", "knn_query", "neighbor_graph", "ntotal")


#: A sparse X is made dense if it has at most this many entries (1 GiB).
_LARGEST_DENSE = 1 << 27


#: Types that embeddings are stored in; all of them fit into float64, which is the first choice.
_KEPT_TYPES = (np.float64, np.float32, np.float16, np.int8, np.uint8)


#: Sparse formats that scikit-learn looks into; others become rows first.
_CHECKED_FORMATS = ("csr", "csc", "coo", "bsr")


#: What errors add about a type in which embeddings overflow.
HALF_ENDS = (
    ": float16 ends at 65504, and what was larger is infinite; keep X in bfloat16 or float32"
)


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
    check_numbers(name, X)
    X = collected(X, name)
    _refuse_text_columns(name, X)
    if issparse(X):
        if math.prod(X.shape) > _LARGEST_DENSE:
            raise InvalidInputError(
                f"{name} must have at most {_LARGEST_DENSE} entries to be made dense; got a sparse "
                f"one of shape {X.shape}. Only the Euclidean and cosine distances of samples are "
                "computed on sparse rows of any size: use such a metric where there is one, or "
                "reduce it first (e.g. TruncatedSVD)"
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
            + (HALF_ENDS if "float16" in str(error) else "")
        ) from error
    check_size(name, points)
    if precomputed:
        _check_distance_matrix(points, symmetric)
    return np.asarray(points)


def check_sparse(X: Any, *, name: str = "X", at_least: int = 2, allow_nan: bool = False) -> Any:
    """Return sparse samples as float64 rows with sorted columns and no zeros that are stored."""
    _refuse_neighbors(name, X, precomputed=False)
    if X.dtype.kind not in "fiub":
        raise InvalidInputError(f"{name} must be numeric; got {X.dtype}")
    n_samples, n_features = X.shape
    if n_samples < at_least:
        samples = "sample" if at_least == 1 else "samples"
        raise InvalidInputError(f"{name} must have at least {at_least} {samples}; got {n_samples}")
    if n_features >= np.iinfo(np.int32).max:
        raise InvalidInputError(
            f"{name} must have fewer than {np.iinfo(np.int32).max} features; got {n_features}"
        )
    rows = csr_array(X, copy=True)
    # In its own type, as `toarray` does: whatever is stored twice is added up.
    rows.sum_duplicates()
    rows = rows.astype(np.float64, copy=False)
    rows.eliminate_zeros()
    finite = rows.data[~np.isnan(rows.data)] if allow_nan else rows.data
    if not np.isfinite(finite).all():
        raise InvalidInputError(f"{name} must not hold NaN or infinity; got one")
    check_size(name, finite)
    return rows


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's checks of what an estimator is given, tensors included."""
    if issparse(X) and not options.get("accept_sparse", False):
        raise InvalidTypeError(
            f"X must be dense for {type(estimator).__name__}, which computes with all values of a "
            f"sample; got a sparse one of shape {X.shape}: pass X.toarray(), or reduce it first "
            "(e.g. TruncatedSVD)"
        )
    return check_data(estimator, to_array(X), to_array(y, "y"), **options)


def validate_samples(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """The same for whoever takes sparse samples, which stay as they are; others become float64."""
    dtype = "numeric" if issparse(X) else np.float64
    return validate_data(estimator, X, y, accept_sparse=_CHECKED_FORMATS, dtype=dtype, **options)


def check_new_points(estimator: Any, X: Any) -> NDArray[np.float64]:
    """Return new samples of a fitted estimator as a finite float64 array of contiguous rows.

    They are checked as scikit-learn does, except for arrays that it would return as they are: its
    look at them costs a small batch more than the neighbours do.
    """
    as_it_is = (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.flags.c_contiguous
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )
    points = (
        X if as_it_is else validate_data(estimator, X, dtype=np.float64, order="C", reset=False)
    )
    return np.asarray(points)


#: Dates would be counted in whatever unit they are stored in, and NaT as a large number.
DATES_AS_NUMBERS = "turn dates into numbers first, in a unit of your choice"


def holds_dates(values: Any) -> bool:
    return getattr(getattr(values, "dtype", None), "kind", "") in ("m", "M")


def check_unmasked(name: str, values: Any) -> None:
    """Raise if a mask hides values: scikit-learn's own checks drop the mask."""
    masked = int(np.ma.getmaskarray(values).sum()) if np.ma.isMaskedArray(values) else 0
    if masked:
        raise InvalidInputError(
            f"{name} must not hold masked values; got {masked} of {values.size}"
            f" masked: drop these rows, or fill them in with {name}.filled(...)"
        )


def check_numbers(name: str, X: Any) -> None:
    """Raise if X hides what is no number, and scikit-learn would make one of it."""
    check_unmasked(name, X)
    if holds_dates(X):
        raise InvalidInputError(f"{name} must be numeric; got {X.dtype}: {DATES_AS_NUMBERS}")


def check_same_rows(**tables: Any) -> None:
    """Raise if pandas tables have the same row names in different orders (by name, X first).

    Rows belong together by position, as in scikit-learn. Names that are the same but in another
    order say that something was shuffled or sorted alone; names that are others say nothing.
    """
    found = {name: pandas_index(table) for name, table in tables.items()}
    indexes = [(name, index) for name, index in found.items() if index is not None]
    for name, others in indexes[1:]:
        first, names = indexes[0]
        if len(others) != len(names) or others.equals(names) or Counter(others) != Counter(names):
            continue
        row = next(i for i in range(len(names)) if names[i] != others[i])
        raise InvalidInputError(
            f"{name} must be in the order of {first}; got the same index in another order: row "
            f"{row} is {shown(names[row])} in {first} and {shown(others[row])} in {name}. Pass "
            f"{name}.loc[{first}.index] to bring it into order, or {name}.to_numpy() if its order "
            "is right and its index is not"
        )


def check_size(name: str, values: NDArray[np.float64]) -> None:
    """Raise if squares of differences would overflow; no copy of the values is made."""
    if not values.size:
        return
    check_largest(
        name, float(max(np.fmax.reduce(values, axis=None), -np.fmin.reduce(values, axis=None)))
    )


def check_largest(name: str, largest: float) -> None:
    """Raise if squares of differences of values up to this size would overflow."""
    if largest > LARGEST_VALUE:
        raise InvalidInputError(
            f"{name} must hold values below {LARGEST_VALUE:g} in size so that squares stay finite; "
            f"got {largest:g}: rescale it"
        )


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


def collected(values: Any, name: str) -> Any:
    """What a tensor or a lazy frame of polars (`scan_parquet`) holds; anything else as it is."""
    values = to_array(values, name)
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
                f"{name} must be numeric; got a frame with other columns {shown(text)}: "
                "drop or encode them"
            )


def check_square(D: NDArray[np.float64]) -> None:
    """Raise unless there is a column for each row."""
    if D.shape[0] != D.shape[1]:
        raise InvalidInputError(
            f"X must be square with metric='precomputed' (n_samples × n_samples); got {D.shape}"
        )


def check_distances(D: NDArray[np.float64]) -> None:
    """Raise if a distance is negative."""
    if D.min() < 0:
        raise InvalidInputError(
            f"X must hold distances ≥ 0 with metric='precomputed'; got {D.min()}"
        )


def _check_distance_matrix(D: NDArray[np.float64], symmetric: bool) -> None:
    check_square(D)
    check_distances(D)
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


def check_same_columns(**tables: Any) -> None:
    """Raise if data frames have other columns, or the same in another order (by name)."""
    found = {name: column_names(table) for name, table in tables.items()}
    named = [(name, columns) for name, columns in found.items() if columns is not None]
    for name, columns in named[1:]:
        first, wanted = named[0]
        if columns == wanted:
            continue
        if sorted(map(str, columns)) == sorted(map(str, wanted)):
            what = "the same columns in another order"
        else:
            differ = [c for c in columns if c not in wanted] or [
                c for c in wanted if c not in columns
            ]
            what = f"{len(columns)} columns, for example {shown(differ[0])} in only one of them"
        raise InvalidInputError(
            f"{name} must have the columns of {first}, in their order; got {what}"
        )

"""Every check of what users pass in. Errors name the parameter, what is allowed, what came."""

import math
import numbers
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data as check_data

from allsplits._frames import column_names, pandas_index
from allsplits._tensors import to_array
from allsplits.exceptions import InvalidInputError, InvalidTypeError

#: Beyond this the square of a difference overflows.
LARGEST_VALUE = 1e150
#: Whoever has one of these searches for neighbours.
_SEARCH_METHODS = ("kneighbors", "knn_query", "neighbor_graph", "ntotal")
#: A sparse X is made dense if it has at most this many entries (1 GiB).
_LARGEST_DENSE = 1 << 27
#: Types that embeddings are stored in; all of them fit into float64, which is the first choice.
_KEPT_TYPES = (np.float64, np.float32, np.float16, np.int8, np.uint8)
#: What errors add about a type in which embeddings overflow.
HALF_ENDS = (
    ": float16 ends at 65504, and what was larger is infinite; keep X in bfloat16 or float32"
)
#: Errors show this many items of a list, and this many characters of anything.
_MOST_ITEMS, _MOST_CHARACTERS, _MOST_BITS = 6, 160, 256


def shown(value: Any) -> str:
    """How an error shows what was given: in plain Python, long lists cut to their first items."""
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple, np.ndarray)):
        items = [shown(item) for item in islice(value, _MOST_ITEMS)]
        more = [f"… {len(value):,} in all"] if len(value) > _MOST_ITEMS else []
        text = f"[{', '.join(items + more)}]"
    elif isinstance(value, (np.datetime64, np.timedelta64)):
        text = str(value)
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        # Python itself refuses to print integers of some thousand digits.
        return f"an integer of {value.bit_length():,} bits"
    else:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False: a word such as "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} must be True or False; got {shown(value)}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise unless `value` is one of `allowed`."""
    # An array compared with a word is an array.
    single = np.ndim(value) == 0
    if not any(value is option or (single and value == option) for option in allowed):
        raise InvalidInputError(f"{name} must be one of {list(allowed)}; got {shown(value)}")


def check_count(
    name: str, value: Any, *, at_least: int = 0, at_most: int | None = None, why: str = ""
) -> int:
    """Return `value` as an int within bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InvalidTypeError(f"{name} must be an integer; got {shown(value)}")
    count = int(value)
    if count < at_least or (at_most is not None and count > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise InvalidInputError(f"{name} must be {bounds}{why}; got {shown(count)}")
    return count


def check_counts(
    name: str, values: Any, *, at_least: int = 1, at_most: int | None = None, why: str = ""
) -> list[int]:
    """Return a non-empty list of distinct ints within bounds, in the order given."""
    if isinstance(values, numbers.Integral):
        values = [values]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidTypeError(
            f"{name} must be an integer or a list of integers; got {shown(values)}"
        )
    counts = [
        check_count(f"each value of {name}", value, at_least=at_least, at_most=at_most, why=why)
        for value in values
    ]
    if not counts:
        raise InvalidInputError(f"{name} must hold at least one value; got none")
    if len(set(counts)) < len(counts):
        raise InvalidInputError(f"{name} must hold each value once; got {shown(counts)}")
    return counts


def check_radius(name: str, value: Any) -> float:
    """Return a float that is not negative; infinity means everybody."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not real or not float(value) >= 0:
        raise InvalidInputError(f"{name} must be a number of at least 0; got {shown(value)}")
    return float(value)


def check_radii(name: str, values: Any) -> list[float]:
    """Return a non-empty list of distinct radii, in the order given."""
    if isinstance(values, numbers.Real):
        values = [values]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidTypeError(f"{name} must be a number or a list of numbers; got {shown(values)}")
    radii = [check_radius(f"each value of {name}", value) for value in values]
    if not radii:
        raise InvalidInputError(f"{name} must hold at least one value; got none")
    if len(set(radii)) < len(radii):
        raise InvalidInputError(f"{name} must hold each value once; got {shown(radii)}")
    return radii


def keep_fitting(name: str, counts: list[int], most: int, what: str) -> list[int]:
    """Candidates of at most `most`; says which are left out, and raises if none remains."""
    fitting = [count for count in counts if count <= most]
    if not fitting:
        raise InvalidInputError(
            f"{name} must hold a value of at most {most}, {what}; got {shown(counts)}"
        )
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
        raise InvalidTypeError(f"{name} must be a number between 0 and 1; got {shown(value)}")
    if not 0 < float(value) <= 1 or (value == 1 and not allow_one):
        where = "be above 0 and at most 1" if allow_one else "lie strictly between 0 and 1"
        raise InvalidInputError(f"{name} must {where}; got {shown(value)}")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """Return a finite float of at least 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number; got {shown(value)}")
    if not 0 <= float(value) < math.inf:
        raise InvalidInputError(f"{name} must be at least 0 and finite; got {shown(value)}")
    return float(value)


#: What parameters may be whose name means the same wherever it stands.
_CONSTRAINTS: dict[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(
        (
            "normalize_weights", "oracle", "overwrite", "penalize_intercept", "progress",
            "return_utilities", "shuffle",
        ),
        check_flag,
    ),
    **dict.fromkeys(
        (
            "batch_size", "diversity", "initial", "leave_out", "n_start", "repetitions", "rounds",
            "tune_leave_out",
        ),
        partial(check_count, at_least=1),
    ),
    "chooser": partial(
        check_choice,
        allowed=("boosting", "boosting again", "longest step", "longest step once", "lazy"),
    ),
    "complexity": partial(check_choice, allowed=("auto", "exact", "bound")),
    "query": partial(check_choice, allowed=("shares", "greedy", "priors")),
    "reduce": partial(check_choice, allowed=("consistent", "paper", None)),
    "start": partial(check_choice, allowed=("cover", "random")),
    "theta": partial(check_fraction, allow_one=True),
    "utility": partial(check_choice, allowed=("agreement", "entropy", "margin")),
}  # fmt: skip


def check_parameters(**values: Any) -> None:
    """Raise unless each of these parameters is what the table of constraints allows."""
    for name, value in values.items():
        _CONSTRAINTS[name](name, value)


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
    X = _collected(X, name)
    _refuse_text_columns(name, X)
    if issparse(X):
        if math.prod(X.shape) > _LARGEST_DENSE:
            raise InvalidInputError(
                f"{name} is sparse with shape {X.shape}: only Euclidean and cosine distances of "
                "samples among themselves are computed on sparse rows, others on dense ones, and "
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
            + (HALF_ENDS if "float16" in str(error) else "")
        ) from error
    check_size(name, points)
    if precomputed:
        _check_distance_matrix(points, symmetric)
    return np.asarray(points)


def check_sparse(X: Any, *, name: str = "X") -> Any:
    """Return sparse samples as float64 rows with sorted columns and no zeros that are stored."""
    _refuse_neighbors(name, X, precomputed=False)
    if X.dtype.kind not in "fiub":
        raise InvalidInputError(f"{name} must be numeric; got {X.dtype}")
    if X.shape[0] < 2:
        raise InvalidInputError(f"{name} must have at least 2 samples; got {X.shape[0]}")
    rows = csr_array(X, dtype=np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    if not np.isfinite(rows.data).all():
        raise InvalidInputError(f"{name} must not hold NaN or infinity; got one")
    check_size(name, rows.data)
    return rows


def validate_data(estimator: Any, X: Any, y: Any = "no_validation", **options: Any) -> Any:
    """scikit-learn's checks of what an estimator is given, tensors included."""
    return check_data(estimator, to_array(X), to_array(y, "y"), **options)


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
_DATES_AS_NUMBERS = "turn dates into numbers first, in a unit of your choice"


def _holds_dates(values: Any) -> bool:
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
    if _holds_dates(X):
        raise InvalidInputError(f"{name} must be numeric; got {X.dtype}: {_DATES_AS_NUMBERS}")


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


def _collected(values: Any, name: str) -> Any:
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


def check_labels(
    y: Any, n_samples: int, *, several: bool = True, name: str = "y"
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return (classes, codes): the sorted classes and each sample's position among them."""
    labels = check_column(name, y, n_samples)
    _refuse_missing(name, labels)
    _refuse_kinds(f"{name} must hold class labels of one kind", labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InvalidInputError(f"{name} must hold class labels; got infinity among them")
    try:
        # Integers and strings are labels; looking at them costs more than a small search.
        if labels.dtype.kind not in "iubUS":
            check_classification_targets(labels)
        classes, codes = np.unique(labels, return_inverse=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(
            f"{name} must hold class labels of one kind; got: {error}"
        ) from error
    if several and len(classes) < 2:
        raise InvalidInputError(
            f"y must have at least 2 classes; got 1 class: every one of the {n_samples} samples "
            f"is {shown(classes[0])}"
        )
    return classes, codes.astype(np.int32)


def check_targets(y: Any, n_samples: int, *, name: str = "y") -> NDArray[np.float64]:
    """Return y as a finite float64 column for regression."""
    values = check_column(name, y, n_samples)
    if _holds_dates(values):
        raise InvalidInputError(
            f"{name} must be numeric for regression; got {values.dtype}: {_DATES_AS_NUMBERS}"
        )
    _refuse_missing(name, values)
    try:
        targets = values.astype(np.float64)
    except (ValueError, TypeError, OverflowError) as error:
        raise InvalidInputError(f"{name} must be numeric for regression; got: {error}") from error
    if not np.isfinite(targets).all():
        raise InvalidInputError(f"{name} must be finite for regression; got NaN or infinity")
    check_size(name, targets)
    return targets


def check_groups(groups: Any, n_samples: int) -> NDArray[np.int32]:
    """Return group numbers 0, 1, … for each sample."""
    return _group_numbers("groups", _group_column("groups", groups, n_samples))


def check_groups_with(
    groups: Any, n_samples: int, groups_test: Any, n_test: int
) -> NDArray[np.int32]:
    """Return group numbers of samples, then of questions from outside, equal where values are."""
    of_samples = _group_column("groups", groups, n_samples)
    of_tests = _group_column("groups_test", groups_test, n_test)
    check_same_kind("groups_test", of_tests, "groups", of_samples)
    return _group_numbers("groups_test", np.concatenate([of_samples, of_tests]))


def _group_column(name: str, groups: Any, n_samples: int) -> NDArray[Any]:
    column = check_column(name, groups, n_samples)
    _refuse_missing(name, column)
    _refuse_kinds(f"{name} must hold values of one kind", column)
    return column


def _group_numbers(name: str, column: NDArray[Any]) -> NDArray[np.int32]:
    try:
        return np.unique(column, return_inverse=True)[1].astype(np.int32)
    except TypeError as error:
        raise InvalidInputError(f"{name} must hold values of one kind; got: {error}") from error


def check_same_kind(name: str, values: NDArray[Any], of: str, others: NDArray[Any]) -> None:
    """Raise if one holds text and the other numbers: no value of one is one of the other."""
    one, other = values[:1].tolist()[0], others[:1].tolist()[0]
    if _kind(one) != _kind(other):
        raise InvalidInputError(
            f"{name} must hold values of the kind of {of}, {_kind(other)} such as {shown(other)}; "
            f"got {_kind(one)} such as {shown(one)}"
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


def missing_values(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column has no value: NaN, None, and pandas' own marks."""
    if column.dtype.kind == "f":
        return np.asarray(np.isnan(column))
    if column.dtype.kind in "mM":
        return np.asarray(np.isnat(column))
    if column.dtype.kind == "O":
        return np.array([_is_missing(value) for value in column.tolist()], dtype=bool)
    return np.zeros(len(column), dtype=bool)


def _refuse_missing(name: str, column: NDArray[Any]) -> None:
    rows = np.flatnonzero(missing_values(column))
    if len(rows):
        value = column[rows[0]]
        found = "NaN" if isinstance(value, (float, np.floating)) else value
        raise InvalidInputError(
            f"{name} must not hold missing values; got {found} in row {rows[0]} ({len(rows)} of "
            f"{len(column)} rows): drop these rows or fill them in"
        )


def _is_missing(value: Any) -> bool:
    # pandas' own marks of a missing value refuse to be compared.
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (numbers.Number, np.datetime64)) and bool(value != value)


def _refuse_kinds(rule: str, column: NDArray[Any]) -> None:
    """Raise if text and numbers (or other kinds) stand side by side."""
    if column.dtype.kind != "O":
        return
    kinds = {_kind(value) for value in column.tolist()}
    if len(kinds) > 1:
        found = " and ".join(sorted(kinds))
        raise InvalidInputError(f"{rule}; got {found}: turn them into one kind, e.g. all text")


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "text"
    return "numbers" if isinstance(value, (numbers.Number, np.bool_)) else type(value).__name__


def _unmixed(values: Any) -> Any:
    """A list as an array, in which numpy must not turn numbers and NaN into text."""
    if not isinstance(values, (list, tuple)):
        return values
    array = np.asarray(values)
    text = array.dtype.kind in "US" and array.ndim == 1
    if text and not all(isinstance(value, (str, bytes)) for value in values):
        return np.array(values, dtype=object)
    return array


def check_column(name: str, values: Any, n_samples: int) -> NDArray[Any]:
    """Return one value for each sample as a one-dimensional array."""
    if values is None:
        raise InvalidInputError(f"{name} must be given, one value for each sample; got None")
    check_unmasked(name, values)
    try:
        column = column_or_1d(_unmixed(_collected(values, name)))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"{name} must be one column; got: {error}") from error
    if len(column) != n_samples:
        of = "X_test" if name.endswith("_test") else "X"
        raise InvalidInputError(
            f"{name} must have one value for each of the {n_samples} samples of {of}; "
            f"got {len(column)}"
        )
    return np.asarray(column)

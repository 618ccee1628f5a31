"""`local_constant_path`: the means of 1, 2, …, K neighbours and their leave-one-out errors.

Birattari & Bontempi (1999), *Lazy learning vs. Speedy Gonzales*, equations 7 and 8: O(K) per query
for all sizes together, where the direct formula takes O(K²).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from allsplits._threads import map_row_ranges, thread_count
from allsplits._validation import check_size
from allsplits.exceptions import InvalidInputError
from allsplits.lazy._kernels import constant_paths


def local_constant_path(
    y_sorted: Any, *, n_jobs: int | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Every local constant model of each query, validated, in one pass over the neighbours.

    Parameters
    ----------
    y_sorted : array-like of shape (n_queries, n_neighbors) or (n_neighbors,)
        Targets of each query's neighbours, nearest first.
    n_jobs : int, default=None
        Threads; None uses all cores. It does not change the result.

    Returns
    -------
    predictions : ndarray, shaped like `y_sorted`
        At position k - 1 the mean of the k nearest.
    loo_mse : ndarray, shaped like `y_sorted`
        The mean squared error of predicting each of the k by the mean of the others; NaN at k = 1,
        where there are no others.

    Examples
    --------
    >>> from allsplits import local_constant_path
    >>> predictions, loo_mse = local_constant_path([1.0, 3.0, 2.0, 8.0])
    >>> predictions
    array([1. , 2. , 2. , 3.5])
    >>> loo_mse.round(3)
    array([   nan,  4.   ,  1.5  , 12.889])
    """
    n_threads = thread_count(n_jobs)
    try:
        values = check_array(y_sorted, dtype=np.float64, ensure_2d=False, input_name="y_sorted")
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            "y_sorted must be a numeric array of shape (n_queries, n_neighbors) or (n_neighbors,) "
            f"without NaN or infinity; got: {error}"
        ) from error
    if values.ndim not in (1, 2):
        raise InvalidInputError(
            "y_sorted must have shape (n_queries, n_neighbors) or (n_neighbors,); "
            f"got {values.shape}"
        )
    check_size("y_sorted", values)
    rows = np.ascontiguousarray(np.atleast_2d(values))
    predictions, loo_mse = np.empty(rows.shape), np.empty(rows.shape)
    map_row_ranges(
        lambda start, stop: constant_paths(rows, start, stop, predictions, loo_mse),
        len(rows),
        n_threads,
        smallest=1024,
    )
    return predictions.reshape(values.shape), loo_mse.reshape(values.shape)

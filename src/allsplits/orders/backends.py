"""The list of backends: which there are, which one `auto` means, and how each is prepared.

Libraries that a backend needs are imported when it is asked for.
"""

from typing import Any

import numpy as np

from allsplits._validation import check_choice
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders.default import exact_search
from allsplits.orders.device import DevicePoints
from allsplits.orders.metric import Metric
from allsplits.orders.protocol import Search
from allsplits.orders.sparse import sparse_search
from allsplits.orders.sparse_points import SparsePoints

#: What `backend` may be.
BACKENDS = ("auto", "exact", "faiss", "torch", "torch:cpu", "dask")
#: From this many products of two features on, a GPU is worth starting: about a minute on a CPU.
_GPU_WORK = 2e12


def check_backend(backend: Any) -> None:
    """Raise unless `backend` names one."""
    check_choice("backend", backend, BACKENDS)
    if backend == "torch":
        # Before any work: the others need no device.
        from allsplits.orders.proposers.torch_points import torch_for

        torch_for("cuda")


def choose_backend(X: Any, metric: Metric) -> str:
    """What ``backend="auto"`` means for these data."""
    if isinstance(X, DevicePoints):
        return "torch"
    if not isinstance(X, np.ndarray):
        return "dask"
    n_samples, n_features = X.shape
    if not metric.is_euclidean or float(n_samples) ** 2 * n_features < _GPU_WORK:
        return "exact"
    if not metric.squares_fit(X):
        return "exact"
    from allsplits.orders.proposers.torch_distances import cuda_is_there

    return "torch" if cuda_is_there() else "exact"


def prepare_search(X: Any, metric: Metric, depth: int, backend: str, n_threads: int) -> Search:
    """Prepare the search that `backend` names; X is validated."""
    check_backend(backend)
    if len(X) < 2:
        raise InvalidInputError(f"X must have at least 2 samples; got {len(X)}")
    if isinstance(X, SparsePoints):
        return sparse_search(X, metric, depth, backend, n_threads)
    if backend == "auto":
        backend = choose_backend(X, metric)
    if backend == "dask":
        from allsplits.orders.cluster.dask import dask_search

        return dask_search(X, metric, depth)
    if isinstance(X, DevicePoints):
        return _torch_search(X.tensor, metric, depth, n_threads, X.device)
    if not isinstance(X, np.ndarray):
        raise InvalidInputError(
            f"backend must be 'auto' or 'dask' for a dask collection; got {backend!r}"
        )
    if backend == "exact":
        return exact_search(X, metric, depth, n_threads)
    if not metric.is_euclidean:
        raise UnsupportedError(
            f"backend {backend!r} knows the metrics 'euclidean', 'sqeuclidean', 'cosine' (without "
            f"metric_params) and 'correlation'; got {metric.name!r}: use backend='exact'"
        )
    if not metric.squares_fit(X):
        raise UnsupportedError(
            f"backend {backend!r} compares squares, and X holds rows so close to each other that "
            "squares of their differences underflow: use backend='exact', or rescale X"
        )
    if backend == "faiss":
        from allsplits.orders.proposers.faiss import faiss_search

        return faiss_search(X, metric, depth, n_threads)
    device = "cpu" if backend == "torch:cpu" else "cuda"
    return _torch_search(X, metric, depth, n_threads, device)


def _torch_search(X: Any, metric: Metric, depth: int, n_threads: int, device: str) -> Search:
    from allsplits.orders.proposers.torch import TorchSearch

    return TorchSearch(X, metric, depth, n_threads, device)

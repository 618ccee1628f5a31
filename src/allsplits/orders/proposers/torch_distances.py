"""True squared distances on the device: differences of float64, never the expanded formula."""

import importlib.util
from functools import lru_cache
from typing import Any

from numpy.typing import NDArray

#: Differences held at a time.
_ENTRIES = 1 << 24
#: torch's name for distances that are not expanded.
_DIRECT = "donot_use_mm_for_euclid_dist"
#: References compared with at a time.
_ROWS = 1 << 16


def distances_to_items(torch: Any, points: Any, numbers: Any, items: Any) -> Any:
    """Squared distance of each row's point to each of its items, shape of `items`, float64."""
    if points.is_cuda:
        # Importing Triton takes a while, and only GPUs need it.
        from allsplits.orders.proposers import kernels_triton

        if kernels_triton.triton_is_there():
            return kernels_triton.squared_distances(torch, points, numbers, items)
    out = torch.empty(items.shape, dtype=torch.float64, device=points.device)
    step = max(1, _ENTRIES // (items.shape[1] * points.shape[1]))
    for start in range(0, len(items), step):
        part = slice(start, start + step)
        differences = points[items[part]].double() - points[numbers[part]].double()[:, None, :]
        out[part] = differences.square_().sum(2)
    return out


def distances_to_all(torch: Any, points: Any, numbers: Any) -> Any:
    """Squared distances of some points to all points, float64."""
    queries = points[numbers].double()
    return torch.cat(
        [
            torch.cdist(queries, part.double(), compute_mode=_DIRECT).square_()
            for part in points.split(_ROWS)
        ],
        dim=1,
    )


def sorted_distances(torch: Any, points: Any, numbers: Any) -> tuple[Any, Any]:
    """(items, squared distances) of all others, nearest first, for some points."""
    keys = distances_to_all(torch, points, numbers)
    keys.scatter_(1, numbers[:, None], float("inf"))
    keys, items = keys.sort(dim=1)
    # The point itself came last.
    return items[:, :-1], keys[:, :-1]


def to_host(torch: Any, tensors: list[Any]) -> list[NDArray[Any]]:
    """Tensors as arrays. Pages that stay in their place are written many times faster."""
    if not tensors[0].is_cuda:
        return [tensor.numpy() for tensor in tensors]
    pages = [torch.empty(one.shape, dtype=one.dtype, pin_memory=True) for one in tensors]
    for page, one in zip(pages, tensors, strict=True):
        page.copy_(one, non_blocking=True)
    torch.cuda.current_stream(tensors[0].device).synchronize()
    return [page.numpy() for page in pages]


@lru_cache
def cuda_is_there() -> bool:
    """Whether torch is installed and sees a GPU."""
    if importlib.util.find_spec("torch") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())

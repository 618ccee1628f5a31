"""Samples as points on the device that searches among them.

Arrays are sent block by block. A tensor that is there already is used as it is, widened where it is
narrower than float32; nothing of it goes through the host, except for correlation distances.
"""

from typing import Any

import numpy as np

from allsplits._optional import import_optional
from allsplits._tensors import is_tensor
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders.metric import Metric

#: Rows sent, or converted, at a time.
_ROWS = 1 << 16


def torch_for(device: str) -> Any:
    """The library torch, if it is there and can use this device ("cpu", "cuda", "cuda:1")."""
    torch = import_optional("torch", extra="gpu", purpose=f"backend 'torch' ({device})")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UnsupportedError(
            "backend 'torch' needs a GPU that CUDA can use, and there is none; "
            "use backend='auto', or 'torch:cpu' to run the same search on the CPU"
        )
    return torch


def load_points(torch: Any, X: Any, metric: Metric, device: str) -> Any:
    """The points on the device: float32, which holds smaller types as well, or float64."""
    narrow = X.dtype.itemsize <= 4 and not metric.of_directions
    dtype = torch.float32 if narrow else torch.float64
    as_it_is = is_tensor(X) and not metric.of_directions
    if device.startswith("cuda"):
        # The points, and the tables in bfloat16 and float32.
        each = 6 + (0 if as_it_is and X.dtype == dtype else dtype.itemsize)
        _check_room(tuple(X.shape), each, free_bytes(torch, device))
    if as_it_is:
        return X.to(dtype).contiguous()
    points = None
    for start in range(0, len(X), _ROWS):
        part = _converted(torch, X[start : start + _ROWS], metric, device)
        if points is None:
            points = torch.empty((len(X), part.shape[1]), dtype=dtype, device=device)
        points[start : start + len(part)] = part
    return points


def _converted(torch: Any, rows: Any, metric: Metric, device: str) -> Any:
    """Rows of an array, or of a tensor that is on the device, as points there."""
    if not metric.of_directions:
        return torch.tensor(np.asarray(rows), device=device)
    if is_tensor(rows) and metric.name == "cosine":
        return directions(torch, rows.double())
    # On the host, so that directions have the same bits as everywhere else.
    on_host = rows.cpu().double().numpy() if is_tensor(rows) else rows.astype(np.float64)
    return torch.tensor(metric.euclidean_points(on_host), device=device)


def directions(torch: Any, rows: Any) -> Any:
    """As `orders.directions`, in whole-tensor operations: off by a few roundings, as these are."""
    largest = rows.abs().amax(1)
    # The power of two that scales a row: this quotient does not round.
    scales = torch.where(largest > 0, largest / torch.frexp(largest).mantissa, 1.0)
    out = rows.new_zeros((len(rows), rows.shape[1] + 1))
    unit = out[:, :-1]
    torch.div(rows, scales[:, None], out=unit)
    lengths = unit.square().sum(1).sqrt()
    out[:, -1] = lengths == 0
    unit /= lengths.masked_fill(lengths == 0, 1.0)[:, None]
    return out


def _check_room(shape: tuple[int, ...], each: int, free: int) -> None:
    """Raise if points of so many bytes a value do not fit."""
    needed = shape[0] * shape[1] * each
    if needed > 0.8 * free:
        raise InvalidInputError(
            f"X of shape {shape} must fit on the GPU for backend 'torch': it needs "
            f"{needed / 2**30:.1f} GiB with its tables and {free / 2**30:.1f} GiB are free; "
            "use backend='exact' or 'dask'"
        )


def free_bytes(torch: Any, device: str) -> int:
    """What can be allocated: free memory and what torch keeps for itself without using it."""
    kept = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return int(torch.cuda.mem_get_info(device)[0] + kept)

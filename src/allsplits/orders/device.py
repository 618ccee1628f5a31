"""Samples that lie on a GPU, checked and searched where they are."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._tensors import check_dense, is_on_gpu, to_array
from allsplits._validation import HALF_ENDS, check_largest
from allsplits.exceptions import InvalidInputError
from allsplits.orders.metric import Metric
from allsplits.orders.proposers.torch_errors import clear_errors
from allsplits.orders.squares import SMALLEST

#: Rows looked at a time: temporary copies stay small beside X.
_ROWS = 1 << 16
#: Types that are searched as they are; others are widened to float64, as arrays are.
_KEPT_TYPES = ("float64", "float32", "float16", "bfloat16", "int8", "uint8")


@dataclass(frozen=True, eq=False)
class DevicePoints:
    """Samples as a checked tensor on a GPU; `np.asarray` brings them to the host."""

    tensor: Any

    @classmethod
    @clear_errors
    def read(cls, X: Any) -> "DevicePoints":
        """Check samples on their device: two dimensions, numbers, all finite."""
        kind = str(X.dtype).removeprefix("torch.")
        if X.ndim != 2 or len(X) < 2 or X.shape[1] == 0 or X.is_complex():
            raise InvalidInputError(
                "X must be a numeric tensor of shape (n_samples, n_features) with at least 2 "
                f"samples; got {kind} of shape {tuple(X.shape)}"
            )
        tensor = X.detach() if kind in _KEPT_TYPES else X.detach().double()
        if tensor.is_floating_point():
            for part in tensor.split(_ROWS):
                largest = float(part.abs().max())
                if not math.isfinite(largest):
                    raise InvalidInputError(
                        f"X must not hold NaN or infinity; got one in {kind} on {X.device}"
                        + (HALF_ENDS if kind == "float16" else "")
                    )
                check_largest("X", largest)
        return cls(tensor)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of samples and of features."""
        return tuple(self.tensor.shape)

    @property
    def device(self) -> str:
        """Where they are, as torch names it."""
        return str(self.tensor.device)

    def __len__(self) -> int:
        return len(self.tensor)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(to_array(self.tensor), dtype=dtype)


def stays_on_device(X: Any, metric: Metric, backend: str) -> bool:
    """Whether samples are searched on the GPU that they lie on.

    Not by other metrics or backends than the GPU's, nor where squares may underflow: such samples
    are copied to the host.
    """
    if not is_on_gpu(X) or backend not in ("auto", "torch") or not metric.is_euclidean:
        return False
    check_dense("X", X)
    return metric.of_directions or not _has_tiny_values(X.detach())


def _has_tiny_values(tensor: Any) -> bool:
    """Whether some value other than 0 is so small that squares of differences may underflow."""
    if str(tensor.dtype) != "torch.float64" or tensor.ndim != 2:
        return False
    return any(bool(((part != 0) & (part.abs() < SMALLEST)).any()) for part in tensor.split(_ROWS))

"""One GPU kernel: gather candidates and sum squared differences without writing them down.

The differences of a block of queries would be gigabytes that are written and read again. Reading
each candidate once is the floor: B·M·d numbers. Triton comes with torch where there is CUDA.
"""

from typing import Any

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

_ITEMS = 16
_FEATURES = 128


def triton_is_there() -> bool:
    """Whether the kernel can be used."""
    return triton is not None


if triton is not None:

    @triton.jit
    def _kernel(
        points,
        numbers,
        items,
        out,
        n_items,
        n_features,
        ITEMS: tl.constexpr,
        FEATURES: tl.constexpr,
    ):
        row = tl.program_id(0).to(tl.int64)
        place = tl.program_id(1) * ITEMS + tl.arange(0, ITEMS)
        own = tl.load(numbers + row)
        item = tl.load(items + row * n_items + place, mask=place < n_items, other=0)
        total = tl.zeros([ITEMS], dtype=tl.float64)
        for first in range(0, n_features, FEATURES):
            feature = first + tl.arange(0, FEATURES)
            there = feature < n_features
            x = tl.load(points + own * n_features + feature, mask=there, other=0.0)
            y = tl.load(
                points + item[:, None] * n_features + feature[None, :],
                mask=there[None, :],
                other=0.0,
            )
            difference = y.to(tl.float64) - x.to(tl.float64)[None, :]
            total += tl.sum(difference * difference, axis=1)
        tl.store(out + row * n_items + place, total, mask=place < n_items)


def squared_distances(torch: Any, points: Any, numbers: Any, items: Any) -> Any:
    """Squared distance of each row's point to each of its items; row numbers are int64."""
    out = torch.empty(items.shape, dtype=torch.float64, device=points.device)
    n_rows, n_items = items.shape
    with torch.cuda.device(points.device):
        _kernel[(n_rows, triton.cdiv(n_items, _ITEMS))](
            points, numbers, items.contiguous(), out, n_items, points.shape[1],
            ITEMS=_ITEMS, FEATURES=_FEATURES,
        )  # fmt: skip
    return out

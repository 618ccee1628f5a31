"""Tie groups and ends of sorted rows that stay on the device.

The same rules as `finish_sorted_rows` has for the host, in whole-tensor operations.
"""

from typing import Any

from allsplits.orders.kernel_types import Ties


def mark_ties(torch: Any, keys: Any, depth: int, ties: Ties) -> tuple[Any, Any, Any]:
    """(tied, lengths, last keys) of sorted keys; a length of -1 where there are too few."""
    tied = torch.zeros_like(keys, dtype=torch.bool)
    steps = keys[:, 1:] - keys[:, :-1]
    same = steps <= keys[:, 1:] * ties.tolerance
    if ties.floor > 0:
        roots = keys.sqrt()
        same |= steps <= ties.floor * (roots[:, 1:] + roots[:, :-1])
    # Infinite keys are nobody.
    tied[:, 1:] = same & keys[:, 1:].isfinite()
    ends = torch.ones((len(keys), keys.shape[1] - depth + 1), dtype=torch.uint8, device=keys.device)
    ends[:, :-1] = ~tied[:, depth:]
    lengths = depth + ends.argmax(1)
    last = keys.gather(1, lengths[:, None] - 1)[:, 0]
    return tied, lengths.masked_fill(~last.isfinite(), -1), last

"""A uniform sample of a stream, without knowing how long it is, that several processes can share.

Every item gets a random number, and those with the smallest numbers are kept: they are a uniform
sample. So are those with the smallest numbers of two such samples together, which is all that
processes need to join theirs.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Numbers are drawn below this: every integer type of torch and numpy holds them exactly.
_NUMBERS = 2**62


def draw_numbers(n: int, *seed: int) -> NDArray[np.int64]:
    """Random numbers of n items; the seed says who they are: a stream, a process, a place."""
    return np.random.default_rng(seed).integers(_NUMBERS, size=n)


def are_lowest(numbers: Any, most: int) -> Any:
    """Which numbers of a tensor are among the `most` smallest."""
    kept = numbers < 0  # none of them
    kept[numbers.topk(min(most, len(numbers)), largest=False, sorted=False).indices] = True
    return kept

"""Which of several candidates is best, when each score is known within an interval.

A score s with bound b is certain to lie in [s - b, s + b]. Let L be the best lower end, which is
guaranteed. Every candidate whose interval reaches L *could be best*. Those of them that are known
to within `KNOWN` are tied, so that rounding does not decide between equals, and the first one
wins. A candidate with a wider interval is chosen only if its own lower end is L: a score that
merely might be better is no reason to prefer it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Relative to the largest score: a bound above this makes an interval of a value.
KNOWN = 1e-4


class Choice(NamedTuple):
    """The position of the chosen candidate, and which candidates could be best."""

    position: int
    could_be_best: NDArray[np.bool_]


def choose_best(scores: NDArray[np.float64], bounds: NDArray[np.float64]) -> Choice:
    """Choose among scores with their bounds; among equals the first in the order given."""
    lower = scores - bounds
    guaranteed = int(np.argmax(lower))
    could_be_best = scores + bounds >= lower[guaranteed]
    known = bounds <= max(float(bounds[guaranteed]), KNOWN * float(np.abs(scores).max()))
    return Choice(int(np.argmax(could_be_best & known)), could_be_best)


def ranks(scores: NDArray[np.float64], bounds: NDArray[np.float64]) -> NDArray[np.int32]:
    """One more than the number of candidates that are certainly better."""
    lower = np.sort(scores - bounds)
    certainly_better = len(scores) - np.searchsorted(lower, scores + bounds, side="right")
    return (1 + certainly_better).astype(np.int32)

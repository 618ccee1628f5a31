"""The one tie rule: which distances count as equal.

Rows are sorted by keys: distances, or their squares where the geometry is Euclidean. Neighbours in
a sorted row are tied if their keys agree to `tolerance`, relative to the key, or if the roots of
their keys differ by at most `floor`. Where points are rounded before they are compared (directions,
for cosine), a distance carries an error of the size of that rounding however small it is: that is
the floor.
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["TIE_TOLERANCE", "UNIT_ROUNDOFF", "Ties"]

#: Half the distance from 1 to the next float64.
UNIT_ROUNDOFF = 2.0**-53
#: Distances that agree to this relative accuracy are one tie group: rounding of the inputs and of
#: the distance itself (0.3 - 0.2 against 0.2 - 0.1) must not decide who is nearer.
TIE_TOLERANCE = 1e-12


class Ties(NamedTuple):
    """What counts as equal, in terms of the keys that rows are sorted by."""

    tolerance: float = TIE_TOLERANCE
    floor: float = 0.0

    def reach(self, keys: Any, links: int = 1) -> Any:
        """What is beyond this is not tied with `keys` through a chain of `links` near ties."""
        return (keys**0.5 + links * self.floor) ** 2 * (1 + 2 * links * self.tolerance)

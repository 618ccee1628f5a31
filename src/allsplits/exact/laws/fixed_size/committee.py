"""The committee of all C(n, p) nearest-neighbour classifiers, asked about new points.

Each member is trained on n - p of the n labelled samples and votes with their k nearest. A new
point is not one of the n, so it stands to them as a held-out sample stands to the others: the law
of fixed size with n candidates of which a = n - p are drawn (Celisse & Mary-Huard 2011, section
4.2, for any number of classes, even k and tied distances). Only the first k + p neighbours matter.
Two classes cost O(k + p) per point after a table of O((k + p)²), more classes O(k²) per prefix.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.fixed_size.two_classes import vote_for_every_class
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.question import Options
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class Committee:
    """P(a random member predicts each class) for new points.

    Attributes
    ----------
    depth : int
        How many neighbours of a point are looked at.
    error_bound : float
        No share is off by more: rounding, and mass that was left out (at most `options.tol`).
    """

    def __init__(self, codes: Codes, n_classes: int, k: int, p: int, options: Options) -> None:
        n = len(codes)
        # The new point is sample number n + 1; the candidates are the n others.
        prefixes = prefixes_for([Column(k, SizeLaw.of_size(n, n - p).without_tests())], options.tol)
        self.codes = codes
        self.depth = prefixes.depth
        self._vote = vote_for_every_class(prefixes, n_classes, options)
        self.error_bound = float(prefixes.missing[0] + self._vote.rounding)

    def shares(self, order: NeighborOrder, n_threads: int) -> Floats:
        """Share of the committee for each class, shape (rows of `order`, classes)."""
        return self._vote.every_class(order, self.codes, n_threads)

"""Compiled loop of class shares: which class is the nearest with some of the examples."""

import numpy as np
from numba import njit

#: Walking on to farther neighbours ends where the chance to get there is smaller.
NEGLIGIBLE = 1e-17


@njit(nogil=True, cache=True, error_model="numpy")
def class_chances(neighbor_codes, codes, counts, kept):
    """Chance of each class to be that of the nearest kept neighbour, by (example, class).

    ``kept[l]`` of the ``counts[l]`` examples of class l are kept, of those beside the example in
    its own class. If none was kept of the i nearest of a class, the next one is with the chance
    kept / (counts - i). Given that one is kept; all chances are 0 where none can be.
    """
    chances = np.zeros((len(codes), len(counts)))
    left = np.empty(len(counts))
    for row in range(len(codes)):
        left[:] = counts
        left[codes[row]] -= 1.0
        reached = 1.0
        for code in neighbor_codes[row]:
            chance = min(kept[code] / left[code], 1.0)
            left[code] -= 1.0
            chances[row, code] += reached * chance
            reached *= 1.0 - chance
            if reached < NEGLIGIBLE:
                break
        if reached < 1.0:
            chances[row] /= 1.0 - reached
    return chances

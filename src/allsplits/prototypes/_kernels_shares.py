"""Compiled loop of class shares: how likely 1-NN is wrong with some of the examples."""

import numpy as np
from numba import njit

#: Walking on to farther neighbours ends where the chance to get there is smaller.
NEGLIGIBLE = 1e-17


@njit(nogil=True, cache=True, error_model="numpy")
def wrong_chances(neighbor_codes, codes, counts, kept):
    """Chance that the nearest kept neighbour of each example has another class.

    ``kept[l]`` of the ``counts[l]`` examples of class l are kept, of those beside the example in
    its own class. If none was kept of the i nearest of a class, the next one is with the chance
    kept / (counts - i). An example without any neighbour kept is wrong.
    """
    chances = np.ones(len(codes))
    left = np.empty(len(counts))
    for row in range(len(codes)):
        own = codes[row]
        left[:] = counts
        left[own] -= 1.0
        reached, wrong = 1.0, 0.0
        for other in neighbor_codes[row]:
            chance = min(kept[other] / left[other], 1.0)
            left[other] -= 1.0
            if other != own:
                wrong += reached * chance
            reached *= 1.0 - chance
            if reached < NEGLIGIBLE:
                break
        if reached < 1.0:
            chances[row] = wrong / (1.0 - reached)
    return chances

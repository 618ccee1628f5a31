"""Samples at the very same place: no nearest-neighbour rule can tell them apart.

Copies with different classes contradict each other. The place gets the class that most of its
copies have (the one of the lowest row if several are as frequent), which no rule can better; the
other copies are contradicted, and are left out with a warning.
"""

import warnings

import numpy as np
from numpy.typing import NDArray


def number_places(X: NDArray[np.float64]) -> tuple[NDArray[np.intp], int]:
    """Return the number of each sample's place, and how many places there are."""
    order = np.lexsort(X.T)
    ordered = X[order]
    new = np.ones(len(X), dtype=bool)
    new[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    places = np.empty(len(X), dtype=np.intp)
    places[order] = np.cumsum(new) - 1
    return places, int(new.sum())


def uncontradicted(X: NDArray[np.float64], codes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Which samples have the class of their place."""
    places, n_places = number_places(X)
    if n_places == len(X):
        return np.ones(len(X), dtype=bool)
    n_classes = int(codes.max()) + 1
    cells, first, cell_of, counts = np.unique(
        places * n_classes + codes, return_index=True, return_inverse=True, return_counts=True
    )
    # Best cell of each place: most copies, then lowest row.
    ranked = np.lexsort((first, -counts, cells // n_classes))
    leads = np.append(True, np.diff(cells[ranked] // n_classes) > 0)
    wins = np.zeros(len(cells), dtype=bool)
    wins[ranked[leads]] = True
    chosen: NDArray[np.bool_] = wins[cell_of]
    return chosen


def warn_of_contradictions(count: int, stacklevel: int) -> None:
    """Say that some samples cannot be right."""
    if count:
        which = "1 sample is a copy" if count == 1 else f"{count} samples are copies"
        warnings.warn(
            f"{which} of samples with another class: no prototypes can classify all of them right. "
            "Each place keeps the class most of its copies have; the others are left out",
            UserWarning,
            stacklevel=stacklevel + 1,
        )

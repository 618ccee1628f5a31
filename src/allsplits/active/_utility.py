"""How much a point is worth asking about, from the shares of the committee.

With shares s_c of C classes (Celisse & Mary-Huard 2011, section 4.2, for two classes):

    agreement  A = (C · max s - 1) / (C - 1)       two classes: 2 · |s_1 - 1/2|
    utilities  1 - A,   entropy -Σ s ln s,   margin 1 - (largest s - second largest s)

For two classes all three rank points alike.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

Floats = NDArray[np.float64]


def agreement_of(shares: Floats) -> Floats:
    """1 where all members predict the same class, 0 where all classes get the same share."""
    n_classes = shares.shape[1]
    if n_classes == 1:
        return np.ones(len(shares))
    scaled: Floats = (n_classes * shares.max(axis=1) - 1) / (n_classes - 1)
    return np.clip(scaled, 0.0, 1.0)


def _disagreement(shares: Floats) -> Floats:
    return 1 - agreement_of(shares)


def _entropy(shares: Floats) -> Floats:
    total: Floats = np.sum(entr(np.clip(shares, 0.0, 1.0)), axis=1)
    return total


def _closeness(shares: Floats) -> Floats:
    if shares.shape[1] == 1:
        return np.zeros(len(shares))
    top = np.partition(shares, -2, axis=1)[:, -2:]
    return 1 - (top[:, 1] - top[:, 0])


#: utility -> its function of the shares; larger is more worth asking.
UTILITIES: dict[str, Callable[[Floats], Floats]] = {
    "agreement": _disagreement,
    "entropy": _entropy,
    "margin": _closeness,
}

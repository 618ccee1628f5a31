"""Nearest-neighbour learning evaluated exactly: the average over every possible split."""

from allsplits.model_selection import (
    Curve,
    Evaluation,
    KNeighborsClassifierCV,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.orders import NeighborOrder, order_neighbors
from allsplits.splits import FixedSize

__version__ = "0.1.0"

__all__ = [
    "Curve",
    "Evaluation",
    "FixedSize",
    "KNeighborsClassifierCV",
    "NeighborOrder",
    "evaluate",
    "learning_curve",
    "order_neighbors",
    "validation_curve",
]

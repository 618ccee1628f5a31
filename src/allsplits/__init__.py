"""Nearest-neighbour learning evaluated exactly: the average over every possible split."""

from allsplits.model_selection import (
    Curve,
    Evaluation,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    cmc_curve,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.orders import NeighborOrder, order_neighbors
from allsplits.splits import Bernoulli, Bootstrap, ClassCounts, Episodes, FixedSize

__version__ = "0.1.0"

__all__ = [
    "Bernoulli",
    "Bootstrap",
    "ClassCounts",
    "Curve",
    "Episodes",
    "Evaluation",
    "FixedSize",
    "KNeighborsClassifierCV",
    "KNeighborsRegressorCV",
    "NeighborOrder",
    "cmc_curve",
    "evaluate",
    "learning_curve",
    "order_neighbors",
    "validation_curve",
]

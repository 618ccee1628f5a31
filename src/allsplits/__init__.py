"""Nearest-neighbour learning evaluated exactly: the average over every possible split.

The public names are loaded when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allsplits.active import ActiveLearner, CommitteeQuery, Simulation, simulate
    from allsplits.boosting import UNNClassifier, UNNClassifierCV
    from allsplits.lazy import LazyRegressor, local_constant_path
    from allsplits.model_selection import (
        Comparison,
        Curve,
        Evaluation,
        Interval,
        KNeighborsClassifierCV,
        KNeighborsRegressorCV,
        cmc_curve,
        compare,
        evaluate,
        learning_curve,
        validation_curve,
    )
    from allsplits.orders import (
        NeighborOrder,
        SearchReport,
        order_from_graph,
        order_from_index,
        order_neighbors,
    )
    from allsplits.prototypes import (
        CondensedReduced,
        FastCondensed,
        GreedyClassQuery,
        IncrementalHistory,
        IncrementalNNClassifier,
        VoronoiComplexity,
        voronoi_complexity,
    )
    from allsplits.reports import Report, report
    from allsplits.splits import Bernoulli, Bootstrap, ClassCounts, Episodes, FixedSize

__version__ = "0.1.0"

__all__ = [
    "ActiveLearner",
    "Bernoulli",
    "Bootstrap",
    "ClassCounts",
    "CommitteeQuery",
    "Comparison",
    "CondensedReduced",
    "Curve",
    "Episodes",
    "Evaluation",
    "FastCondensed",
    "FixedSize",
    "GreedyClassQuery",
    "IncrementalHistory",
    "IncrementalNNClassifier",
    "Interval",
    "KNeighborsClassifierCV",
    "KNeighborsRegressorCV",
    "LazyRegressor",
    "NeighborOrder",
    "Report",
    "SearchReport",
    "Simulation",
    "UNNClassifier",
    "UNNClassifierCV",
    "VoronoiComplexity",
    "cmc_curve",
    "compare",
    "evaluate",
    "learning_curve",
    "local_constant_path",
    "order_from_graph",
    "order_from_index",
    "order_neighbors",
    "report",
    "simulate",
    "validation_curve",
    "voronoi_complexity",
]

_HOME_OF = {
    "ActiveLearner": "active",
    "Bernoulli": "splits",
    "Bootstrap": "splits",
    "ClassCounts": "splits",
    "CondensedReduced": "prototypes",
    "CommitteeQuery": "active",
    "Comparison": "model_selection",
    "Curve": "model_selection",
    "Episodes": "splits",
    "Evaluation": "model_selection",
    "FastCondensed": "prototypes",
    "FixedSize": "splits",
    "GreedyClassQuery": "prototypes",
    "IncrementalHistory": "prototypes",
    "IncrementalNNClassifier": "prototypes",
    "Interval": "model_selection",
    "KNeighborsClassifierCV": "model_selection",
    "KNeighborsRegressorCV": "model_selection",
    "LazyRegressor": "lazy",
    "NeighborOrder": "orders",
    "Report": "reports",
    "SearchReport": "orders",
    "VoronoiComplexity": "prototypes",
    "Simulation": "active",
    "UNNClassifier": "boosting",
    "UNNClassifierCV": "boosting",
    "cmc_curve": "model_selection",
    "compare": "model_selection",
    "evaluate": "model_selection",
    "learning_curve": "model_selection",
    "local_constant_path": "lazy",
    "order_from_graph": "orders",
    "order_from_index": "orders",
    "order_neighbors": "orders",
    "report": "reports",
    "simulate": "active",
    "validation_curve": "model_selection",
    "voronoi_complexity": "prototypes",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module 'allsplits' has no attribute {name!r}")
    value = getattr(import_module(f"allsplits.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

"""Nearest-neighbour learning evaluated exactly: the average over every possible split.

All public names are here; those of the pictures are in `allsplits.plots` as well. They are loaded
when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from allsplits.active import ActiveLearner, CommitteeQuery, Simulation, simulate
    from allsplits.boosting import Loss, ThetaScores, Trust, UNNClassifier, UNNClassifierCV
    from allsplits.lazy import LazyRegressor, LocalModels, LocalPaths, local_constant_path
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
    from allsplits.plots import (
        CMCCurveDisplay,
        ComparisonDisplay,
        ConfusionMatrixDisplay,
        DecisionMapDisplay,
        LearningCurveDisplay,
        SampleDifficultyDisplay,
        ValidationCurveDisplay,
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
    "CMCCurveDisplay",
    "ClassCounts",
    "CommitteeQuery",
    "Comparison",
    "ComparisonDisplay",
    "CondensedReduced",
    "ConfusionMatrixDisplay",
    "Curve",
    "DecisionMapDisplay",
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
    "LearningCurveDisplay",
    "LocalModels",
    "LocalPaths",
    "Loss",
    "NeighborOrder",
    "Report",
    "SampleDifficultyDisplay",
    "SearchReport",
    "Simulation",
    "ThetaScores",
    "Trust",
    "UNNClassifier",
    "UNNClassifierCV",
    "ValidationCurveDisplay",
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
    "CMCCurveDisplay": "plots",
    "ClassCounts": "splits",
    "CommitteeQuery": "active",
    "Comparison": "model_selection",
    "ComparisonDisplay": "plots",
    "CondensedReduced": "prototypes",
    "ConfusionMatrixDisplay": "plots",
    "Curve": "model_selection",
    "DecisionMapDisplay": "plots",
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
    "LearningCurveDisplay": "plots",
    "LocalModels": "lazy",
    "LocalPaths": "lazy",
    "Loss": "boosting",
    "NeighborOrder": "orders",
    "Report": "reports",
    "SampleDifficultyDisplay": "plots",
    "SearchReport": "orders",
    "Simulation": "active",
    "ThetaScores": "boosting",
    "Trust": "boosting",
    "UNNClassifier": "boosting",
    "UNNClassifierCV": "boosting",
    "ValidationCurveDisplay": "plots",
    "VoronoiComplexity": "prototypes",
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

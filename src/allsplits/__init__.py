"""Nearest-neighbour learning evaluated exactly: the average over every possible split.

All public names are here; those of the pictures are in `allsplits.plots` as well. They are loaded
when they are first used, so that importing the package is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Rooms with * offer public names only; the others have names for other rooms as well.
    from allsplits.active import *  # noqa: F403
    from allsplits.boosting import *  # noqa: F403
    from allsplits.exact import SplitSpread as SplitSpread
    from allsplits.labelling import *  # noqa: F403
    from allsplits.lazy import *  # noqa: F403
    from allsplits.model_selection import *  # noqa: F403
    from allsplits.orders import NeighborOrder as NeighborOrder
    from allsplits.orders import SearchReport as SearchReport
    from allsplits.orders import order_from_graph as order_from_graph
    from allsplits.orders import order_from_index as order_from_index
    from allsplits.orders import order_neighbors as order_neighbors
    from allsplits.plots import *  # noqa: F403
    from allsplits.probes import *  # noqa: F403
    from allsplits.prototypes import *  # noqa: F403
    from allsplits.replays import Replay as Replay
    from allsplits.reports import *  # noqa: F403
    from allsplits.splits import Bernoulli as Bernoulli
    from allsplits.splits import Bootstrap as Bootstrap
    from allsplits.splits import ClassCounts as ClassCounts
    from allsplits.splits import Episodes as Episodes
    from allsplits.splits import FixedSize as FixedSize
    from allsplits.values import *  # noqa: F403

__version__ = "0.2.0"

#: The public names, by the room that they are loaded from.
_OFFERED = {
    "active": "ActiveLearner CommitteeQuery Simulation simulate",
    "boosting": "Loss ThetaScores Trust UNNClassifier UNNClassifierCV",
    "exact": "SplitSpread",
    "labelling": "LabelPage LabelStore",
    "lazy": "LazyRegressor LocalModels LocalPaths local_constant_path",
    "model_selection": (
        "Audit Calibration Comparison CostMatrix Curve ErrorParts Evaluation Interval "
        "KNeighborsClassifierCV KNeighborsRegressorCV LogLoss NestedScore PipelineEvaluation "
        "Standings audit_split cmc_curve compare evaluate learning_curve replay retrieval_curve "
        "validation_curve"
    ),
    "orders": "NeighborOrder SearchReport order_from_graph order_from_index order_neighbors",
    "plots": (
        "CMCCurveDisplay ComparisonDisplay ConfusionMatrixDisplay DecisionMapDisplay "
        "LearningCurveDisplay RetrievalCurveDisplay SampleDifficultyDisplay ValidationCurveDisplay"
    ),
    "probes": "KNNProbe ProbeResult",
    "prototypes": (
        "CondensedReduced FastCondensed GreedyClassQuery IncrementalHistory "
        "IncrementalNNClassifier ShareClassQuery VoronoiComplexity voronoi_complexity"
    ),
    "replays": "Replay",
    "reports": "Report report",
    "splits": "Bernoulli Bootstrap ClassCounts Episodes FixedSize",
    "values": "SampleValues Suspects find_label_errors sample_values",
}
_ROOM_OF = {name: room for room, names in _OFFERED.items() for name in names.split()}

__all__ = sorted(_ROOM_OF)


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'allsplits' has no attribute {name!r}")
    value = getattr(import_module(f"allsplits.{_ROOM_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

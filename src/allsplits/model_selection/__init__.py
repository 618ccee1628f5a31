"""Choosing and judging nearest-neighbour models by exact averages over all splits."""

from allsplits.model_selection._audit import Audit, audit_split
from allsplits.model_selection._calibration import Calibration
from allsplits.model_selection._cmc_curve import cmc_curve
from allsplits.model_selection._compare import Comparison, compare
from allsplits.model_selection._curve import Curve
from allsplits.model_selection._error_parts import ErrorParts
from allsplits.model_selection._evaluate import evaluate
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._interval import Interval
from allsplits.model_selection._learning_curve import learning_curve
from allsplits.model_selection._measures import CostMatrix, LogLoss
from allsplits.model_selection._neighbors_cv import KNeighborsClassifierCV, KNeighborsRegressorCV
from allsplits.model_selection._nested import NestedScore
from allsplits.model_selection._pipeline_evaluation import PipelineEvaluation
from allsplits.model_selection._replay import replay
from allsplits.model_selection._retrieval_curve import retrieval_curve
from allsplits.model_selection._standings import Standings
from allsplits.model_selection._validation_curve import validation_curve

__all__ = [
    "Audit",
    "Calibration",
    "Comparison",
    "CostMatrix",
    "Curve",
    "ErrorParts",
    "Evaluation",
    "Interval",
    "KNeighborsClassifierCV",
    "KNeighborsRegressorCV",
    "LogLoss",
    "NestedScore",
    "PipelineEvaluation",
    "Standings",
    "audit_split",
    "cmc_curve",
    "compare",
    "evaluate",
    "learning_curve",
    "replay",
    "retrieval_curve",
    "validation_curve",
]

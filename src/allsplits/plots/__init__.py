"""Pictures in scikit-learn's manner: ``XDisplay.from_estimator(...)``, ``display.plot(ax=...)``.

All are readable in greyscale and by colour-blind people: classes differ by marker and line style as
well as by colour (Okabe & Ito's palette), and maps of shares use cividis.
"""

from allsplits.plots._comparison import ComparisonDisplay
from allsplits.plots._confusion import ConfusionMatrixDisplay
from allsplits.plots._curves import (
    CMCCurveDisplay,
    LearningCurveDisplay,
    RetrievalCurveDisplay,
    ValidationCurveDisplay,
)
from allsplits.plots._difficulty import SampleDifficultyDisplay
from allsplits.plots._map import DecisionMapDisplay

__all__ = [
    "CMCCurveDisplay",
    "ComparisonDisplay",
    "ConfusionMatrixDisplay",
    "DecisionMapDisplay",
    "LearningCurveDisplay",
    "RetrievalCurveDisplay",
    "SampleDifficultyDisplay",
    "ValidationCurveDisplay",
]

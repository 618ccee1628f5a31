"""Boosted votes: nearest neighbours that learn how much each example may say."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.boosting._losses import Loss
from allsplits.boosting._scores import ThetaScores
from allsplits.boosting._trust import Trust
from allsplits.boosting._unn import UNNClassifier
from allsplits.boosting._unn_cv import UNNClassifierCV

__all__ = ["Loss", "ThetaScores", "Trust", "UNNClassifier", "UNNClassifierCV"]

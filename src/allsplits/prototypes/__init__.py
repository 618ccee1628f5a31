"""Keeping what matters: prototypes, how hard each class is, and which class to ask for next."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.prototypes._condensed import CondensedReduced, FastCondensed
from allsplits.prototypes._greedy import GreedyClassQuery
from allsplits.prototypes._history import IncrementalHistory
from allsplits.prototypes._incremental import IncrementalNNClassifier
from allsplits.prototypes._shares import ShareClassQuery
from allsplits.prototypes._voronoi import VoronoiComplexity, voronoi_complexity

__all__ = [
    "CondensedReduced",
    "FastCondensed",
    "GreedyClassQuery",
    "IncrementalHistory",
    "IncrementalNNClassifier",
    "ShareClassQuery",
    "VoronoiComplexity",
    "voronoi_complexity",
]

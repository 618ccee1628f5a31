"""Keeping what matters: prototypes, how hard each class is, and which class to ask for next."""

from allsplits.prototypes._condensed import CondensedReduced, FastCondensed
from allsplits.prototypes._voronoi import VoronoiComplexity, voronoi_complexity

__all__ = ["CondensedReduced", "FastCondensed", "VoronoiComplexity", "voronoi_complexity"]

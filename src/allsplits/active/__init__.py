"""Active learning: which samples to label next, by a committee of all leave-p-out classifiers."""

from allsplits.active._query import CommitteeQuery

__all__ = ["CommitteeQuery"]

"""Active learning: which samples to label next, by a committee of all leave-p-out classifiers."""

from allsplits.active._learner import ActiveLearner
from allsplits.active._query import CommitteeQuery
from allsplits.active._simulate import simulate
from allsplits.active._simulation import Simulation

__all__ = ["ActiveLearner", "CommitteeQuery", "Simulation", "simulate"]

"""Embeddings judged by their neighbours while they are trained."""

from allsplits.probes._probe import KNNProbe
from allsplits.probes._result import ProbeResult

__all__ = ["KNNProbe", "ProbeResult"]

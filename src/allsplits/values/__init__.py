"""Which samples teach, and which mislead."""

from allsplits.values._result import SampleValues
from allsplits.values._sample_values import sample_values

__all__ = ["SampleValues", "sample_values"]

"""Which samples teach, which mislead, and whose labels are doubted."""

from allsplits.values._find_label_errors import find_label_errors
from allsplits.values._result import SampleValues
from allsplits.values._sample_values import sample_values
from allsplits.values._suspects import Suspects

__all__ = ["SampleValues", "Suspects", "find_label_errors", "sample_values"]

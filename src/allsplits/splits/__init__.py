"""Which training sets are possible, and how likely each is."""

from allsplits.splits._fixed import FixedSize, SizeLaw
from allsplits.splits._resolve import resolve_cv

__all__ = ["FixedSize", "SizeLaw", "resolve_cv"]

"""A page on which people label: it asks, keeps every answer, and says when it is enough."""

from allsplits.labelling._page import LabelPage
from allsplits.labelling._store import LabelStore

__all__ = ["LabelPage", "LabelStore"]

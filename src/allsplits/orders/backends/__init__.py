"""Ways to find neighbours: one protocol, one file each."""

from allsplits.orders.backends._protocol import Search
from allsplits.orders.backends.exact import exact_search

__all__ = ["Search", "exact_search"]

"""Ways to find neighbours: one protocol, one file each."""

from allsplits.orders.backends._protocol import Search
from allsplits.orders.backends.cross import CrossSearch
from allsplits.orders.backends.exact import exact_search

__all__ = ["CrossSearch", "Search", "exact_search"]

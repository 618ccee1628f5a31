"""Who is nearest to whom: neighbour orders in which ties are data, not sort accidents."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.orders._effort import search_seconds
from allsplits.orders._graph import order_from_graph
from allsplits.orders._index import order_from_index
from allsplits.orders._metric import Metric
from allsplits.orders._order import NeighborOrder, SearchReport
from allsplits.orders._queries import QuerySearch
from allsplits.orders._search import iter_orders, iter_parts, order_neighbors, read_points
from allsplits.orders._squares import has_tiny_values
from allsplits.orders._ties import TIE_TOLERANCE
from allsplits.orders.backends import CrossSearch, check_backend

__all__ = [
    "TIE_TOLERANCE",
    "CrossSearch",
    "Metric",
    "NeighborOrder",
    "QuerySearch",
    "SearchReport",
    "check_backend",
    "has_tiny_values",
    "iter_orders",
    "iter_parts",
    "order_from_graph",
    "order_from_index",
    "order_neighbors",
    "read_points",
    "search_seconds",
]

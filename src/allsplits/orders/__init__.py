"""Who is nearest to whom: neighbour orders in which ties are data, not sort accidents."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.orders.backends import check_backend
from allsplits.orders.device import DevicePoints
from allsplits.orders.effort import search_seconds
from allsplits.orders.graph import order_from_graph
from allsplits.orders.index import order_from_index
from allsplits.orders.kernel_types import TIE_TOLERANCE, UNIT_ROUNDOFF
from allsplits.orders.metric import Metric
from allsplits.orders.order import NeighborOrder, SearchReport
from allsplits.orders.reference import Reference, order_neighbors
from allsplits.orders.search import iter_parts, read_new, read_points, read_queries, read_samples
from allsplits.orders.sparse_points import SparsePoints, as_given
from allsplits.orders.squares import has_tiny_values

__all__ = [
    "TIE_TOLERANCE",
    "UNIT_ROUNDOFF",
    "DevicePoints",
    "Metric",
    "NeighborOrder",
    "Reference",
    "SearchReport",
    "SparsePoints",
    "as_given",
    "check_backend",
    "has_tiny_values",
    "iter_parts",
    "order_from_graph",
    "order_from_index",
    "order_neighbors",
    "read_new",
    "read_points",
    "read_queries",
    "read_samples",
    "search_seconds",
]

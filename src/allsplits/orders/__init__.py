"""Who is nearest to whom: neighbour orders in which ties are data, not sort accidents."""

from allsplits.orders._metric import Metric
from allsplits.orders._order import NeighborOrder
from allsplits.orders._queries import QuerySearch
from allsplits.orders._search import iter_orders, order_neighbors
from allsplits.orders.backends import CrossSearch

__all__ = [
    "CrossSearch",
    "Metric",
    "NeighborOrder",
    "QuerySearch",
    "iter_orders",
    "order_neighbors",
]

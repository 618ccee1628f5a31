"""Ways to find neighbours: one protocol, one file each."""

from allsplits.orders.backends._protocol import Block, Part, Search, whole_order
from allsplits.orders.backends._registry import (
    BACKENDS,
    check_backend,
    choose_backend,
    prepare_search,
)
from allsplits.orders.backends.cross import CrossSearch

__all__ = [
    "BACKENDS",
    "Block",
    "CrossSearch",
    "Part",
    "Search",
    "check_backend",
    "choose_backend",
    "prepare_search",
    "whole_order",
]

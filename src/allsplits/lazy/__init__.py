"""Lazy learning: local models that are fitted, validated and chosen when a query arrives."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.lazy._constant import local_constant_path
from allsplits.lazy._regressor import LazyRegressor
from allsplits.lazy._results import LocalModels, LocalPaths

__all__ = ["LazyRegressor", "LocalModels", "LocalPaths", "local_constant_path"]

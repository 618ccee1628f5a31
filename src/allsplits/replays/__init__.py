"""Any split as a mask on a stored order: what has no closed form, with its Monte Carlo error."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.replays.result import Replay

__all__ = ["Replay"]

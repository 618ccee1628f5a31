"""Run a compiled kernel on row ranges in threads (the kernels release the GIL)."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import lru_cache
from numbers import Integral

import joblib

from allsplits.exceptions import InvalidInputError


def thread_count(n_jobs: int | None) -> int:
    """Threads to use: all cores for None, otherwise joblib's reading of `n_jobs`."""
    allowed = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool) and n_jobs != 0
    if n_jobs is not None and not allowed:
        raise InvalidInputError(
            f"n_jobs must be None (all cores), a number of threads or -1; got {n_jobs!r}"
        )
    return _effective(-1 if n_jobs is None else int(n_jobs))


@lru_cache
def _effective(n_jobs: int) -> int:
    return int(joblib.effective_n_jobs(n_jobs))


def map_row_ranges(
    kernel: Callable[[int, int], None], n_rows: int, n_threads: int, *, smallest: int = 64
) -> None:
    """Call ``kernel(start, stop)`` on ranges that cover ``range(n_rows)``, side by side.

    Each row is written by exactly one call, so the result does not depend on `n_threads`. There
    are more ranges than threads so that slow rows do not leave a thread idle. The kernel must not
    call this function: it would wait for its own thread.
    """
    step = max(smallest, -(-n_rows // (4 * n_threads)))
    if n_threads == 1 or n_rows <= step:
        kernel(0, n_rows)
        return
    starts = range(0, n_rows, step)
    futures = [_pool(n_threads).submit(kernel, s, min(s + step, n_rows)) for s in starts]
    try:
        for future in futures:
            future.result()
    except BaseException:
        # Nobody writes into the caller's arrays after an error or Ctrl-C.
        for future in futures:
            future.cancel()
        wait(futures)
        raise


@lru_cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Threads that wait for the next call: starting them costs more than a small kernel."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="allsplits")


# Threads do not survive a fork: the child starts its own.
os.register_at_fork(after_in_child=_pool.cache_clear)

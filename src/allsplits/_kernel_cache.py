"""Where compiled kernels are kept, so that a second process need not compile them again.

numba keeps them beside the sources or in the user's cache folder, gives up with an error where
neither can be written, and trusts whatever it finds there. Kernels of this package are kept by a
`KernelCache` instead, which differs in six ways:

- what came compiled with the installation is used where it fits (`_kernel_files`);
- without a place beside the sources and in the home there is a folder in the temporary directory
  that only its user can open, and failing that no cache at all: the kernels work all the same;
- a folder that somebody else could have filled is never read: its files are code that would be run;
- a file that is cut short or damaged is compiled and written anew;
- a disk that is full costs the cache, not the result;
- a change in one file of kernels empties the cache of all, since compiled code contains the code
  of what it calls.

Importing this module before a file of kernels is enough; functions of other packages keep numba's
own cache.
"""

import os
import stat
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba.core import caching, dispatcher

import allsplits._compile_notice  # noqa: F401 - kernels that are not kept yet are compiled
from allsplits._kernel_files import KernelFiles, ShippingCache, kernel_stamp, load_shipped

_dispatchers: Any = dispatcher.Dispatcher
_enable_caching = _dispatchers.enable_caching


@lru_cache
def only_ours_to_write(folder: Path) -> bool:
    """Whether nobody but this user and the administrator can put files there, or replace it.

    The group may write: many systems give every user a group of their own.
    """
    if not hasattr(os, "geteuid"):  # Windows: homes and temporary folders are the user's own
        return True
    us = os.geteuid()
    trusted = {us, 0, Path("/").stat().st_uid}
    try:
        last = folder.lstat()
        if not stat.S_ISDIR(last.st_mode) or last.st_uid != us or last.st_mode & stat.S_IWOTH:
            return False
        above = {*folder.parents, *folder.resolve().parents}
        return all(_keeps_its_entries(parent.lstat(), trusted) for parent in above)
    except OSError:
        return False


def _keeps_its_entries(state: os.stat_result, trusted: set[int]) -> bool:
    """Whether others can neither rename nor remove what is in a folder (a link: redirect it)."""
    for_all = state.st_mode & stat.S_IWOTH and not stat.S_ISLNK(state.st_mode)
    return state.st_uid in trusted and not (for_all and not state.st_mode & stat.S_ISVTX)


class _HomeLocator(caching.UserWideCacheLocator):  # type: ignore[misc]
    """The user's cache folder, unless somebody else can write there."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        found = super().from_function(py_func, py_file)
        if found is None or not only_ours_to_write(Path(found.get_cache_path()).absolute()):
            return None
        return found


class _TemporaryLocator(caching.UserWideCacheLocator):  # type: ignore[misc]
    """A folder in the temporary directory that only its user can open."""

    def __init__(self, py_func: Any, py_file: str) -> None:
        super().__init__(py_func, py_file)
        self._root = Path(tempfile.gettempdir()).resolve() / f"allsplits-{_user()}"
        self._cache_path = str(self._root / self.get_suitable_cache_subpath(py_file))

    def ensure_cache_path(self) -> None:
        """Make the folder, or raise OSError where it is not this user's alone."""
        self._root.mkdir(mode=0o700, exist_ok=True)
        if not _is_private(self._root):
            raise PermissionError(f"{self._root} can be opened by others")
        super().ensure_cache_path()

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        try:
            return super().from_function(py_func, py_file)
        except OSError:  # there is no temporary directory
            return None


def _user() -> str:
    return str(os.geteuid()) if hasattr(os, "geteuid") else "user"


def _is_private(folder: Path) -> bool:
    closed = os.name == "nt" or folder.lstat().st_mode & 0o077 == 0
    return closed and only_ours_to_write(folder)


class _KernelCacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    _locator_classes = [  # noqa: RUF012 - numba's name and kind
        *(
            _HomeLocator if locator is caching.UserWideCacheLocator else locator
            for locator in caching.CacheImpl._locator_classes
        ),
        _TemporaryLocator,
    ]


class KernelCache(caching.FunctionCache):  # type: ignore[misc]
    """The compiled code of one kernel on the disk: a help where it works, never an error."""

    _impl_class = _KernelCacheImpl

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        stamp = self._impl.locator.get_source_stamp(), kernel_stamp()
        self._cache_file = KernelFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code for these types, or None."""
        found = load_shipped(self._py_func, sig, target_context)
        if found is not None:
            return found
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # whole files of another make: as if they were not there
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save the compiled code if the disk takes it."""
        try:
            super().save_overload(sig, data)
        except OSError:
            self.disable()


class _NowhereToKeep(caching.NullCache):  # type: ignore[misc]
    """Nothing is kept; what came with the installation is there all the same."""

    def __init__(self, py_func: Any) -> None:
        self._py_func = py_func

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled code that came with the installation, or None."""
        return load_shipped(self._py_func, sig, target_context)


def _enable_kernel_caching(kernel: Any) -> None:
    """What `cache=True` does: our cache for our kernels, numba's for all others."""
    if not str(kernel.py_func.__module__).startswith("allsplits."):
        _enable_caching(kernel)
        return
    try:
        kernel._cache = KernelCache(kernel.py_func)
    except (OSError, RuntimeError):  # numba: "no locator available"
        kernel._cache = _NowhereToKeep(kernel.py_func)


_dispatchers.enable_caching = _enable_kernel_caching


def ship_kernels(folder: Path) -> None:
    """Have all kernels written there when they are compiled; none may be imported before."""
    ours = [name for name in sys.modules if name.startswith("allsplits.")]
    early = [name for name in ours if "kernels" in name.rpartition(".")[2]]
    if early:
        raise RuntimeError(f"kernels were imported before they could be shipped: {early}")

    def ship(kernel: Any) -> None:
        kernel._cache = ShippingCache(kernel.py_func, folder)

    _dispatchers.enable_caching = ship

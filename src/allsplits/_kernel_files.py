"""Kernels that came compiled with the installation, and the files that compiled code is kept in.

When a wheel is built, the usual calls are made once (`compiling/`) and the code that was compiled
for them is put into the folder `_compiled` of the package. It is compiled for the processors of the
last ten years, not for the one that builds, and is used only where all of this holds:

- numba, llvmlite, Python, the platform and every file of kernels are those of the build;
- this processor can do whatever the code was allowed to use;
- the file is whole.

Else the kernel is compiled here, as if nothing had come. The folder is never written to. Whoever
can write there could as well change the package around it: its files are trusted like code.
"""

import hashlib
import pickle
from functools import lru_cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba.core import caching, compiler

_PACKAGE = Path(__file__).parent
_FOLDER = _PACKAGE / "_compiled"
#: What shipped code may use, by processor; of others only what all of their kind can do.
_FEATURES = {"x86_64": ("+avx2", "+bmi", "+bmi2", "+fma", "+lzcnt", "+popcnt")}
_SEAL = hashlib.sha256().digest_size


@lru_cache
def kernel_stamp() -> tuple[str, ...]:
    """What all compiled code depends on: who compiles, for whom, and every file of kernels."""
    contents = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*kernel*.py")):
        contents.update(hashlib.sha256(file.read_bytes()).digest())
    made_by = numba.__version__, llvmlite.__version__, EXTENSION_SUFFIXES[0]
    return *made_by, contents.hexdigest()


class KernelFiles(caching.IndexDataCacheFile):  # type: ignore[misc]
    """The compiled code of one kernel, a file for each set of types, found by the types alone.

    (numba has an index beside them: of two processes that write at the same time one can forget, or
    load, what the other compiled.) A file begins with a hash of its contents and of what they
    depend on: what is damaged, or of another make, is never unpickled.
    """

    def load(self, key: Any) -> Any:
        """What was saved under the key, or None."""
        try:
            whole = self._path(key).read_bytes()
            if whole[:_SEAL] != self._seal(whole[_SEAL:]):
                return None
            saved, data = pickle.loads(whole[_SEAL:])
        except Exception:  # a pickle that names what is not there may raise anything
            return None
        return data if saved == key else None

    def save(self, key: Any, data: Any) -> None:
        """Write the file of the key; it appears at once, and whole."""
        contents = self._dump((key, data))
        with self._open_for_write(str(self._path(key))) as file:
            file.write(self._seal(contents) + contents)

    def flush(self) -> None:
        """Remove what was saved, under whichever key."""
        pattern = self._data_name_pattern.replace("{number:d}", "*")
        for file in Path(self._cache_path).glob(pattern):
            file.unlink(missing_ok=True)

    def _path(self, key: Any) -> Path:
        number = int.from_bytes(hashlib.sha256(str(key).encode()).digest()[:6])
        return Path(self._data_path(self._data_name(number)))

    def _seal(self, contents: bytes) -> bytes:
        return hashlib.sha256(repr(self._source_stamp).encode() + contents).digest()


def load_shipped(kernel: Any, types: Any, target_context: Any) -> Any:
    """The compiled code of a Python function for these types, or None where none came or fits."""
    try:
        target_context.refresh()
        triple, _, features = target_context.codegen().magic_tuple()
        if not set(_allowed(triple)) <= set(features.split(",")):
            return None
        data = _files(kernel, _FOLDER).load(_key(kernel, types, triple))
        return data and compiler.CompileResult._rebuild(target_context, *data)
    except Exception:  # as if nothing had come
        return None


def shipped_target() -> dict[str, str]:
    """What numba must read from the environment to compile code that can be shipped."""
    triple = llvmlite.binding.get_process_triple()
    return {
        "NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ",".join(_allowed(triple)),
        "NUMBA_DISABLE_INTEL_SVML": "1",  # a library that others need not have
    }  # fmt: skip


class ShippingCache(caching.NullCache):  # type: ignore[misc]
    """Of a kernel whose code shall be shipped: finds nothing, and writes all into a folder."""

    def __init__(self, kernel: Any, folder: Path) -> None:
        self._kernel, self._files = kernel, _files(kernel, folder)

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Write what was compiled for these types."""
        triple, *target = cres.codegen.magic_tuple()
        if target != ["generic", ",".join(_allowed(triple))]:
            raise RuntimeError(f"code for {target} cannot be shipped")
        if cres.library.has_dynamic_globals:
            raise RuntimeError(f"{self._kernel} cannot be shipped: it holds addresses")
        self._files.save(_key(self._kernel, sig, triple), cres._reduce())


def _allowed(triple: str) -> tuple[str, ...]:
    return _FEATURES.get(triple.split("-")[0], ())


def _files(kernel: Any, folder: Path) -> KernelFiles:
    name = f"{kernel.__module__.removeprefix('allsplits.')}.{kernel.__qualname__}"
    return KernelFiles(str(folder), name, kernel_stamp())


def _key(kernel: Any, types: Any, triple: str) -> tuple[Any, ...]:
    return types, triple, _allowed(triple), kernel.__module__, kernel.__qualname__

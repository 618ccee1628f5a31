"""Frames out: results as pandas or polars data frames, whichever the user has."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from typing import Any

import narwhals as nw

from allsplits.exceptions import InvalidInputError, MissingExtraError

__all__ = ["make_frame"]

_LIBRARIES = ("pandas", "polars")


def make_frame(columns: Mapping[str, Any], backend: str | None = None) -> Any:
    """Build a data frame with `backend` ("pandas", "polars"), or the first one installed."""
    if backend is not None and backend not in _LIBRARIES:
        raise InvalidInputError(f"backend must be one of {_LIBRARIES} or None; got {backend!r}")
    candidates = _LIBRARIES if backend is None else (backend,)
    for library in candidates:
        if importlib.util.find_spec(library) is not None:
            implementation = nw.Implementation.from_string(library)
            return nw.from_dict(dict(columns), backend=implementation).to_native()  # type: ignore[arg-type]
    raise MissingExtraError(
        f"frame() needs {' or '.join(candidates)}, which is not installed: "
        f"pip install {candidates[0]}"
    )

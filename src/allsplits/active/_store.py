"""Files that survive crashes: at every moment they hold the old document or the new, complete.

The format is JSON: readable by eye, by any language, and nothing in it can run when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from allsplits._files import replace_file
from allsplits.exceptions import InvalidInputError

__all__ = ["fingerprint", "read_document", "to_plain", "write_document"]


def fingerprint(X: NDArray[np.float64]) -> dict[str, Any]:
    """What tells one array of points from another."""
    digest = hashlib.sha256()
    # In blocks of rows: an array that is not contiguous is not copied as a whole.
    for start in range(0, len(X), 65536):
        digest.update(np.ascontiguousarray(X[start : start + 65536]).data)
    return {"shape": list(X.shape), "sha256": digest.hexdigest()}


def to_plain(name: str, value: Any) -> Any:
    """Turn a value into what JSON can hold, or say which parameter it is that cannot be saved."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, dict):
        return {str(key): to_plain(name, item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple, range)):
        return [to_plain(name, item) for item in value]
    raise InvalidInputError(
        f"{name} must be made of numbers, text and lists to be saved; "
        f"got a {type(value).__name__}: {value!r}"
    )


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Replace the file in one step; return when it is on the disk."""

    def write(file: BinaryIO) -> None:
        text = io.TextIOWrapper(file, encoding="utf-8")
        json.dump(document, text, indent=1)
        text.detach()

    replace_file(path, write, one_writer=True)


def read_document(path: Path, format_name: str, version: int) -> dict[str, Any]:
    """Read a document of ours, or say what is wrong with the file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(
            f"path must be a saved {format_name}; {path} is not there"
        ) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInputError(
            f"path must be a saved {format_name}; cannot read {path}: {error}"
        ) from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != format_name or document.get("version") != version:
        raise InvalidInputError(
            f"path must be a saved {format_name} of version {version}; {path} holds {found!r}"
            + (f" of version {document.get('version')!r}" if found == format_name else "")
        )
    return dict(document)

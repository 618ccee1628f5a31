"""Documents as bytes and back: JSON, readable by eye, and nothing in it can run when it is read."""

import hashlib
import json
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from allsplits.exceptions import InvalidInputError
from allsplits.orders import SparsePoints


def fingerprint(X: Any) -> dict[str, Any]:
    """What tells one array of points, or sparse points, from others."""
    digest = hashlib.sha256()
    if isinstance(X, SparsePoints):
        for part in (X.rows.indptr, X.rows.indices):
            digest.update(part.astype(np.int64).data)
        digest.update(X.rows.data.data)
        return {"shape": list(X.shape), "sha256": digest.hexdigest()}
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


def encode_document(document: dict[str, Any]) -> bytes:
    """The document as text in UTF-8."""
    return json.dumps(document, indent=1).encode()


def read_bytes(path: Path, format_name: str) -> bytes:
    """What is in a file of ours, or what is wrong with it."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InvalidInputError(
            f"path must be a saved {format_name}; {path} is not there"
        ) from None
    except OSError as error:
        raise InvalidInputError(
            f"path must be a saved {format_name}; cannot read {path}: {error.strerror}"
        ) from error


def decode_document(data: bytes, path: Path, format_name: str, version: int) -> dict[str, Any]:
    """Read a document of ours, or say what is wrong with the file."""
    try:
        document = json.loads(data.decode(), parse_constant=_refuse_constant)
    except RecursionError:
        raise InvalidInputError(
            f"path must be a saved {format_name}; cannot read {path}: lists within lists too deep"
        ) from None
    except ValueError as error:  # not UTF-8, not JSON, a number of thousands of digits
        raise InvalidInputError(
            f"path must be a saved {format_name}; cannot read {path}: {error}"
        ) from error
    found = document.get("format") if isinstance(document, dict) else None
    other = document.get("version") if found == format_name else None
    if other != version or isinstance(other, bool):
        raise InvalidInputError(
            f"path must be a saved {format_name} of version {version}; {path} holds "
            f"{_shortened(found)}"
            + (f" of version {_shortened(other)}" if found == format_name else "")
        )
    return dict(document)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _shortened(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}…"

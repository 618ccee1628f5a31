"""Labels as pages and files hold them: text, or numbers; never both in one effort.

In the file a label is a JSON scalar, so that nothing in it can run; on the page it is text.
"""

from __future__ import annotations

import json
import math
import unicodedata
from collections.abc import Iterable
from typing import Any

import numpy as np

from allsplits.exceptions import InvalidInputError

#: A label is text or a number.
Label = str | int | float
KINDS = ("text", "number")
#: Longer labels are no labels.
LONGEST_LABEL = 200
#: Categories of characters that no label has: controls, halves of pairs, unassigned.
_UNREADABLE = ("Cc", "Cs", "Cn")


def kind_of(labels: Iterable[Any]) -> str | None:
    """What the labels are, None if there are none; raises where they are of two kinds."""
    kinds = {"text" if isinstance(label, str) else "number" for label in labels}
    if len(kinds) > 1:
        raise InvalidInputError("classes must be text or numbers, not both")
    return kinds.pop() if kinds else None


def plain_label(name: str, value: Any) -> Label:
    """A label as Python's text or number, checked."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InvalidInputError(f"{name} must hold text or numbers; got {value!r}")
    if isinstance(value, str):
        return _checked_text(name, value)
    if not math.isfinite(value) or abs(value) >= 2**63:
        raise InvalidInputError(f"{name} must hold finite numbers; got {value!r}")
    return int(value) if value == int(value) else value


def _checked_text(name: str, text: str) -> str:
    text = text.strip()
    if not text:
        raise InvalidInputError(f"{name} must not be empty")
    if len(text) > LONGEST_LABEL:
        raise InvalidInputError(
            f"{name} must have at most {LONGEST_LABEL} characters; got {len(text):,}"
        )
    if any(unicodedata.category(c) in _UNREADABLE for c in text):
        raise InvalidInputError(f"{name} must be readable text; got {text!r}")
    return text


def read_label(name: str, text: Any, kind: str) -> Label:
    """A label that somebody typed, as the kind of label that this effort has."""
    if not isinstance(text, str):
        raise InvalidInputError(f"{name} must be text; got a {type(text).__name__}")
    read = _checked_text(name, text)
    if kind == "text":
        return read
    try:
        return plain_label(name, int(read) if read.lstrip("+-").isdecimal() else float(read))
    except ValueError:
        raise InvalidInputError(
            f"{name} must be a number, as the other labels are; got {text!r}"
        ) from None


def label_text(label: Label) -> str:
    """A label as the page shows it."""
    return (
        label if isinstance(label, str) else f"{label:.17g}" if label != int(label) else str(label)
    )


def encode_label(label: Label) -> str:
    """A label for the file."""
    return json.dumps(label, ensure_ascii=False)


def decode_label(text: Any, kind: str) -> Label:
    """A label of the file, checked."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError):
        raise InvalidInputError(f"a label must be JSON; got {text!r:.80}") from None
    label = plain_label("a label", value)
    if kind_of([label]) != kind:
        raise InvalidInputError(f"a label must be a {kind}; got {text!r:.80}")
    return label

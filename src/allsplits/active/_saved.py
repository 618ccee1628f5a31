"""A learner as a JSON document: parameters, what X is recognised by, and every round.

A file may have been edited, cut off or made up: each field is checked before it is used, and the
error names the file and the field.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_count
from allsplits.active._rows import read_rows
from allsplits.active._state import Round
from allsplits.active._store import (
    decode_document,
    encode_document,
    fingerprint,
    read_bytes,
    to_plain,
)
from allsplits.active._tuning import read_neighbors
from allsplits.exceptions import AllSplitsError, InvalidInputError

_FORMAT, _VERSION = "allsplits.ActiveLearner", 3


@dataclass(frozen=True)
class SavedLearner:
    """What is in the file. X itself is not: it may be large, and it does not change."""

    params: Mapping[str, Any]
    fingerprint: Mapping[str, Any]
    autosave: bool
    rounds: tuple[Round, ...]

    def encode(self) -> bytes:
        """The file's content."""
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "params": {name: to_plain(name, value) for name, value in self.params.items()},
            "X": self.fingerprint,
            "autosave": self.autosave,
            "rounds": [_plain_round(one) for one in self.rounds],
        }
        return encode_document(document)

    @classmethod
    def read(cls, path: Path) -> SavedLearner:
        """Read a file, or say what is wrong with it."""
        return cls.decode(read_bytes(path, _FORMAT), path)

    @classmethod
    def decode(cls, data: bytes, path: Path) -> SavedLearner:
        """Read the content of a file, or say what is wrong with it."""
        document = decode_document(data, path, _FORMAT, _VERSION)
        try:
            params = _read_params(document)
            shape = _read_shape(_field(document, "X", dict))
            candidates = read_neighbors(params.get("n_neighbors"))
            rounds = tuple(
                _read_round(f"rounds[{i}]", one, shape[0], candidates)
                for i, one in enumerate(_field(document, "rounds", list))
            )
            if not rounds:
                raise InvalidInputError("rounds must hold at least one; got none")
            return cls(params, document["X"], _field(document, "autosave", bool), rounds)
        except AllSplitsError as error:
            raise damaged(path, error) from error

    def check_names(self, path: str | Path, known: set[str]) -> None:
        """Raise unless the parameters are those that a learner has."""
        unlike = sorted(known ^ set(self.params))
        if unlike:
            raise damaged(path, f"params must be {sorted(known)}; too many or missing: {unlike}")

    def check_points(self, path: str | Path, X: NDArray[np.float64]) -> None:
        """Raise unless X is what the file was saved with."""
        now, then = fingerprint(X), self.fingerprint
        if now != then:
            other = ", other values" if now["shape"] == then["shape"] else ""
            raise InvalidInputError(
                f"X must be the samples that {path} was saved with, in the same order: "
                f"shape {then['shape']} then, {now['shape']} now{other}"
            )


def damaged(path: str | Path, what: object) -> InvalidInputError:
    """The error for a file that is ours and cannot be right."""
    text = str(what)
    short = text if len(text) <= 300 else f"{text[:300]}…"
    return InvalidInputError(f"path must be a saved {_FORMAT}; {path} is damaged: {short}")


def _field(document: Any, name: str, kind: type, within: str = "") -> Any:
    """One field of the kind that it must have."""
    place = f"{within}.{name}" if within else name
    if not isinstance(document, dict):
        raise InvalidInputError(f"{within} must be an object; got a {type(document).__name__}")
    value = document.get(name)
    if not isinstance(value, kind):
        words = {dict: "an object", list: "a list", bool: "true or false", str: "text"}
        raise InvalidInputError(
            f"{place} must be {words[kind]}; got "
            + ("nothing" if name not in document else f"a {type(value).__name__}")
        )
    return value


def _read_params(document: dict[str, Any]) -> dict[str, Any]:
    """The parameters as they were: lists among those of the metric were arrays."""
    params = _field(document, "params", dict)
    seed = params.get("random_state")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise InvalidInputError(
            f"params.random_state must be an integer; got a {type(seed).__name__}"
        )
    given = params.get("metric_params")
    if given is not None:
        given = {
            key: np.array(value) if isinstance(value, list) else value
            for key, value in _field(params, "metric_params", dict, "params").items()
        }
    return {**params, "metric_params": given or None}


def _read_shape(X: dict[str, Any]) -> list[int]:
    shape = _field(X, "shape", list, "X")
    _field(X, "sha256", str, "X")
    if len(shape) != 2:
        raise InvalidInputError(f"X.shape must hold two numbers; got {len(shape)}")
    return [check_count("X.shape", size) for size in shape]


def _plain_round(one: Round) -> dict[str, Any]:
    return {
        "indices": list(one.indices),
        "labels": to_plain("labels", one.labels),
        "n_neighbors": one.n_neighbors,
        # JSON has no NaN.
        "score": None if np.isnan(one.score) else one.score,
    }


def _read_round(place: str, one: Any, n_samples: int, candidates: list[int]) -> Round:
    indices = _field(one, "indices", list, place)
    labels = _field(one, "labels", list, place)
    for i in indices:
        check_count(f"{place}.indices", i, at_most=n_samples - 1)
    rows = read_rows(f"{place}.indices", indices, n_samples).tolist()
    if len(labels) != len(rows):
        raise InvalidInputError(
            f"{place}.labels must be one for each of the {len(rows)} indices; got {len(labels)}"
        )
    if not all(label is None or isinstance(label, (str, int, float)) for label in labels):
        raise InvalidInputError(f"{place}.labels must be text, numbers or null")
    k = check_count(f"{place}.n_neighbors", one.get("n_neighbors"))
    if k not in candidates:
        raise InvalidInputError(
            f"{place}.n_neighbors must be one of params.n_neighbors, from {candidates[0]} to "
            f"{candidates[-1]}; got {k}"
        )
    return Round(tuple(rows), tuple(labels), k, _read_score(f"{place}.score", one.get("score")))


def _read_score(place: str, score: Any) -> float:
    if score is None:
        return math.nan
    if isinstance(score, bool) or not isinstance(score, (int, float)) or not 0 <= score < 1 + 1e-9:
        raise InvalidInputError(f"{place} must be a number from 0 to 1 or null; got {score!r}")
    return float(score)

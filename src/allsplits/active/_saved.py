"""A learner as a JSON document: parameters, what X is recognised by, and every round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from allsplits.active._state import Round
from allsplits.active._store import read_document, to_plain, write_document
from allsplits.exceptions import InvalidInputError

__all__ = ["SavedLearner"]

_FORMAT, _VERSION = "allsplits.ActiveLearner", 1


@dataclass(frozen=True)
class SavedLearner:
    """What is in the file. X itself is not: it may be large, and it does not change."""

    params: Mapping[str, Any]
    fingerprint: Mapping[str, Any]
    autosave: bool
    rounds: tuple[Round, ...]

    def write(self, path: Path) -> None:
        """Replace the file in one step."""
        document = {
            "format": _FORMAT,
            "version": _VERSION,
            "params": {name: to_plain(name, value) for name, value in self.params.items()},
            "X": self.fingerprint,
            "autosave": self.autosave,
            "rounds": [_plain_round(one) for one in self.rounds],
        }
        write_document(path, document)

    @classmethod
    def read(cls, path: Path) -> SavedLearner:
        """Read the file, or say what is wrong with it."""
        document = read_document(path, _FORMAT, _VERSION)
        try:
            n_samples = int(document["X"]["shape"][0])
            rounds = tuple(_read_round(one, n_samples) for one in document["rounds"])
            if not rounds:
                raise ValueError("no rounds")
            params = _with_arrays(document["params"])
            return cls(params, document["X"], bool(document["autosave"]), rounds)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InvalidInputError(
                f"path must be a saved {_FORMAT}; {path} is damaged: {error!r}"
            ) from error

    def check_names(self, path: str | Path, known: set[str]) -> None:
        """Raise if there are parameters that a learner does not have."""
        unknown = sorted(set(self.params) - known)
        if unknown:
            raise InvalidInputError(
                f"path must be a saved {_FORMAT}; {path} is damaged: parameters {unknown}"
            )


def _plain_round(one: Round) -> dict[str, Any]:
    return {
        "indices": list(one.indices),
        "labels": to_plain("labels", one.labels),
        "n_neighbors": one.n_neighbors,
        # JSON has no NaN.
        "score": None if np.isnan(one.score) else one.score,
    }


def _read_round(one: dict[str, Any], n_samples: int) -> Round:
    score = float("nan") if one["score"] is None else float(one["score"])
    indices = tuple(int(i) for i in one["indices"])
    labels = tuple(one["labels"])
    if len(indices) != len(labels):
        raise ValueError(f"{len(indices)} indices and {len(labels)} labels")
    if not all(0 <= i < n_samples for i in indices):
        raise ValueError(f"indices beyond {n_samples} samples")
    return Round(indices, labels, int(one["n_neighbors"]), score)


def _with_arrays(params: dict[str, Any]) -> dict[str, Any]:
    """The parameters as they were: lists among those of the metric were arrays."""
    given = params.get("metric_params") or {}
    arrays = {key: np.array(v) if isinstance(v, list) else v for key, v in given.items()}
    seed = int(params["random_state"])
    return {**params, "metric_params": arrays or None, "random_state": seed}

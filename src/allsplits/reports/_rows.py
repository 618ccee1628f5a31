"""The samples worth looking at: the hardest ones, and those whose label looks wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_points
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection import Evaluation
from allsplits.orders import NeighborOrder
from allsplits.reports._images import check_image_shape, png_address
from allsplits.reports._text import as_number, as_text

__all__ = ["Rows", "hardest", "suspects"]

#: A label is suspected if the sample, held out, is given one other class this often.
SUSPICION = 0.9
#: More features than this are not shown for a sample.
_MOST_FEATURES = 24


@dataclass(frozen=True)
class Rows:
    """What is known of the samples themselves."""

    names: list[str]
    columns: Any
    n_features: int
    image_shape: tuple[int, ...] | None
    low: float
    high: float

    @classmethod
    def read(cls, X: Any, n_samples: int, image_shape: Any, feature_names: Any) -> Rows | None:
        """Rows of a frame or an array; None for neighbour orders and where X is not given."""
        if X is None or isinstance(X, NeighborOrder):
            if image_shape is not None:
                raise InvalidInputError("image_shape needs X, the samples themselves; got none")
            return None
        columns: Any = nw.from_native(X, pass_through=True, eager_only=True)
        if not isinstance(columns, nw.DataFrame) or image_shape is not None:
            columns = check_points(X, at_least=1, allow_nan=True)
        if len(columns) != n_samples:
            raise InvalidInputError(
                f"X must have one row for each of the {n_samples} samples; got {len(columns)}"
            )
        n_features = columns.shape[1]
        own = getattr(columns, "columns", None) or [f"x{i}" for i in range(n_features)]
        names = _check_names(feature_names, own)
        shape = check_image_shape(image_shape, n_features)
        low, high = (0.0, 1.0) if shape is None else _range(columns)
        return cls([as_text(name) for name in names], columns, n_features, shape, low, high)

    def values(self, row: int) -> list[str]:
        """The sample's values, as many as are shown."""
        if isinstance(self.columns, nw.DataFrame):
            found = self.columns.row(row)
        else:
            found = self.columns[row].tolist()
        return [_cell(value) for value in found[: len(self.shown)]]

    @property
    def shown(self) -> list[str]:
        """Names of the features that are shown: none beside pictures."""
        return [] if self.image_shape else self.names[:_MOST_FEATURES]

    def picture(self, row: int) -> str | None:
        """The sample as a picture, if samples are pictures."""
        if self.image_shape is None:
            return None
        return png_address(self.columns[row], self.image_shape, self.low, self.high)


def _check_names(given: Any, names: list[str]) -> list[Any]:
    if given is None:
        return names
    if isinstance(given, str) or len(list(given)) != len(names):
        raise InvalidInputError(
            f"feature_names must hold a name for each of the {len(names)} features; got {given!r}"
        )
    return list(given)


def _range(points: NDArray[np.float64]) -> tuple[float, float]:
    finite = points[np.isfinite(points)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else as_text(value)


def hardest(evaluation: Evaluation, rows: Rows | None, n: int) -> list[dict[str, Any]]:
    """The samples most often wrong, worst first; those that are always right are not hard."""
    perfect = 0.0 if evaluation.scoring.startswith("neg_") else 1.0
    scores = evaluation.sample_scores
    wrong = [i for i in evaluation.hardest(n).tolist() if scores[i] < perfect - 1e-9]
    return [_describe(evaluation, rows, i) for i in wrong]


def suspects(evaluation: Evaluation, rows: Rows | None, n: int) -> dict[str, Any] | None:
    """Samples whose neighbours agree on another class, whichever training set is drawn."""
    shares = evaluation.prediction_proba
    if shares is None or evaluation.classes is None:
        return None
    own = np.searchsorted(evaluation.classes, evaluation.y)
    others = np.nan_to_num(shares).copy()
    others[np.arange(len(own)), own] = 0.0
    most = others.max(axis=1)
    found = np.flatnonzero(most >= SUSPICION)
    ordered = found[np.argsort(-most[found], kind="stable")]
    samples = [_describe(evaluation, rows, int(i)) for i in ordered[:n]]
    return {"threshold": SUSPICION, "n": len(found), "samples": samples}


def _describe(evaluation: Evaluation, rows: Rows | None, row: int) -> dict[str, Any]:
    described: dict[str, Any] = {
        "row": row,
        "label": _cell(evaluation.y[row]),
        "score": as_number(evaluation.sample_scores[row]),
        "given": None,
        "share": None,
        "values": rows.values(row) if rows else [],
        "picture": rows.picture(row) if rows else None,
    }
    if evaluation.prediction_proba is not None and evaluation.classes is not None:
        shares = evaluation.prediction_proba[row].copy()
        shares[evaluation.classes == evaluation.y[row]] = -1
        other = int(np.argmax(shares))
        described["given"] = as_text(evaluation.classes[other])
        described["share"] = as_number(shares[other])
    return described

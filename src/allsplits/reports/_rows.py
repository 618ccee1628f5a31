"""What is known of the samples themselves: values, names, pictures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from allsplits._frames import row_names
from allsplits.exceptions import InvalidInputError
from allsplits.orders import Metric, NeighborOrder, SparsePoints, read_new
from allsplits.plots._images import check_image_shape, png_address
from allsplits.reports._text import as_text, cell

#: More features than this are not shown for a sample.
_MOST_FEATURES = 24


@dataclass(frozen=True)
class Rows:
    """What is known of the samples themselves."""

    #: Names of the features, or none if nobody gave them any.
    names: list[str]
    #: The names of the samples, or None where they have row numbers only.
    row_names: list[str] | None
    columns: Any
    n_features: int
    image_shape: tuple[int, ...] | None
    low: float
    high: float

    @classmethod
    def read(
        cls, X: Any, n_samples: int, image_shape: Any, feature_names: Any,
        points: NDArray[Any] | None = None,
    ) -> Rows | None:  # fmt: skip
        """Rows of a frame or an array; None for neighbour orders and where X is not given.

        `points` is X as an array, if it was checked before.
        """
        if X is None or isinstance(X, NeighborOrder):
            if image_shape is not None:
                raise InvalidInputError("image_shape needs X, the samples themselves; got none")
            return None
        names_of_rows = row_names(X)
        shown_names = None if names_of_rows is None else [as_text(n) for n in names_of_rows]
        columns: Any = nw.from_native(X, pass_through=True, eager_only=True)
        if not isinstance(columns, nw.DataFrame) or image_shape is not None:
            columns = read_new(X, Metric("nan_euclidean")) if points is None else points
        if len(columns) != n_samples:
            raise InvalidInputError(
                f"X must have one row for each of the {n_samples} samples; got {len(columns)}"
            )
        n_features = columns.shape[1]
        names = _check_names(feature_names, getattr(columns, "columns", None), n_features)
        shape = check_image_shape(image_shape, n_features)
        low, high = (0.0, 1.0) if shape is None else _range(columns)
        return cls(
            [as_text(name) for name in names], shown_names, columns, n_features, shape, low, high
        )

    def values(self, row: int) -> list[str]:
        """The sample's values, as many as are shown."""
        if isinstance(self.columns, nw.DataFrame):
            found = self.columns.row(row)
        else:
            found = self._row(row)[: len(self.shown)].astype(np.float64).tolist()
        return [cell(value) for value in found[: len(self.shown)]]

    def _row(self, row: int) -> NDArray[Any]:
        columns = self.columns
        values: NDArray[Any] = (
            columns[row : row + 1].dense()[0] if isinstance(columns, SparsePoints) else columns[row]
        )
        return values

    @property
    def shown(self) -> list[str]:
        """Names of the features that are shown: none beside pictures, nor features without one."""
        return [] if self.image_shape else self.names[:_MOST_FEATURES]

    def picture(self, row: int) -> str | None:
        """The sample as a picture, if samples are pictures."""
        if self.image_shape is None:
            return None
        return png_address(self._row(row), self.image_shape, self.low, self.high)


def _check_names(given: Any, own: list[str] | None, n_features: int) -> list[Any]:
    if given is None:
        return own or []
    if isinstance(given, str) or len(list(given)) != n_features:
        raise InvalidInputError(
            f"feature_names must hold a name for each of the {n_features} features; got {given!r}"
        )
    return list(given)


def _range(points: Any) -> tuple[float, float]:
    if isinstance(points, SparsePoints):
        # What is not stored is 0.
        points = np.append(points.rows.data, 0.0)
    finite = points[np.isfinite(points)]
    return (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)

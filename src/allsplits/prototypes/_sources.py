"""Where an incremental learner gets examples of a class from: a pool, or a function."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from allsplits._validation import check_size
from allsplits.exceptions import InvalidInputError


class ExampleSource(Protocol):
    """Gives examples of one class at a time."""

    def draw(self, code: int, count: int) -> NDArray[np.float64]:
        """Give up to `count` new examples of a class."""

    def available(self) -> NDArray[np.bool_]:
        """Tell which classes have examples left."""


class PoolSource:
    """Labelled samples, given out in random order without replacement."""

    def __init__(
        self,
        points: NDArray[np.float64],
        codes: NDArray[np.int32],
        n_classes: int,
        random: np.random.RandomState,
    ) -> None:
        self._points = points
        self._rows = [random.permutation(np.flatnonzero(codes == c)) for c in range(n_classes)]
        self._given = np.zeros(n_classes, dtype=np.intp)
        self.drawn: list[int] = []

    def draw(self, code: int, count: int) -> NDArray[np.float64]:
        """Give up to `count` new samples of a class."""
        start = self._given[code]
        rows = self._rows[code][start : start + count]
        self._given[code] += len(rows)
        self.drawn += rows.tolist()
        batch: NDArray[np.float64] = self._points[rows]
        return batch

    def available(self) -> NDArray[np.bool_]:
        """Tell which classes have samples left."""
        return np.array([len(r) > g for r, g in zip(self._rows, self._given, strict=True)])


class FunctionSource:
    """A function ``draw(label, count)`` that returns new examples as rows.

    A class for which it returns fewer than asked has none left.
    """

    def __init__(self, function: Callable[[Any, int], Any], classes: NDArray[Any]) -> None:
        self._function = function
        self._classes = classes
        self._left = np.ones(len(classes), dtype=bool)
        self._n_features: int | None = None

    def draw(self, code: int, count: int) -> NDArray[np.float64]:
        """Call the function and check what it returns."""
        label = self._classes[code]
        try:
            points: NDArray[np.float64] = check_array(
                self._function(label, count), dtype=np.float64, ensure_min_samples=0
            )
            check_size("X", points)
        except (ValueError, TypeError) as error:
            raise InvalidInputError(
                f"draw({label!r}, {count}) must return a numeric array of shape (count, "
                f"n_features) without NaN or infinity; got: {error}"
            ) from error
        n_features = points.shape[1] if self._n_features is None else self._n_features
        if len(points) > count or (len(points) and points.shape[1] != n_features):
            raise InvalidInputError(
                f"draw({label!r}, {count}) must return at most {count} rows of {n_features} "
                f"features; got shape {points.shape}"
            )
        self._n_features = n_features
        self._left[code] = len(points) == count
        return points

    def available(self) -> NDArray[np.bool_]:
        """Tell which classes have not run out."""
        return self._left

"""A map of two-dimensional data: samples, decision regions, prototypes."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from allsplits._optional import import_optional
from allsplits._validation import check_count, check_labels, check_points
from allsplits.active._rows import read_rows
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.plots._base import Display
from allsplits.plots._style import class_looks


@dataclass(eq=False, repr=False)
class DecisionMapDisplay(Display):
    """Samples on their two features, the class given to every place, and prototypes ringed.

    Boundaries are drawn as lines, and classes have markers of their own, so that colours are not
    needed.

    Parameters
    ----------
    X : ndarray of shape (n_samples, 2)
        The samples.
    codes : ndarray of shape (n_samples,)
        Class number of each sample.
    classes : ndarray
        The classes.
    grid_x, grid_y : ndarray
        Places of the grid.
    regions : ndarray of shape (len(grid_y), len(grid_x))
        Class number given to each place.
    prototypes : ndarray or None
        Row numbers of the samples to ring.
    feature_names : pair of str
        Names of the axes.

    Examples
    --------
    >>> from allsplits import CondensedReduced
    >>> from allsplits.plots import DecisionMapDisplay
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> display = DecisionMapDisplay.from_estimator(CondensedReduced(), X, y)
    >>> display.regions.shape
    (200, 200)
    """

    X: NDArray[np.float64]
    codes: NDArray[np.int32]
    classes: NDArray[Any]
    _: KW_ONLY
    grid_x: NDArray[np.float64]
    grid_y: NDArray[np.float64]
    regions: NDArray[np.int64]
    prototypes: NDArray[np.intp] | None = None
    feature_names: Sequence[str] = ("first feature", "second feature")

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, prototypes: Any = None, grid_resolution: int = 200,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Fit a copy of the estimator on X and y, and draw what it says everywhere.

        Parameters
        ----------
        estimator : classifier
            Any scikit-learn classifier.
        X : array-like of shape (n_samples, 2)
            The samples.
        y : array-like of shape (n_samples,)
            Their classes.
        prototypes : array-like of int, default=None
            Row numbers to ring; None takes those that the estimator keeps, its `sample_indices_`
            or `prototype_indices_`.
        grid_resolution : int, default=200
            Places along each side.
        ax : matplotlib Axes, default=None
            Where to draw.
        """
        if not is_classifier(estimator):
            raise InvalidTypeError(
                f"estimator must be a classifier; got {type(estimator).__name__}"
            )
        points = check_points(X)
        if points.shape[1] != 2:
            raise InvalidInputError(
                f"X must have 2 features for a map; got {points.shape[1]}: choose two, or project "
                "them first (for example with PCA(2).fit_transform)"
            )
        resolution = check_count("grid_resolution", grid_resolution, at_least=2, at_most=2000)
        classes, codes = check_labels(y, len(points))
        fitted = clone(estimator).fit(points, classes[codes])
        chosen = _own_prototypes(fitted) if prototypes is None else prototypes
        rows = None if chosen is None else read_rows("prototypes", chosen, len(points))
        grid_x, grid_y = (_places(points[:, i], resolution) for i in range(2))
        across, up = np.meshgrid(grid_x, grid_y)
        given = fitted.predict(np.column_stack([across.ravel(), up.ravel()]))
        regions = np.searchsorted(classes, given).reshape(across.shape)
        names = {"feature_names": list(X.columns)} if hasattr(X, "columns") else {}
        return cls(
            points, codes, classes, grid_x=grid_x, grid_y=grid_y, regions=regions, prototypes=rows,
            **names,
        ).plot(ax)  # fmt: skip

    def _draw(self) -> None:
        colors = import_optional("matplotlib.colors", extra="plot", purpose="plot()")
        looks = class_looks(len(self.classes))
        palette = colors.ListedColormap([look.color for look in looks])
        self.ax_.pcolormesh(
            self.grid_x, self.grid_y, self.regions, cmap=palette, alpha=0.22, vmin=-0.5,
            vmax=len(looks) - 0.5, shading="nearest", rasterized=True,
        )  # fmt: skip
        for code in np.unique(self.regions)[1:]:
            # The boundary between lower classes and this one and those above it.
            inside = (self.regions >= code).astype(float)
            self.ax_.contour(
                self.grid_x, self.grid_y, inside, levels=[0.5], colors="black", linewidths=0.8
            )
        for code, look in enumerate(looks):
            mine = self.X[self.codes == code]
            self.ax_.scatter(
                mine[:, 0], mine[:, 1], s=22, c=look.color, marker=look.marker, edgecolors="black",
                linewidths=0.5, label=str(self.classes[code]), zorder=2,
            )  # fmt: skip
        self._ring_prototypes()
        self.ax_.set(xlabel=str(self.feature_names[0]), ylabel=str(self.feature_names[1]))
        self.ax_.legend(fontsize=8, loc="upper right")

    def _ring_prototypes(self) -> None:
        if self.prototypes is None or not len(self.prototypes):
            return
        kept = self.X[self.prototypes]
        self.ax_.scatter(
            kept[:, 0], kept[:, 1], s=110, facecolors="none", edgecolors="black", linewidths=1.6,
            label=f"{len(kept)} prototypes", zorder=3,
        )  # fmt: skip


def _places(values: NDArray[np.float64], resolution: int) -> NDArray[np.float64]:
    margin = 0.06 * (values.max() - values.min()) or 1.0
    return np.linspace(values.min() - margin, values.max() + margin, resolution)


def _own_prototypes(fitted: Any) -> Any:
    """Rows that a fitted classifier keeps: condensers have one name for them, boosting another."""
    for name in ("sample_indices_", "prototype_indices_"):
        if hasattr(fitted, name):
            return getattr(fitted, name)
    return None

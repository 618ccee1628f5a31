"""How hard each class is: the number of Voronoi facets between it and the other classes.

The decision boundary of 1-NN consists of the facets that Voronoi cells of different classes share
(Ratsaby 1997). A facet has one dimension less than the space; cells that only touch in less, as
those of opposite corners of a square, do not count.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame
from allsplits._progress import progress_bar
from allsplits._validation import check_choice, check_labels, check_points
from allsplits.exceptions import InvalidInputError
from allsplits.prototypes._adjacency import decide_pairs
from allsplits.prototypes._copies import number_places, uncontradicted, warn_of_contradictions
from allsplits.prototypes._delaunay import delaunay_pairs
from allsplits.prototypes._exact import affine_rank_is_one

_METHODS = ("auto", "delaunay", "linprog", "bound")
#: A triangulation has about 190 simplices for each point in 5 dimensions, 1300 in 6.
MOST_DIMENSIONS = 5

Pairs = NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class VoronoiComplexity:
    """Facets between classes, the result of `voronoi_complexity`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    facets : ndarray of shape (n_classes,)
        Number of Voronoi facets between each class and all others (with ``method="bound"`` those
        that are certain).
    undecided : ndarray of shape (n_classes,)
        Pairs of cells of each class that ``method="bound"`` left open: the number of facets is
        from ``facets`` to ``facets + undecided``. Zero for the exact methods.
    n_prototypes : ndarray of shape (n_classes,)
        Prototypes of each class, copies counted once.
    pairs : ndarray of shape (n_facets, 2)
        Rows of the prototypes on both sides of each facet, the lower row first.
    """

    classes: NDArray[Any]
    facets: NDArray[np.int64]
    undecided: NDArray[np.int64]
    n_prototypes: NDArray[np.int64]
    pairs: Pairs

    @property
    def exact(self) -> bool:
        """Whether every pair of cells was decided."""
        return not self.undecided.any()

    def frame(self, backend: str | None = None) -> Any:
        """One row per class, as a pandas or polars data frame."""
        columns = {
            "label": self.classes,
            "prototypes": self.n_prototypes,
            "facets": self.facets,
            "undecided": self.undecided,
        }
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the facets of each class as bars; returns the matplotlib Axes."""
        from allsplits.plots._prototypes import draw_facets

        return draw_facets(self, ax)

    def __repr__(self) -> str:
        shown = [
            f"{label}: {low}" if not more else f"{label}: {low} to {low + more}"
            for label, low, more in zip(self.classes, self.facets, self.undecided, strict=True)
        ]
        some = ", ".join(shown[:10]) + (", …" if len(shown) > 10 else "")
        return f"VoronoiComplexity({self.n_prototypes.sum()} prototypes; facets {some})"


def voronoi_complexity(
    X: Any,
    y: Any,
    *,
    method: Literal["auto", "delaunay", "linprog", "bound"] = "auto",
    progress: bool = False,
) -> VoronoiComplexity:
    """Count the Voronoi facets between each class and the others, exactly.

    Parameters
    ----------
    X : array-like of shape (n_prototypes, n_features)
        Prototypes, such as those of `CondensedReduced`.
    y : array-like of shape (n_prototypes,)
        Their classes.
    method : {"auto", "delaunay", "linprog", "bound"}, default="auto"
        "delaunay": a triangulation whose every step is certified; up to 5 dimensions. "linprog":
        pair by pair, by a witness point or a linear programme; any dimension. "auto": the
        triangulation where it is possible, otherwise pair by pair. All three are exact, rounding
        included. "bound": witness points only, for many prototypes in many dimensions: the counts
        are certain facets, and `undecided` says how many more there may be.
    progress : bool, default=False
        Show a progress bar over prototypes.

    Returns
    -------
    VoronoiComplexity
        Facets of each class, and the pairs of prototypes they lie between.

    Notes
    -----
    Copies are one prototype. Where copies have different classes, the one that most of them have is
    taken, with a warning.

    Pair by pair costs O(n³) in all for the witness points (about 1 s for 200 prototypes in 16
    dimensions) and a few milliseconds for each pair that has none.

    Examples
    --------
    >>> from allsplits import voronoi_complexity
    >>> corners = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> voronoi_complexity(corners, ["a", "b", "b", "a"])
    VoronoiComplexity(4 prototypes; facets a: 4, b: 4)
    >>> voronoi_complexity(corners, ["a", "a", "b", "b"]).pairs
    array([[0, 2],
           [1, 3]])
    """
    check_choice("method", method, _METHODS)
    points = check_points(X)
    classes, codes = check_labels(y, len(points))
    _check_dimension(method, points)
    chosen = np.flatnonzero(uncontradicted(points, codes))
    warn_of_contradictions(len(points) - len(chosen), stacklevel=2)
    places, _ = number_places(points[chosen])
    rows = np.sort(chosen[np.unique(places, return_index=True)[1]])
    sites, own = points[rows], codes[rows]
    pairs, undecided = facets_between(sites, own, method, progress)
    count = len(classes)
    return VoronoiComplexity(
        classes=classes,
        facets=np.bincount(own[pairs].ravel(), minlength=count),
        undecided=np.bincount(own[undecided].ravel(), minlength=count),
        n_prototypes=np.bincount(own, minlength=count),
        pairs=rows[pairs],
    )


def _check_dimension(method: str, points: NDArray[np.float64]) -> None:
    if method == "delaunay" and points.shape[1] > MOST_DIMENSIONS:
        raise InvalidInputError(
            f'method must be "linprog", "bound" or "auto" beyond {MOST_DIMENSIONS} features; got '
            f'"delaunay" for {points.shape[1]}'
        )


def facets_between(
    sites: NDArray[np.float64], codes: NDArray[np.int32], method: str, progress: bool = False
) -> tuple[Pairs, Pairs]:
    """Return (adjacent, undecided) pairs of distinct sites of different classes."""
    varying = sites[:, np.any(sites != sites[0], axis=0)]
    if len(sites) > 1 and affine_rank_is_one(varying):
        certain, open_pairs = _on_a_line(varying), np.empty((0, 2), dtype=np.intp)
    else:
        found = None
        if method in ("auto", "delaunay") and varying.shape[1] <= MOST_DIMENSIONS:
            found = delaunay_pairs(varying)
        certain, open_pairs = found or (np.empty((0, 2), dtype=np.intp), _all_pairs(len(sites)))
    certain, open_pairs = (
        pairs[codes[pairs[:, 0]] != codes[pairs[:, 1]]] for pairs in (certain, open_pairs)
    )
    with progress_bar(progress, "voronoi_complexity", len(sites)) as advance:
        adjacent, undecided = decide_pairs(
            varying, open_pairs, programmes=method != "bound", advance=advance
        )
    together = np.concatenate([certain, open_pairs[adjacent]])
    order = np.lexsort((together[:, 1], together[:, 0]))
    return together[order], open_pairs[undecided]


def _on_a_line(sites: NDArray[np.float64]) -> Pairs:
    """Points on one line: each and the next."""
    order = np.lexsort(sites.T)
    pairs: Pairs = np.sort(np.column_stack([order[:-1], order[1:]]), axis=1)
    return pairs


def _all_pairs(n: int) -> Pairs:
    return np.column_stack(np.triu_indices(n, 1)).astype(np.intp)

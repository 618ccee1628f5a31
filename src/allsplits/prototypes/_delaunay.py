"""Voronoi neighbours from a Delaunay triangulation (Qhull), certified without rounding.

Qhull works in floats and splits sets of points on one sphere at will. So its triangulation is only
taken after a check of what makes it Delaunay: simplices turned the same way lie on both sides of
each inner face, no opposite point is inside the sphere, the surface is convex, and no point is
missing. All are signs of determinants, taken from floats where rounding cannot matter and from
integers elsewhere.

In a Delaunay triangulation every pair of cells that share a facet is an edge. The converse fails
only where an opposite point lies *on* the sphere: in the plane such an edge is no facet (its
Voronoi edge has shrunk to a point); in more dimensions the edges around it are left open.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import Delaunay, QhullError

from allsplits.prototypes._flips import flip_edges
from allsplits.prototypes._signs import Signs, Simplices

Pairs = NDArray[np.intp]


def delaunay_pairs(points: NDArray[np.float64]) -> tuple[Pairs, Pairs] | None:
    """Return (certain, open): pairs that share a facet, and pairs that may; all others do not.

    Returns None if Qhull finds no triangulation that passes the check.
    """
    try:
        triangulation = Delaunay(_normalised(points))
    except (QhullError, ValueError):
        return None
    simplices, neighbors = (
        part.astype(np.intp) for part in (triangulation.simplices, triangulation.neighbors)
    )
    signs = Signs(points)
    pairs = _certified(signs, simplices, neighbors)
    if pairs is None and points.shape[1] == 2:
        # Points nearly on one circle: the triangles may be split the wrong way.
        pairs = _certified(signs, *flip_edges(signs, simplices))
    return pairs


def _normalised(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points near the origin of a size near one, for Qhull's sake; the check uses the true ones."""
    shifted = points - points.mean(axis=0)
    values: NDArray[np.float64] = shifted / np.abs(shifted).max()
    return values


def _certified(
    signs: Signs, simplices: Simplices, neighbors: Simplices
) -> tuple[Pairs, Pairs] | None:
    mesh = _Mesh.read(signs, simplices, neighbors)
    if mesh is None or not mesh.covers(signs.n_points) or not mesh.surface_is_convex():
        return None
    outside = mesh.opposite_outside()
    return None if outside is None else mesh.split_edges(outside)


@dataclass(frozen=True)
class _Mesh:
    """Simplices that are not flat, and their faces.

    An inner face is known by a simplex, the position of the vertex it lacks, the neighbour beyond
    it and the neighbour's opposite vertex; an outer face by its simplex and the position.
    """

    signs: Signs
    simplices: Simplices
    turned: NDArray[np.int8]
    inner: tuple[NDArray[np.intp], ...]
    outer: tuple[NDArray[np.intp], ...]

    @classmethod
    def read(cls, signs: Signs, simplices: Simplices, neighbors: Simplices) -> _Mesh | None:
        """Flat simplices, which Qhull leaves on straight parts of the surface, are taken off."""
        turned = signs.orientation(simplices)
        solid = turned != 0
        has_neighbor = (neighbors >= 0) & solid[neighbors]
        has_neighbor[~solid] = False
        own, position = np.nonzero(has_neighbor)
        other = neighbors[own, position]
        opposite = (simplices[other].sum(axis=1) - simplices[own].sum(axis=1)) + simplices[
            own, position
        ]
        beyond = _exchanged(simplices, own, position, opposite)
        if not np.array_equal(np.sort(beyond, axis=1), np.sort(simplices[other], axis=1)):
            return None
        outer = np.nonzero(~has_neighbor & solid[:, None])
        return cls(signs, simplices, turned, (own, position, other, opposite), outer)

    def covers(self, n_points: int) -> bool:
        """Whether every point is a vertex."""
        return len(np.unique(self.simplices[self.turned != 0])) == n_points

    def surface_is_convex(self) -> bool:
        """Whether each outer face sees the next vertices of the surface inside or level."""
        own, position = self.outer
        faces = _without_vertex(self.simplices[own], position)
        columns = range(faces.shape[1])
        ridges = np.concatenate([np.sort(np.delete(faces, c, axis=1), axis=1) for c in columns])
        face_of = np.tile(np.arange(len(faces)), len(columns))
        apex = faces.T.ravel()
        order = np.lexsort(ridges.T)
        pairs = order[0::2], order[1::2]
        if len(order) % 2 or not np.array_equal(ridges[pairs[0]], ridges[pairs[1]]):
            return False
        for here, there in (pairs, pairs[::-1]):
            simplex, lacking = own[face_of[here]], position[face_of[here]]
            seen = _exchanged(self.simplices, simplex, lacking, apex[there])
            if np.any(self.signs.orientation(seen) * self.turned[simplex] < 0):
                return False
        return True

    def opposite_outside(self) -> NDArray[np.bool_] | None:
        """For each inner face, whether the opposite vertex is strictly outside the sphere.

        None if one is inside, or if the two simplices lie on the same side of a face.
        """
        own, position, _, opposite = self.inner
        beyond = _exchanged(self.simplices, own, position, opposite)
        if np.any(self.signs.orientation(beyond) != -self.turned[own]):
            return None
        lifted = self.signs.insphere(np.column_stack([self.simplices[own], opposite]))
        inside = lifted * self.turned[own]
        return None if np.any(inside > 0) else inside < 0

    def split_edges(self, outside: NDArray[np.bool_]) -> tuple[Pairs, Pairs]:
        """Return (certain, open) edges."""
        own, position, other, _ = (part[~outside] for part in self.inner)
        every = _edges(self.simplices[self.turned != 0])
        if self.simplices.shape[1] == 3:
            shrunk = _edges(_without_vertex(self.simplices[own], position))
            return _difference(every, shrunk), shrunk[:0]
        unsure = _edges(self.simplices[np.union1d(own, other)])
        return _difference(every, unsure), unsure


def _exchanged(
    simplices: Simplices,
    rows: NDArray[np.intp],
    positions: NDArray[np.intp],
    vertices: NDArray[np.intp],
) -> Simplices:
    """Copies of some simplices with one vertex of each exchanged."""
    changed: Simplices = simplices[rows]
    changed[np.arange(len(rows)), positions] = vertices
    return changed


def _without_vertex(simplices: Simplices, positions: NDArray[np.intp]) -> Simplices:
    """The faces that lack the vertices at the positions."""
    keep = np.arange(simplices.shape[1]) != positions[:, None]
    faces: Simplices = simplices[keep].reshape(len(simplices), simplices.shape[1] - 1)
    return faces


def _edges(simplices: Simplices) -> Pairs:
    """All edges, once each, the lower row first."""
    columns = combinations(range(simplices.shape[1]), 2)
    ends = np.concatenate([simplices[:, pair] for pair in columns])
    base = int(ends.max(initial=0)) + 1
    numbers = np.unique(ends.min(axis=1) * base + ends.max(axis=1))
    return np.column_stack(np.divmod(numbers, base))


def _difference(pairs: Pairs, removed: Pairs) -> Pairs:
    """The pairs that are not among the removed ones."""
    base = int(pairs.max()) + 1
    gone = np.isin(pairs @ [base, 1], removed @ [base, 1])
    left: Pairs = pairs[~gone]
    return left

"""Repair of a triangulation in the plane: exchange diagonals until it is Delaunay (Lawson)."""

import numpy as np

from allsplits.prototypes._signs import Signs, Simplices


def flip_edges(signs: Signs, triangles: Simplices) -> tuple[Simplices, Simplices]:
    """Return (triangles, neighbors) of the Delaunay triangulation; flat triangles are left out."""
    turned = signs.orientation(triangles)
    # Beyond the directed edge (a, b), to its left, is the triangle with this third corner.
    corner: dict[tuple[int, int], int] = {}
    for (a, b, c), turn in zip(triangles.tolist(), turned, strict=True):
        if turn:
            _add(corner, (a, b, c) if turn > 0 else (b, a, c))
    waiting = list(corner)
    while waiting:
        a, b = waiting.pop()
        c, d = corner.get((a, b)), corner.get((b, a))
        if c is None or d is None or signs.insphere(np.array([[a, b, c, d]]))[0] <= 0:
            continue
        del corner[a, b], corner[b, a]
        _add(corner, (a, d, c))
        _add(corner, (d, b, c))
        waiting += [(a, d), (d, b), (b, c), (c, a)]
    return _rows(corner)


def _add(corner: dict[tuple[int, int], int], triangle: tuple[int, int, int]) -> None:
    a, b, c = triangle
    corner[a, b], corner[b, c], corner[c, a] = c, a, b


def _rows(corner: dict[tuple[int, int], int]) -> tuple[Simplices, Simplices]:
    number: dict[tuple[int, int, int], int] = {}
    for (a, b), c in corner.items():
        if a < min(b, c):
            number[a, b, c] = len(number)
    edge_of = {edge: n for (a, b, c), n in number.items() for edge in ((a, b), (b, c), (c, a))}
    neighbors = [[edge_of.get(edge, -1) for edge in ((c, b), (a, c), (b, a))] for a, b, c in number]
    return np.array(list(number), dtype=np.intp), np.array(neighbors, dtype=np.intp)

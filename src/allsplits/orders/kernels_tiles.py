"""Compiled loops of true squared distances: by differences, never expanded, many at a time.

Points stand in tiles of a few columns, one line for each feature, that stay in the nearest cache
while all queries pass. Two queries share what is read of a tile, as reading takes as long as
subtracting.
"""

import numpy as np
from numba import njit

#: Points side by side.
TILE = 64


def in_tiles(points):
    """Points (n, n_features) as an array (n_tiles, n_features, TILE); zeros fill the last tile."""
    n, n_features = points.shape
    whole = n // TILE
    tiles = np.zeros((-(-n // TILE), n_features, TILE))
    tiles[:whole] = points[: whole * TILE].reshape(whole, TILE, n_features).transpose(0, 2, 1)
    if whole < len(tiles):
        tiles[whole, :, : n - whole * TILE] = points[whole * TILE :].T
    return tiles


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _of_two(tile, x, y, out, other):
    """Distances of two queries to the first points of a tile."""
    quads = len(x) - len(x) % 4
    for j in range(len(out)):
        out[j] = 0.0
        other[j] = 0.0
    # Four features at a time: sums are read and written a quarter as often.
    for f in range(0, quads, 4):
        t0, t1, t2, t3 = tile[f], tile[f + 1], tile[f + 2], tile[f + 3]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        y0, y1, y2, y3 = y[f], y[f + 1], y[f + 2], y[f + 3]
        for j in range(len(out)):
            a, b, c, d = x0 - t0[j], x1 - t1[j], x2 - t2[j], x3 - t3[j]
            out[j] += (a * a + b * b) + (c * c + d * d)
            a, b, c, d = y0 - t0[j], y1 - t1[j], y2 - t2[j], y3 - t3[j]
            other[j] += (a * a + b * b) + (c * c + d * d)
    for f in range(quads, len(x)):
        line = tile[f]
        for j in range(len(out)):
            a, b = x[f] - line[j], y[f] - line[j]
            out[j] += a * a
            other[j] += b * b


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _of_one(tile, x, out):
    """The same of one query, with the same bits."""
    quads = len(x) - len(x) % 4
    for j in range(len(out)):
        out[j] = 0.0
    for f in range(0, quads, 4):
        t0, t1, t2, t3 = tile[f], tile[f + 1], tile[f + 2], tile[f + 3]
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        for j in range(len(out)):
            a, b, c, d = x0 - t0[j], x1 - t1[j], x2 - t2[j], x3 - t3[j]
            out[j] += (a * a + b * b) + (c * c + d * d)
    for f in range(quads, len(x)):
        line = tile[f]
        for j in range(len(out)):
            a = x[f] - line[j]
            out[j] += a * a


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def direct_rows(tiles, queries, start, stop, upper, out):
    """out[i, j] = sum over features of (queries[i] - x_j)², by differences, never expanded.

    With `upper` for j ≥ i and some others: `mirror_rows` knows the rest.
    """
    n = out.shape[1]
    for t in range(len(tiles)):
        left, right = t * TILE, min(t * TILE + TILE, n)
        last = min(stop, right) if upper else stop
        for i in range(start, last - 1, 2):
            row, next_row = out[i, left:right], out[i + 1, left:right]
            _of_two(tiles[t], queries[i], queries[i + 1], row, next_row)
        if last > start and (last - start) % 2 == 1:
            _of_one(tiles[t], queries[last - 1], out[last - 1, left:right])

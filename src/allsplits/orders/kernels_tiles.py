"""Compiled loops of true squared distances: by differences, never expanded, many at a time.

Points stand in tiles of a few columns, one line for each feature, that stay in the nearest cache
while all queries pass. Two queries share what is read of a tile, as reading takes as long as
subtracting.
"""

import numpy as np
from numba import njit

#: Points side by side.
TILE = 64


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def meet_tile(tile, x, y, out):
    """Squared distances of two queries to all points of a tile: the lines of `out`.

    Loops of a fixed length over few arrays: then nothing is checked before each of them.
    """
    quads = len(x) - len(x) % 4
    for j in range(TILE):
        out[0, j] = 0.0
        out[1, j] = 0.0
    # Four features at a time: sums are read and written a quarter as often.
    for f in range(0, quads, 4):
        x0, x1, x2, x3 = x[f], x[f + 1], x[f + 2], x[f + 3]
        y0, y1, y2, y3 = y[f], y[f + 1], y[f + 2], y[f + 3]
        for j in range(TILE):
            t0, t1, t2, t3 = tile[f, j], tile[f + 1, j], tile[f + 2, j], tile[f + 3, j]
            a, b, c, d = x0 - t0, x1 - t1, x2 - t2, x3 - t3
            out[0, j] += (a * a + b * b) + (c * c + d * d)
            a, b, c, d = y0 - t0, y1 - t1, y2 - t2, y3 - t3
            out[1, j] += (a * a + b * b) + (c * c + d * d)
    for f in range(quads, len(x)):
        for j in range(TILE):
            a, b = x[f] - tile[f, j], y[f] - tile[f, j]
            out[0, j] += a * a
            out[1, j] += b * b


@njit(nogil=True, cache=True, error_model="numpy")
def direct_rows(tiles, queries, start, stop, upper, out):
    """out[i, j] = sum over features of (queries[i] - x_j)², by differences, never expanded.

    With `upper` for j ≥ i and some others: `mirror_rows` knows the rest.
    """
    n = out.shape[1]
    found = np.empty((2, TILE))
    for t in range(len(tiles)):
        left, right = t * TILE, min(t * TILE + TILE, n)
        last = min(stop, right) if upper else stop
        for i in range(start, last, 2):
            # The last one may be alone.
            other = min(i + 1, last - 1)
            meet_tile(tiles[t], queries[i], queries[other], found)
            # Slices: of an index that starts at `left` compiled code asks whether it is negative.
            row, next_row = out[i, left:right], out[other, left:right]
            for j in range(len(row)):
                row[j] = found[0, j]
            for j in range(len(next_row)):
                next_row[j] = found[other - i, j]

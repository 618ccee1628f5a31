"""Compiled loops of condensing: who are the two nearest prototypes of every sample.

Distances that agree to the library's tolerance are equal. Of equally near prototypes those of other
classes come first, so that a sample counts as right only if all of its nearest have its class, then
the lower row number. Adding
a prototype costs O(n d), so condensing to m prototypes costs O(n m d) in all. Dropping one costs a
new search for the samples that had it among their two nearest, about O(n d) as well.
"""

import numpy as np
from numba import njit

from allsplits.orders.kernel_types import TIE_TOLERANCE

#: Samples whose distances to a new prototype are computed together: they fit the nearest cache.
_BLOCK = 512
#: Squared distances that agree to this are equal.
_TOLERANCE = 2 * TIE_TOLERANCE


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _comes_first(distance, p, other, q):
    """Whether row p at `distance` comes before row q at `other`: nearer, or lower if equal."""
    if abs(distance - other) <= _TOLERANCE * max(distance, other):
        return p < q
    return distance < other


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _votes_first(distance, p, other, q, i, codes):
    """Whether prototype p comes before q for sample i: nearer, or if equal a rival, or lower."""
    if abs(distance - other) <= _TOLERANCE * max(distance, other) and q < len(codes):
        rival = codes[p] != codes[i]
        if rival != (codes[q] != codes[i]):
            return rival
    return _comes_first(distance, p, other, q)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _limit(distance):
    """What is farther than this cannot be equal to `distance`."""
    return distance * (1.0 + 2.0 * _TOLERANCE)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _squared_distance(X, i, j, limit):
    """Squared distance of two rows; a partial sum if it exceeds `limit` already."""
    total = 0.0
    for f in range(X.shape[1]):
        difference = X[i, f] - X[j, f]
        total += difference * difference
        if total > limit:
            break
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _add_prototype(columns, codes, p, nearest, distances, sums):
    """Let row `p` take its place among the two nearest prototypes of every sample."""
    n_features, n = columns.shape
    for start in range(0, n, _BLOCK):
        length = min(_BLOCK, n - start)
        for i in range(length):
            sums[i] = 0.0
        for f in range(n_features):
            own = columns[f, p]
            # A slice of its own lets the compiler work on several samples at a time.
            values = columns[f, start : start + length]
            for i in range(length):
                difference = values[i] - own
                sums[i] += difference * difference
        for i in range(length):
            if sums[i] <= _limit(distances[1, start + i]):
                _insert(sums[i], p, start + i, codes, nearest, distances)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _insert(distance, p, i, codes, nearest, distances):
    if _votes_first(distance, p, distances[0, i], nearest[0, i], i, codes):
        distances[1, i] = distances[0, i]
        nearest[1, i] = nearest[0, i]
        distances[0, i] = distance
        nearest[0, i] = p
    elif _votes_first(distance, p, distances[1, i], nearest[1, i], i, codes):
        distances[1, i] = distance
        nearest[1, i] = p


@njit(nogil=True, cache=True, error_model="numpy")
def add_prototypes(columns, codes, rows, kept, nearest, distances):
    """Keep these rows.

    `nearest` and `distances` (2, n) hold the two nearest prototypes of every sample: row number n
    and infinity where there is none.
    """
    sums = np.empty(min(_BLOCK, columns.shape[1]))
    for p in rows:
        kept[p] = True
        _add_prototype(columns, codes, p, nearest, distances, sums)


@njit(nogil=True, cache=True, error_model="numpy")
def condense_in_order(columns, codes, visits, kept, nearest, distances):
    """Hart's rule: visit samples, keep what is wrong; return how many were kept."""
    sums = np.empty(min(_BLOCK, columns.shape[1]))
    changed = np.int64(0)
    for i in visits:
        if not kept[i] and codes[nearest[0, i]] != codes[i]:
            kept[i] = True
            _add_prototype(columns, codes, i, nearest, distances, sums)
            changed += 1
    return changed


@njit(nogil=True, cache=True, error_model="numpy")
def name_rivals(codes, kept, nearest, distances, chosen):
    """FCNN: every prototype p names the nearest sample of another class in its cell, or n."""
    n = len(codes)
    for p in range(n):
        chosen[p] = n
    for i in range(n):
        p = nearest[0, i]
        if codes[p] != codes[i] and not kept[i]:
            best = chosen[p]
            if best == n or _comes_first(distances[0, i], i, distances[0, best], best):
                chosen[p] = i


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _search(X, i, codes, prototypes, n_prototypes, nearest, distances):
    """The two nearest of the first `n_prototypes` prototypes to row i, from scratch."""
    nearest[0, i] = nearest[1, i] = X.shape[0]
    distances[0, i] = distances[1, i] = np.inf
    for position in range(n_prototypes):
        p = prototypes[position]
        limit = _limit(distances[1, i])
        distance = _squared_distance(X, i, p, limit)
        if distance <= limit:
            _insert(distance, p, i, codes, nearest, distances)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _list_kept(kept, prototypes):
    count = 0
    for p in range(len(kept)):
        if kept[p]:
            prototypes[count] = p
            count += 1
    return count


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _can_go(p, codes, nearest):
    """Every sample that has p as its nearest prototype is right by its second nearest.

    Who is too near to a rival for squared distances to tell stays.
    """
    n = len(codes)
    if codes[nearest[0, p]] != codes[p]:
        return False
    for i in range(n):
        if nearest[0, i] == p and (nearest[1, i] == n or codes[nearest[1, i]] != codes[i]):
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy")
def reduce_consistent(X, codes, visits, kept, nearest, distances):
    """Drop prototypes in turn as long as every sample stays right; return how many went."""
    prototypes = np.empty(len(codes), np.int64)
    changed = np.int64(0)
    for p in visits:
        if kept[p] and _can_go(p, codes, nearest):
            kept[p] = False
            changed += 1
            count = _list_kept(kept, prototypes)
            for i in range(len(codes)):
                if nearest[0, i] == p or nearest[1, i] == p:
                    _search(X, i, codes, prototypes, count, nearest, distances)
    return changed


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _nearest_other(X, i, codes, kept):
    """The nearest prototype to row i other than itself; n if there is none."""
    n = X.shape[0]
    best = n
    smallest = np.inf
    for p in range(n):
        if kept[p] and p != i:
            distance = _squared_distance(X, i, p, _limit(smallest))
            if _votes_first(distance, p, smallest, best, i, codes):
                smallest = distance
                best = p
    return best


@njit(nogil=True, cache=True, error_model="numpy")
def reduce_paper(X, codes, visits, kept, other):
    """Drop prototypes that the remaining ones classify right; return how many went.

    `other` remembers each prototype's nearest other one, -1 where nobody has looked.
    """
    n = len(codes)
    changed = np.int64(0)
    for p in visits:
        if not kept[p]:
            continue
        if other[p] < 0 or (other[p] < n and not kept[other[p]]):
            other[p] = _nearest_other(X, p, codes, kept)
        if other[p] < n and codes[other[p]] == codes[p]:
            kept[p] = False
            changed += 1
    return changed

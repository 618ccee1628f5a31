"""Compiled loops of the integer tallies: count prefixes once, answer any k and any size later."""

import numpy as np
from numba import njit

from allsplits.exact._kernels import draw_one_more, group_end
from allsplits.exact.laws.fixed_size._kernels_own import count_own, own_among


@njit(nogil=True, cache=True, error_model="numpy")
def count_prefixes(rows, average, table, keys, sizes):
    """Add to table[y, j, o] the rows of class y with o of their own class among the first j.

    Prefixes inside mixed tie groups are not counted but described: each mixed group becomes one key
    (y, s, own in prefix, g, own in group). Returns how many keys were written.
    """
    depth = table.shape[1] - 1
    n_keys = 0
    for i in range(len(rows.own)):
        y = rows.own[i]
        position = rows.indptr[i]
        s = np.int64(0)
        n_own = np.int64(0)
        while s < depth:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            g_own = count_own(rows.labels, position, end, rows.own[i])
            mixed = 0 < g_own < g
            if mixed:
                keys[n_keys] = (
                    ((np.int64(y) * sizes[0] + s) * sizes[0] + n_own) * sizes[1] + g
                ) * sizes[1] + g_own
                n_keys += 1
            for j in range(s + g if mixed else s + 1, min(s + g, depth) + 1):
                table[y, j, n_own + own_among(j - s, g, g_own)] += 1
            n_own += g_own
            s += g
            position = end
    return n_keys


@njit(nogil=True, cache=True, error_model="numpy")
def spread_ties(keys, counts, sizes, table):
    """Spread mixed tie groups over table[y, j, o] with their hypergeometric shares."""
    depth = table.shape[1] - 1
    for e in range(len(keys)):
        key = keys[e]
        g_own = key % sizes[1]
        key //= sizes[1]
        g = key % sizes[1]
        key //= sizes[1]
        n_own = key % sizes[0]
        key //= sizes[0]
        s = key % sizes[0]
        y = key // sizes[0]
        # share[o] of a random t-subset having o own items, one more item at a time.
        share = np.zeros(g_own + 1)
        share[0] = counts[e]
        for t in range(1, min(g - 1, depth - s) + 1):
            draw_one_more(share, t, g, g_own)
            for o in range(min(t, g_own) + 1):
                table[y, s + t, n_own + o] += share[o]


@njit(nogil=True, cache=True, error_model="numpy")
def majority_scores(table, first_wins, columns, binomials, theta, out):
    """out[column, y] = Σ_j m_j Σ_o table[y, j, o] · P(o of j own items win a vote of k).

    A class wins with at least h votes, and P(at least h) grows with o by

        T[o, h-1] · T[j-1-o, k-h] · θ / T[j, k],

    the chance that the additional item is the one that tips the vote. `first_wins` is the share of
    an even vote that goes to class 0; class 1 gets the rest.
    """
    ks, masses, second_wins = columns.ks, columns.masses, 1.0 - first_wins
    depth = table.shape[1] - 1
    for c in range(len(ks)):
        k = ks[c]
        need = k // 2 + 1
        even = k % 2 == 0
        for j in range(k, depth + 1):
            mass = masses[c, j]
            if mass == 0.0:
                continue
            more = 0.0
            at_least_half = 0.0
            total_first = 0.0
            total_second = 0.0
            for o in range(j + 1):
                tied_vote = at_least_half - more if even else 0.0
                total_first += table[0, j, o] * (more + first_wins * tied_vote)
                total_second += table[1, j, o] * (more + second_wins * tied_vote)
                if o < j:
                    scale = theta / binomials[j, k]
                    more += binomials[o, need - 1] * binomials[j - 1 - o, k - need] * scale
                    if even:
                        half = k // 2
                        at_least_half += (
                            binomials[o, half - 1] * binomials[j - 1 - o, k - half] * scale
                        )
            out[c, 0] += mass * total_first
            out[c, 1] += mass * total_second


@njit(nogil=True, cache=True, error_model="numpy")
def count_nearest(rows, kinds, average, hits, keys, members):
    """hits[kind, r] counts rows whose neighbour of rank r has their class; ties are listed.

    A mixed tie group becomes the key (kind, start, size) with its number of members of the row's
    class. Returns how many keys were written.
    """
    n_groups = 0
    base = hits.shape[1]
    for i in range(len(rows.own)):
        position = rows.indptr[i]
        s = np.int64(0)
        while position < rows.indptr[i + 1]:
            end = group_end(rows.tied, position, rows.indptr[i + 1], average)
            g = end - position
            g_own = count_own(rows.labels, position, end, rows.own[i])
            if g_own == g:
                for r in range(s + 1, s + g + 1):
                    hits[kinds[i], r] += 1
            elif g_own > 0:
                keys[n_groups] = (np.int64(kinds[i]) * base + s) * base + g
                members[n_groups] = g_own
                n_groups += 1
            s += g
            position = end
    return n_groups


@njit(nogil=True, cache=True, error_model="numpy")
def nearest_curve(hits, n_candidates, sizes, out, terms):
    """out[c] = Σ_r P(nearest training neighbour has rank r) · hits[r] for each training size.

    P(1) = a / N and P(r+1) / P(r) = (N - r - a + 1) / (N - r). The sum stops when what is left
    cannot reach 1e-18; terms[c] is how many terms were added.
    """
    N = n_candidates
    for c in range(len(sizes)):
        a = sizes[c]
        p = a / N
        total = 0.0
        r = 1
        while r <= N - a + 1 and p * (N - r + 1) > 1e-18:
            total += p * hits[r]
            p *= (N - r - a + 1.0) / (N - r) if r < N else 0.0
            r += 1
        out[c] = total
        terms[c] = r - 1

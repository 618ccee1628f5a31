"""Compiled recall@R for a fixed number of training items from each class.

The nearest training item of the right class stands somewhere, and before it there must be fewer
than R training items of other classes.
"""

import numpy as np
from numba import njit

from allsplits.exact._kernels import group_end
from allsplits.exact._kernels_draws import table_of_class
from allsplits.exact._kernels_ties import choose_rule, node_of, row_before, row_next
from allsplits.exact._kernels_votes import multiply

__all__ = ["hit_counts"]


@njit(nogil=True, cache=True, error_model="numpy")
def hit_counts(
    indptr,
    labels,
    tied,
    own,
    start,
    stop,
    kinds,
    table_of,
    own_table_of,
    starts,
    pools,
    drawn,
    remaining,
    tables,
    depth,
    average,
    ks,
    rules,
    out,
):
    """out[i, part, c]: P(any of the R nearest training items has the right class), R = ks[c].

    The nearest training item of the right class stands somewhere, and before it there must be
    fewer than R training items of other classes.
    """
    n_parts, n_classes = out.shape[1], table_of.shape[1]
    size = tables.shape[1] // n_parts
    counts = np.zeros(n_classes, np.int64)
    group = np.zeros(n_classes, np.int64)
    seen = np.zeros(n_classes, np.bool_)
    present = np.empty(n_classes, np.int64)
    members = np.empty(n_classes, np.int64)
    table_ids = np.empty(n_classes, np.int64)
    flat_row = np.empty(size * n_parts)
    row = flat_row.reshape(size, n_parts)
    first = np.empty(n_parts)
    poly = np.empty((size, n_parts))
    for i in range(start, stop):
        for c in range(n_classes):
            counts[c] = 0
            seen[c] = False
            table_ids[c] = table_of_class(kinds[i], c, own[i], table_of, own_table_of)
        y = own[i]
        n_present = np.int64(0)
        position = indptr[i]
        s = np.int64(0)
        mine = table_ids[y]
        while position < indptr[i + 1] and s < depth:
            end = group_end(tied, position, indptr[i + 1], average)
            g = end - position
            n_members = np.int64(0)
            for e in range(position, end):
                c = labels[e]
                if not seen[c]:
                    seen[c] = True
                    present[n_present] = c
                    n_present += 1
                if group[c] == 0:
                    members[n_members] = c
                    n_members += 1
                group[c] += 1
            rule, panels, window = choose_rule(
                rules, members, n_members, group, table_ids, pools, drawn
            )
            for q in range(panels * rules.sizes[rule] if group[y] > 0 else 0):
                time, time_weight = node_of(rules, rule, panels, window, q)
                table = tables[starts[mine] :]
                row_next(
                    table, remaining[mine], pools[mine], counts[y], group[y], time, n_parts, first
                )
                for p in range(n_parts):
                    poly[0, p] = 1.0
                degree = np.int64(0)
                for e in range(n_present):
                    d = present[e]
                    if d != y:
                        table = tables[starts[table_ids[d]] :]
                        top = min(counts[d] + group[d], size - 1)
                        width = (top + 1) * n_parts
                        row_before(table, counts[d], group[d], time, width, flat_row)
                        degree = multiply(poly, degree, row, top, size - 1, n_parts)
                for p in range(n_parts):
                    for c in range(len(ks)):
                        fewer = 0.0
                        for b in range(min(ks[c] - 1, degree) + 1):
                            fewer += poly[b, p]
                        out[i, p, c] += time_weight * first[p] * fewer
            for e in range(position, end):
                counts[labels[e]] += 1
                group[labels[e]] = 0
            s += g
            position = end

"""Compiled steps that tied and untied rows share: tables of a row, and votes its class loses."""

from numba import njit

from allsplits.exact._kernels_votes import add_any, add_wins
from allsplits.exact.kernel_types import Reach


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def choose_tables(table_of, own_table_of, own, table_ids):
    """table_ids[d]: the table of class d as seen from a query of class `own`."""
    for d in range(len(table_ids)):
        table_ids[d] = own_table_of[d] if d == own else table_of[d]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def is_pure(labels, tied, own, depth, average):
    """Whether all of a row is of class `own`, as far as it matters: then nothing can be lost."""
    for e in range(len(labels)):
        if e >= depth and not (average and tied[e]):
            return True
        if labels[e] != own:
            return False
    return True


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def set_certain(own, every_class, out):
    """out[component, column or class]: a row of class `own` is always right."""
    for p in range(out.shape[0]):
        for c in range(out.shape[1]):
            if c == own or not every_class:
                out[p, c] = 1.0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def add_lanes(own, contenders, reach, n_lanes, vote, work, out):
    """out[component, column] += P(`own` loses the vote of k), as far as reach asks.

    With every_class instead out[component, class] += P(the class wins the only vote). The lanes go
    round the components.
    """
    every_class, ks, wins = vote.rule.every_class, vote.ks, work.wins
    n_components = out.shape[0]
    for e in range(len(contenders.present) if every_class else 1):
        target, v_high, scale = own, reach.v_high, -1.0
        if every_class:
            target = contenders.present[e]
            v_high, scale = contenders.most[target], 1.0
        for k in range(reach.k_low, reach.k_high + 1):
            for x in range(n_lanes):
                wins[k, x] = 0.0
        asked = Reach(reach.v_low, v_high, reach.k_low, reach.k_high)
        degree = add_wins(
            target, contenders, asked, vote.rule.share, vote.quadrature, scale, n_lanes, work
        )
        if not every_class:
            add_any(own, contenders, asked, degree, n_lanes, work)
        for c in range(len(ks)):
            if reach.k_low <= ks[c] <= reach.k_high:
                for first in range(0, n_lanes, n_components):
                    for p in range(n_components):
                        out[p, target if every_class else c] += wins[ks[c], first + p]

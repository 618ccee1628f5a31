"""Compiled steps that tied and untied rows share: tables of a row, and votes its class loses."""

from numba import njit

from allsplits.exact._kernels_votes import add_any, add_wins
from allsplits.exact.kernel_types import Reach


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def choose_tables(draws, i, own, table_ids):
    """table_ids[d]: the table of class d as seen from row i, which is of class `own`."""
    kind = draws.kinds[i]
    for d in range(len(table_ids)):
        table_ids[d] = draws.table_of[kind, d]
    table_ids[own] = draws.own_table_of[kind, own]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def is_pure(rows, i, vote):
    """Whether all of row i is of its own class, as far as it matters: then nothing can be lost."""
    row_end = rows.indptr[i + 1]
    last = rows.indptr[i] + vote.depth
    e = rows.indptr[i]
    while e < row_end and (e < last or (vote.rule.average and rows.tied[e])):
        if rows.labels[e] != rows.own[i]:
            return False
        e += 1
    return True


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def set_certain(own, vote, out):
    """out[component, column or class]: a row of class `own` is always right."""
    for p in range(out.shape[0]):
        for c in range(1 if vote.rule.every_class else len(vote.ks)):
            out[p, own if vote.rule.every_class else c] = 1.0


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def add_columns(target, reach, n_lanes, vote, wins, out):
    """Add up the lanes, which go round the components: out[component, column or class target]."""
    n_components = out.shape[0]
    for c in range(len(vote.ks)):
        k = vote.ks[c]
        if reach.k_low <= k <= reach.k_high:
            for first in range(0, n_lanes, n_components):
                for p in range(n_components):
                    out[p, target if vote.rule.every_class else c] += wins[k, first + p]


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def add_losses(own, voters, reach, n_lanes, vote, work, out):
    """out[component, column] += P(`own` loses the vote of k), as far as reach asks."""
    for k in range(reach.k_low, reach.k_high + 1):
        for x in range(n_lanes):
            work.wins[k, x] = 0.0
    add_any(own, voters, reach, n_lanes, work)
    wins = Reach(max(reach.v_low, 1), reach.v_high, reach.k_low, reach.k_high)
    add_wins(own, voters, wins, vote.rule.share, vote.quadrature, -1.0, n_lanes, work)
    add_columns(own, reach, n_lanes, vote, work.wins, out)

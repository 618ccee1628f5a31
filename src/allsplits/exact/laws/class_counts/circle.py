"""Fixed numbers of training items from each class as votes on a circle.

Classes are drawn independently, so a class with n items among the nearest has the row h[n, ·] of
its hypergeometric law. The vote of k is over when the (k+1)-th training item comes: each prefix
counts with the item after it drawn, and that item's class has the rows h[n, b] (α - b)/(N - n).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.kernel_types import Quadrature
from allsplits.exact.laws.class_counts.draws import DrawTables
from allsplits.exact.on_device.circle import FEWEST, MOST, class_tables, rounding
from allsplits.exact.on_device.votes import DEEPEST, CircleVote
from allsplits.orders import UNIT_ROUNDOFF

#: Bytes of tables of one component: kinds of classes are few, or their tables are no help.
_LARGEST_TABLES = 1 << 31


def circle_votes(
    draws: DrawTables, ks: NDArray[np.int64], depths: Sequence[NDArray[np.int64]],
    quadrature: Quadrature, tol: float,
) -> list[CircleVote] | None:  # fmt: skip
    """The vote of each component; `depths` are the ranks up to which each column needs it.

    None where tables would be too large.
    """
    depth = int(np.max(depths))
    n_kinds, votes = len(draws.pools), int(ks.max())
    n_points = FEWEST
    # Prefixes are shorter than the rank by one, and coefficients a period away must not exist.
    while 2 * n_points <= int(np.max(np.asarray(depths) - 1 - ks)):
        n_points *= 2
    size = 2 * n_kinds * (depth + 1) * (votes + 2) * 2 * n_points * 8
    if depth > DEEPEST or n_points > MOST or size > _LARGEST_TABLES:
        return None
    n_classes = draws.table_of.shape[1]
    each = rounding(depth, n_classes, votes, n_points) + 8 * depth * UNIT_ROUNDOFF
    prefix = np.arange(depth + 1)[:, None]
    return [
        CircleVote(
            class_tables(_both_rows(draws, component, depth), n_points, votes),
            draws.table_of[0].astype(np.int32), draws.own_table_of[0].astype(np.int32), ks,
            ((prefix > 0) & (prefix < ranks)).astype(np.float64), quadrature, True,
            ranks.astype(np.float64) * each + tol,
        )
        for component, ranks in enumerate(depths)
    ]  # fmt: skip


def _both_rows(draws: DrawTables, component: int, depth: int) -> NDArray[np.float64]:
    """Rows of all kinds and numbers of items; then those with the next item drawn as well."""
    rows = np.zeros((2, len(draws.pools), depth + 1, depth + 1))
    items, drawn_before = np.arange(depth + 1)[:, None], np.arange(depth + 1)
    for kind, pool in enumerate(draws.pools.tolist()):
        drawn, most = int(draws.drawn[kind, component]), min(pool, depth)
        hypergeometric_table(pool, drawn, most, depth, rows[0, kind, : most + 1])
        share = np.maximum(drawn - drawn_before, 0) / np.maximum(pool - items, 1)
        rows[1, kind] = rows[0, kind] * share
    return rows.reshape(-1, depth + 1)

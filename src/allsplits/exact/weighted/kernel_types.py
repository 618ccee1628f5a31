"""The named state of weighted votes, for Python and compiled kernels."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class WeightedRows(NamedTuple):
    """The candidates of a block of samples; a vote weighs mantissa · 2^exponent, inf at 0."""

    indptr: Integers
    labels: NDArray[np.int32]
    tied: NDArray[np.bool_]
    mantissa: Floats
    exponent: Integers
    own: NDArray[np.int32]


class WeightedRule(NamedTuple):
    """How votes are counted: which k, how ties end, which class is asked for (-1: every class).

    slots[k] is where a vote of k goes, -1 if it is not wanted; with `average`, orders of tied
    neighbours are averaged; `nodes` integrate 1/(1 + tied rivals) if tied classes `share`;
    `tolerance` is the share of the lightest vote by which sums may differ and still tie.
    """

    slots: Integers
    average: bool
    share: bool
    target: int
    nodes: Floats
    node_weights: Floats
    tolerance: float


class Effort(NamedTuple):
    """How hard to try.

    Mass up to `tol` (exact) or `near` (enclosed) may be left out at the far end. Exact lists hold
    at most `cap` sums and take at most `exact_work` steps. A grid holds at most `most_cells` and
    looks at `grid_work` of them; lines, for up to `left_out` candidates that do not vote, have
    `coarse` cells at first, and `wanted_width` is aimed at. Tie groups that can come in more than
    `most_prefixes` ways stay unknown.
    """

    tol: float
    near: float
    cap: int
    exact_work: float
    grid_work: float
    coarse: int
    most_cells: int
    left_out: int
    wanted_width: float
    most_prefixes: float


class LawTables(NamedTuple):
    """A law as tables, component m by component.

    rows[m, table, n, b] is the weight of b training items among the first n of a class, and nexts
    the same if the next item of the class is drawn, too. For sets drawn from all candidates rows
    has one m; the components are in ends[m, j, b], what the product over classes must be multiplied
    by for b of j items, and lasts[m, j, b], the same if the next item is drawn, too. Both are empty
    for class counts. After `reach` candidates next to no vote is still open.
    """

    rows: Floats
    nexts: Floats
    table_of: Integers
    own_table_of: Integers
    ends: Floats
    lasts: Floats
    reach: int


class GroupedRow(NamedTuple):
    """The candidates of one sample, by tie group and class.

    Class present[p] has members[g, p] items in group g; before them come passed[p] items that are
    not drawn and forced[p] items that are. tables[p] is its table of the law. A vote in group g
    weighs mantissa[g] · 2^exponent[g].
    """

    present: Integers
    tables: Integers
    passed: Integers
    forced: Integers
    members: Integers
    mantissa: Floats
    exponent: Integers


class Vote(NamedTuple):
    """The vote on one sample: who may vote, how votes are counted, and how they are drawn."""

    row: GroupedRow
    rule: WeightedRule
    law: LawTables


class Prefix(NamedTuple):
    """Who stands before the last voter, and how likely that is.

    taken[p] items of each class come first in the tie group, seen[p] in all. `last` is the place
    of the last voter's class, -1 if the vote ends without a k-th voter.
    """

    taken: Integers
    seen: Integers
    last: int
    chance: float


class Found(NamedTuple):
    """What the classes win, and how much of every vote was looked at: visited[m, slot].

    won[class, m, slot], with a bound (for certain, possibly) as the first axis where votes are
    enclosed.
    """

    won: Floats
    visited: Floats


class FoundRows(NamedTuple):
    """The same for a block: won[i, bound, class, m, slot] and visited[i, m, slot].

    is_open[i] tells that the votes without voters at distance 0 are left.
    """

    won: Floats
    visited: Floats
    is_open: NDArray[np.bool_]

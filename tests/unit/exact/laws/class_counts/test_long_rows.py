"""Votes of the own class in rows that are longer than a block, beside the plain sum over ranks.

What could be wrong although short rows are right: blocks of ranks and vectors of votes that end in
the wrong place, spans that remember the row before, and votes that are left out and count.
"""

import numpy as np
import pytest

from allsplits.exact.kernel_types import Rows, Rule
from allsplits.exact.laws.class_counts._kernels_own import LEAVES, own_work, score_own
from allsplits.exact.laws.class_counts.draws import DrawTables, Pools
from allsplits.exact.laws.class_counts.kernel_types import ClassVote
from allsplits.exact.ties import legendre_rules, tie_rules

Long = np.longdouble


def hypergeometric(pool, drawn, n_most, b_most):
    """P(b of the first n are drawn), by passing one item after the other."""
    table = np.zeros((n_most + 1, b_most + 2), Long)
    table[0, 0] = 1
    b = np.arange(b_most + 2)
    for n in range(n_most):
        comes = np.clip(drawn - b, 0, None).astype(Long) / (pool - n)
        table[n + 1] = table[n] * (1 - comes)
        table[n + 1, 1:] += (table[n] * comes)[:-1]
    return table[:, :-1]


def nobody_beats(v, own, rivals, share, k):
    """Coefficients of the rivals' votes, those with r tied rivals divided by r + 1."""
    ways = [np.ones(1, Long)]
    for d, row in rivals:
        more = [np.convolve(way, row[:v])[: k + 1] for way in ways] + [np.zeros(1, Long)]
        if v < len(row) and (share or d > own):
            tie = np.zeros(v + 1, Long)
            tie[v] = row[v]
            for r, way in enumerate(ways):
                more[r + share] = added(more[r + share], np.convolve(way, tie)[: k + 1])
        ways = more
    return sum((padded(way, k) / (r + 1) for r, way in enumerate(ways)), np.zeros(k + 1, Long))


def padded(values, k):
    return np.concatenate([values, np.zeros(k + 1 - len(values), Long)])


def added(first, second):
    size = max(len(first), len(second)) - 1
    return padded(first, size) + padded(second, size)


def plain(labels, own, pools, drawn, k_most, share):
    """P(right) for each k up to k_most: the formula, rank by rank."""
    counts, won, votes = (
        np.zeros(len(pools), int),
        np.zeros(k_most + 1, Long),
        np.arange(k_most + 1),
    )
    tables = [
        hypergeometric(pool, n, pool, k_most) for pool, n in zip(pools, drawn, strict=True)
    ]  # fmt: skip
    for e in labels:
        rows = [table[n] for table, n in zip(tables, counts, strict=True)]
        rows[e] = rows[e] * np.clip(drawn[e] - votes, 0, None) / Long(pools[e] - counts[e])
        rivals = [(d, rows[d]) for d in range(len(pools)) if d != own and (counts[d] or d == e)]
        for v in range(1, k_most + 1):
            if rows[own][v] > 0:
                others = nobody_beats(v, own, rivals, share, k_most)
                won[v:] += rows[own][v] * others[: k_most + 1 - v]
        counts[e] += 1
    return won[1:]


def found(rows, owns, pools, drawn, k_most, *, share=False, by_wins=False, tol=1e-17):
    """The kernel's P(right), of shape (rows, components, ks)."""
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    labels = np.concatenate(rows).astype(np.int32)
    sizes = np.array(pools)[None]
    tables = DrawTables(Pools(sizes, sizes, np.array(drawn)[None]), k_most)
    draws = tables.for_rows(np.zeros(len(rows), np.int32), max(map(len, rows)))
    vote = ClassVote(
        Rule(False, True, share), np.arange(1, k_most + 1), 1, k_most, max(map(len, rows)), tol,
        tie_rules(k_most), legendre_rules(k_most // 2 + 1 if share else 0),
    )  # fmt: skip
    out = np.zeros((len(rows), len(drawn), k_most))
    rows = Rows(indptr, labels, np.zeros(len(labels), bool), np.array(owns, np.int32))
    work = own_work(len(pools), k_most, share, by_wins)
    score_own(rows, 0, len(owns), draws, draws.lines.ravel(), vote, work, out)
    return out


def a_row(n_rivals, n_classes, own, seed, *, own_share=0.4):
    """A row with so many items of rivals, runs of the own class between them, one at the end."""
    random = np.random.default_rng(seed)
    rivals = [d for d in range(n_classes) if d != own]
    likely = random.dirichlet(np.ones(len(rivals)))
    row = []
    for d in random.choice(rivals, n_rivals, p=likely):
        row += [own] * int(random.geometric(1 - own_share) - 1) + [int(d)]
    return row + [own] * 5


def drawn_from(row, wanted):
    """All items of the classes are in the row; no more are drawn than there are."""
    pools = np.bincount(row, minlength=len(wanted))
    return pools.tolist(), np.minimum(pools, wanted).tolist()


@pytest.mark.parametrize("by_wins", [False, True])
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(
    "n_rivals", [1, 2, LEAVES - 1, LEAVES, LEAVES + 1, 2 * LEAVES, 2 * LEAVES + 3]
)
def test_blocks_of_rivals(n_rivals, share, by_wins):
    own = n_rivals % 4
    row = a_row(n_rivals, 4, own, n_rivals)
    pools, drawn = drawn_from(row, [7, 3, 5, 4])
    k_most = min(6, sum(drawn) - 1)
    truth = plain(row, own, pools, drawn, k_most, share)
    value = found([row], [own], pools, [drawn], k_most, share=share, by_wins=by_wins)[0, 0]
    np.testing.assert_allclose(value, truth.astype(float), rtol=0, atol=1e-14)


@pytest.mark.parametrize("by_wins", [False, True])
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("k_most", [2, 3, 7, 8, 15, 16, 17, 18, 31, 32, 33, 39, 40])
def test_vectors_of_votes(k_most, share, by_wins):
    """Chunks are eight long, four of them go side by side, and sixteen numbers in registers."""
    row = a_row(90, 5, 2, k_most)
    pools, drawn = drawn_from(row, [14, 16, 20, 9, 40])
    truth = plain(row, 2, pools, drawn, k_most, share)
    assert sum(drawn) > k_most
    value = found([row], [2], pools, [drawn], k_most, share=share, by_wins=by_wins)[0, 0]
    np.testing.assert_allclose(value, truth.astype(float), rtol=0, atol=2e-14)


@pytest.mark.parametrize("by_wins", [False, True])
@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize(("n_classes", "own"), [(12, 0), (40, 39), (70, 33)])
@pytest.mark.parametrize("wanted", [1, 2, 9])
def test_classes_that_are_met_late_or_never_drawn(n_classes, own, wanted, share, by_wins):
    """A class changes nothing before its first item, nor if none is drawn."""
    row = a_row(2 * LEAVES + 5, n_classes, own, n_classes + wanted)
    most = [0 if d % 7 == 3 and d != own else wanted for d in range(n_classes)]
    pools, drawn = drawn_from(row, most)
    k_most = min(17, sum(drawn) - 1)
    truth = plain(row, own, pools, drawn, k_most, share)
    value = found([row], [own], pools, [drawn], k_most, share=share, by_wins=by_wins)[0, 0]
    np.testing.assert_allclose(value, truth.astype(float), rtol=0, atol=2e-14)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("n_rivals", [LEAVES - 1, LEAVES, LEAVES + 1, 2 * LEAVES + 1])
def test_rivals_that_come_once(n_rivals, share):
    """A block has as many classes as a number has bits, and one more may come before it."""
    own, random = 5, np.random.default_rng(n_rivals)
    rivals = random.permutation([d for d in range(n_rivals + 1) if d != own])
    row = [x for d in rivals for x in [own] * int(random.integers(2)) + [int(d)]] + [own]
    pools, drawn = drawn_from(row, [40 if d == own else 1 for d in range(n_rivals + 1)])
    # Items that are farther than the row lets us see: a class may have no vote there.
    pools = [pool + (0 if d == own else d % 3) for d, pool in enumerate(pools)]
    truth = plain(row, own, pools, drawn, 9, share)
    value = found([row], [own], pools, [drawn], 9, share=share)[0, 0]
    np.testing.assert_allclose(value, truth.astype(float), rtol=0, atol=2e-14)


def test_small_chances_are_precise_where_wins_are_added_up():
    row = [d for d in range(1, 5) for _ in range(30)] + [0] * 3
    pools, drawn = drawn_from(row, [3, 20, 20, 20, 20])
    truth = plain(row, 0, pools, drawn, 5, False).astype(float)
    value = found([row], [0], pools, [drawn], 5, by_wins=True, tol=0.0)[0, 0]
    assert truth.max() < 1e-12
    np.testing.assert_allclose(value, truth, rtol=1e-12, atol=0)


def test_rows_and_components_do_not_see_each_other():
    """Rows of the same items in another order, for other classes; some classes are not drawn."""
    random, owns = np.random.default_rng(0), [3, 0, 4, 1, 4, 2]
    items = np.repeat(np.arange(6), [30, 25, 9, 40, 1, 22])
    rows = [random.permutation(items) for _ in owns]
    rows[2] = np.sort(items)
    pools = np.bincount(items).tolist()
    components = [[4, 4, 4, 4, 1, 4], [0, 9, 1, 0, 1, 2], [12, 1, 1, 5, 0, 9]]
    together = found(rows, owns, pools, components, 7)
    for i, (row, own) in enumerate(zip(rows, owns, strict=True)):
        for c, drawn in enumerate(components):
            truth = plain(row, own, pools, drawn, 7, False).astype(float)
            np.testing.assert_allclose(together[i, c], truth, rtol=0, atol=1e-14)
            assert np.array_equal(found([row], [own], pools, [drawn], 7)[0, 0], together[i, c])
    assert np.array_equal(found(rows[::-1], owns[::-1], pools, components, 7)[::-1], together)


@pytest.mark.parametrize("own_share", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-9, 1e-12])
def test_what_is_left_out_is_not_more_than_was_said(tol, own_share):
    """Losses are left out, on the way and at the end: the chance to be right grows by as much."""
    for own in range(6):
        row = a_row(300, 6, own, own, own_share=own_share)
        pools, drawn = drawn_from(row, [9] * 6)
        full = found([row], [own], pools, [drawn], 9)
        less = found([row], [own], pools, [drawn], 9, tol=tol)
        assert np.all(less >= full - 1e-14)
        assert np.all(less <= full + 2 * tol + 1e-14)

"""Sorting complete rows of distances: beside a plain sort in Python, with ties at every border."""

import math

import numpy as np
import pytest

from allsplits.orders.kernel_types import Ties
from allsplits.orders.verify import lone_firsts, sort_rows

TOLERANCE = 2e-12


def plainly_sorted(row, depth, floor):
    """Sort by (key, column), join near ties, stop after the group that reaches `depth`."""
    nearest = sorted((key, column) for column, key in enumerate(row) if np.isfinite(key))
    items, tied, start = [], [], 0
    while start < len(nearest) and len(items) < depth:
        stop = start + 1
        while stop < len(nearest):
            key, before = nearest[stop][0], nearest[stop - 1][0]
            near = floor * (math.sqrt(key) + math.sqrt(before))
            if key - before > max(TOLERANCE * key, near):
                break
            stop += 1
        items += sorted(column for _, column in nearest[start:stop])
        tied += [False] + [True] * (stop - start - 1)
        start = stop
    return items, tied


def rows_of(kind, rng, shape):
    keys = rng.random(shape)
    near = rng.choice([0.5, 1, 1.9, 2, 2.1], shape)
    return {
        "distinct": keys,
        "few values": np.round(5 * keys),
        "equal but for the last bits": 1 + 1e-11 * keys,
        "around the tolerance": 1 + np.round(40 * keys) * near * 1e-12,
        "below the smallest normal number": 1e-310 * keys,
        "zeros and tiny": np.round(3 * keys) * 1e-305,
        "thirty decades": 10 ** (60 * keys - 30),
        "a crowd far from one": np.where(keys < 0.01, 1e200 * keys, 1 + 1e-9 * keys),
    }[kind]


every_kind = pytest.mark.parametrize(
    "kind",
    [
        "distinct",
        "few values",
        "equal but for the last bits",
        "around the tolerance",
        "below the smallest normal number",
        "zeros and tiny",
        "thirty decades",
        "a crowd far from one",
    ],
)


@every_kind
def test_like_a_plain_sort(kind):
    rng = np.random.default_rng(0)
    for _ in range(60):
        n_rows, n_columns = int(rng.integers(1, 12)), int(rng.integers(2, 300))
        rows = rows_of(kind, rng, (n_rows, n_columns))
        own = rng.random() < 0.7
        if own:
            rows[np.arange(n_rows), rng.integers(0, n_columns, n_rows)] = np.inf
        depth = int(rng.integers(1, n_columns - own + 1))
        floor = float(rng.choice([0.0, 1e-12]))
        found = sort_rows(rows, depth, n_columns - own, 2, Ties(TOLERANCE, floor))
        for row, items, tied, length in zip(rows, found[0], found[2], found[3], strict=True):
            expected = plainly_sorted(row, depth, floor)
            assert (items[:length].tolist(), tied[:length].tolist()) == expected
        firsts = lone_firsts(rows, 2, Ties(TOLERANCE, floor))
        for row, item, length in zip(rows, firsts.items[:, 0], firsts.lengths, strict=True):
            group, _ = plainly_sorted(row, 1, floor)
            assert group == [item] if length == 1 else length == -1
            # Who is clearly alone is found without a sort.
            least, second = np.sort(row)[:2]
            if second > (1 + 1e-9) * least + 1e-9:
                assert length == 1


def agree(rows, depth, n_candidates, floor=0.0, n_threads=1):
    found = sort_rows(rows, depth, n_candidates, n_threads, Ties(TOLERANCE, floor))
    for row, items, tied, length in zip(rows, found[0], found[2], found[3], strict=True):
        expected = plainly_sorted(row, depth, floor)
        assert (items[:length].tolist(), tied[:length].tolist()) == expected


@every_kind
@pytest.mark.parametrize("floor", [0.0, 1e-12])
def test_few_of_many_like_a_plain_sort(kind, floor):
    """Where few are wanted they are selected by a limit, which starts with that of the row before:
    rows of all sizes follow each other."""
    rng = np.random.default_rng(1)
    for _ in range(25):
        n_columns = int(rng.integers(60, 900))
        depth = int(rng.integers(1, n_columns // 3))
        rows = rows_of(kind, rng, (12, n_columns))
        if kind not in ("below the smallest normal number", "zeros and tiny", "thirty decades"):
            rows *= 10.0 ** rng.integers(-90, 90, (12, 1))
        agree(rows, depth, n_columns, floor, n_threads=int(rng.integers(1, 3)))


@pytest.mark.parametrize("n_finite", [0, 1, 4, 5, 6, 7, 40])
def test_rows_with_few_candidates_among_many_columns(n_finite):
    rng = np.random.default_rng(n_finite)
    rows = np.full((6, 200), np.inf)
    for row in rows:
        row[rng.permutation(200)[:n_finite]] = rng.integers(0, 9, n_finite)
    agree(rows, 5, 199)
    # There is room for everybody, but infinite keys are nobody.
    agree(rows, 87, 200)


@pytest.mark.parametrize("size", [1, 2, 7, 8, 9, 12, 13, 14, 25, 26, 27, 28, 60, 199])
def test_tie_groups_of_every_size_at_the_border(size):
    """At depth 5 up to 13 are selected, 26 if they are equal; larger groups are sorted in full."""
    rng = np.random.default_rng(size)
    for before in (0, 3, 4, 5):
        rows = np.stack(
            [
                rng.permutation(
                    np.concatenate([np.arange(before), np.full(size, 7.0), 8 + np.arange(210.0)])
                )
                for _ in range(5)
            ]
        )
        # Neighbouring floats belong to the group, on this and on that side of any limit.
        rows[1] = np.where(
            rows[1] == 7, np.nextafter(7, rng.choice([0, 8], rows.shape[1])), rows[1]
        )
        agree(rows, 5, rows.shape[1])


def test_a_chain_of_near_ties_that_leaves_every_limit_behind():
    """Neighbours are tied, the ends of the chain are not: nothing may cut it."""
    chain = 1 + 1.5e-12 * np.arange(40)
    rng = np.random.default_rng(0)
    rows = np.stack([rng.permutation(np.concatenate([chain, 2 + rng.random(300)])) for _ in "abcd"])
    agree(rows, 3, 340)


def test_all_keys_equal():
    agree(np.zeros((3, 300)), 4, 300)
    agree(np.full((3, 300), 1e-320), 4, 300)
    agree(np.full((3, 300), 1.7e308), 4, 300)


@every_kind
@pytest.mark.parametrize("n_columns", [1023, 1024, 1025, 2049, 3000])
def test_complete_long_rows_like_a_plain_sort(kind, n_columns):
    """From 1024 columns on complete rows are sorted by digits."""
    rows = rows_of(kind, np.random.default_rng(n_columns), (3, n_columns))
    rows[np.arange(3), [0, 7, n_columns - 1]] = np.inf
    found = sort_rows(rows, n_columns - 1, n_columns - 1, 2, Ties(TOLERANCE, 0.0))
    for row, items, tied, length in zip(rows, found[0], found[2], found[3], strict=True):
        expected = plainly_sorted(row, n_columns - 1, 0.0)
        assert (items[:length].tolist(), tied[:length].tolist()) == expected


def test_long_rows_with_all_keys_equal_or_infinite():
    rows = np.full((2, 1500), np.inf)
    rows[0] = 2.0
    items, _, tied, lengths = sort_rows(rows, 1500, 1500, 1, Ties(TOLERANCE, 0.0))
    assert lengths.tolist() == [1500, 0]
    assert items[0].tolist() == list(range(1500))
    assert tied[0].tolist() == [False] + [True] * 1499

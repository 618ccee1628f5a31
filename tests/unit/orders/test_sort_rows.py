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

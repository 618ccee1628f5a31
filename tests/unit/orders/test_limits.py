"""Lists within limits hold whom a plain sort of all true distances finds, bit for bit.

What would be wrong although most data show nothing: the zeros that fill the last tile are taken for
points; a query that has no partner gets the distances of another one; a list ends inside of a tie
group that goes on beyond its limit, or at the end of its room.
"""

import numpy as np
import pytest

from allsplits.orders import Metric, Reference, points
from allsplits.orders.default import full_euclidean_rows
from allsplits.orders.kernel_types import TIE_TOLERANCE, Ties
from allsplits.orders.kernels_tiles import TILE
from allsplits.orders.limits import LimitedSearch
from allsplits.orders.points import Points

EUCLIDEAN = Metric("euclidean")
TIES = Ties()
LONG = 8200


def true_distances(at, X):
    """Squared distances of one query, added up as the kernels do."""
    X = X.astype(np.float64)
    squares = (at - X) ** 2
    total, quads = np.zeros(len(X)), X.shape[1] // 4 * 4
    for f in range(0, quads, 4):
        a, b, c, d = squares[:, f : f + 4].T
        total += (a + b) + (c + d)
    for f in range(quads, X.shape[1]):
        total += squares[:, f]
    return total


def plainly_sorted(keys, depth):
    """Items, keys and ties up to the group that reaches `depth`."""
    order = np.argsort(keys, kind="stable")
    items, tied = [], []
    start, values = 0, keys[order]
    while len(items) < depth:
        stop = start + 1
        while stop < len(order) and values[stop] - values[stop - 1] <= TIE_TOLERANCE * values[stop]:
            stop += 1
        items += sorted(order[start:stop].tolist())
        tied += [False] + [True] * (stop - start - 1)
        start = stop
    return items, tied


def data_of(kind, rng, n, d):
    scales = 10.0 ** rng.uniform(-15, 15, (n, 1))
    return {
        "normal": lambda: rng.standard_normal((n, d)),
        "sorted": lambda: np.sort(rng.standard_normal((n, d)), axis=0),
        "grid": lambda: rng.integers(-1, 2, (n, d)).astype(float),
        "copies": lambda: np.repeat(rng.standard_normal((-(-n // 7), d)), 7, axis=0)[:n],
        "one place": lambda: np.ones((n, d)),
        "thirty decades": lambda: scales * rng.standard_normal((n, d)),
        "zero rows": lambda: rng.standard_normal((n, d)) * (rng.random((n, 1)) < 0.5),
        "float32": lambda: rng.standard_normal((n, d)).astype(np.float32),
    }[kind]()


KINDS = [
    "normal", "sorted", "grid", "copies", "one place", "thirty decades", "zero rows", "float32",
]  # fmt: skip


def asked_of(X, rng, n):
    """Samples, points beside them, the origin, and points far away."""
    rows = X[rng.integers(len(X), size=n)].astype(np.float64)
    rows[1::4] += rng.standard_normal(rows[1::4].shape)
    rows[2::4] = 0.0
    rows[3::8] *= 1e6
    return rows


def check(X, at, depth, search=None):
    """Rows that are certain are right; how many are."""
    search = LimitedSearch(Points(X, EUCLIDEAN), 2) if search is None else search
    row, certain = 0, 0
    for block in search.nearest(at, depth, TIES):
        for items, keys, tied, length in zip(*block, strict=True):
            if length >= 0:
                distances = true_distances(at[row], X)
                expected = plainly_sorted(distances, depth)
                assert (items[:length].tolist(), tied[:length].tolist()) == expected
                firsts = ~tied[:length]
                np.testing.assert_array_equal(
                    keys[:length][firsts], np.sort(distances)[:length][firsts]
                )
                certain += 1
            row += 1
    assert row == len(at)
    return certain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n", [1, 2, TILE - 1, TILE, TILE + 1, 3 * TILE + 5, 1500])
def test_like_a_plain_sort(kind, n):
    rng = np.random.default_rng(n)
    for d in (1, 3, 4, 9):
        X = data_of(kind, rng, n, d)
        at = asked_of(X, rng, 9)
        for depth in sorted({1, min(2, n), max(1, n // 3), max(1, n - 1), n}):
            check(X, at, depth)
        assert check(X, at, n) == len(at)


@pytest.mark.parametrize("n_asked", [1, 2, 3, 31, 32, 33, 63, 64, 65, 129])
def test_threads_and_company_change_nothing(n_asked):
    rng = np.random.default_rng(0)
    X = data_of("normal", rng, 3000, 5)
    at = asked_of(X, rng, n_asked)
    found = [list(LimitedSearch(Points(X, EUCLIDEAN), t).nearest(at, 700, TIES)) for t in (1, 2, 3)]
    for blocks in found:
        for block, expected in zip(blocks, found[0], strict=True):
            np.testing.assert_array_equal(block.lengths, expected.lengths)
            for i, length in enumerate(expected.lengths):
                np.testing.assert_array_equal(block.items[i, :length], expected.items[i, :length])
                np.testing.assert_array_equal(block.keys[i, :length], expected.keys[i, :length])
    assert check(X, at, 700) == n_asked


@pytest.mark.parametrize("n_listed", [1, 9 * 900, 1 << 20])
def test_blocks_of_queries_change_nothing(monkeypatch, n_listed):
    rng = np.random.default_rng(1)
    X = data_of("copies", rng, 2000, 6)
    monkeypatch.setattr("allsplits.orders.limits._LISTED_ENTRIES", n_listed)
    monkeypatch.setattr("allsplits.orders.limits._SAMPLED_ENTRIES", n_listed)
    assert check(X, asked_of(X, rng, 70), 500) >= 35


@pytest.mark.parametrize("most_read", [5, 5 * TILE, 5 * (TILE + 1), 5 * 1000])
def test_points_that_are_read_in_blocks(monkeypatch, most_read):
    rng = np.random.default_rng(2)
    X = data_of("float32", rng, 1300, 5)
    monkeypatch.setattr(points, "_READ_ENTRIES", most_read)
    search = LimitedSearch(Points(X, EUCLIDEAN, 0), 2)
    assert search.places.held is None
    assert check(X, asked_of(X, rng, 21), 300, search) == 21


@pytest.mark.parametrize("n_sampled", [1, 2, 10, 64])
@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_that_misleads_costs_time_only(kind, n_sampled):
    rng = np.random.default_rng(3)
    X = data_of(kind, rng, 1200, 3)
    for depth in (1, 5, 63, 64, 65, 400, 1100):
        search = LimitedSearch(Points(X, EUCLIDEAN), 1)
        search.n_sampled = n_sampled
        check(X, asked_of(X, rng, 40), depth, search)


@pytest.mark.parametrize("room", [1, 63, 64, 65, 127, 128, 129, 199, 200, 201, 300])
def test_both_sides_of_the_room_of_a_list(room):
    """200 points are within the limit: a list without room for them is not certain."""
    rng = np.random.default_rng(4)
    X = data_of("normal", rng, 500, 2)
    at = asked_of(X, rng, 5)
    keys = np.array([np.sort(true_distances(x, X)) for x in at])
    search = LimitedSearch(Points(X, EUCLIDEAN), 1)
    limits, own = (keys[:, 199] + keys[:, 200]) / 2, np.full(5, -1)
    rows = search._sorted(search._listed(at, limits, room), limits, own, 150, TIES)
    np.testing.assert_array_equal(rows.lengths, 150 if room >= 200 else -1)
    rows = search._sorted(search._listed(at, limits, max(room, 200)), limits, own, 200, TIES)
    # Whether the last one is tied with somebody beyond the limit is not known.
    np.testing.assert_array_equal(rows.lengths, -1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine"])
@pytest.mark.parametrize("n", [LONG - 9, LONG])
def test_references_find_whom_complete_rows_find(kind, metric, n, monkeypatch):
    rng = np.random.default_rng(5)
    X = data_of(kind, rng, n, 2)
    at = asked_of(X, rng, 40)
    for n_jobs in (1, 2):
        reference = Reference(X, Metric(metric), n_jobs)
        for depth in (2, 2200, n // 2, n - 1, n):
            found = reference.of(at, depth)
            with monkeypatch.context() as patched:
                patched.setattr(Reference, "_limits_serve", lambda *_: False)
                patched.setattr(Reference, "_proposing_is_faster", lambda *_: False)
                expected = reference.of(at, depth)
            for part in ("indptr", "flat_indices", "flat_distances", "tied"):
                np.testing.assert_array_equal(getattr(found, part), getattr(expected, part))


def test_mapped_files(tmp_path):
    rng = np.random.default_rng(6)
    X = data_of("float32", rng, LONG + 100, 4)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    at = asked_of(X, rng, 30)
    found, expected = (Reference(each, EUCLIDEAN, 1).of(at, 3000) for each in (mapped, X))
    np.testing.assert_array_equal(found.flat_indices, expected.flat_indices)
    np.testing.assert_array_equal(found.flat_distances, expected.flat_distances)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_samples_are_no_neighbours_of_themselves(kind, metric):
    X = data_of(kind, np.random.default_rng(7), LONG, 3)
    wanted = np.sort(np.random.default_rng(8).integers(0, LONG, 60))
    for depth in (3000, LONG - 2, LONG - 1):
        search = full_euclidean_rows(Points(X, Metric(metric)), depth, 2)
        rows, expected = search.sorted_rows(wanted), search._complete(wanted)
        np.testing.assert_array_equal(rows.lengths, expected.lengths)
        for i, length in enumerate(rows.lengths):
            assert wanted[i] not in rows.items[i, :length]
            for part in ("items", "keys", "tied"):
                found = getattr(rows, part)[i, :length]
                np.testing.assert_array_equal(found, getattr(expected, part)[i, :length])


@pytest.mark.parametrize("block_size", [1, 7, 8, 9, 2000])
def test_blocks_of_samples_change_nothing(block_size):
    X = data_of("copies", np.random.default_rng(9), LONG, 2)
    metric, rows = Metric("euclidean"), slice(100, 2100)
    search = full_euclidean_rows(Points(X, metric), 4000, 2)
    starts = range(rows.start, rows.stop, block_size)[-3:]
    for start in starts:
        found = search.order(start, min(start + block_size, rows.stop))
        assert found.first_row == start
        for row in range(0, found.n_samples, 400):
            own = np.array([start + row])
            expected = search._complete(own)
            length = expected.lengths[0]
            part = found.slice_rows(row, row + 1)
            np.testing.assert_array_equal(part.flat_indices, expected.items[0, :length])
            np.testing.assert_array_equal(part.tied, expected.tied[0, :length])

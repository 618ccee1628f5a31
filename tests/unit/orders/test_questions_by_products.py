"""New points that are answered by products in float32 find whom complete rows find, bit for bit."""

import numpy as np
import pytest

from allsplits.orders.metric import Metric
from allsplits.orders.order import concatenate
from allsplits.orders.proposers.products import ProductProposer
from allsplits.orders.reference import _MANY_QUESTIONS, Reference

RNG = np.random.default_rng(5)
N, D = 40_000, 6


def plain():
    return RNG.normal(size=(N, D))


def whole_numbers():
    return RNG.integers(-6, 7, size=(N, D)).astype(float)


def thirty_decades():
    return RNG.normal(size=(N, D)) * 10.0 ** RNG.uniform(-15, 15, size=(N, 1))


def far_from_the_origin():
    return RNG.normal(size=(N, D)) + 1e9


KINDS = {f.__name__: f for f in (plain, whole_numbers, thirty_decades, far_from_the_origin)}


def questions(X, n):
    """Samples themselves, points between two of them, and points beyond all, near and far."""
    rows = X[RNG.integers(len(X), size=n)]
    at = rows.copy()
    at[1::4] = (rows[1::4] + X[: len(rows[1::4])]) / 2
    at[2::4] *= 3.0
    at[3::16] *= 1e25
    return at


def same(found, expected):
    for name in ("indptr", "flat_indices", "flat_distances", "tied"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


@pytest.fixture
def asked_products(monkeypatch):
    """How many questions products were asked."""
    calls = []
    propose_to = ProductProposer.propose_to

    def spy(self, queries, n_candidates):
        calls.append(len(queries))
        return propose_to(self, queries, n_candidates)

    monkeypatch.setattr(ProductProposer, "propose_to", spy)
    return calls


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("depth", [2, 7, 150])
def test_products_find_whom_complete_rows_find(kind, metric, depth, asked_products):
    X = KINDS[kind]()
    reference = Reference(X, Metric.resolve(metric, 2, None), 2)
    for n in (_MANY_QUESTIONS - 1, _MANY_QUESTIONS, 200):
        at = questions(X, n)
        same(reference.of(at, depth), concatenate(reference._compared(at, depth)))
    assert asked_products[0] == _MANY_QUESTIONS


def test_threads_and_company_change_nothing():
    X = whole_numbers()
    at = questions(X, 700)
    found = [Reference(X, Metric.resolve("euclidean", 2, None), t).of(at, 9) for t in (1, 2, 3)]
    same(found[0], found[1])
    same(found[0], found[2])
    half = Reference(X, Metric.resolve("euclidean", 2, None), 2).of(at[300:450], 9)
    np.testing.assert_array_equal(
        half.flat_indices, found[0].slice_rows(300, 450).flat_indices
    )  # fmt: skip


def test_where_single_precision_tells_nothing_others_take_over(asked_products):
    X = RNG.normal(size=(N, D))
    X[0] = 1e9  # so far away that all others are one point in float32
    reference = Reference(X, Metric.resolve("euclidean", 2, None), 2)
    at = questions(X, 100)
    same(reference.of(at, 5), concatenate(reference._compared(at, 5)))
    same(reference.of(at, 5), concatenate(reference._compared(at, 5)))
    assert asked_products == [100]


def test_a_table_that_is_not_kept_is_read_again(monkeypatch):
    from allsplits.orders.proposers import products

    X, metric = plain(), Metric.resolve("euclidean", 2, None)
    at = questions(X, 100)
    kept = Reference(X, metric, 2).of(at, 12)
    monkeypatch.setattr(products, "_TABLE_BYTES", 0)
    reference = Reference(X, metric, 2)
    assert reference._products.table is None
    same(reference.of(at, 12), kept)

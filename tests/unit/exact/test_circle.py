"""Votes on a circle: tables, weights and bounds, with the device's loop written plainly."""

from collections import Counter

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold

from allsplits import Bernoulli, ClassCounts, FixedSize
from allsplits.exact.laws.class_counts.vote import ClassCountsVote
from allsplits.exact.laws.fixed_size.circle import circle_vote
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.on_device.circle import class_tables, coefficients
from allsplits.exact.question import Options, Question
from allsplits.orders import order_neighbors
from allsplits.splits import Samples, resolve_cv


def complex_sums(vote, line, v):
    real, imaginary = vote.tables.sums[line, v]
    return real + 1j * imaginary


def line_of(vote, c, counts, own, after):
    """The line of class c in the tables; `after` is the class of the item that is drawn next."""
    height = vote.depth + 1
    kind = (vote.own_kind_of if c == own else vote.kind_of)[c]
    n_kinds = len(vote.tables.rows) // height // (2 if vote.next_is_drawn else 1)
    return (n_kinds * (c == after) + kind) * height + counts[c]


def wins(vote, labels, own, target):
    """P(target wins) in each column, from the values of all prefixes."""
    votes, points = vote.tables.rows.shape[1] - 1, vote.tables.sums.shape[-1]
    turn = np.exp(1j * np.pi * (np.arange(points) + 0.5) / points)
    out = np.zeros(len(vote.ks))
    for j in np.flatnonzero(vote.weights.any(axis=1)):
        counts, after = Counter(labels[:j]), labels[j] if vote.next_is_drawn else None
        lines = {c: line_of(vote, c, counts, own, after) for c in {*labels[:j], after} - {None}}
        total = np.zeros(points, complex)
        for v in range(1, min(counts[target], votes) + 1):
            term = vote.tables.rows[lines[target], v] * turn**v
            for c in lines.keys() - {target}:
                term = term * complex_sums(vote, lines[c], v - 1 + (c > target))
            total += term
        values = np.concatenate([total.real, total.imag])
        out += vote.weights[j] * (values @ coefficients(points, vote.ks))
    return out


@pytest.mark.parametrize("n_points", [32, 64])
def test_coefficients_are_the_rows_up_to_a_period(n_points):
    rows = np.random.default_rng(0).random((3, 100))
    tables = class_tables(rows, n_points, 20)
    found = tables.sums.reshape(3, 22, -1) @ coefficients(n_points, np.arange(30))
    for v in range(21):
        np.testing.assert_allclose(found[:, v, : v + 1], rows[:, : v + 1], atol=1e-13)
        np.testing.assert_allclose(found[:, v, v + 1 :], 0, atol=1e-13)
    # All votes of a class with 99 items: half circles of 32 points do not tell k from k + 64.
    whole = rows[:, :30] - (rows[:, 64:94] if n_points == 32 else 0)
    np.testing.assert_allclose(found[:, 21], whole, atol=1e-13)


def test_votes_that_hardly_ever_happen_are_left_out():
    rows = np.array([[1e-30, 1e-25, 0.5, 0.5], [0.5, 0.5, 0.0, 0.0]])
    assert class_tables(rows, 32, 3).fewest.tolist() == [2, 0]


def made(n, n_classes):
    rng = np.random.default_rng(n)
    y = np.minimum(rng.geometric(0.4, n) - 1, n_classes - 1).astype(np.int32)
    y[: 2 * n_classes] = np.arange(2 * n_classes) % n_classes
    return rng.standard_normal((n, 3)), y


@pytest.mark.parametrize("k_most", [1, 4, 30])
@pytest.mark.parametrize("cv", [FixedSize(96), FixedSize(40), KFold(7), Bernoulli(0.7)], ids=repr)
def test_fixed_sizes_are_the_host_s(cv, k_most):
    X, y = made(120, 6)
    law = resolve_cv(cv, Samples(120))
    prefixes = prefixes_for([Column(k, law) for k in range(1, k_most + 1)], 1e-15)
    vote = circle_vote(prefixes, 6, share=False)
    order = order_neighbors(X, depth=prefixes.depth)
    host = MajorityVote(prefixes, 6, Options()).right(order, y, 1)
    for i in range(0, 120, 17):
        labels = y[order.indices[i]].tolist()
        found = wins(vote, labels, int(y[i]), int(y[i]))
        assert np.all(np.abs(found - host[i]) <= vote.error_bound)
    assert vote.error_bound.max() < 2e-11


@pytest.mark.parametrize("cv", [StratifiedKFold(3), ClassCounts(5)], ids=repr)
def test_class_counts_are_the_host_s(cv):
    X, y = made(90, 4)
    y = (np.arange(90) % 4).astype(np.int32)
    law = resolve_cv(cv, Samples(90, np.arange(4), y))
    columns = [Column(k, law) for k in range(1, 7)]
    question = Question(y, 4, np.empty(0), "majority", columns, False, False, Options())
    host = ClassCountsVote(question, [part.train for part in law.components])
    order = order_neighbors(X, depth=host.depth)
    expected = host.values(order, 1)
    for component, vote in enumerate(host.on_circle()):
        for i in range(0, 90, 13):
            found = wins(vote, y[order.indices[i]].tolist(), int(y[i]), int(y[i]))
            bound = vote.error_bound + 2e-15
            assert np.all(np.abs(found - expected[i, component]) <= bound)


def test_what_a_circle_cannot_answer():
    deep = resolve_cv(FixedSize(1000), Samples(30_000))
    assert circle_vote(prefixes_for([Column(50, deep)], 1e-15), 3, share=False) is None
    # Columns of very different shares have no common circle, or a stated error.
    shares = [resolve_cv(FixedSize(size), Samples(400)) for size in (20, 390)]
    both = circle_vote(prefixes_for([Column(5, law) for law in shares], 1e-15), 3, share=False)
    assert both is None or both.error_bound.max() <= 1e-9

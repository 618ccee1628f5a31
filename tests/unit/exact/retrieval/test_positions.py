"""Galleries with fixed class counts: where the kernels change their way."""

import numpy as np
import pytest
from scipy.special import roots_legendre
from scipy.stats import binom, hypergeom, poisson
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, FixedSize, evaluate, retrieval_curve
from allsplits.exact._kernels_eight import LANES
from allsplits.exact.retrieval import tables
from allsplits.exact.retrieval.kernel_types import COUNTED, FIRST, PLAIN
from allsplits.exact.retrieval.tables import TableKey, make_tables, small_groups
from allsplits.exceptions import NothingRelevantWarning

KNN = KNeighborsClassifier(1)


def agree(X, y, cv, scoring, **options):
    """Floats and integers, which the enumeration has checked on tiny data, sample by sample."""
    found = evaluate(KNN, X, y, cv=cv, scoring=scoring, **options)
    exact = evaluate(KNN, X, y, cv=cv, scoring=scoring, exact=True, **options)
    np.testing.assert_allclose(found.sample_scores, exact.sample_scores, rtol=0, atol=1e-12)
    assert abs(found.score - exact.fraction) <= found.error_bound < 1e-11


@pytest.mark.parametrize("scoring", ["map@r", "map", "mrr", "item_recall@3"])
@pytest.mark.parametrize("n", [LANES - 1, LANES, LANES + 1, 2 * LANES + 1])
def test_relevant_items_on_both_sides_of_the_lanes(n, scoring):
    rng = np.random.default_rng(n)
    y = np.repeat([0, 1], [n + 1, 9])
    agree(rng.normal(size=(len(y), 2)), y, ClassCounts(3), scoring)


@pytest.mark.parametrize("scoring", ["map@r", "map", "mrr"])
@pytest.mark.parametrize("n_tied", [16, 30, 63, 64, 65, 66])
def test_tied_members_on_both_sides_of_the_small_tables(n_tied, scoring):
    """A class with more tied members than the tables have takes the general way."""
    X = np.concatenate([np.zeros(n_tied), np.arange(1, 8)])[:, None]
    y = np.array([*([0] * n_tied), 1, 0, 1, 1, 0, 1, 1])
    agree(X, y, ClassCounts(3), scoring)


@pytest.mark.parametrize("drawn", [7, 8, 15, 16, 17, 20])
def test_rules_on_both_sides_of_the_small_ones(drawn):
    """All samples in one place: rules of more than 8 and of more than 16 nodes."""
    y = np.repeat([0, 1], 22)
    agree(np.zeros((44, 1)), y, ClassCounts(drawn), "map@r")


@pytest.mark.parametrize("drawn", [8, 15, 16, 25])
def test_a_large_tie_group_among_classes_that_are_not_in_it(drawn):
    """Powers of many members, in one chunk of nodes and in two, with classes before the group."""
    y = np.array([0, 1, 2, 1, 2, 2, *([0] * 64), *([1] * 31), 2, 0, 2, 2, *([3] * 40)])
    X = np.concatenate([np.arange(6), np.full(95, 7), np.arange(8, 12), np.full(40, 20.0)])
    agree(X[:, None], y, ClassCounts({0: drawn, 1: 3, 2: 2, 3: 2}), "map@r")


def test_many_classes_that_are_met_late():
    """Classes that come after lanes were filled count nothing in those."""
    rng = np.random.default_rng(1)
    y = np.repeat(np.arange(6), 5)
    X = np.round(rng.normal(size=(30, 2)) + y[:, None], 1)
    for scoring in ("map@r", "ndcg@2", "mrr@2"):
        found = evaluate(KNN, X, y, cv=ClassCounts(2), scoring=scoring)
        if scoring != "ndcg@2":
            exact = evaluate(KNN, X, y, cv=ClassCounts(2), scoring=scoring, exact=True)
            np.testing.assert_allclose(found.sample_scores, exact.sample_scores, atol=1e-12)


@pytest.mark.parametrize("round_to", [6, 0])
@pytest.mark.parametrize("scoring", ["map@r", "item_recall@k", "precision@k"])
def test_a_search_that_stops_early_loses_less_than_it_says(scoring, round_to):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 600)
    X = np.round(3 * rng.normal(size=(600, 3)) + y[:, None], round_to)
    if scoring == "map@r":
        asked = [
            evaluate(KNN, X, y, cv=ClassCounts(40), scoring=scoring, tol=tol)
            for tol in (0, 1e-15, 1e-4)
        ]
        scores = [each.score for each in asked]
        bound = asked[2].error_bound
    else:
        asked = [
            retrieval_curve(X, y, ranks=[1, 5], cv=ClassCounts(40), scoring=scoring, tol=tol)
            for tol in (0, 1e-15, 1e-4)
        ]
        scores = [each.scores[1] for each in asked]
        bound = asked[2].error_bound
    assert abs(scores[0] - scores[1]) < 1e-13
    assert abs(scores[0] - scores[2]) <= bound < 2e-4


def test_a_class_that_is_drawn_whole_and_one_that_is_not_drawn():
    rng = np.random.default_rng(3)
    y = np.repeat([0, 1, 2], [12, 7, 6])
    cv = ClassCounts({0: 5, 1: 7, 2: 0})
    with pytest.warns(UserWarning, match="6 of 25 queries"):
        agree(rng.normal(size=(25, 1)), y, cv, "map@r")


@pytest.mark.parametrize("scale", [1e-15, 1.0, 1e15])
def test_scales_do_not_matter(scale):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 60)
    X = np.round(rng.normal(size=(60, 2)), 1)
    found = evaluate(KNN, X * scale, y, cv=ClassCounts(4), scoring="map@r")
    assert found.score == evaluate(KNN, X, y, cv=ClassCounts(4), scoring="map@r").score


@pytest.mark.parametrize("scoring", ["map@r", "map"])
def test_threads_and_order_of_rows_do_not_matter(scoring):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 5, 300)
    X = np.round(rng.normal(size=(300, 2)) + y[:, None] / 2, 1)
    options = {"cv": ClassCounts(6), "scoring": scoring}
    one = evaluate(KNN, X, y, n_jobs=1, **options)
    two = evaluate(KNN, X, y, n_jobs=2, **options)
    np.testing.assert_array_equal(one.sample_scores, two.sample_scores)
    order = rng.permutation(300)
    np.testing.assert_allclose(
        evaluate(KNN, X[order], y[order], **options).sample_scores, one.sample_scores[order],
        atol=1e-14,
    )  # fmt: skip


@pytest.mark.parametrize("counting", [PLAIN, COUNTED, FIRST])
@pytest.mark.parametrize(("pool", "drawn"), [(400, 300), (400, 3), (50, 50), (7, 0), (300, 150)])
def test_lines_are_hypergeometric(pool, drawn, counting):
    made = make_tables([TableKey(pool, drawn, 0, counting)], drawn + 1, pool)
    numbers = np.arange(drawn + 1)
    for n in range(0, pool + 1, 7):
        line = np.zeros(drawn + 1)
        held = made.values[made.offsets[n] : made.offsets[n + 1]]
        line[made.lows[n] : made.lows[n] + len(held)] = held
        expected = hypergeom(pool, n, drawn).pmf(numbers)
        expected = {
            PLAIN: expected,
            COUNTED: expected * (numbers + 1),
            FIRST: np.where(numbers == 0, expected, 0),
        }[counting]
        np.testing.assert_allclose(line, expected, rtol=1e-9, atol=1e-12)


def test_tables_hold_what_matters_only():
    made = make_tables([TableKey(10000, 5000, 0, PLAIN)], 5001, 10000)
    assert np.diff(made.offsets).max() < 1400
    assert all(np.diff(made.lows) >= 0)
    ends = made.lows + np.diff(made.offsets)
    assert all(np.diff(ends) >= 0)


def test_room_that_was_too_small_is_made_larger(monkeypatch):
    key = TableKey(60, 30, 0, PLAIN)
    before = make_tables([key], 31, 60)
    monkeypatch.setattr(TableKey, "room", lambda *_: 1)
    after = make_tables([key], 31, 60)
    np.testing.assert_array_equal(before.values, after.values)


@pytest.mark.parametrize("scoring", ["map", "mrr"])
def test_many_positions_have_rules_of_their_own(monkeypatch, scoring):
    """Large tie groups, by polynomials and by what is likely."""
    rng = np.random.default_rng(6)
    y = np.repeat([0, 1, 2], [90, 70, 40])
    X = rng.integers(0, 3, size=(200, 1))
    usual = evaluate(KNN, X, y, cv=ClassCounts(30), scoring=scoring)
    monkeypatch.setattr(tables, "MANY_POSITIONS", 50)
    found = evaluate(KNN, X, y, cv=ClassCounts(30), scoring=scoring)
    np.testing.assert_allclose(found.sample_scores, usual.sample_scores, rtol=0, atol=1e-13)


def test_a_full_gallery_of_many_tied_samples():
    """Many positions: average precision by hand, over a tie group at a time."""
    y = np.arange(1300) % 2
    X = (np.arange(1300) // 650)[:, None]
    found = evaluate(KNN, X, y, cv=FixedSize(1299), scoring="mrr").score
    # Of 649 in one place 324 are relevant, in random order: the first of them is expected at …
    chance, expected = 1.0, 0.0
    for place in range(1, 327):
        here = 324 / (649 - place + 1)
        expected += chance * here / place
        chance *= 1 - here
    assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("distance_ties", ["average", "index"])
@pytest.mark.parametrize("scoring", ["map", "map@r", "mrr", "mrr@4", "precision@4", "r_precision"])
def test_the_gallery_of_all_candidates(scoring, distance_ties):
    """Cut-offs in a tie group, groups that are all relevant or not at all, a lone class."""
    y = np.array([*np.repeat([0, 1, 2], [9, 7, 3]), 3])
    X = np.array([0, 0, 0, 0, 1, 1, 2, 5, 6, 0, 0, 1, 1, 1, 7, 7, 2, 2, 9, 9])[:, None]
    options = {"distance_ties": distance_ties}
    with pytest.warns(NothingRelevantWarning):
        agree(X, y, LeaveOneOut(), scoring, **options)
    whole = ClassCounts({0: 9, 1: 7, 2: 3, 3: 1})
    asked = {"X_test": X[::3] + 0.5, "y_test": y[::3]}
    agree(X, y, whole, scoring, **options, **asked)


@pytest.mark.parametrize("n", [1, 2, 3, 24, 101, 400, 801])
def test_nodes_near_the_ends_are_precise(n):
    nodes, weights = tables._precise_rule(n)
    usual, usual_weights = roots_legendre(n)
    np.testing.assert_allclose(nodes, (usual + 1) / 2, rtol=0, atol=1e-15)
    np.testing.assert_allclose(weights, usual_weights / 2, rtol=1e-9)
    # The first two, which few items before an item depend on, of a polynomial of degree 2n - 1.
    t = 2 * n
    first = np.exp((t - 1) * np.log1p(-nodes))
    assert weights @ (t * first) == pytest.approx(1, abs=2e-15 * t)
    second = (t - 1) * nodes * np.exp((t - 2) * np.log1p(-nodes))
    assert weights @ (t * second) == pytest.approx(1, abs=2e-15 * t)


def test_rules_serve_what_they_say():
    """Chances of many gallery items, times what a rule errs for them, in high precision."""
    rules = small_groups()
    for rule, limit in enumerate(rules.limits):
        used = rules.weights[rule].ravel() > 0
        nodes, weights = rules.before[rule, :, 1].ravel()[used], rules.weights[rule].ravel()[used]
        n_nodes = rule + 1
        assert len(nodes) == n_nodes
        total = 0.0
        for t in range(2 * n_nodes + 1, 2 * n_nodes + 40):
            values = t * binom.pmf(np.arange(t), t - 1, nodes[:, None])
            total += poisson.pmf(t, limit) * t * np.abs(weights @ values - 1).max()
        assert total <= tables.UNLIKELY
    np.testing.assert_allclose(rules.weights.sum(axis=(1, 2)), 1, rtol=1e-14)

"""A query at 0.2 between 0.1 and 0.3: both are equally near, whoever is asked.

0.3 - 0.2 is a little less than 0.2 - 0.1 in floating point; no door may let that decide.
"""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from allsplits import (
    ActiveLearner,
    CondensedReduced,
    FastCondensed,
    IncrementalNNClassifier,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    LazyRegressor,
    UNNClassifier,
    order_neighbors,
)
from allsplits.orders import Metric, Reference

NEAR = [[0.1], [0.3]]
FAR = 9 + np.arange(10.0)[:, None]
QUERY = np.array([[0.2]])
both_ways = pytest.mark.parametrize("near", [NEAR, NEAR[::-1]], ids=["up", "down"])
few_or_many = pytest.mark.parametrize("more", [0, 5000])


def data(near, more=0):
    X = np.vstack([near, FAR, 100 + np.arange(more)[:, None]])
    y = np.array([1, 0] + [0, 1] * 5 + [0, 1] * (more // 2))
    return X, y


@both_ways
def test_the_order_says_tie(near):
    X = np.vstack([near, FAR, QUERY])
    assert [group.tolist() for group in order_neighbors(X, depth=1).tie_groups(12)] == [[0, 1]]


@both_ways
@few_or_many
def test_new_points(near, more):
    X, _ = data(near, more)
    reference = Reference(X, Metric("euclidean"), 1)
    assert [group.tolist() for group in reference.of(QUERY, 1).tie_groups(0)] == [[0, 1]]
    assert reference.nearest(QUERY, 1).tolist() == [[0]]


@both_ways
@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
def test_classes_of_tied_neighbours_share_the_vote(near, weights):
    X, y = data(near)
    model = KNeighborsClassifierCV([1], weights=weights, cv=3).fit(X, y)
    assert model.predict_proba(QUERY).tolist() == [[0.5, 0.5]]
    assert model.predict(QUERY).tolist() == [0]


@both_ways
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_targets_of_tied_neighbours_share_the_vote(near, weights):
    X, _ = data(near)
    y = np.arange(12.0)
    model = KNeighborsRegressorCV([1], weights=weights, cv=3).fit(X, y)
    np.testing.assert_allclose(model.predict(QUERY), [0.5], rtol=1e-15)


@both_ways
def test_a_label_that_was_taught(near):
    X, y = data(near)
    learner = ActiveLearner(n_neighbors=1).fit(X, y.astype(float))
    assert learner.predict_proba(QUERY).tolist() == [[0.5, 0.5]]
    assert learner.predict(QUERY).tolist() == [0]


@both_ways
@pytest.mark.parametrize("labels", [[0, 1], [1, 0]])
@pytest.mark.parametrize(
    "model",
    [
        CondensedReduced(),
        FastCondensed(),
        IncrementalNNClassifier(random_state=0),
        UNNClassifier(n_neighbors=1),
    ],
    ids=lambda model: type(model).__name__,
)
def test_tied_prototypes_share_the_vote(near, labels, model):
    X = np.vstack([near, [[5.0], [6.0]]])
    fitted = model.fit(X, np.array([*labels, 0, 1]))
    assert fitted.predict_proba(QUERY).tolist() == [[0.5, 0.5]]
    assert fitted.predict(QUERY).tolist() == [0]


@both_ways
def test_local_models_take_both(near):
    X, _ = data(near)
    y = np.arange(12.0)
    assert LazyRegressor(0, k_min=2, k_max=2).fit(X, y).predict(QUERY).tolist() == [0.5]
    reference = Reference(X, Metric("euclidean"), 1)
    assert reference.nearest(QUERY, 2).tolist() == [[0, 1]]


def grid(more):
    """(X, y, queries, rows in another order): about a dozen samples at each of 25 places."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.integers(0, 5, (300, 2)), 100 + rng.integers(0, 60, (more, 2))]) * 1.0
    y = X[:, 0] ** 2 + rng.normal(size=len(X))
    return X, y, np.argwhere(np.ones((9, 9))) / 2, rng.permutation(len(X))


def all_cut(order, k_min):
    """Rows where k_min, …, depth neighbours all end inside of a tie group."""
    return order.cuts()[:, k_min - 1 :].all(axis=1)


@few_or_many
@pytest.mark.parametrize("degrees", [0, 1, (0, 1, 2)])
@pytest.mark.parametrize("combine", ["best", 30])
def test_local_models_do_not_depend_on_the_order_of_rows(combine, degrees, more):
    """Neighbourhoods that end inside of a tie group are not tried."""
    X, y, queries, rows = grid(more)
    reference = Reference(X, Metric("euclidean"), 1)
    assert not all_cut(reference.of(queries, 80), 9).any()
    assert not all_cut(reference.within(80), 9).any()
    model = LazyRegressor(degrees, k_max=80, combine=combine)
    straight = model.fit(X, y).predict_interval(queries)
    shuffled = model.fit(X[rows], y[rows]).predict_interval(queries)
    for one, other in zip(straight, shuffled, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@few_or_many
@pytest.mark.parametrize("combine", ["best", 30])
def test_only_queries_in_too_large_a_tie_group_depend_on_the_order_of_rows(combine, more):
    """At (1, 2) are 6 samples and around it 55: 9 to 60 neighbours all cut these."""
    X, y, queries, rows = grid(more)
    cut = all_cut(Reference(X, Metric("euclidean"), 1).of(queries, 60), 9)
    assert np.unique(queries[cut], axis=0).tolist() == [[1.0, 2.0]]
    model = LazyRegressor(1, k_max=60, combine=combine)
    straight, shuffled = (model.fit(X[i], y[i]).predict(queries) for i in (slice(None), rows))
    np.testing.assert_allclose(straight[~cut], shuffled[~cut], rtol=1e-9, atol=1e-9)
    assert (np.abs(straight[cut] - shuffled[cut]) > 0.01).all()


def test_a_tie_group_that_is_larger_than_all_neighbourhoods_is_cut():
    X, y = np.zeros((50, 1)), np.arange(50.0)
    model = LazyRegressor(0, k_min=2, k_max=4, combine="best").fit(X, y)
    assert model.predict([[1.0]]).tolist() == [0.5]


def test_where_numbers_of_neighbours_cut_tie_groups():
    X = np.array([[1.0], [-1.0], [2.0], [3.0], [-3.0], [3.0], [9.0]])
    expected = [[True, False, False, True, True, False][:k] for k in range(1, 7)]
    for more in (0, 20_000):
        reference = Reference(
            np.vstack([X, 100 + np.arange(more)[:, None]]), Metric("euclidean"), 1
        )
        for k in range(1, 7):
            _, cuts = reference.nearest_and_cuts(np.zeros((2, 1)), k)
            assert cuts.tolist() == [expected[k - 1]] * 2
    alone = Reference(np.array([[1.0], [3.0]]), Metric("euclidean"), 1)
    assert alone.nearest_and_cuts(np.zeros((1, 1)), 2)[1] is None


def test_shares_are_the_average_over_the_orders_of_the_tied():
    """Counted in Fractions over every order of every tie group."""
    rng = np.random.default_rng(0)
    X, queries = rng.integers(0, 3, (7, 2)).astype(float), rng.integers(0, 3, (20, 2)) * 1.0
    order = Reference(X, Metric("euclidean"), 1).of(queries, 4)
    assert order.tied.any()
    for row in range(20):
        groups = order.tie_groups(row)
        start, stop = order.indptr[row : row + 2]
        for k in range(1, 5):
            votes, unit = order.votes(k)
            found = {
                int(item): Fraction(int(vote), int(unit[row]))
                for item, vote in zip(
                    order.flat_indices[start:stop], votes[start:stop], strict=True
                )
            }
            expected = dict.fromkeys(found, Fraction(0))
            place = 0
            for group in groups:
                orders = list(permutations(group.tolist()))
                for each in orders:
                    for item in each[: max(0, k - place)]:
                        expected[item] += Fraction(1, len(orders))
                place += len(group)
            assert found == expected

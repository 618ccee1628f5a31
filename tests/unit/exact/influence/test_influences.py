"""Influences on data that cannot be enumerated: two ways to compute them, and what must hold."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, FixedSize, order_neighbors, sample_values
from allsplits.exact.influence.rows import ListByList, ListVotes, RowValues
from allsplits.exact.influence.sizes import (
    banzhaf_masses,
    banzhaf_weights,
    law_masses,
    law_weights,
    shapley_masses,
    shapley_weights,
)
from allsplits.exact.influence.solve import influences
from allsplits.exact.influence.sums import solve_values
from allsplits.exact.influence.vote_masses import masses_of
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.masses import rank_masses
from allsplits.splits import BernoulliLaw, SizeLaw


def random_data(n, n_classes, tied, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 4, (n, 3)).astype(float) if tied else rng.normal(size=(n, 3))
    return X, rng.integers(0, n_classes, n)


def by_lists(asked):
    """The same influences from the votes of all lists, each with one candidate struck."""
    masses, options = masses_of(asked), asked.question.options
    whole, less = (MajorityVote(m, asked.n_classes, options) for m in (masses.whole, masses.less))
    votes = ListVotes(
        lambda order, threads: RowValues(whole.right(order, asked.codes, threads).sum(axis=1)),
        lambda order, gone, threads: RowValues(less.right(order, asked.codes, threads).sum(axis=1)),
        np.ones((asked.n_classes, asked.n_classes)),
    )
    return ListByList(votes, asked.codes, options.average)


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
@pytest.mark.parametrize(
    ("n_classes", "k", "cv"),
    [(2, 5, FixedSize(70)), (7, 8, FixedSize(50)), (4, 21, KFold(3)), (12, 9, Bernoulli(0.6)),
     (5, 4, None), (26, 6, None)],
)  # fmt: skip
def test_one_pass_gives_what_every_list_gives(n_classes, k, cv, tied, label_ties):
    X, y = random_data(100, n_classes, tied)
    method = "shapley" if cv is None else "influence"
    knn = KNeighborsClassifier(k)
    asked = sample_values(knn, X, y, cv=cv, method=method, label_ties=label_ties).source.asked
    found = influences(asked)
    order = order_neighbors(X, depth=found.depth)
    one, other = found.part(order, 1), by_lists(asked)(order, 1)
    np.testing.assert_allclose(one.entries, other.entries, rtol=0, atol=1e-13)
    np.testing.assert_allclose(one.far, other.far, rtol=0, atol=1e-13)
    assert np.abs(other.entries).max() > 0.05


@pytest.mark.parametrize("k", [1, 4, 5])
@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
def test_races_of_two_classes_give_what_every_list_gives(k, tied):
    X, y = random_data(150, 2, tied)
    asked = sample_values(KNeighborsClassifier(k), X, y, cv=5).source.asked
    found = influences(asked)
    order = order_neighbors(X, depth=found.depth)
    one, other = found.part(order, 1), found.part.by_lists(order, 1)
    np.testing.assert_allclose(one.entries, other.entries, rtol=0, atol=1e-13)
    np.testing.assert_allclose(one.far, other.far, rtol=0, atol=1e-13)


def of_sizes(weights, N, k):
    """Masses of prefixes by number of voters, one size after the other."""
    masses = np.zeros((k + 1, N + 1))
    for size, weight in weights.items():
        first, row = rank_masses(N, size, min(k, size))
        masses[min(k, size), first : first + len(row)] += float(weight) * row
    return masses


@pytest.mark.parametrize("k", [1, 2, 5, 11, 12])
def test_masses_are_the_sums_over_sizes(k):
    N = 12
    pairs = [
        (shapley_masses(N, k), shapley_weights(N)),
        (banzhaf_masses(N, k, 0.0), banzhaf_weights(N)),
    ]
    if k < N:
        laws = SizeLaw.of_folds(N + 1, 4), BernoulliLaw(N + 1, Fraction(2, 3))
        pairs += [(law_masses(law, N, k, 0.0), law_weights(law, N, k)) for law in laws if k < 9]
    for masses, weights in pairs:
        for prefixes, sizes, n in (
            (masses.whole, weights.whole, N),
            (masses.less, weights.less, N - 1),
        ):
            expected = of_sizes(sizes, n, k)
            found = np.zeros_like(expected)
            found[prefixes.ks, : prefixes.depth + 1] = prefixes.masses
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("knn", "regression"),
    [(KNeighborsClassifier(5), False), (KNeighborsRegressor(5), True)],
    ids=["classes", "targets"],
)
def test_candidates_beyond_the_depth_share_one_value(knn, regression):
    """All neighbours (tol=0), and only the near ones: the same values within the bound."""
    X, y = random_data(300, 3, tied=False)
    y = X[:, 0] + y if regression else y
    cv = ShuffleSplit(test_size=0.2)
    near = sample_values(knn, X, y, cv=cv)
    everybody = sample_values(knn, X, y, cv=cv, tol=0)
    assert influences(near.source.asked).depth < 60
    assert influences(everybody.source.asked).depth > 60
    np.testing.assert_allclose(near.values, everybody.values, rtol=0, atol=near.error_bound)
    # Under training sets of one size one in means another out.
    assert abs(near.values.sum()) < 300 * near.error_bound


def test_class_counts_beyond_the_depth():
    X, y = random_data(300, 3, tied=False)
    near = sample_values(KNeighborsClassifier(3), X, y, cv=5)
    everybody = sample_values(KNeighborsClassifier(3), X, y, cv=5, tol=0)
    np.testing.assert_allclose(near.values, everybody.values, rtol=0, atol=near.error_bound)


@pytest.mark.parametrize("method", ["influence", "banzhaf", "shapley", "soft_shapley"])
def test_blocks_and_threads_do_not_matter(method):
    X, y = random_data(200, 3, tied=True)
    cv = FixedSize(150) if method == "influence" else None
    knn = KNeighborsClassifier(3)
    whole = sample_values(knn, X, y, cv=cv, method=method, n_jobs=1)
    threads = sample_values(knn, X, y, cv=cv, method=method, n_jobs=2)
    np.testing.assert_array_equal(whole.values, threads.values)
    source = whole.source
    solver = solve_values(source.asked)
    for first in range(0, 200, 13):
        order = order_neighbors(X, depth=solver.depth).slice_rows(first, min(first + 13, 200))
        solver.total.add(solver.part(order, 1))
    np.testing.assert_allclose(solver.total.finish().scores, whole.values, rtol=0, atol=1e-15)


@pytest.mark.parametrize("scale", [1e-15, 1e15])
def test_units_of_the_features_do_not_matter(scale):
    X, y = random_data(60, 3, tied=False)
    for method in ("banzhaf", "shapley"):
        plain = sample_values(KNeighborsClassifier(3), X, y, method=method)
        scaled = sample_values(KNeighborsClassifier(3), X * scale, y, method=method)
        np.testing.assert_array_equal(plain.values, scaled.values)


def test_permuting_rows_permutes_values():
    X, y = random_data(80, 4, tied=True)
    order = np.random.default_rng(1).permutation(80)
    for method in ("influence", "banzhaf", "shapley", "soft_shapley"):
        cv = FixedSize(50) if method == "influence" else None
        plain = sample_values(KNeighborsClassifier(4), X, y, cv=cv, method=method)
        mixed = sample_values(KNeighborsClassifier(4), X[order], y[order], cv=cv, method=method)
        np.testing.assert_allclose(plain.values[order], mixed.values, rtol=0, atol=1e-14)

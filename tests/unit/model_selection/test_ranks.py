"""recall@R with R beyond what there is: everybody is looked at, and a complete order is enough."""

import tracemalloc

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    FixedSize,
    cmc_curve,
    evaluate,
    order_neighbors,
)
from unit.refused import refused

RNG = np.random.default_rng(0)
X, Y = RNG.standard_normal((30, 2)), np.repeat([0, 1, 2], [14, 9, 7])
LAWS = [ClassCounts(2), ClassCounts({0: 5, 1: 3, 2: 1}), FixedSize(9), KFold(4), StratifiedKFold(3)]


@pytest.mark.parametrize("cv", [*LAWS, Bootstrap()], ids=str)
@pytest.mark.parametrize("exact", [False, True])
def test_all_ranks_beyond_the_last_are_one(cv, exact):
    model = KNeighborsClassifier(1)
    last = evaluate(model, X, Y, cv=cv, scoring="recall@30", exact=exact)
    for rank in (31, 10**8, 10**17):
        found = evaluate(model, X, Y, cv=cv, scoring=f"recall@{rank}", exact=exact)
        assert found.score == last.score
        assert found.n_neighbors == rank
        np.testing.assert_array_equal(found.sample_scores, last.sample_scores)


@pytest.mark.parametrize("cv", LAWS, ids=str)
def test_a_complete_order_is_enough_for_every_rank(cv):
    order = order_neighbors(X)
    for rank in (3, 29, 30, 1000):
        scoring = f"recall@{rank}"
        found = evaluate(KNeighborsClassifier(1), order, Y, cv=cv, scoring=scoring)
        expected = evaluate(KNeighborsClassifier(1), X, Y, cv=cv, scoring=scoring)
        assert found.score == expected.score


def test_the_advice_of_a_shallow_order_can_be_followed():
    points, labels = X[[0, 1, 14, 15]], Y[[0, 1, 14, 15]]
    call = lambda order: evaluate(  # noqa: E731
        KNeighborsClassifier(1), order, labels, cv=ClassCounts(1), scoring="recall@4"
    )
    refused(lambda: call(order_neighbors(points, depth=2)), "depth=3")
    assert call(order_neighbors(points, depth=3)).score == 1


def test_work_is_bounded_by_the_samples():
    tracemalloc.start()
    evaluate(KNeighborsClassifier(1), X, Y, cv=ClassCounts(2), scoring="recall@100000000")
    cmc_curve(X, Y, ranks=[1, 10**8])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 26


def test_independent_draws_leave_out_small_training_sets_so_the_rank_is_limited():
    refused(
        lambda: evaluate(
            KNeighborsClassifier(1), X, Y, cv=Bernoulli(0.5), scoring="recall@100000000"
        ),
        "R (of recall@R) must be at most 29",
        "100000000",
    )

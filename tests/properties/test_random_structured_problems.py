"""Random small problems under laws with structure: the enumeration, fractions and invariances."""

from collections import Counter
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.model_selection import LeavePGroupsOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, ClassCounts, Episodes, FixedSize, evaluate
from oracle import enumerate as oracle
from oracle.checks import smallest_train
from oracle.compare import assert_matches, assert_matches_exactly
from properties.strategies import paired_problems, problems, ties


class Case(NamedTuple):
    """A splitter with its groups, the enumeration of its splits for k voters, the largest k."""

    cv: Any
    groups: list[int] | None
    law: Any
    largest_k: int


def fixed_law(cv, law, groups=None) -> Case:
    return Case(cv, groups, lambda k: law, smallest_train(law))


@st.composite
def class_counts(draw, problem) -> Case:
    sizes = Counter(problem.labels)
    counts = {
        label: draw(st.integers(0, size - (size > 1)), label=f"items of class {label}")
        for label, size in sizes.items()
    }
    assume(0 < sum(counts.values()) < problem.n)
    return fixed_law(ClassCounts(counts), oracle.class_counts(problem.labels, counts))


@st.composite
def stratified_folds(draw, problem) -> Case:
    n_folds = draw(st.integers(2, min(Counter(problem.labels).values())))
    return fixed_law(StratifiedKFold(n_folds), oracle.stratified_folds(problem.labels, n_folds))


@st.composite
def group_laws(draw, problem) -> Case:
    groups = draw(st.lists(st.integers(0, 4), min_size=problem.n, max_size=problem.n))
    n_groups = len(set(groups))
    assume(n_groups > 1)
    n_test = draw(st.integers(1, n_groups - 1))
    return fixed_law(LeavePGroupsOut(n_test), oracle.group_subsets(groups, n_test), groups)


@st.composite
def bernoulli_laws(draw, problem) -> Case:
    q = draw(st.sampled_from([Fraction(1, 3), Fraction(1, 2), Fraction(9, 10)]))
    return Case(
        Bernoulli(q), None, lambda k: oracle.bernoulli(problem.n, q, at_least=k), problem.n - 1
    )


KINDS = {
    "class counts": class_counts,
    "groups": group_laws,
    "bernoulli": bernoulli_laws,
}


@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems(largest=6, classes=3), data=st.data())
def test_every_law_is_every_split(kind, problem, data):
    check_a_law(problem, data.draw(KINDS[kind](problem)), data)


@given(problem=paired_problems(), data=st.data())
def test_stratified_folds_are_every_split(problem, data):
    check_a_law(problem, data.draw(stratified_folds(problem)), data)


def check_a_law(problem, case: Case, data) -> None:
    k = data.draw(st.integers(1, case.largest_k))
    options = data.draw(ties)
    answer = oracle.classify(problem.distances, problem.labels, case.law(k), k, **options)
    options |= {"cv": case.cv, "groups": case.groups}
    knn = KNeighborsClassifier(k)
    assert_matches(evaluate(knn, problem.X, problem.y, **options), answer)
    exact = evaluate(knn, problem.X, problem.y, exact=True, **options)
    assert_matches_exactly(exact, answer)


@given(problem=problems(largest=5, classes=3), data=st.data())
def test_bootstrap_is_every_sequence_of_draws(problem, data):
    k = data.draw(st.integers(1, problem.n))
    options = data.draw(ties)
    law = oracle.bootstrap(problem.n)
    answer = oracle.classify(problem.distances, problem.labels, law, k, **options)
    options["cv"] = Bootstrap()
    knn = KNeighborsClassifier(k)
    assert_matches(evaluate(knn, problem.X, problem.y, **options), answer)
    assert_matches_exactly(evaluate(knn, problem.X, problem.y, exact=True, **options), answer)


@given(problem=paired_problems(), data=st.data())
def test_episodes_are_every_episode(problem, data):
    sizes = Counter(problem.labels)
    n_way = data.draw(st.integers(2, len(sizes)))
    k_shot = data.draw(st.integers(1, min(sizes.values()) - 1))
    options = data.draw(ties)
    law = oracle.episodes(problem.labels, n_way, k_shot)
    answer = oracle.classify(problem.distances, problem.labels, law, 1, **options)
    options["cv"] = Episodes(n_way, k_shot)
    knn = KNeighborsClassifier(1)
    assert_matches(evaluate(knn, problem.X, problem.y, **options), answer)
    assert_matches_exactly(evaluate(knn, problem.X, problem.y, exact=True, **options), answer)


# (stratified folds are dealt out starting with the class that appears first: rows matter there)
@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems(largest=6), data=st.data(), random=st.randoms(use_true_random=False))
def test_the_order_of_rows_means_nothing_when_ties_are_averaged(kind, problem, data, random):
    case = data.draw(KINDS[kind](problem))
    shuffled = random.sample(range(problem.n), problem.n)
    groups = None if case.groups is None else [case.groups[i] for i in shuffled]
    knn = KNeighborsClassifier(1)
    options = {"cv": case.cv, "exact": True}
    one = evaluate(knn, problem.X, problem.y, groups=case.groups, **options)
    other = evaluate(knn, problem.X[shuffled], problem.y[shuffled], groups=groups, **options)
    assert other.fraction == one.fraction


@given(problem=problems(largest=7), data=st.data())
def test_regression_is_every_split(problem, data):
    size = data.draw(st.integers(1, problem.n - 1))
    k = data.draw(st.integers(1, size))
    distance_ties = data.draw(st.sampled_from(["average", "index"]))
    targets = data.draw(
        st.lists(st.integers(-9, 9), min_size=problem.n, max_size=problem.n), label="targets"
    )
    law = oracle.fixed_size(problem.n, size)
    answer = oracle.regress(problem.distances, targets, law, k, distance_ties=distance_ties)
    options = {"cv": FixedSize(size), "distance_ties": distance_ties}
    knn = KNeighborsRegressor(k)
    found = evaluate(knn, problem.X, targets, **options)
    assert_matches(found, answer, largest_bound=1e-11)
    assert_matches_exactly(evaluate(knn, problem.X, targets, exact=True, **options), answer)


@given(problem=problems(largest=12, classes=3), data=st.data())
def test_floats_of_bootstrap_are_within_their_bound_of_the_fraction(problem, data):
    k = data.draw(st.integers(1, 5))
    options = {"cv": Bootstrap(), **data.draw(ties)}
    knn = KNeighborsClassifier(min(k, problem.n))
    found = evaluate(knn, problem.X, problem.y, **options)
    exact = evaluate(knn, problem.X, problem.y, exact=True, **options)
    assert abs(Fraction(found.score) - exact.fraction) <= Fraction(found.error_bound)
    np.testing.assert_allclose(found.prediction_proba.sum(axis=1), 1, rtol=0, atol=1e-12)

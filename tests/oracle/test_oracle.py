"""The oracle and the comparison with it are themselves checked, by hand and by breaking them."""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from oracle import enumerate as oracle
from oracle.compare import assert_close, assert_matches, assert_matches_exactly
from oracle.datasets import BALANCED, DATASETS, LABELS, POINTS, dataset

LAWS = {
    "fixed size": oracle.fixed_size(6, 4),
    "train and test size": oracle.train_and_test_size(6, 2, 3),
    "folds": oracle.folds(7, 3),
    "class counts": oracle.class_counts("aabbb", {"a": 1, "b": 2}),
    "stratified folds": oracle.stratified_folds("aabbbba", 3),
    "stratified shuffles": oracle.stratified_shuffles("aabbcc", 3, 2),
    "groups": oracle.group_subsets("xxyyyz", 1),
    "episodes": oracle.episodes("aaabbcc", 2, 1),
    "galleries": oracle.galleries("aabbcc", "xyxyxx", 1, "identity"),
    "galleries elsewhere": oracle.galleries("aabbcc", "xyxyxx", 1, "group"),
    "bernoulli": oracle.bernoulli(5, Fraction(1, 3), at_least=2),
    "bootstrap": oracle.bootstrap(4),
}


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS.keys())
def test_every_law_is_a_probability_over_disjoint_sets(law):
    assert sum(split.weight for split in law) == 1
    assert all(split.weight > 0 for split in law)
    assert all(split.train and split.test for split in law)
    assert all(not set(split.train) & set(split.test) for split in law)


def test_counts_of_splits():
    assert len(oracle.fixed_size(6, 4)) == 15
    assert len(oracle.train_and_test_size(6, 2, 3)) == 15 * 4
    assert oracle.fold_sizes(7, 3) == [3, 2, 2]
    assert len(oracle.folds(7, 3)) == 35 + 21 + 21
    assert len(oracle.class_counts("aabbb", {"a": 1, "b": 2})) == 2 * 3
    assert len(oracle.group_subsets("xxyyyz", 2)) == 3
    assert len(oracle.bootstrap(4)) == 4 * 15


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS.keys())
@pytest.mark.parametrize("n_folds", [2, 3])
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_stratified_folds_have_the_counts_of_scikit_learn(labels, n_folds):
    labels = np.array(labels)
    if max(Counter(labels.tolist()).values()) < n_folds:
        pytest.skip("scikit-learn refuses folds that no class can fill")
    real = [
        Counter(labels[test].tolist())
        for _, test in StratifiedKFold(n_folds).split(labels.reshape(-1, 1), labels)
    ]
    assert [Counter(c) for c in oracle.stratified_fold_counts(labels.tolist(), n_folds)] == real


def test_proportional_counts_share_tied_remainders_at_random():
    sizes = {"a": 2, "b": 2, "c": 4}
    assert oracle.proportional_counts(sizes, 4) == [(1, {"a": 1, "b": 1, "c": 2})]
    # shares 3/4, 3/4, 3/2: both a and b are rounded up before c
    assert oracle.proportional_counts(sizes, 3) == [(1, {"a": 1, "b": 1, "c": 1})]
    # shares 5/4, 5/4, 5/2: c first, nothing is left
    assert oracle.proportional_counts(sizes, 5) == [(1, {"a": 1, "b": 1, "c": 3})]
    # shares 1/2, 1/2, 1: one of a and b
    assert oracle.proportional_counts(sizes, 2) == [
        (Fraction(1, 2), {"a": 1, "b": 0, "c": 1}),
        (Fraction(1, 2), {"a": 0, "b": 1, "c": 1}),
    ]


@pytest.mark.parametrize(
    ("labels", "train_size", "test_size"),
    [
        ("2 classes", 5, 3),
        ("2 classes", 3, 2),
        ("3 classes", 4, 4),
        ("3 classes", 3, 4),
        ("3 classes, unbalanced", 5, 3),
        ("4 classes", 4, 4),
    ],
)
def test_stratified_shuffles_are_those_of_scikit_learn(labels, train_size, test_size):
    """The same counts per class, as often as scikit-learn draws them."""
    labels = np.array(LABELS[labels])

    def counts(indices):
        return tuple(sorted(Counter(labels[list(indices)].tolist()).items()))

    expected: Counter = Counter()
    for split in oracle.stratified_shuffles(labels.tolist(), train_size, test_size):
        expected[counts(split.train), counts(split.test)] += split.weight

    repeats = 2000
    splitter = StratifiedShuffleSplit(
        repeats, train_size=train_size, test_size=test_size, random_state=0
    )
    drawn = Counter((counts(train), counts(test)) for train, test in splitter.split(labels, labels))
    assert drawn.keys() == expected.keys()
    for outcome, probability in expected.items():
        p = float(probability)
        assert abs(drawn[outcome] / repeats - p) <= 4 * (p * (1 - p) / repeats) ** 0.5 + 1e-12


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_subsets_of_the_boundary_tie_are_all_orders_of_ties(points, k):
    distances = oracle.squared_distances(POINTS[points])
    train = (1, 2, 4, 5, 7)
    subsets = Counter(
        frozenset(voters) for voters in oracle.nearest(distances[0], train, k, "average")
    )
    orders = Counter(
        frozenset(voters) for voters in oracle.nearest_by_permutation(distances[0], train, k)
    )
    assert subsets.keys() == orders.keys()
    assert {Fraction(count, subsets.total()) for count in subsets.values()} == {
        Fraction(count, orders.total()) for count in orders.values()
    }


def test_voters_by_hand():
    distances = (0, 5, 5, 1, 5, 9)
    assert oracle.nearest(distances, (1, 2, 3, 4, 5), 2, "index") == [(3, 1)]
    assert oracle.nearest(distances, (1, 2, 3, 4, 5), 2, "average") == [(3, 1), (3, 2), (3, 4)]
    assert oracle.nearest(distances, (5, 3), 4, "average") == [(3, 5)]
    assert oracle.nearest(distances, (3, 3, 1), 2, "average") == [(3, 3)]


def test_votes_by_hand():
    assert oracle.winners(tuple("aab"), "first") == ("a",)
    assert oracle.winners(tuple("cb"), "first") == ("b",)
    assert oracle.winners(tuple("cb"), "share") == ("b", "c")
    # one sure win of a, one tie of b and c
    assert oracle.shares((("a",), ("b", "c")), tuple("abc")) == [
        Fraction(1, 2),
        Fraction(1, 4),
        Fraction(1, 4),
    ]


def test_leave_one_out_by_hand():
    distances = oracle.squared_distances([0, 1, 3, 7])
    answer = oracle.classify(distances, "aabb", oracle.fixed_size(4, 3), 1)
    # 0 -> 1 (a, right), 1 -> 0 (a, right), 3 -> 1 (a, wrong), 7 -> 3 (b, right)
    assert answer.sample_scores == [1, 1, 0, 1]
    assert answer.score == Fraction(3, 4)
    assert answer.confusion == [[Fraction(1, 2), 0], [Fraction(1, 4), Fraction(1, 4)]]
    assert answer.mean_recall == Fraction(3, 4)


def test_balanced_accuracy_by_hand():
    labels = "aaab"
    law = [oracle.Split(Fraction(1), (0,), (1, 2, 3))]
    balanced = oracle.classes_equally(law, labels)
    assert balanced == [
        oracle.Split(Fraction(1, 2), (0,), (1, 2)),
        oracle.Split(Fraction(1, 2), (0,), (3,)),
    ]
    distances = oracle.squared_distances([0, 1, 3, 7])
    assert oracle.classify(distances, labels, law, 1).score == Fraction(2, 3)
    assert oracle.classify(distances, labels, balanced, 1).score == Fraction(1, 2)


def test_unequal_folds_count_equally():
    distances = oracle.squared_distances([0, 1, 3])
    answer = oracle.classify(distances, "aab", oracle.folds(3, 2), 1)
    # fold of two: train {0}: 1 right, 3 wrong; train {1}: 0 right, 3 wrong; train {3}: both wrong
    # fold of one: 0 right, 1 right, 3 wrong
    assert answer.score == Fraction(1, 2) * Fraction(1, 3) + Fraction(1, 2) * Fraction(2, 3)
    assert answer.sample_weight == [Fraction(1, 3)] * 3


def test_regression_by_hand():
    distances = oracle.squared_distances([0, 1, 3])
    answer = oracle.regress(distances, [2, 4, 9], oracle.fixed_size(3, 2), 2)
    assert answer.sample_scores == [-Fraction(81, 4), -Fraction(9, 4), -36]


def test_galleries_by_hand():
    labels, groups = "aabc", "xyyx"
    # query 0 (a, x): item 1 is its class elsewhere; b and c are met wherever they are
    assert oracle.galleries(labels, groups, 1, "identity") == [
        oracle.Split(Fraction(1, 2), (1, 2, 3), (0,)),
        oracle.Split(Fraction(1, 2), (0, 2, 3), (1,)),
    ]
    assert oracle.galleries(labels, groups, 1, "group") == [
        oracle.Split(Fraction(1, 2), (1, 2), (0,)),
        oracle.Split(Fraction(1, 2), (0, 3), (1,)),
    ]


def test_bootstrap_copies_vote_one_by_one():
    distances = oracle.squared_distances([0, 1, 5])
    answer = oracle.classify(distances, "aab", oracle.bootstrap(3), 2)
    # sample 0 sees three draws of {1 (a), 5 (b)}: two votes, a tie goes to a; only bbb is wrong
    assert answer.sample_scores[0] == Fraction(7, 8)


@pytest.mark.parametrize("distance_ties", ["average", "index"])
@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("data", DATASETS, ids=str)
def test_probabilities_sum_to_one(data, distance_ties, label_ties):
    answer = oracle.classify(
        data.distances,
        data.labels,
        oracle.fixed_size(data.n, 5),
        2,
        distance_ties=distance_ties,
        label_ties=label_ties,
    )
    assert [sum(row) for row in answer.prediction_proba] == [1] * data.n
    assert sum(sum(row) for row in answer.confusion) == 1
    assert sum(row[c] for c, row in enumerate(answer.confusion)) == answer.score
    assert oracle.mean(answer.sample_scores) == answer.score


def answer_and_its_evaluation(k: int = 3):
    """An oracle answer, and an evaluation object that says exactly the same."""
    data = dataset("heavy ties", BALANCED[1])
    answer = oracle.classify(data.distances, data.labels, oracle.fixed_size(data.n, 5), k)
    evaluation = SimpleNamespace(
        score=float(answer.score),
        fraction=answer.score,
        error_bound=1e-15,
        sample_scores=np.array(answer.sample_scores, dtype=float),
        sample_fractions=tuple(answer.sample_scores),
        sample_weight=np.array(answer.sample_weight, dtype=float),
        prediction_proba=np.array(answer.prediction_proba, dtype=float),
        confusion=np.array(answer.confusion, dtype=float),
        classes=np.array(answer.classes),
    )
    return answer, evaluation


def test_the_comparison_accepts_what_is_right():
    answer, evaluation = answer_and_its_evaluation()
    assert_matches(evaluation, answer)
    assert_matches_exactly(evaluation, answer)


@pytest.mark.parametrize(
    "field", ["sample_scores", "sample_weight", "prediction_proba", "confusion"]
)
@pytest.mark.parametrize("compare", [assert_matches, assert_matches_exactly])
def test_the_comparison_rejects_one_perturbed_value(field, compare):
    answer, evaluation = answer_and_its_evaluation()
    getattr(evaluation, field).flat[2] += 1e-9
    with pytest.raises(AssertionError, match=field):
        compare(evaluation, answer)


@pytest.mark.parametrize(
    ("off_by", "words", "compare"),
    [
        (1e-9, "score", assert_matches),
        (1e-9, "score", assert_matches_exactly),
        (1e-14, "claimed", assert_matches),
    ],
)
def test_the_comparison_rejects_a_perturbed_score(off_by, words, compare):
    """By more than is allowed, or by more than the bound that is claimed."""
    answer, evaluation = answer_and_its_evaluation()
    evaluation.score += off_by
    with pytest.raises(AssertionError, match=words):
        compare(evaluation, answer)


def test_the_comparison_rejects_a_bound_that_says_nothing():
    answer, evaluation = answer_and_its_evaluation()
    evaluation.error_bound = 1.0
    with pytest.raises(AssertionError, match="error_bound"):
        assert_matches(evaluation, answer)


def test_the_comparison_rejects_a_slightly_wrong_fraction():
    answer, evaluation = answer_and_its_evaluation()
    evaluation.fraction += Fraction(1, 10**40)
    with pytest.raises(AssertionError, match="fraction"):
        assert_matches_exactly(evaluation, answer)


def test_the_comparison_rejects_the_wrong_k():
    _, evaluation = answer_and_its_evaluation(k=3)
    answer, _ = answer_and_its_evaluation(k=2)
    with pytest.raises(AssertionError, match="score"):
        assert_matches(evaluation, answer)


def test_the_comparison_rejects_missing_probabilities():
    answer, evaluation = answer_and_its_evaluation()
    recall_answer = replace(answer, prediction_proba=None, confusion=None)
    with pytest.raises(AssertionError):
        assert_matches(evaluation, recall_answer)


def test_close_wants_nan_exactly_where_nothing_was_tested():
    assert_close([0.5, np.nan], [Fraction(1, 2), None], "scores")
    with pytest.raises(AssertionError):
        assert_close([0.5, 0.0], [Fraction(1, 2), None], "scores")
    with pytest.raises(AssertionError):
        assert_close([0.5, np.nan], [Fraction(1, 2), Fraction(0)], "scores")

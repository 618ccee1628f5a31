"""What the score of each law is a mean of, split by split: the sentences of docs/laws.md."""

from fractions import Fraction
from itertools import combinations, permutations, product
from math import comb

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePGroupsOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bernoulli, Bootstrap, Episodes, evaluate
from oracle import enumerate as oracle
from oracle.datasets import Dataset, dataset


def right(data: Dataset, train, test, k: int) -> dict[int, Fraction]:
    """Of each test sample, the share of the orders of tied neighbours in which it is right."""
    labels = data.labels
    found = {}
    for sample in test:
        choices = oracle.nearest(data.distances[sample], tuple(sorted(train)), k, "average")
        winners = [oracle.winners(tuple(labels[i] for i in voters), "first") for voters in choices]
        found[sample] = oracle.mean(won == (labels[sample],) for won in winners)
    return found


def of(data: Dataset, cv, k: int = 1, **options):
    return evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv, exact=True, **options)


def pooled(splits) -> Fraction:
    """All predictions count alike: [(weight, {sample: right})]."""
    return sum(w * sum(r.values()) for w, r in splits) / sum(w * len(r) for w, r in splits)


def by_split(splits) -> Fraction:
    """All splits that test anything count alike."""
    splits = [(w, r) for w, r in splits if r]
    return sum(w * oracle.mean(r.values()) for w, r in splits) / sum(w for w, _ in splits)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("points", ["no ties", "duplicates"])
def test_under_bernoulli_all_predictions_count_alike(points, k):
    data, q = dataset(points, "3 classes"), Fraction(1, 4)
    splits = []
    for size in range(k, data.n):
        for train in combinations(range(data.n), size):
            weight = q**size * (1 - q) ** (data.n - size)
            splits.append((weight, right(data, train, oracle.all_but(data.n, train), k)))
    found = of(data, Bernoulli(q), k)
    assert found.fraction == pooled(splits) != by_split(splits)
    assert found.n_splits == len(splits)


@pytest.mark.parametrize("points", ["no ties", "duplicates"])
def test_under_bootstrap_all_predictions_count_alike(points):
    whole = dataset(points, "3 classes")
    data = Dataset("five rows", whole.X[:5], whole.y[:5])
    bags = list(product(range(5), repeat=5))
    splits = [(Fraction(1), right(data, bag, oracle.all_but(5, bag), 2)) for bag in bags]
    found = of(data, Bootstrap(), 2)
    assert found.fraction == pooled(splits) != by_split(splits)
    assert found.n_splits == len(bags)
    assert sum(not tested for _, tested in splits) == 120


@pytest.mark.parametrize("points", ["no ties", "duplicates"])
def test_under_episodes_choices_of_classes_and_classes_count_alike(points):
    """Classes of 4, 2 and 2: more support sets of the first do not make it count more."""
    data = dataset(points, "3 classes, unbalanced")
    members = oracle.members_by(data.labels)
    of_ways, of_all = [], []
    for way in combinations(members, 2):
        scores = []
        for support in product(*(members[label] for label in way)):
            queries = {c: [i for i in members[c] if i not in support] for c in way}
            tested = right(data, support, [i for c in way for i in queries[c]], 1)
            scores.append(oracle.mean(oracle.mean(tested[i] for i in queries[c]) for c in way))
        of_ways.append(oracle.mean(scores))
        of_all += scores
    found = of(data, Episodes(2, 1))
    assert found.fraction == oracle.mean(of_ways) != oracle.mean(of_all)
    assert found.fraction == of(data, Episodes(2, 1), scoring="balanced_accuracy").fraction
    assert found.n_splits == len(of_all)


def sample_averages(splits, n: int) -> list[Fraction]:
    """Each split counts the same: its predictions by one over their number."""
    weight, total = [Fraction(0)] * n, [Fraction(0)] * n
    for tested in splits:
        for i, value in tested.items():
            weight[i] += Fraction(1, len(tested))
            total[i] += value / len(tested)
    return [t / w for t, w in zip(total, weight, strict=True)]


def test_samples_of_unequal_folds():
    """Every order of the rows, cut into folds of 3, 3 and 2: each fold counts the same."""
    whole = dataset("no ties", "2 classes")
    data = Dataset("seven rows", whole.X[:7], whole.y[:7])
    cache, folds = {}, []
    for order in permutations(range(7)):
        for cut in (order[:3], order[3:5], order[5:]):
            test = tuple(sorted(cut))
            if test not in cache:
                cache[test] = right(data, oracle.all_but(7, test), test, 1)
            folds.append(cache[test])
    found = of(data, KFold(3))
    assert list(found.sample_fractions) == sample_averages(folds, 7)
    as_often_as_held_out = [oracle.mean(f[i] for f in folds if i in f) for i in range(7)]
    assert list(found.sample_fractions) != as_often_as_held_out
    assert found.fraction == oracle.mean(oracle.mean(fold.values()) for fold in folds)
    assert found.n_splits == len(cache) == comb(7, 2) + comb(7, 3)


def test_samples_of_unequal_groups():
    data, groups = dataset("no ties", "2 classes"), np.array([0, 0, 0, 1, 1, 2, 2, 3])
    splits = []
    for chosen in combinations(range(4), 2):
        test = tuple(np.flatnonzero(np.isin(groups, chosen)).tolist())
        splits.append(right(data, oracle.all_but(8, test), test, 1))
    found = of(data, LeavePGroupsOut(2), groups=groups)
    assert list(found.sample_fractions) == sample_averages(splits, 8)
    assert found.fraction == oracle.mean(oracle.mean(split.values()) for split in splits)


def test_stratified_folds_follow_the_order_in_which_classes_appear():
    """Three of each of three classes, two folds: the class that appears second is cut otherwise.

    Nothing else of the order of the rows matters, and under plain folds nothing does.
    """
    X = np.array([15, 0, 34, 4, 22, 1, 32, 9, 4]).reshape(-1, 1)
    y = np.array(["a", "b", "c", "a", "c", "b", "a", "b", "c"])
    stratified, plain = {}, set()
    for seed in range(30):
        rows = np.random.default_rng(seed).permutation(len(y))
        data = Dataset("permuted", X[rows], y[rows])
        second = list(dict.fromkeys(data.labels))[1]
        stratified.setdefault(second, set()).add(of(data, StratifiedKFold(2)).fraction)
        plain.add(of(data, KFold(2)).fraction)
    assert sorted(stratified) == ["a", "b", "c"]
    assert all(len(values) == 1 for values in stratified.values())
    assert len(set.union(*stratified.values())) > 1
    assert len(plain) == 1

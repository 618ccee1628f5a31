"""Orders that rounding cannot turn round."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import compare, evaluate, sample_values
from allsplits._ranking import rounding_of, rounding_of_chances, smallest_first
from allsplits.reports._summary import _confusion


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_move_anybody(seed):
    random = np.random.default_rng(seed)
    plain = random.integers(-3, 4, 40) / 7
    noisy = plain * (1 + random.uniform(-1, 1, 40) * 1e-14) + random.uniform(-1, 1, 40) * 1e-15
    expected = np.argsort(plain, kind="stable")
    np.testing.assert_array_equal(smallest_first(noisy, rounding_of(noisy, 1e-9)), expected)


def test_values_farther_apart_than_their_bound_are_told_apart():
    values = np.array([3e-13, 1e-13, 2e-13, 1.0])
    assert smallest_first(values, rounding_of(values, 5e-14)).tolist() == [1, 2, 0, 3]
    assert smallest_first(values, rounding_of(values, 1e-9)).tolist() == [0, 1, 2, 3]


def test_faint_chances_are_told_apart_whatever_the_largest_is():
    chances = np.array([0.9, 3e-20, 1e-20, 1e-20 * (1 + 1e-14), 0.0, 1e-200, 0.9 - 1e-16])
    rounding = rounding_of_chances(chances, 1e-9)
    assert smallest_first(chances, rounding).tolist() == [4, 5, 2, 3, 1, 0, 6]


def test_values_without_a_number_come_last_and_infinite_ones_are_equal():
    values = np.array([np.nan, np.inf, 1.0, -np.inf, np.inf, np.nan])
    assert smallest_first(values, rounding_of(values, 1e-9)).tolist() == [3, 2, 1, 4, 0, 5]
    assert smallest_first(np.array([]), 0.0).tolist() == []
    assert smallest_first(np.array([2.0]), 0.0).tolist() == [0]


def test_the_hardest_samples_do_not_depend_on_the_order_of_sums():
    """Samples that mirror each other are wrong as often, whatever rounding says."""
    random = np.random.default_rng(3)
    half, labels = random.normal(size=(60, 2)), random.integers(0, 3, 60)
    # Two copies far from each other: each sample is as hard as its copy.
    X, y = np.concatenate([half, half + 1e3]), np.concatenate([labels, labels])
    found = evaluate(KNeighborsClassifier(3), X, y)
    hardest = found.hardest(len(y))
    scores = found.sample_scores[hardest]
    same = np.abs(np.diff(scores)) < 1e-13
    assert same.sum() > 50
    assert (np.diff(hardest)[same] > 0).all()


def three_copies():
    """Copies far from each other, with their classes and numbers; classes go round."""
    random = np.random.default_rng(4)
    once, labels = random.normal(size=(40, 2)), random.integers(0, 3, 40)
    X = np.concatenate([once + 1e3 * copy for copy in range(3)])
    y = np.concatenate([(labels + copy) % 3 for copy in range(3)])
    return X, y, np.repeat(np.arange(3), 40)


def test_models_that_are_equal_up_to_rounding_stand_as_they_were_given():
    X, y = load_iris(return_X_y=True)
    found = [evaluate(KNeighborsClassifier(4), rows, y, cv=KFold(5)) for rows in (X, X * 7)]
    one, other = found
    off = replace(other, score=np.nextafter(one.score, 1.0))
    low = replace(other, score=np.nextafter(one.score, 0.0))
    worse = evaluate(KNeighborsClassifier(60), X, y, cv=KFold(5))
    for given in permutations([one, off, low]):
        assert compare(*given, worse).best_first.tolist() == [0, 1, 2, 3]


def test_sources_that_are_equal_up_to_rounding_stay_in_order():
    X, y, copies = three_copies()
    found = sample_values(KNeighborsClassifier(1), X, y, cv=KFold(5))
    sums = found.totals(copies, "polars")["value"].to_numpy()
    np.testing.assert_allclose(sums, sums[0], rtol=0, atol=1e-13)
    for moved in permutations([0.0, 1e-16, -1e-16]):
        values = found.values + np.asarray(moved)[copies]
        table = replace(found, values=values).totals(copies, "polars")
        assert table["group"].to_list() == [0, 1, 2]


def test_classes_that_are_confused_as_often_stay_in_order():
    X, y, _ = three_copies()
    pairs = _confusion(evaluate(KNeighborsClassifier(1), X, y, cv=KFold(5)))["pairs"]
    often = np.array([pair["of_all"] for pair in pairs])
    names = [(pair["label"], pair["given"]) for pair in pairs]
    round_one = [("0", "1"), ("1", "2"), ("2", "0")]
    found = [name for name in names if name in round_one]
    np.testing.assert_allclose(np.ptp([often[names.index(name)] for name in found]), 0, atol=1e-12)
    assert found == round_one

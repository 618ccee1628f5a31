"""Suspected labels: ranked by evidence, few on clean data, small classes judged fairly."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.metrics import average_precision_score
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate, order_neighbors, report
from allsplits.exact import Options
from allsplits.model_selection._suspects import SUSPICION, find_suspects, judge_of
from allsplits.model_selection._task import Task


@pytest.fixture(scope="module")
def digits():
    return load_digits(return_X_y=True)


def second_look(estimator, X, y):
    return judge_of(Task.read(estimator, X, y, Options(), cv=LeaveOneOut())).evaluate()


def rows_of(made):
    return [one["row"] for one in made.summary["suspects"]["samples"]]


def test_changed_labels_are_suspected():
    X, y = load_iris(return_X_y=True)
    wrong = y.copy()
    wrong[[5, 25, 45]] = 2
    made = report(X, wrong, n_neighbors=5, curves=())
    assert {5, 25, 45} <= set(rows_of(made))
    first = next(one for one in made.summary["suspects"]["samples"] if one["row"] == 5)
    assert (first["label"], first["given"]) == ("2", "0")
    assert first["share"] >= SUSPICION
    assert made.summary["suspects"]["n_neighbors"] == 1


def test_clean_data_have_few_suspects_and_planted_errors_come_first(digits):
    X, y = digits
    clean = find_suspects(second_look(KNeighborsClassifier(), X, y))
    assert len(clean) <= 5  # of 1,797
    rng = np.random.default_rng(0)
    planted = rng.choice(len(y), 90, replace=False)
    wrong = y.copy()
    wrong[planted] = (y[planted] + rng.integers(1, 10, 90)) % 10
    found = find_suspects(second_look(KNeighborsClassifier(), X, wrong))
    position = np.full(len(y), -float(len(y)))
    position[found] = -np.arange(len(found))
    truth = np.isin(np.arange(len(y)), planted)
    assert truth[found].mean() > 0.93
    assert truth[found].sum() > 65
    assert average_precision_score(truth[found], position[found]) > 0.96


def test_rounding_noise_ranks_nothing():
    """All rows are equally doubtful but for the last bits: they stay in the order of the rows."""
    X, y = load_iris(return_X_y=True)
    found = evaluate(KNeighborsClassifier(3), X, y)
    other = (found.y + 1) % 3
    shares = np.zeros((150, 3))
    shares[np.arange(150), other] = 1 + np.random.default_rng(0).normal(size=150) * 4e-16
    noisy = replace(found, prediction_proba=shares)
    np.testing.assert_array_equal(find_suspects(noisy), np.arange(150))
    shown = report(noisy).summary["suspects"]
    assert [one["row"] for one in shown["samples"]] == list(range(12))
    assert max(one["share"] for one in shown["samples"]) == 1


def test_a_class_of_one_is_beyond_judging():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.zeros(40, dtype=int)
    y[20], y[:2] = 2, 1
    judged = second_look(KNeighborsClassifier(), X, y)
    assert judged.prediction_proba[20, 0] > 0.999
    assert 20 not in find_suspects(judged)


def test_small_classes_are_not_doubted_for_being_small():
    """The sixth nearest is the only other sample of its class: more it cannot have near."""
    X = np.array([0.0, 1, 2, 3, 4, 5, 6, *range(100, 193)]).reshape(-1, 1)
    small = np.zeros(100, dtype=int)
    small[[0, 6]] = 1
    assert 0 not in find_suspects(second_look(KNeighborsClassifier(), X, small))
    large = small.copy()
    large[60:] = 1  # the same neighbours, but a class that could be near
    assert find_suspects(second_look(KNeighborsClassifier(), X, large))[0] == 0


def test_the_reach_of_a_class_is_its_chance_to_be_drawn():
    from allsplits.model_selection._suspects import _reach

    y = np.array([0, 0, 0, 0, 1, 1, 2])
    law = FixedSize(3)
    judged = evaluate(KNeighborsClassifier(1), np.arange(7.0).reshape(-1, 1), y, cv=law)
    for row, found in enumerate(_reach(judged)):
        others = [i for i in range(7) if i != row]
        drawn = [any(y[i] == y[row] for i in chosen) for chosen in combinations(others, 3)]
        assert found == pytest.approx(np.mean(drawn))


def test_hard_samples_are_not_those_suspected(digits):
    X, y = digits[0][:500], digits[1][:500].copy()
    y[:30] = (y[:30] + 1) % 10
    summary = report(X, y, n_neighbors=3, curves=(), n_samples_shown=8).summary
    assert summary["suspects"]["n"] > 8
    assert len(summary["hardest"]) == len(summary["suspects"]["samples"]) == 8
    suspected = find_suspects(second_look(KNeighborsClassifier(), X, y))
    assert not set(suspected) & {one["row"] for one in summary["hardest"]}


def test_an_evaluation_alone_judges_by_itself_and_with_its_estimator_again(digits):
    X, y = digits[0][:300], digits[1][:300]
    model = KNeighborsClassifier(5, metric="manhattan")
    found = evaluate(model, X, y)
    alone = report(found, X=X).summary
    assert alone["suspects"]["law"] == str(found.law)
    assert alone["model"] == {}
    again = report(found, X=X, estimator=model).summary
    assert again["suspects"]["law"] == "every training set of 60 of 300 samples"
    assert again["model"] == {"metric": "manhattan", "weights": "uniform"}
    expected = find_suspects(second_look(model, X, y))
    assert [one["row"] for one in again["suspects"]["samples"]] == expected[:12].tolist()
    named = report(found, estimator=model).summary
    assert named["model"]["metric"] == "manhattan"
    assert named["suspects"]["law"] == str(found.law)


def test_orders_and_groups_are_judged_by_the_evaluation(digits):
    X, y = digits[0][:200], digits[1][:200]
    made = report(order_neighbors(X), y, n_neighbors=3, curves=())
    assert made.summary["suspects"]["law"] == str(made.evaluation.law)
    groups = np.arange(200) // 4
    made = report(X, y, n_neighbors=3, curves=(), cv=LeaveOneGroupOut(), groups=groups)
    assert made.summary["suspects"]["law"] == str(made.evaluation.law)


@pytest.mark.parametrize("n", [4, 9, 30])
def test_few_samples_can_be_judged(n):
    X = np.concatenate([np.arange(n), 1000 + np.arange(n)]).reshape(-1, 1).astype(float)
    y = np.repeat([0, 1], n)
    assert find_suspects(second_look(KNeighborsClassifier(), X, y)).size == 0
    y[1] = 1
    if n > 4:
        assert find_suspects(second_look(KNeighborsClassifier(), X, y))[0] == 1

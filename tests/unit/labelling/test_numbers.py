"""The numbers of the page: who is a check, how sure the accuracy is, what more labels bring."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ActiveLearner, FixedSize, evaluate
from allsplits.labelling._accuracy import accuracy_of, clopper_pearson, judge_labels
from allsplits.labelling._answer import Answer
from allsplits.labelling._changes import most_changed
from allsplits.labelling._checks import Checks
from allsplits.labelling._forecast import (
    FEWEST_CHECKS,
    Forecast,
    forecast,
    learning_curve_rows,
    ratios,
)
from allsplits.labelling._measure import measure
from unit.labelling.talk import points


def answer(sample, status="labelled"):
    label = "a" if status == "labelled" else None
    return Answer(1, sample, status, label, "", "", "", "chosen")


# ------------------------------------------------------------ checks


def test_checks_are_a_prefix_of_one_random_order():
    order = Checks.of(100, 0.2, seed=3)
    assert sorted(order.order.tolist()) == list(range(100))
    assert [len(order.drawn(n)) for n in (0, 4, 5, 9, 10, 500)] == [0, 0, 1, 1, 2, 100]
    assert order.drawn(50).tolist() == Checks.of(100, 0.2, seed=3).order[:10].tolist()
    assert [len(Checks.of(100, 0.1, 0).drawn(n)) for n in (9, 10, 29, 30)] == [0, 1, 2, 3]


def test_what_is_due_and_what_counts():
    order = Checks(np.array([4, 2, 0, 1, 3]), 1.0)
    answers = {4: answer(4), 0: answer(0), 1: answer(1, "skipped")}
    assert order.due(answers, 4) == [2]
    assert order.measured(answers, 4) == [4]  # 0 is only a check when 2 is answered
    answers[2] = answer(2)
    assert order.due(answers, 4) == []
    assert order.measured(answers, 4) == [4, 2, 0]  # 1 was skipped
    answers[2] = answer(2, "open")  # taken back
    assert order.measured(answers, 4) == [4]


def test_checks_are_a_fair_sample_though_questions_are_not():
    """Half of the samples are hard, and the learner asks for nothing else.

    The share of hard ones among the checks must be that among all samples, on average: it is not
    with other rules, such as counting whatever happens to be labelled.
    """
    hard, found = set(range(20)), []
    for seed in range(4000):
        order = Checks.of(40, 0.25, seed)
        known: dict[int, Answer] = {}
        for n in range(24):
            due = order.due(known, n)
            row = due[0] if due else next(i for i in range(40) if i not in known)
            known[row] = answer(row)
        checks = order.drawn(24).tolist()
        found.append(np.mean([i in hard for i in checks]))
    error = np.std(found) / np.sqrt(len(found))
    assert abs(np.mean(found) - 0.5) < 4 * error
    assert error < 0.005


# ------------------------------------------------------------ accuracy


@pytest.mark.parametrize("n", [1, 7, 40])
def test_the_interval_is_never_too_short(n):
    """Clopper & Pearson hold 95 % whatever the truth is: summed over all outcomes."""
    found = [clopper_pearson(k, n) for k in range(n + 1)]
    for p in np.linspace(0.005, 0.995, 67):
        holds = sum(binom.pmf(k, n, p) for k in range(n + 1) if found[k].low <= p <= found[k].high)
        assert holds >= 0.95 - 1e-12


def test_the_interval_has_a_width_at_the_ends_and_takes_broken_numbers():
    assert clopper_pearson(10, 10)[:3] == pytest.approx((1.0, 0.6915, 1.0), abs=1e-4)
    assert clopper_pearson(0, 10)[:3] == pytest.approx((0.0, 0.0, 0.3085), abs=1e-4)
    between = clopper_pearson(7.5, 10)
    assert clopper_pearson(7, 10).low < between.low < clopper_pearson(8, 10).low


def test_checks_are_held_out_one_by_one():
    X, y = points(40)
    learner = ActiveLearner([3], random_state=0).fit(X, np.where(np.arange(40) < 25, y, np.nan))
    judged = judge_labels(learner)
    checks = [3, 11, 24]
    right = []
    for i in checks:
        others = np.array([j for j in range(25) if j != i])
        model = KNeighborsClassifier(3).fit(X[others], y[others])
        right.append(model.predict(X[i : i + 1])[0] == y[i])
    found = accuracy_of(judged, learner.labelled_, checks)
    assert found.score == pytest.approx(np.mean(right))
    assert found.n_checks == 3
    assert accuracy_of(judged, learner.labelled_, []) is None


def test_too_few_labels_are_not_judged():
    X, _ = points(20)
    none = ActiveLearner(range(1, 4), random_state=0).fit(X)
    assert judge_labels(none) is None
    assert measure(none, []).accuracy is None
    one_class = ActiveLearner(range(1, 4), random_state=0).fit(X).teach([0, 3], [0, 0])
    assert judge_labels(one_class) is None


# ------------------------------------------------------------ forecast


@pytest.mark.parametrize(("level", "power"), [(0.0, 0.5), (0.05, 1.0), (0.02, 0.3), (0.1, 2.0)])
def test_a_curve_of_the_family_is_continued_exactly(level, power):
    sizes = np.array([25, 40, 60, 80, 99])
    curve = level + 0.2 * (sizes / 100) ** -power
    then, now = level + 0.2 * 1.5**-power, level + 0.2
    assert ratios(sizes, curve[None, :], 100, 50)[0] == pytest.approx(then / now, abs=1e-9)


def test_curves_that_do_not_fall_stay():
    sizes = np.array([25, 50, 99])
    for errors in ([0.0, 0.0, 0.0], [0.1, 0.1, 0.1], [0.1, 0.2, 0.3]):
        assert ratios(sizes, np.array([errors]), 100, 50)[0] == pytest.approx(1.0)


def test_the_curve_is_the_exact_learning_curve():
    X, y = points(60)
    learner = ActiveLearner([3], random_state=0).fit(X, y)
    sizes, wrong = learning_curve_rows(learner)
    assert sizes[-1] == 59
    for place in (0, len(sizes) // 2):
        law = FixedSize(int(sizes[place]))
        exact = evaluate(KNeighborsClassifier(3), X, y, cv=law)
        assert 1 - wrong[:, place].mean() == pytest.approx(exact.score, abs=1e-9)
    loo = evaluate(KNeighborsClassifier(3), X, y, cv=LeavePOut(1))
    assert 1 - wrong[:, -1].mean() == pytest.approx(loo.score, abs=1e-9)


def test_a_forecast_is_between_its_ends_and_waits_for_checks():
    X, y = points(120, seed=2)
    learner = ActiveLearner(range(1, 6), tune_leave_out=3, random_state=0).fit(X, y)
    judged = judge_labels(learner)
    assert forecast(learner, None, []) is None
    few = accuracy_of(judged, learner.labelled_, list(range(FEWEST_CHECKS - 1)))
    assert forecast(learner, few, list(range(FEWEST_CHECKS - 1))) is None
    enough = accuracy_of(judged, learner.labelled_, list(range(30)))
    found = forecast(learner, enough, list(range(30)))
    assert 0 <= found.gain <= found.high <= 1
    more = accuracy_of(judged, learner.labelled_, list(range(120)))
    assert forecast(learner, more, list(range(120))).high < found.high + 1e-12


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("lucky_first", [False, True])
def test_what_the_last_labels_have_changed(metric, lucky_first):
    """Counted with scikit-learn, over all samples without a label; the larger of two shares."""
    X, y = points(400, seed=5)
    given = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) if metric == "precomputed" else X
    learner = ActiveLearner([3], metric=metric, random_state=0).fit(given)
    # The first labels know two of the three classes; the third comes in one of two later parts.
    two, rest = np.flatnonzero(y < 2), np.flatnonzero(y == 2)
    parts = [two[:40], rest[:30], two[40:70]] if lucky_first else [two[:40], two[40:70], rest[:30]]
    for rows in parts:
        learner.teach(rows, y[rows])
    pool = learner.pool_

    def predicted(n_parts):
        rows = np.concatenate(parts[:n_parts])
        return KNeighborsClassifier(3).fit(X[rows], y[rows]).predict(X[pool])

    shares = [np.mean(predicted(i) != predicted(i - 1)) for i in (2, 3)]
    assert min(shares) < 0.1 < max(shares)
    assert most_changed(learner, 30) == max(shares)
    learner.undo()
    assert most_changed(learner, 30) == 1  # it takes as many labels before both


def test_a_large_pool_is_drawn_from_and_the_share_is_an_upper_end(monkeypatch):
    X, y = points(300, seed=5)
    learner = ActiveLearner([3], random_state=0).fit(X)
    for first in (0, 30, 60):
        learner.teach(np.arange(first, first + 30), y[first : first + 30])
    whole = most_changed(learner, 30)
    assert whole < 0.5
    monkeypatch.setattr("allsplits.labelling._changes._MOST_DRAWN", 100)
    assert most_changed(learner, 30) > whole


def test_a_small_pool_says_nothing():
    X, y = points(120)
    learner = ActiveLearner([3], random_state=0).fit(X, np.where(np.arange(120) < 80, y, np.nan))
    assert most_changed(learner, 20) == 1


def test_nothing_changed_is_not_nothing():
    X = np.r_[np.zeros((100, 1)), np.ones((100, 1))]
    y = np.repeat([0, 1], 100)
    learner = ActiveLearner([1], random_state=0).fit(X)
    rows = np.arange(50, 150).reshape(2, 50).T.ravel()  # from both groups in turn
    learner.teach(rows, y[rows])
    assert most_changed(learner, 30) == 0.005


def test_verdicts():
    def said(gain, high):
        return Forecast(50, gain, high, 0.5, np.array([1]), np.array([0.5])).verdict

    assert Counter([said(0.001, 0.009), said(0.001, 0.02), said(0.02, 0.05)]) == Counter(
        ["stop", "unsure", "go on"]
    )


def test_no_errors_among_the_checks_is_not_certainty():
    X, y = points(60)
    learner = ActiveLearner([1], random_state=0).fit(8 * X, y)
    found = forecast(learner, clopper_pearson(15, 15), list(range(15)))
    assert found.gain == 0
    assert found.ratio == 1 or found.high > 0.01
    assert found.verdict in ("stop", "unsure")


def test_wrong_labels_are_suspected():
    X, y = points(90)
    y = y.copy()
    far = int(np.argmin(np.abs(X - [6.0, 0.0]).sum(axis=1)))
    y[far] = (y[far] + 1) % 3
    learner = ActiveLearner(range(1, 6), tune_leave_out=3, random_state=0).fit(X, y)
    rows = [row for row, _, _ in measure(learner, []).suspects]
    assert far in rows

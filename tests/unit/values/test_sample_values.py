"""What users get from `sample_values`, and what they are refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import (
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    ShuffleSplit,
    StratifiedKFold,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bootstrap, ClassCounts, FixedSize, evaluate, order_neighbors, sample_values
from allsplits.exact.influence import solve
from allsplits.values._source import Source
from unit.refused import refused

X, Y = load_iris(return_X_y=True)
KNN = KNeighborsClassifier(5)


@pytest.fixture(scope="module")
def values():
    return sample_values(KNN, X, Y, cv=ShuffleSplit(test_size=0.2))


def test_worst_and_best_are_the_ends_of_the_values(values):
    assert list(values.worst(4)) == list(np.argsort(values.values)[:4])
    assert values.values[values.best(3)] == pytest.approx(np.sort(values.values)[::-1][:3])
    frame = values.frame("pandas")
    assert list(frame.columns) == ["sample", "label", "value"]
    order = frame["sample"].to_numpy()
    assert sorted(order) == list(range(150))
    assert list(frame["label"]) == list(Y[order])
    # Equal values, rounding apart, stay in the order of the rows.
    gaps = np.diff(values.values[order])
    assert (gaps >= -values.error_bound).all()
    same = np.abs(gaps) < 1e-15
    assert same.sum() > 20
    assert (np.diff(order)[same] > 0).all()


def test_a_planted_error_is_the_worst():
    """A sample of the first class, in the middle of it, with another label."""
    for method in ("influence", "banzhaf", "shapley", "soft_shapley"):
        y = Y.copy()
        y[7] = 2
        assert sample_values(KNeighborsClassifier(1), X, y, method=method).worst(1)[0] == 7


def test_row_names_of_frames_are_kept():
    table = pd.DataFrame(X, index=[f"flower {i}" for i in range(150)])
    found = sample_values(KNN, table, Y)
    frame = found.frame("pandas")
    assert frame.index[0] == f"flower {found.worst(1)[0]}"
    assert found.frame("polars")["row"][0] == frame.index[0]


def test_influences_add_up_to_values():
    cases = [("shapley", None), ("soft_shapley", None), ("banzhaf", None)]
    cases += [("influence", FixedSize(60)), ("influence", 5)]
    for method, cv in cases:
        found = sample_values(KNN, X, Y, cv=cv, method=method)
        matrix, far = found.influence, found.far_influence
        assert matrix.shape == (150, 150)
        assert matrix.diagonal().max() == 0
        everything = far.T[Y if far.shape[1] == 3 else 0 * Y].copy()
        stored = matrix.tocoo()
        everything[stored.coords] = stored.data
        np.fill_diagonal(everything, 0)
        np.testing.assert_allclose(everything.mean(axis=1), found.values, rtol=0, atol=1e-14)
    regression = sample_values(KNeighborsRegressor(3), X[:, :3], X[:, 3], method="banzhaf", tol=0)
    sums = regression.influence.sum(axis=1) / 150
    np.testing.assert_allclose(sums, regression.values, rtol=0, atol=1e-13)


def test_an_influence_is_what_taking_the_sample_out_changes(values):
    """P(right) in the complete data is the mean of in and out."""
    found = evaluate(KNN, X, Y, cv=ShuffleSplit(test_size=0.2))
    r = int(values.worst(1)[0])
    i = int(values.influence[[r]].toarray().argmin())
    keep = np.arange(150) != r
    out = evaluate(KNN, X[keep], Y[keep], cv=FixedSize(120))
    difference = found.sample_scores[i] - out.sample_scores[i - (i > r)]
    assert values.influence[r, i] == pytest.approx(difference * 149 / 120, abs=1e-12)


def test_culprits_are_those_with_the_lowest_influence(values):
    question = int(evaluate(KNN, X, Y).hardest(1)[0])
    column = values.influence[:, [question]].toarray().ravel()
    culprits = values.culprits(question, 3)
    assert list(column[culprits]) == sorted(column)[:3]
    assert (column[culprits] < 0).all()
    assert (Y[culprits] != Y[question]).all()
    refused(lambda: values.culprits(150), "question", "149")


def test_rounding_makes_nobody_a_culprit():
    # All neighbours of either class are of it, whoever is left.
    X, y = np.r_[np.arange(40.0), 1e6 + np.arange(40.0)][:, None] ** 1.5, np.repeat([0, 1], 40)
    y[[3, 50]] = 1, 0
    found = sample_values(KNeighborsClassifier(3), X, y)
    for question in range(80):
        column = found.influence[:, [question]].toarray().ravel()
        culprits = found.culprits(question, 80)
        assert set(culprits) == set(np.flatnonzero(column < -found.error_bound))
        assert (y[culprits] != y[question]).all()


def test_a_question_of_its_own_is_asked_of_all_samples():
    questions = {"X_test": X[::10], "y_test": Y[::10]}
    rest = np.setdiff1d(np.arange(150), np.arange(0, 150, 10))
    found = sample_values(KNN, X[rest], Y[rest], method="shapley", **questions)
    right = KNN.fit(X[rest], Y[rest]).score(X[::10], Y[::10])
    assert found.values.sum() == pytest.approx(right, abs=1e-12)
    assert found.influence.shape == (135, 15)


def test_totals_of_groups(values):
    groups = np.where(np.arange(150) % 3 == 0, "left", "right")
    frame = values.totals(groups, "pandas").set_index("group")
    assert frame.loc["left", "value"] == pytest.approx(values.values[::3].sum())
    assert frame.loc["left", "samples"] == 50
    assert frame.loc["left", "mean"] == pytest.approx(values.values[::3].mean())
    refused(lambda: values.totals(groups[:4]), "groups")


def test_values_of_groups_have_names():
    groups = np.array([f"g{i % 10}" for i in range(150)])
    found = sample_values(KNN, X, Y, cv=LeavePGroupsOut(3), groups=groups)
    assert found.values.shape == (10,)
    assert list(found.frame("pandas").columns) == ["group", "value"]
    assert "10 groups" in repr(found)
    assert f"worst: {found.groups[found.worst(1)[0]]}" in repr(found)
    refused(lambda: found.influence, "whole groups")
    refused(lambda: found.removal_curve(X, Y), "whole groups")


def test_the_removal_curve_is_the_score_of_who_is_left():
    wine, kinds = load_wine(return_X_y=True)
    fresh = np.arange(178) % 3 == 0
    knn = KNeighborsClassifier(3)
    found = sample_values(knn, wine[~fresh], kinds[~fresh], method="shapley")
    curve = found.removal_curve(wine[fresh], kinds[fresh], shares=[0, 0.25, 0.5], first="best")
    assert list(curve.x) == [0, int(0.25 * (~fresh).sum()), int(0.5 * (~fresh).sum())]
    for count, score in zip(curve.x, curve.scores, strict=True):
        keep = np.setdiff1d(np.arange((~fresh).sum()), found.best(count))
        fitted = knn.fit(wine[~fresh][keep], kinds[~fresh][keep])
        assert score == pytest.approx(fitted.score(wine[fresh], kinds[fresh]), abs=1e-12)
    refused(lambda: found.removal_curve(wine, kinds, shares=[1.0]), "shares", "1.0")
    refused(lambda: found.removal_curve(wine, kinds, first="last"), "first", "last")


def test_the_repr_says_what_was_computed(values):
    text = repr(values)
    assert "influence on accuracy, n_neighbors=5: 150 samples from -" in text
    assert "every training set of 120 of 150 samples" in text
    assert "sets of all sizes alike" in repr(sample_values(KNN, X, Y, method="shapley"))


def test_the_picture_names_the_worst(values):
    pytest.importorskip("matplotlib").use("agg")
    ax = values.plot(n=2)
    assert [text.get_text() for text in ax.texts] == [str(row) for row in values.worst(2)]
    assert "150 samples" in ax.get_title()


def test_approximate_neighbours_are_flagged():
    order = order_neighbors(X)
    order = replace(order, search=replace(order.search, approximate=True))
    found = sample_values(KNN, order, Y)
    assert "APPROXIMATE" in repr(found)
    assert "±" not in repr(found)


def test_results_without_their_source_say_so(values):
    alone = replace(values, source=None)
    refused(lambda: alone.influence, "influence", "as it came")
    refused(lambda: alone.culprits(0), "culprits", "as it came")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "loo"}, ("method", "influence", "'loo'")),
        ({"method": "shapley", "cv": 5}, ("cv", "None", "shapley")),
        ({"cv": LeaveOneOut()}, ("cv", "another sample", "LeavePOut(2)")),
        ({"cv": ClassCounts({0: 50, 1: 20, 2: 20})}, ("cv", "always in training")),
        ({"cv": ClassCounts({0: 0, 1: 20, 2: 20})}, ("cv", "never in training")),
        ({"cv": Bootstrap()}, ("cv", "has no influences", "shapley")),
        ({"X_test": X}, ("y_test", "X_test")),
        ({"y_test": Y}, ("X_test", "y_test")),
        ({"X_test": X[:, :2], "y_test": Y}, ("X_test", "4 features")),
        ({"X_test": X, "y_test": Y[:3]}, ("y_test",)),
        ({"cv": LeaveOneGroupOut(), "groups": np.arange(150) % 5}, ("LeavePGroupsOut(2)",)),
        ({"exact": 1}, ("exact",)),
    ],
)
def test_wrong_input_is_answered_before_any_work(options, words, monkeypatch):
    monkeypatch.setattr("allsplits.exact.neighbors.iter_parts", None)
    refused(lambda: sample_values(KNN, X, Y, **options), *words)


def test_votes_without_values_are_refused():
    refused(
        lambda: sample_values(KNeighborsRegressor(3), X, Y, method="soft_shapley"), "soft_shapley"
    )
    weighted = KNeighborsClassifier(3, weights="distance")
    refused(lambda: sample_values(weighted, X, Y, method="soft_shapley"), "weights='uniform'")
    groups = {"cv": LeavePGroupsOut(2), "groups": np.arange(150) % 5}
    refused(lambda: sample_values(weighted, X, Y, **groups), "weights", "totals(groups)")
    refused(lambda: sample_values(KNN, X, np.zeros(150)), "y must have at least 2 classes")
    refused(lambda: sample_values(KNeighborsClassifier(150), X, Y, method="shapley"), "149")


def test_shapley_of_weighted_votes_says_how_many_fit(monkeypatch):
    monkeypatch.setattr("allsplits.exact.neighbors.iter_parts", None)
    weighted = KNeighborsClassifier(5, weights="distance")
    refused(lambda: sample_values(weighted, X, Y, method="shapley"), "up to 67", "n_neighbors=5")
    mean = KNeighborsRegressor(5, weights="distance")
    many = np.random.default_rng(0).normal(size=(6000, 2))
    refused(lambda: sample_values(mean, many, many[:, 0], method="shapley"), "up to 2,883")


def test_too_many_pairs_are_refused_with_what_would_fit(monkeypatch):
    monkeypatch.setattr(solve, "MOST_PAIRS", 10_000)
    refused(
        lambda: sample_values(KNN, X, Y, method="shapley"),
        "complete orders", "150 questions", "100 samples", "banzhaf",
    )  # fmt: skip
    sample_values(KNN, X, Y, method="banzhaf")
    sample_values(KNN, X, Y, method="shapley", X_test=X[:5], y_test=Y[:5])


def test_folds_that_leave_nobody_else_out_of_a_small_class():
    """The class of three samples is in three of the folds: the other two are always there."""
    y = np.where(np.arange(150) < 3, 9, Y)
    refused(lambda: sample_values(KNN, X, y, cv=StratifiedKFold(3)), "class", "ShuffleSplit")
    sample_values(KNN, X, y, cv=LeavePOut(2))


@pytest.mark.parametrize("first", ["worst", "best"])
def test_without_tests_the_samples_ask_those_that_are_left(first):
    wine, kinds = load_wine(return_X_y=True)
    wine = wine / wine.std(axis=0)
    found = sample_values(KNN, wine, kinds, method="banzhaf")
    curve = found.removal_curve(shares=[0, 0.3, 0.6], first=first)
    order = found.worst(178) if first == "worst" else found.best(178)
    for count, score in zip(curve.x, curve.scores, strict=True):
        right = 0
        for i in range(178):
            left = np.setdiff1d(np.arange(178), [*order[:count], i])
            right += KNN.fit(wine[left], kinds[left]).predict(wine[[i]])[0] == kinds[i]
        assert score == pytest.approx(right / 178, abs=1e-12)
    assert curve.scores[0] == pytest.approx(evaluate(KNN, wine, kinds, cv=LeaveOneOut()).score)
    tested = sample_values(KNN, wine, kinds, method="banzhaf", X_test=wine[:9], y_test=kinds[:9])
    refused(lambda: tested.removal_curve(), "X_test")
    refused(lambda: found.removal_curve(wine), "y_test")
    refused(lambda: found.removal_curve(shares=[0.999]), "shares")
    targets = sample_values(KNeighborsRegressor(3), wine, wine[:, 0], method="banzhaf")
    alone = targets.removal_curve(shares=[0]).scores[0]
    loo = evaluate(KNeighborsRegressor(3), wine, wine[:, 0], cv=LeaveOneOut()).score
    assert alone == pytest.approx(loo, rel=1e-12)


def test_influences_are_built_when_they_are_asked_for(monkeypatch):
    """Values need no matrix: nobody pays for one that is not wanted, and it is made once."""
    built = []
    real = Source.influence
    monkeypatch.setattr(Source, "influence", lambda self: built.append(1) or real(self))
    found = sample_values(KNN, X, Y)
    found.worst(3), found.frame(), repr(found)
    assert built == []
    assert found.influence is found.influence
    assert found.far_influence.shape[0] == 150
    assert built == [1]


def test_a_matrix_that_would_not_fit_is_refused(monkeypatch):
    monkeypatch.setattr("allsplits.values._source._MOST_INFLUENCES", 100)
    found = sample_values(KNN, X, Y)
    refused(lambda: found.influence, "influence", "150", "100", "X_test")


def test_duplicates_that_contradict_harm_each_other():
    """Two samples in each place, one of each class: every nearest neighbour is wrong."""
    places = np.repeat(np.arange(10.0) * 10, 2).reshape(-1, 1)
    labels = np.tile([0, 1], 10)
    one = KNeighborsClassifier(1)
    for method in ("influence", "banzhaf", "shapley", "soft_shapley"):
        found = sample_values(one, places, labels, method=method)
        influence = found.influence.toarray()
        for i in range(20):
            assert influence[i ^ 1, i] == influence[:, i].min() < 0
        assert np.isfinite(found.values).all()
    total = sample_values(one, places, labels, method="shapley").values.sum()
    assert total == pytest.approx(evaluate(one, places, labels, cv=LeaveOneOut()).score, abs=1e-12)


def test_weighted_votes_have_influences():
    some = np.arange(0, 150, 3)
    near, y = X[some], Y[some]
    found = sample_values(KNeighborsClassifier(3, weights="distance"), near, y, cv=FixedSize(40))
    assert found.values.sum() == pytest.approx(0, abs=50 * found.error_bound)
    assert found.error_bound < 1e-3
    assert found.influence.shape == (50, 50)
    curve = found.removal_curve(shares=[0, 0.1])
    weighted = KNeighborsClassifier(3, weights="distance")
    assert curve.scores[0] == pytest.approx(evaluate(weighted, near, y, cv=LeaveOneOut()).score)
    one = {"cv": FixedSize(40)}
    weighted = sample_values(KNeighborsClassifier(1, weights="distance"), near, y, **one)
    plain = sample_values(KNeighborsClassifier(1), near, y, **one)
    np.testing.assert_array_equal(weighted.values, plain.values)

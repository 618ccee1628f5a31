"""What the page says beside the score: baseline, precision, names of rows, honest intervals."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import LeaveOneOut, StratifiedKFold, cross_val_predict, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

import allsplits
from allsplits import Episodes, FixedSize, evaluate, report
from allsplits.model_selection._task import Task
from allsplits.reports import _summary
from allsplits.reports._rows import Rows
from allsplits.reports._strip import run_dots, strip
from unit.refused import refused


@pytest.fixture(scope="module")
def uneven():
    """Iris with 50, 30 and 20 of its classes, out of order."""
    X, y = load_iris(return_X_y=True)
    rows = np.random.default_rng(0).permutation(np.r_[0:50, 50:80, 100:120])
    return X[rows], y[rows]


def test_the_baseline_is_what_a_dummy_scores(uneven):
    X, y = uneven
    model = KNeighborsClassifier(5)
    baseline = report(evaluate(model, X, y, cv=LeaveOneOut())).summary["baseline"]
    dummy = cross_val_score(DummyClassifier(strategy="most_frequent"), X, y, cv=LeaveOneOut())
    assert baseline["value"] == pytest.approx(dummy.mean())
    assert "always 0, the most frequent class" in baseline["name"]
    balanced = report(evaluate(model, X, y, scoring="balanced_accuracy")).summary["baseline"]
    assert balanced["value"] == pytest.approx(1 / 3)
    assert balanced["name"] == "always the same class"
    few = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(2, 1))
    assert report(few).summary["baseline"]["value"] == pytest.approx(1 / 2)


def test_the_baseline_of_regression_is_the_mean():
    X, y = load_diabetes(return_X_y=True)
    baseline = report(evaluate(KNeighborsRegressor(5), X, y)).summary["baseline"]
    always = DummyRegressor().fit(X, y).predict(X)
    assert baseline["value"] == pytest.approx(-np.mean((y - always) ** 2))
    assert "mean" in baseline["name"]


def test_precision_is_that_of_many_splits(uneven):
    X, y = uneven
    summary = report(X, y, n_neighbors=5, cv=5, curves=()).summary
    total = np.zeros((3, 3))
    for seed in range(60):
        folds = StratifiedKFold(5, shuffle=True, random_state=seed)
        total += confusion_matrix(y, cross_val_predict(KNeighborsClassifier(5), X, y, cv=folds))
    sampled = np.diag(total) / total.sum(axis=0)
    found = [one["precision"] for one in summary["classes"]]
    np.testing.assert_allclose(found, sampled, atol=0.01)
    rates = [one["score"] for one in summary["classes"]]
    assert max(abs(np.subtract(found, rates))) > 0.01  # it is not the other rate


def test_a_class_that_is_never_given_has_no_precision():
    X = np.arange(20.0).reshape(-1, 1)
    y = np.zeros(20, dtype=int)
    y[[3, 15]] = 1
    summary = report(evaluate(KNeighborsClassifier(5), X, y, cv=FixedSize(15))).summary
    assert summary["classes"][1]["precision"] is None


@pytest.mark.parametrize("as_pictures", [False, True])
def test_samples_keep_their_names(uneven, as_pictures):
    X, y = uneven
    names = [f"cell-{i:03d}" for i in range(100)]
    frame = pd.DataFrame(X, index=names)
    shape = (2, 2) if as_pictures else None
    made = report(frame, y, n_neighbors=3, curves=(), image_shape=shape)
    shown = made.summary["hardest"] + made.summary["suspects"]["samples"]
    assert shown
    assert all(one["name"] == names[one["row"]] for one in shown)
    assert shown[0]["name"] in made.html()


def test_a_shuffled_index_names_rows_by_what_it_says(uneven):
    X, y = uneven
    index = np.random.default_rng(1).permutation(100)
    frame = pd.DataFrame(X, index=index)
    shown = report(frame, pd.Series(y, index=index), n_neighbors=3, curves=()).summary["hardest"]
    assert all(one["name"] == str(index[one["row"]]) for one in shown)


def test_names_of_an_evaluation_are_shown(uneven):
    X, y = uneven
    found = evaluate(KNeighborsClassifier(3), X, y)
    object.__setattr__(found, "row_names", np.array([f"<i>{i}" for i in range(100)], dtype=object))
    made = report(found)
    first = made.summary["hardest"][0]
    assert first["name"] == f"<i>{first['row']}"
    assert "<i>" not in made.html().partition("<h2>Samples")[2]


@pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, lambda X: pl.DataFrame(X)])
def test_rows_that_are_only_counted_have_no_names(make, uneven):
    X, y = uneven
    made = report(make(X), y, n_neighbors=3, curves=())
    assert made.summary["hardest"][0]["name"] is None
    assert ">name<" not in made.html()


def test_the_metric_is_named(uneven):
    X, y = uneven
    model = KNeighborsClassifier(3, metric="minkowski", p=3, weights="distance")
    made = report(X[:30], y[:30], estimator=model, curves=(), cv=LeaveOneOut())
    assert made.summary["model"] == {"metric": "minkowski, p = 3", "weights": "distance"}
    assert "minkowski, p = 3" in made.html()


def test_perfect_rows_have_an_interval():
    X = np.concatenate([np.arange(20.0), 1000 + np.arange(20.0)]).reshape(-1, 1)
    made = report(evaluate(KNeighborsClassifier(1), X, np.repeat([0, 1], 20)))
    low, high = made.summary["interval"]["in_words"]
    assert high == "100.00\u00a0%"
    # Wilson's, 40 draws and Student's quantile of 39 degrees of freedom.
    assert low == "90.72\u00a0%"
    assert f"{low} to {high}" in made.summary["answer"]


def test_equal_errors_of_a_regressor_have_no_interval():
    X = np.zeros((20, 1))
    made = report(evaluate(KNeighborsRegressor(1), X, np.zeros(20), cv=FixedSize(5)))
    assert made.summary["interval"]["in_words"] is None
    assert "all sample scores are equal" in made.summary["answer"]


def test_one_share_is_written_one_way(uneven):
    """99.996 % is not 100 in one table and 99.99 in the other."""
    X, y = uneven
    found = evaluate(KNeighborsClassifier(3), X, y)
    shares = np.zeros((100, 3))
    shares[np.arange(100), y] = 0.99996
    shares[np.arange(100), (y + 1) % 3] = 0.00004
    nearly = replace(found, given=shares, sample_scores=np.full(100, 0.99996))
    html = report(nearly).html()
    classes = html.partition("<h2>Classes</h2>")[2].partition("</section>")[0]
    assert "100.00" not in classes
    assert "0.00 " not in classes.replace("\u00a0", " ").replace(" %", " ")
    matrix, _, listed = classes.partition("<h3>Each class</h3>")
    assert matrix.count("&gt;99.99") == 3
    assert listed.count("&gt;99.99") >= 3


def test_the_strip_places_what_the_summary_says():
    X, y = load_diabetes(return_X_y=True)
    summary = report(X, y, estimator=KNeighborsRegressor(5), curves=()).summary
    drawn = strip(summary)
    errors = [-summary["score"]["value"], -summary["baseline"]["value"]]
    assert [row["at"] for row in drawn["rows"]] == [
        pytest.approx(100 * error / max(errors), abs=0.01) for error in errors
    ]
    low, high = -summary["interval"]["high"], -summary["interval"]["low"]
    assert drawn["band"] == pytest.approx([100 * low / max(errors), 100 * high / max(errors)], 1e-3)
    assert drawn["scale"][0] == "0"
    assert float(drawn["scale"][-1]) == pytest.approx(max(errors), rel=1e-5)


def test_no_curve_is_computed_for_nothing(uneven, monkeypatch):
    monkeypatch.setattr(Task, "over_neighbors", lambda *_: pytest.fail("computed"))
    made = report(*uneven, estimator=KNeighborsClassifier(4), curves=())
    assert made.evaluation.n_neighbors == 4
    assert "score against k" not in made.summary["timings"]


def test_rows_are_read_once(uneven, monkeypatch):
    calls = []
    original = Rows.read.__func__

    def counted(cls, *arguments):
        calls.append(arguments)
        return original(cls, *arguments)

    monkeypatch.setattr(Rows, "read", classmethod(counted))
    report(*uneven, n_neighbors=3, curves=())
    assert len(calls) == 1


def test_the_version_is_the_packages_own(uneven, monkeypatch):
    """Not what is installed, which may be another copy or none."""
    asked = []
    monkeypatch.setattr(_summary, "version", lambda name: asked.append(name) or "0")
    made = report(evaluate(KNeighborsClassifier(3), *uneven))
    assert made.summary["versions"]["allsplits"] == allsplits.__version__
    assert "numpy" in asked
    assert "allsplits" not in asked


def test_another_estimator_than_the_evaluations_is_refused(uneven):
    found = evaluate(KNeighborsClassifier(3), *uneven)
    other = KNeighborsClassifier(4)
    refused(lambda: report(found, estimator=other), "estimator", "n_neighbors=3", "n_neighbors=4")
    refused(lambda: report(found, estimator=KNeighborsRegressor(3)), "estimator", "Regressor")


def test_single_runs_are_dots_around_the_exact_average(uneven):
    evaluation = evaluate(KNeighborsClassifier(3), *uneven, cv=4)
    found = report(evaluation)
    runs = found.summary["spread"]["runs"]
    assert len(runs) == 200
    assert abs(np.mean(runs) - evaluation.score) < 4 * np.std(runs) / np.sqrt(200)
    dots = run_dots(found.summary)
    places = np.array([dot["left"] for dot in dots["dots"]])
    assert (places.min(), places.max(), dots["n_folds"]) == (0, 100, 4)
    share = (evaluation.score - min(runs)) / (max(runs) - min(runs))
    assert dots["mean"] == pytest.approx(100 * share, abs=0.01)
    page = found.html()
    assert page.count('class="dot"') == 200
    assert "a single shuffled 4-fold cross-validation would have landed" in page
    alone = report(evaluate(KNeighborsClassifier(3), *uneven, cv=LeaveOneOut()))
    assert run_dots(alone.summary) is None
    assert 'class="dot"' not in alone.html()

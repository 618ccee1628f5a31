"""A fixed test set: what it means, beside scikit-learn, and what is wrong with it."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import LeavePGroupsOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    cmc_curve,
    compare,
    evaluate,
    learning_curve,
    order_neighbors,
    report,
    sample_values,
    validation_curve,
)
from allsplits.exceptions import SampledWarning, UnknownClassWarning, UnsupportedError
from unit.refused import refused

X, Y = load_iris(return_X_y=True)
TESTED = np.arange(150) % 3 == 0
REFERENCES, LABELS = X[~TESTED], Y[~TESTED]
TEST = {"X_test": X[TESTED], "y_test": Y[TESTED]}
GROUPS = np.arange(100) % 6
KNN = KNeighborsClassifier(5)


def test_all_references_are_scikit_learns_fit_and_score():
    # Iris has ties in distance, which scikit-learn breaks as it likes: these data have none.
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 5)), rng.integers(0, 4, 300)
    test = {"X_test": rng.normal(size=(200, 5)), "y_test": rng.integers(0, 4, 200)}
    for k in (1, 4, 9):
        for weights in ("uniform", "distance"):
            knn = KNeighborsClassifier(k, weights=weights)
            found = evaluate(knn, X, y, **test)
            predicted = knn.fit(X, y).predict(test["X_test"])
            assert found.score == pytest.approx(np.mean(predicted == test["y_test"]), abs=1e-12)
            np.testing.assert_array_equal(found.prediction_proba.argmax(axis=1), predicted)
            balanced = evaluate(knn, X, y, scoring="balanced_accuracy", **test).score
            expected = balanced_accuracy_score(test["y_test"], predicted)
            assert balanced == pytest.approx(expected, abs=1e-12)
        targets, asked = X[:, 0] + y, test["X_test"][:, 0]
        knn = KNeighborsRegressor(k)
        error = np.mean((knn.fit(X, targets).predict(test["X_test"]) - asked) ** 2)
        found = evaluate(knn, X, targets, X_test=test["X_test"], y_test=asked)
        assert -found.score == pytest.approx(error, rel=1e-12)


def test_a_mean_of_many_drawn_reference_sets_comes_near():
    rng = np.random.default_rng(1)
    found = evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(8), **TEST)
    scores = []
    for _ in range(400):
        rows = np.concatenate(
            [rng.choice(np.flatnonzero(c == LABELS), 8, replace=False) for c in range(3)]
        )
        scores.append(KNN.fit(REFERENCES[rows], LABELS[rows]).score(*TEST.values()))
    error = np.std(scores) / 20
    assert abs(np.mean(scores) - found.score) < 5 * error
    spread = found.split_spread(n_runs=2000)
    assert spread.sampled
    assert spread.std == pytest.approx(np.std(scores), rel=0.15)


LAWS = [None, FixedSize(40), ClassCounts(5), Bernoulli(0.4), Bootstrap(), LeavePGroupsOut(2)]


def groups_of(cv):
    """Groups, for the law that keeps them together."""
    return GROUPS if isinstance(cv, LeavePGroupsOut) else None


@pytest.mark.parametrize("cv", LAWS, ids=repr)
def test_permuting_rows_changes_nothing(cv):
    rng = np.random.default_rng(0)
    rows, asked = rng.permutation(100), rng.permutation(50)
    found = evaluate(KNN, REFERENCES, LABELS, cv=cv, groups=groups_of(cv), **TEST)
    groups = None if groups_of(cv) is None else GROUPS[rows]
    moved = evaluate(
        KNN, REFERENCES[rows], LABELS[rows], cv=cv, groups=groups,
        X_test=TEST["X_test"][asked], y_test=TEST["y_test"][asked],
    )  # fmt: skip
    np.testing.assert_allclose(moved.sample_scores, found.sample_scores[asked], atol=1e-13)
    assert moved.score == pytest.approx(found.score, abs=1e-13)


@pytest.mark.parametrize("cv", LAWS, ids=repr)
def test_questions_do_not_know_each_other(cv):
    """Each test sample is answered as if it were alone, and threads do not matter."""
    found = evaluate(KNN, REFERENCES, LABELS, cv=cv, groups=groups_of(cv), n_jobs=1, **TEST)
    again = evaluate(KNN, REFERENCES, LABELS, cv=cv, groups=groups_of(cv), n_jobs=2, **TEST)
    np.testing.assert_array_equal(found.sample_scores, again.sample_scores)
    for i in (0, 20, 41):
        alone = {"X_test": TEST["X_test"][[i]], "y_test": TEST["y_test"][[i]]}
        one = evaluate(KNN, REFERENCES, LABELS, cv=cv, groups=groups_of(cv), **alone)
        assert one.score == pytest.approx(found.sample_scores[i], abs=1e-14)


def test_blocks_do_not_matter(monkeypatch):
    expected = evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(5), **TEST)
    curve = validation_curve(KNN, REFERENCES, LABELS, n_neighbors=range(1, 9), **TEST)
    monkeypatch.setattr("allsplits.orders.reference._ENTRIES_PER_PART", 1)
    found = evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(5), **TEST)
    np.testing.assert_array_equal(found.sample_scores, expected.sample_scores)
    assert found.score == expected.score
    again = validation_curve(KNN, REFERENCES, LABELS, n_neighbors=range(1, 9), **TEST)
    np.testing.assert_array_equal(again.scores, curve.scores)


def test_an_outside_question_is_a_held_out_sample_of_one_more():
    """Size 40 of 100 references, and of 100 references and the question itself."""
    for i in (0, 7, 33):
        asked = {"X_test": TEST["X_test"][[i]], "y_test": TEST["y_test"][[i]]}
        found = evaluate(KNN, REFERENCES, LABELS, cv=FixedSize(40), exact=True, **asked)
        together = np.vstack([REFERENCES, asked["X_test"]]), np.append(LABELS, asked["y_test"])
        among = evaluate(KNN, *together, cv=FixedSize(40), exact=True)
        assert found.fraction == among.sample_fractions[-1]


def test_distances_that_are_given():
    def distances(a, b):
        return np.sqrt(((a[:, None] - b[None]) ** 2).sum(axis=-1))

    knn = KNeighborsClassifier(5, metric="precomputed")
    square, to_references = distances(REFERENCES, REFERENCES), distances(X[TESTED], REFERENCES)
    found = evaluate(
        knn, square, LABELS, cv=FixedSize(40), X_test=to_references, y_test=Y[TESTED]
    )  # fmt: skip
    expected = evaluate(KNN, REFERENCES, LABELS, cv=FixedSize(40), **TEST)
    assert found.score == pytest.approx(expected.score, abs=1e-13)


def test_scales_of_a_metric_are_those_of_the_references():
    knn = KNeighborsClassifier(3, metric="seuclidean")
    found = evaluate(knn, REFERENCES, LABELS, **TEST)
    scale = REFERENCES.std(axis=0, ddof=1)
    scaled = {"X_test": TEST["X_test"] / scale, "y_test": TEST["y_test"]}
    expected = evaluate(KNeighborsClassifier(3), REFERENCES / scale, LABELS, **scaled)
    assert found.score == pytest.approx(expected.score, abs=1e-12)


def test_names_of_test_rows_survive():
    frame = pd.DataFrame(X[TESTED], columns=list("abcd"), index=[f"t{i}" for i in range(50)])
    references = pd.DataFrame(REFERENCES, columns=list("abcd"), index=range(1000, 1100))
    found = evaluate(KNN, references, LABELS, cv=ClassCounts(4), X_test=frame, y_test=Y[TESTED])
    assert list(found.row_names) == list(frame.index)
    assert list(found.frame("pandas").index) == list(frame.index)
    assert found.prediction_proba.shape == (50, 3)
    assert found.confusion.sum() == pytest.approx(1)
    assert "50 test samples" in repr(found)
    assert "training sets" in repr(found)
    restored = pickle.loads(pickle.dumps(found))
    assert restored.interval() == found.interval()


def test_intervals_are_of_the_test_samples():
    found = evaluate(KNN, REFERENCES, LABELS, cv=LeavePGroupsOut(2), groups=GROUPS, **TEST)
    interval = found.interval()
    assert (interval.n_units, interval.unit, interval.method) == (
        50,
        "test samples",
        "sample scores",
    )
    assert interval == found.interval(method="sample scores")
    with pytest.raises(UnsupportedError, match="references are given"):
        found.interval(method="jackknife")
    assert interval.standard_error == pytest.approx(found.sample_scores.std() / np.sqrt(50))
    curve = validation_curve(KNN, REFERENCES, LABELS, n_neighbors=[1, 5], **TEST)
    assert curve.interval().intervals[1].unit == "test samples"
    with pytest.raises(UnsupportedError, match="X_test"):
        evaluate(KNN, REFERENCES, LABELS, cv=FixedSize(20), **TEST).unbiased_variance()


def part_of(found, rows):
    """The evaluation of some of the test samples, which do not know each other."""
    scores = found.sample_scores[rows]
    weight = np.full(len(scores), 1 / len(scores))
    return replace(
        found, score=float(scores.mean()), sample_scores=scores, y=found.y[rows],
        sample_weight=weight,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("knn", "cv", "low", "high"),
    [
        (KNeighborsClassifier(3), None, 0.92, 0.985),
        (KNeighborsClassifier(3), ClassCounts(6), 0.92, 0.985),
        (KNeighborsRegressor(3), None, 0.90, 0.98),
        (KNeighborsRegressor(3), FixedSize(12), 0.90, 0.98),
    ],
)
def test_intervals_cover_what_other_test_samples_give(knn, cv, low, high):
    """Test samples drawn anew, the references being what they are."""
    rng = np.random.default_rng(5)

    def draw(n):
        y = rng.integers(0, 2, n)
        return rng.normal(size=(n, 2)) + 0.9 * y[:, None], y

    references, labels = draw(60)
    many, of_many = draw(20_000)
    truth = evaluate(knn, references, labels, cv=cv, X_test=many, y_test=of_many)
    parts = [part_of(truth, slice(start, start + 50)) for start in range(0, 20_000, 50)]
    some = evaluate(knn, references, labels, cv=cv, X_test=many[:50], y_test=of_many[:50])
    np.testing.assert_allclose([*some.interval()], [*parts[0].interval()], atol=1e-13)
    covered = np.mean([truth.score in part.interval() for part in parts])
    assert low <= covered <= high


def test_spread_of_one_training_set_is_nothing():
    found = evaluate(KNN, REFERENCES, LABELS, **TEST)
    assert found.n_splits == 1
    assert found.split_std == 0
    several = evaluate(KNN, REFERENCES, LABELS, cv=FixedSize(40), **TEST)
    with pytest.raises(UnsupportedError, match="outside"):
        several.split_spread(method="exact")
    with pytest.warns(SampledWarning, match="outside"):
        assert several.split_std > 0


@pytest.mark.parametrize("cv", [*LAWS[1:], Episodes(2, 1)], ids=repr)
def test_sampled_spread_has_the_exact_mean(cv):
    from allsplits.replays.sample import replay_scores
    from allsplits.replays.spread import _stored_order

    knn = KNeighborsClassifier(1 if isinstance(cv, Episodes) else 3)
    found = evaluate(knn, REFERENCES, LABELS, cv=cv, groups=groups_of(cv), **TEST)
    question = found.task.question()
    order = _stored_order(found.task.neighbors, question)
    scores = replay_scores(order, question, 400, 0)
    assert abs(scores.mean() - found.score) < 5 * scores.std() / 20


def test_compare():
    one, two, five = (
        evaluate(KNeighborsClassifier(k), REFERENCES, LABELS, cv=ClassCounts(8), **TEST)
        for k in (1, 2, 5)
    )
    found = compare(one, two)
    differences = one.sample_scores - two.sample_scores
    assert found.difference == one.score - two.score
    assert found.interval.method == "sample scores"
    assert found.interval.standard_error >= differences.std() / np.sqrt(50) - 1e-15
    assert len(compare(one, two, five).names) == 3
    other = {"X_test": TEST["X_test"][::-1], "y_test": TEST["y_test"][::-1]}
    moved = evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(8), **other)
    refused(lambda: compare(one, moved), "same samples")
    held_out = evaluate(KNN, X[TESTED], Y[TESTED], cv=ClassCounts(8))
    refused(lambda: compare(one, held_out), "fixed test set")
    fewer = evaluate(KNN, REFERENCES[5:], LABELS[5:], cv=ClassCounts(8), **TEST)
    refused(lambda: compare(one, fewer), "references")
    shuffled = evaluate(KNN, REFERENCES, LABELS[::-1].copy(), cv=ClassCounts(8), **TEST)
    refused(lambda: compare(one, shuffled), "references", "different labels")
    refused(
        lambda: compare(one, evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(9), **TEST)), "cv"
    )


def test_estimators_choose_by_the_test_set():
    model = KNeighborsClassifierCV(range(1, 30)).fit(REFERENCES, LABELS, **TEST)
    curve = validation_curve(KNN, REFERENCES, LABELS, n_neighbors=range(1, 30), **TEST)
    np.testing.assert_array_equal(model.curve_.scores, curve.scores)
    assert model.best_score_ == curve.best_score
    assert model.best_params_["n_neighbors"] == curve.best
    assert model.best_estimator_.n_samples_fit_ == 100
    several = KNeighborsClassifierCV([3], cv=ClassCounts(4)).fit(REFERENCES, LABELS, **TEST)
    knn = KNeighborsClassifier(3)
    expected = evaluate(knn, REFERENCES, LABELS, cv=ClassCounts(4), **TEST).score
    assert several.best_score_ == pytest.approx(expected, abs=1e-14)
    regressor = KNeighborsRegressorCV(range(1, 9), cv=FixedSize(30))
    regressor.fit(REFERENCES[:, :3], REFERENCES[:, 3], X_test=X[TESTED, :3], y_test=X[TESTED, 3])
    assert regressor.best_score_ < 0


def test_learning_curves_go_up_to_all_references():
    curve = learning_curve(KNeighborsClassifier(1), REFERENCES, LABELS, **TEST)
    assert list(curve.x) == list(range(1, 101))
    all_of_them = evaluate(KNeighborsClassifier(1), REFERENCES, LABELS, **TEST).score
    assert curve.scores[-1] == pytest.approx(all_of_them, abs=1e-12)
    shots = learning_curve(KNeighborsClassifier(1), REFERENCES, LABELS, stratify=True, **TEST)
    assert shots.x[-1] == np.bincount(LABELS).min()


def test_report_is_about_the_test_samples():
    page = report(REFERENCES, LABELS, n_neighbors=[3], cv=ClassCounts(8), **TEST)
    assert page.summary["data"]["n_samples"] == 50
    assert page.summary["data"]["n_references"] == 100
    assert "test samples" in page.summary["answer"]
    assert any("other references" in note for note in page.summary["notes"])
    assert "100 references" in page.html()
    found = evaluate(KNeighborsClassifier(3), REFERENCES, LABELS, cv=ClassCounts(8), **TEST)
    again = report(found, X=X[TESTED], estimator=KNeighborsClassifier(3))
    assert again.summary["score"] == page.summary["score"]
    # Nobody learns from a test set, so its labels are not judged.
    assert again.summary["suspects"] is page.summary["suspects"] is None


def test_values_and_scores_have_one_mechanism():
    values = sample_values(KNN, REFERENCES, LABELS, method="shapley", **TEST)
    nobody = 0.0
    everybody = evaluate(KNN, REFERENCES, LABELS, **TEST).score
    assert values.values.sum() == pytest.approx(everybody - nobody, abs=1e-10)
    with pytest.warns(UnknownClassWarning):
        sample_values(KNN, REFERENCES, LABELS, X_test=X[:4], y_test=[0, 7, 0, 0])


def test_unknown_classes_are_stated():
    asked = {"X_test": X[TESTED], "y_test": np.where(Y[TESTED] == 2, 9, Y[TESTED])}
    with pytest.warns(UnknownClassWarning, match=r"\[9\].*16 of 50|9.* of 50"):
        found = evaluate(KNN, REFERENCES, LABELS, cv=ClassCounts(8), **asked)
    assert list(found.unknown_classes) == [9]
    assert list(found.classes) == [0, 1, 2, 9]
    assert found.sample_scores[asked["y_test"] == 9].max() == 0
    assert found.prediction_proba[:, 3].max() == 0
    np.testing.assert_allclose(found.prediction_proba.sum(axis=1), 1)
    assert len(evaluate(KNN, REFERENCES, LABELS, **TEST).unknown_classes) == 0


FRAME = pd.DataFrame(REFERENCES, columns=list("abcd"))
BAD = {
    "no labels": ({"X_test": X}, ["y_test", "X_test"]),
    "no points": ({"y_test": Y}, ["X_test", "y_test"]),
    "fewer columns": ({"X_test": X[:, :2], "y_test": Y}, ["X_test", "4 features", "got 2"]),
    "empty": ({"X_test": X[:0], "y_test": Y[:0]}, ["X_test", "at least 1 sample"]),
    "lengths": ({"X_test": X, "y_test": Y[:9]}, ["y_test", "150 samples of X_test", "got 9"]),
    "text": ({"X_test": np.full(X.shape, "a"), "y_test": Y}, ["X_test"]),
    "nan": ({"X_test": X * np.nan, "y_test": Y}, ["X_test", "NaN"]),
    "text labels": ({"X_test": X, "y_test": Y.astype(str)}, ["y_test", "numbers", "text"]),
    "missing labels": ({"X_test": X, "y_test": [None, *Y[1:].tolist()]}, ["y_test", "missing"]),
    "backend": ({"backend": "faiss", **TEST}, ["backend", "X_test", "faiss"]),
    "few of a class": ({"cv": ClassCounts(40), **TEST}, ["counts", "33", "40"]),
    "too many": ({"cv": FixedSize(101), **TEST}, ["train_size", "100", "101"]),
    "k": ({"cv": FixedSize(4), **TEST}, ["n_neighbors", "4", "5"]),
}


@pytest.mark.parametrize(("options", "words"), BAD.values(), ids=BAD)
def test_wrong_test_sets_are_refused_before_any_work(options, words, monkeypatch):
    def work(*args, **kwargs):
        raise AssertionError("no search before the checks")

    monkeypatch.setattr("allsplits.orders.reference.Reference.of", work)
    refused(lambda: evaluate(KNN, REFERENCES, LABELS, **options), *words)


def test_columns_of_frames_must_be_the_same():
    def ask(test, references=FRAME):
        evaluate(KNN, references, LABELS, X_test=test, y_test=Y[TESTED])

    test = pd.DataFrame(X[TESTED], columns=list("abcd"))
    ask(test)
    ask(test.to_numpy())
    refused(lambda: ask(test[list("dcba")]), "X_test", "order")
    refused(lambda: ask(test.rename(columns={"d": "e"})), "X_test", "columns of X", "'e'")
    refused(
        lambda: KNeighborsClassifierCV([3]).fit(
            FRAME, LABELS, X_test=test[list("dcba")], y_test=Y[TESTED]
        ),
        "X_test",
        "order",
    )
    labels = pd.Series(Y[TESTED], index=test.index[::-1])
    refused(
        lambda: evaluate(KNN, FRAME, LABELS, X_test=test, y_test=labels),
        "y_test",
        "X_test",
        "order",
    )


def test_orders_that_were_searched_elsewhere_have_no_test_set():
    order = order_neighbors(REFERENCES)
    refused(lambda: evaluate(KNN, order, LABELS, **TEST), "X_test", "X must be")


def test_episodes_need_questions_of_all_classes():
    few = {"X_test": X[:5], "y_test": Y[:5]}
    refused(
        lambda: evaluate(KNeighborsClassifier(1), REFERENCES, LABELS, cv=Episodes(2, 1), **few),
        "y_test",
        "classes",
    )


def test_cameras_of_the_test_set():
    cameras = np.arange(100) % 4
    of_tests = np.arange(50) % 5
    curve = cmc_curve(
        REFERENCES, LABELS, groups=cameras, groups_test=of_tests, ranks=[1, 2], **TEST
    )
    assert 0.8 < curve.scores[0] <= curve.scores[1] <= 1
    refused(lambda: cmc_curve(REFERENCES, LABELS, groups=cameras, **TEST), "groups_test", "None")
    refused(lambda: cmc_curve(REFERENCES, LABELS, groups_test=of_tests, **TEST), "groups", "None")
    refused(lambda: cmc_curve(X, Y, groups_test=np.arange(150)), "groups_test", "X_test")
    refused(
        lambda: cmc_curve(REFERENCES, LABELS, groups=cameras, groups_test=of_tests[:3], **TEST),
        "groups_test",
        "50",
    )
    words = of_tests.astype(str)
    refused(
        lambda: cmc_curve(REFERENCES, LABELS, groups=cameras, groups_test=words, **TEST),
        "groups_test",
        "kind",
    )

"""ActiveLearner: ask, teach, undo, skip, tune, save and load."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ActiveLearner, CommitteeQuery, validation_curve
from allsplits.exceptions import AllSplitsError, InvalidInputError

RNG = np.random.default_rng(1)
X = RNG.standard_normal((120, 3))
TRUTH = (X[:, 0] + 0.4 * RNG.standard_normal(120) > 0).astype(int)
START = np.arange(20)


def start_labels(labels=TRUTH, rows=START):
    y = np.full(len(labels), np.nan)
    y[rows] = labels[rows]
    return y


def started(**parameters):
    settings = {"n_neighbors": range(1, 11), "tune_leave_out": 3, "random_state": 0, **parameters}
    return ActiveLearner(**settings).fit(X, start_labels())


def same(one, other):
    """Two learners know the same and will ask the same."""
    for name in ("n_neighbors_", "labelled_", "labels_", "pool_", "classes_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert str(one.rounds_) == str(other.rounds_)
    np.testing.assert_array_equal(one.ask(7), other.ask(7))


def test_asking_is_the_committees_choice():
    learner = started(leave_out=2)
    agreement = CommitteeQuery(learner.n_neighbors_, 2).agreement(X, start_labels())
    asked = learner.ask(6)
    found = agreement[np.searchsorted(learner.pool_, asked)]
    np.testing.assert_allclose(found, np.sort(agreement)[:6], atol=1e-12)


@pytest.mark.parametrize("start", ["cover", "random"])
@pytest.mark.parametrize("n_ignored", [0, 1, 12, 19, 20])
def test_what_is_ignored_might_as_well_not_be_labelled(start, n_ignored):
    """The same choice as without the labels, whatever they say; the rows may be named again."""
    ignored = START[::-1][:n_ignored]
    learner = started(n_neighbors=3, start=start)
    rest = np.setdiff1d(START, ignored)
    without = ActiveLearner(3, tune_leave_out=3, start=start, random_state=0).fit(
        X, start_labels(rows=rest)
    )
    other = TRUTH.copy()
    other[ignored] = 1 - other[ignored]
    misled = ActiveLearner(3, tune_leave_out=3, start=start, random_state=0).fit(
        X, start_labels(other)
    )
    expected = without.ask(8)
    np.testing.assert_array_equal(learner.ask(8, ignore=ignored), expected)
    np.testing.assert_array_equal(misled.ask(8, ignore=ignored.tolist()), expected)
    np.testing.assert_array_equal(learner.labelled_, START)


def test_ignoring_rows_that_have_no_label_changes_nothing():
    learner = started()
    np.testing.assert_array_equal(learner.ask(5, ignore=[50, 60]), learner.ask(5))
    for rows in ([120], [0.5]):
        with pytest.raises(AllSplitsError, match="ignore must be row numbers"):
            learner.ask(5, ignore=rows)


def test_asking_changes_nothing_and_answers_the_same():
    learner = started()
    first = learner.ask(5)
    np.testing.assert_array_equal(learner.ask(5), first)
    np.testing.assert_array_equal(learner.labelled_, START)
    learner.teach(first, TRUTH[first])
    assert not set(learner.ask(5)) & set(first)


def test_teaching_tunes_k_by_exact_leave_p_out():
    learner = started()
    for _ in range(4):
        asked = learner.ask(5)
        learner.teach(asked, TRUTH[asked])
        rows = learner.labelled_
        curve = validation_curve(
            KNeighborsClassifier(), X[rows], TRUTH[rows], n_neighbors=range(1, 11),
            cv=LeavePOut(3),
        )  # fmt: skip
        assert learner.n_neighbors_ == curve.best
        assert learner.rounds_[-1].score == curve.best_score
    assert len(rows) == 40
    knn = KNeighborsClassifier(learner.n_neighbors_).fit(X[rows], TRUTH[rows])
    np.testing.assert_array_equal(learner.predict(X), knn.predict(X))
    np.testing.assert_array_equal(learner.predict_proba(X), knn.predict_proba(X))


def test_one_k_is_not_tuned():
    learner = ActiveLearner(4).fit(X, start_labels())
    assert learner.n_neighbors_ == 4
    assert np.isnan(learner.rounds_[-1].score)


def test_history_as_a_frame():
    learner = started()
    learner.teach([30, 31, 32], [0, 1, None])
    learner.teach(33, 1)
    frame = learner.history("pandas")
    assert frame["round"].tolist() == [0, 1, 2]
    assert frame["n_taught"].tolist() == [20, 3, 1]
    assert frame["n_labelled"].tolist() == [20, 22, 23]
    assert frame["n_neighbors"].tolist() == [one.n_neighbors for one in learner.rounds_]
    assert isinstance(learner.history("polars"), pl.DataFrame)


def test_undo_takes_back_one_round_after_the_other():
    learner, untouched = started(), started()
    learner.teach([50, 60], TRUTH[[50, 60]])
    middle = started().teach([50, 60], TRUTH[[50, 60]])
    learner.teach([50, 70], 1 - TRUTH[[50, 70]], overwrite=True)
    same(learner.undo(), middle)
    same(learner.undo(), untouched)


def test_a_skipped_sample_is_not_asked_again():
    learner = started()
    first, second = learner.ask(2)
    learner.teach([first, second], [TRUTH[first], None])
    assert first in learner.labelled_
    assert second not in learner.labelled_
    assert second not in learner.pool_
    assert second not in learner.ask(98)
    learner.teach(second, 1, overwrite=True)
    assert second in learner.labelled_


def test_labels_can_be_corrected_when_meant():
    learner = started()
    learner.teach(50, 0)
    with pytest.raises(ValueError, match="overwrite=True"):
        learner.teach([51, 50], [1, 1])
    assert 51 in learner.pool_
    learner.teach(50, 1, overwrite=True)
    assert learner.labels_[learner.labelled_ == 50] == 1


def test_from_no_labels_to_all():
    """A cover until the committee can judge; the last batch may be smaller."""
    learner = ActiveLearner(3, leave_out=2, random_state=0).fit(X[:23])
    assert learner.ask(3).shape == (3,)
    while len(learner.pool_) >= 4:
        asked = learner.ask(4)
        learner.teach(asked, TRUTH[asked])
    with pytest.warns(UserWarning, match="pool has 3"):
        asked = learner.ask(4)
    learner.teach(asked, TRUTH[asked])
    with pytest.raises(ValueError, match="pool is empty"):
        learner.ask()
    np.testing.assert_array_equal(learner.labels_, TRUTH[:23])


def test_a_class_may_be_met_late():
    labels = np.array(["bird", "cat", "dog"])[np.arange(120) % 3]
    learner = ActiveLearner(range(1, 4), tune_leave_out=2, random_state=0).fit(X)
    learner.teach(range(0, 30, 3), labels[0:30:3])
    assert learner.classes_.tolist() == ["bird"]
    assert learner.n_neighbors_ == 1
    learner.teach(range(1, 30, 3), labels[1:30:3]).teach([2], "dog")
    assert learner.classes_.tolist() == ["bird", "cat", "dog"]
    assert set(learner.predict(X)) <= {"bird", "cat", "dog"}


LABELS = {
    "integers": np.array([3, 7]),
    "negative": np.array([-1, 1]),
    "floats": np.array([0.0, 1.0]),
    "text": np.array(["no", "yes, ümläut \n"]),
    "booleans": np.array([False, True]),
}


@pytest.mark.parametrize("classes", LABELS.values(), ids=LABELS)
def test_saved_and_loaded_is_the_same_learner(classes, tmp_path):
    labels = classes[TRUTH]
    y = [labels[i] if i < 20 else None for i in range(120)]
    learner = ActiveLearner(
        range(1, 8), tune_leave_out=2, leave_out=2, utility="entropy", diversity=3, start="random"
    ).fit(X, y)
    for _ in range(2):
        asked = learner.ask(3)
        learner.teach(asked, [*labels[asked[:2]], None])
    learner.save(tmp_path / "labels.json")
    again = ActiveLearner.load(tmp_path / "labels.json", X)
    same(learner, again)
    assert again.start == "random"
    assert again.labels_.dtype.kind == labels.dtype.kind
    assert list(tmp_path.iterdir()) == [tmp_path / "labels.json"]
    same(learner.undo(), again.undo())


def test_the_file_is_plain_json(tmp_path):
    started(metric="minkowski", metric_params={"p": 3, "w": np.ones(3)}).save(tmp_path / "a")
    document = json.loads((tmp_path / "a").read_text())
    assert document["format"] == "allsplits.ActiveLearner"
    assert document["rounds"][0]["indices"] == START.tolist()
    assert document["params"]["metric_params"] == {"p": 3, "w": [1, 1, 1]}
    same(ActiveLearner.load(tmp_path / "a", X), ActiveLearner.load(tmp_path / "a", X.tolist()))


def test_autosave_keeps_the_file_up_to_date(tmp_path):
    path = tmp_path / "labels.json"
    learner = started(autosave=path)
    same(ActiveLearner.load(path, X), learner)
    learner.teach([40, 41], [0, 1])
    same(ActiveLearner.load(path, X), learner)
    learner.undo()
    loaded = ActiveLearner.load(path, X)
    same(loaded, learner)
    loaded.teach(42, 1)
    same(ActiveLearner.load(path, X), loaded)


def test_autosave_never_overwrites_an_earlier_effort(tmp_path):
    path = tmp_path / "labels.json"
    started(autosave=path).teach([40], [1])
    before = path.read_bytes()
    with pytest.raises(ValueError, match=r"ActiveLearner\.load"):
        started(autosave=path)
    assert path.read_bytes() == before


def test_a_failing_disk_changes_nothing(tmp_path, monkeypatch):
    path = tmp_path / "labels.json"
    learner = started(autosave=path)
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        learner.teach([40], [1])
    assert 40 in learner.pool_
    assert path.read_bytes() == before


def test_a_refused_teach_changes_nothing(tmp_path):
    path = tmp_path / "labels.json"
    learner = started(autosave=path)
    before = path.read_bytes()
    for indices, labels in [([40, 41], [1, "a"]), ([40], ["a"]), ([40], [0.5]), ([40, 40], [1, 1])]:
        with pytest.raises(ValueError):  # noqa: PT011 - the messages are tested with bad input
            learner.teach(indices, labels)
    assert path.read_bytes() == before
    same(learner, ActiveLearner.load(path, X))


def test_distances_in_place_of_points(tmp_path):
    D = pairwise_distances(X)
    settings = {"n_neighbors": range(1, 6), "tune_leave_out": 3, "random_state": 0}
    by_points = ActiveLearner(**settings).fit(X, start_labels())
    by_distances = ActiveLearner(**settings, metric="precomputed").fit(D, start_labels())
    for _ in range(3):
        asked = by_points.ask(4)
        np.testing.assert_array_equal(by_distances.ask(4), asked)
        by_points.teach(asked, TRUTH[asked])
        by_distances.teach(asked, TRUTH[asked])
    np.testing.assert_array_equal(by_points.predict(X), by_distances.predict(D))


@pytest.mark.parametrize("metric", ["seuclidean", "cosine", "manhattan"])
def test_other_metrics(metric):
    learner = started(metric=metric)
    asked = learner.ask(4)
    learner.teach(asked, TRUTH[asked])
    assert np.mean(learner.predict(X) == TRUTH) > 0.7


def test_frames_and_parameters():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    learner = ActiveLearner(3, random_state=0)
    fitted = clone(learner).fit(frame, pd.Series(start_labels()))
    assert fitted.feature_names_in_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(fitted.predict(frame), learner.fit(X, start_labels()).predict(X))


def test_nothing_works_before_fit():
    for call in (lambda m: m.ask(), lambda m: m.teach(0, 1), lambda m: m.undo(), lambda m: m.pool_):
        with pytest.raises(NotFittedError):
            call(ActiveLearner())


def test_seeds_decide_between_equals():
    asked = {tuple(started(random_state=seed).ask(3)) for seed in range(12)}
    assert len(asked) > 1
    rounds = np.random.RandomState(5)
    assert started(random_state=rounds).seed_ != started(random_state=rounds).seed_


def test_asking_at_random_before_there_is_a_committee():
    """With no labels, too few, or one class: at random, all the pool in the end, spread if wanted.

    Two far places with 3 and 97 samples: a batch that is spread has both of them.
    """
    places = np.repeat([[0.0], [100.0]], [3, 97], axis=0)
    for y in (None, [0] * 3 + [None] * 97, [0] * 6 + [None] * 94):
        plain = [
            ActiveLearner(5, start="random", random_state=seed).fit(places, y).ask(2).tolist()
            for seed in range(30)
        ]
        assert len({tuple(one) for one in plain}) > 20
    spread = [
        ActiveLearner(5, start="random", diversity=50, random_state=seed).fit(places).ask(2)
        for seed in range(10)
    ]
    assert all(len(set(places[one].ravel())) == 2 for one in spread)


def test_row_names_of_a_pandas_frame_are_kept(tmp_path):
    barcodes = [f"cell-{i:03}" for i in RNG.permutation(120)]
    frame = pd.DataFrame(X, index=barcodes)
    learner = ActiveLearner(3, random_state=0).fit(frame, pd.Series(start_labels(), barcodes))
    asked = learner.ask(3)
    learner.teach(asked, [1, None, 0])
    learner.save(tmp_path / "labels.json")
    for one in (learner, ActiveLearner.load(tmp_path / "labels.json", frame)):
        table = one.frame("pandas")
        assert list(table.columns) == ["row", "name", "status", "label", "round"]
        assert table["name"].tolist() == barcodes
        assert table.loc[asked, "name"].tolist() == frame.index[asked].tolist()
        assert table.loc[asked, "status"].tolist() == ["labelled", "skipped", "labelled"]
        assert table.loc[asked, "round"].tolist() == [1, 1, 1]
        assert (table["status"] == "labelled").sum() == 22
        assert table["row"].tolist() == list(range(120))
        assert one.frame("polars")["name"].to_list() == barcodes
    labelled = table[table["status"] == "labelled"]
    np.testing.assert_array_equal(labelled["label"].astype(int), learner.labels_)


@pytest.mark.parametrize("data", [X, pd.DataFrame(X), pl.DataFrame(X)], ids=["numpy", "pd", "pl"])
def test_rows_without_names_have_numbers(data):
    table = ActiveLearner(3).fit(data, start_labels()).frame("pandas")
    assert list(table.columns) == ["row", "status", "label", "round"]
    assert table["status"].tolist() == ["labelled"] * 20 + ["pool"] * 100


def test_a_label_that_cannot_be_saved_changes_nothing(tmp_path):
    path = tmp_path / "labels.json"
    learner = ActiveLearner(1, autosave=path).fit(X[:5])
    with pytest.raises(ValueError, match="label"):
        learner.teach([0, 1], [10**5000, 1])
    assert len(learner.pool_) == 5


def test_what_is_forgotten_is_asked_again():
    X, truth = load_iris(return_X_y=True)
    learner = ActiveLearner(range(1, 4), tune_leave_out=2, random_state=0).fit(X)
    before = learner.teach([0, 60, 120, 5], truth[[0, 60, 120, 5]]).rounds_[-1]
    learner.teach(30, None).teach([70, 71], truth[[70, 71]])
    learner.forget([30, 70, 71])
    assert learner.labelled_.tolist() == [0, 5, 60, 120]
    assert {30, 70, 71} <= set(learner.pool_.tolist())
    assert learner.rounds_[-1] == before  # rounds that taught nothing else are gone
    learner.forget(60)
    assert learner.rounds_[-1].indices == (0, 120, 5)
    start = ActiveLearner(range(1, 4), random_state=0).fit(X, np.where(truth < 2, truth, np.nan))
    start.forget(np.arange(100))
    assert len(start.labelled_) == 0
    assert len(start.rounds_) == 1
    for wrong in ([7], [], [0, 7]):
        with pytest.raises(InvalidInputError, match="indices must be samples that were taught"):
            learner.forget(wrong)


def test_forgetting_is_saved(tmp_path):
    X, truth = load_iris(return_X_y=True)
    path = tmp_path / "labels.json"
    learner = ActiveLearner(range(1, 4), autosave=path, random_state=0).fit(X)
    learner.teach([0, 60], truth[[0, 60]]).forget(0)
    learner.close()
    assert ActiveLearner.load(path, X).labelled_.tolist() == [60]

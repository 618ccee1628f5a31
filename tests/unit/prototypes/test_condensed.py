"""Condensers as estimators: what they keep, what they refuse, what they give back."""

import _thread

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from allsplits import CondensedReduced, FastCondensed
from allsplits.prototypes import _condensing
from unit.refused import refused

X, Y = load_iris(return_X_y=True)
CONDENSERS = [
    CondensedReduced(),
    CondensedReduced(reduce=None),
    CondensedReduced(shuffle=True, random_state=3),
    FastCondensed(),
    FastCondensed(reduce="consistent"),
]


@pytest.mark.parametrize("condenser", CONDENSERS, ids=str)
def test_no_training_sample_is_wrong(condenser):
    model = clone(condenser).fit(X, Y)
    assert model.score(X, Y) == 1
    assert 0 < len(model.sample_indices_) < len(X) / 3
    assert np.array_equal(model.prototypes_, X[model.sample_indices_])
    assert np.array_equal(model.prototype_labels_, Y[model.sample_indices_])
    assert np.all(np.diff(model.sample_indices_) > 0)


@pytest.mark.parametrize("condenser", CONDENSERS, ids=str)
def test_the_nearest_prototype_has_all_the_votes(condenser):
    names = np.array(["setosa", "versicolor", "virginica"])
    model = clone(condenser).fit(X, names[Y])
    queries = X[::3] + 0.07
    shares = model.predict_proba(queries)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(queries))
    np.testing.assert_array_equal(np.sort(shares, axis=1), np.tile([0.0, 0.0, 1.0], (50, 1)))


def test_the_printed_reduction_keeps_fewer_and_may_be_wrong():
    paper = CondensedReduced(reduce="paper").fit(X, Y)
    consistent = CondensedReduced(reduce="consistent").fit(X, Y)
    assert len(paper.sample_indices_) < len(consistent.sample_indices_)
    assert paper.score(X, Y) < 1


@pytest.mark.parametrize("condenser", CONDENSERS, ids=str)
def test_contradictory_copies_are_told_and_only_they_are_wrong(condenser):
    data = np.vstack([X, X[10], X[10], X[70], X[70]])
    labels = np.concatenate([Y, [2, 2, 0, 1]])
    with pytest.warns(UserWarning, match="2 samples are copies of samples with another class"):
        model = clone(condenser).fit(data, labels)
    # Row 10 is outvoted by its two copies, row 152 by row 70 and its other copy.
    wrong = np.flatnonzero(model.predict(data) != labels)
    assert wrong.tolist() == [10, 152]
    assert model.n_contradictions_ == 2
    assert not set(wrong) & set(model.sample_indices_)


def test_equally_frequent_contradictions_go_to_the_lower_row():
    with pytest.warns(UserWarning, match="1 sample is a copy"):
        model = CondensedReduced().fit([[0.0], [0.0], [5.0]], ["b", "a", "a"])
    assert model.predict([[0.0], [5.0]]).tolist() == ["b", "a"]


def test_samples_whose_squares_underflow_are_told_apart():
    for condenser in (CondensedReduced(), CondensedReduced(reduce=None), FastCondensed()):
        model = condenser.fit([[0.0], [1e-170], [1.0]], [0, 1, 1])
        assert model.predict([[0.0], [1e-170], [1.0]]).tolist() == [0, 1, 1]
        assert model.n_contradictions_ == 0


def test_samples_too_near_for_squares_of_any_scale_count_as_copies():
    for condenser in (CondensedReduced(), CondensedReduced(reduce=None), FastCondensed()):
        with pytest.warns(UserWarning, match="1 sample is a copy"):
            model = condenser.fit([[0.0], [5e-324], [1e150]], [0, 1, 1])
        assert model.n_contradictions_ == 1
        # These are told apart, if not by squares.
        near = [[0.0], [1e-320], [1.0]]
        model = condenser.fit(near, [0, 1, 1])
        assert (model.n_contradictions_, model.predict(near).tolist()) == (0, [0, 1, 1])


@pytest.mark.parametrize("condenser", [CondensedReduced(reduce=None), FastCondensed(reduce=None)])
def test_equally_near_prototypes_share_whatever_rows_and_rounding_say(condenser):
    """0.3 - 0.2 is a little less than 0.2 - 0.1 in floating point."""
    for near in ([[0.1], [0.3]], [[0.3], [0.1]], [[0.0], [0.4]]):
        for labels in (["b", "a"], ["a", "b"]):
            model = condenser.fit(near, labels)
            assert model.predict_proba([[0.2]]).tolist() == [[0.5, 0.5]]
            assert model.predict([[0.2]]).tolist() == ["a"]


def test_most_of_the_equally_near_prototypes_win():
    corners = [[0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]]
    model = CondensedReduced(reduce=None).fit(corners, ["a", "b", "b"])
    assert model.predict_proba([[0.0, 0.0]]).round(12).tolist() == [
        [0.333333333333, 0.666666666667]
    ]
    assert model.predict([[0.0, 0.0]]).tolist() == ["b"]


def test_nobody_is_right_by_the_order_of_rows():
    """A sample half-way between two prototypes is kept, whichever row comes first."""
    for labels in (["a", "b", "a"], ["b", "a", "a"]):
        model = CondensedReduced(reduce=None).fit([[0.0], [2.0], [1.0]], labels)
        assert model.sample_indices_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("seed", range(30))
def test_chains_of_near_ties_leave_nobody_wrong(seed):
    """Each distance equals the next one, and the first does not equal the last."""
    rng = np.random.default_rng(seed)
    steps = rng.choice([0.3e-12, 0.7e-12, 0.95e-12], 12).cumsum()
    around = (1 + rng.permutation(steps)) * rng.choice([-1, 1], 12)
    data = np.concatenate([[0.0], around, 1e-3 * np.arange(1, 4)])[:, None]
    order = rng.permutation(len(data))
    labels = rng.integers(0, 2, len(data))
    for condenser in (CondensedReduced(), CondensedReduced(reduce=None), FastCondensed()):
        model = condenser.fit(data[order], labels)
        assert model.score(data[order], labels) == 1


def test_huge_queries_are_refused():
    refused(lambda: CondensedReduced().fit(X, Y).predict([[1e200] * 4]), "1e+150", "1e+200")


def test_copies_of_one_class_are_kept_once():
    model = CondensedReduced(reduce=None).fit(
        np.repeat([[0.0], [1.0]], 4, axis=0), [0] * 4 + [1] * 4
    )
    assert model.sample_indices_.tolist() == [0, 4]
    assert model.n_contradictions_ == 0


def test_one_class_needs_one_prototype():
    for condenser in (CondensedReduced(), CondensedReduced(reduce="paper"), FastCondensed()):
        assert len(condenser.fit(X, np.zeros(len(X))).sample_indices_) == 1


def test_frames_in_frames_out():
    names = ["a", "b", "c", "d"]
    for frame, column in (
        (pd.DataFrame(X, columns=names), pd.Series(Y)),
        (pl.DataFrame(X, schema=names), pl.Series(Y)),
    ):
        model = CondensedReduced()
        X_small, y_small = model.fit_resample(frame, column)
        assert isinstance(X_small, type(frame))
        assert isinstance(y_small, type(column))
        assert list(X_small.columns) == names
        assert np.array_equal(np.asarray(X_small), X[model.sample_indices_])
        assert np.array_equal(np.asarray(y_small), Y[model.sample_indices_])
        assert model.feature_names_in_.tolist() == names


def test_lists_in_and_text_labels():
    labels = np.array(["setosa", "versicolor", "virginica"])[Y]
    X_small, y_small = CondensedReduced().fit_resample(X.tolist(), labels.tolist())
    assert len(X_small) == len(y_small)
    assert set(y_small) == set(labels)


def test_threads_do_not_change_predictions():
    queries = np.random.default_rng(0).uniform(0, 8, size=(3000, 4))
    one, two = (CondensedReduced(n_jobs=jobs).fit(X, Y).predict(queries) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_shuffling_is_repeatable():
    first, again, other = (
        CondensedReduced(shuffle=True, random_state=seed).fit(X, Y).sample_indices_.tolist()
        for seed in (0, 0, 1)
    )
    assert first == again != other


@pytest.mark.parametrize("condenser", [CondensedReduced, FastCondensed])
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"reduce": "gates"}, ["reduce", "consistent", "paper", "gates"]),
        ({"reduce": True}, ["reduce", "True"]),
        ({"n_jobs": 0}, ["n_jobs", "0"]),
    ],
)
def test_bad_parameters_are_named(condenser, parameters, words):
    refused(lambda: condenser(**parameters).fit(X, Y), *words)


def test_shuffle_must_be_a_truth_value():
    refused(lambda: CondensedReduced(shuffle="yes").fit(X, Y), "shuffle", "yes")


@pytest.mark.parametrize(
    ("data", "labels", "words"),
    [
        (np.where(np.arange(600).reshape(150, 4) == 5, np.nan, X), Y, "NaN"),
        (np.where(np.arange(600).reshape(150, 4) == 5, np.inf, X), Y, "infinity"),
        (X[:, 0], Y, "1D array"),
        (X[:0], Y[:0], "0 sample"),
        (X, Y[:-1], "inconsistent"),
        (X, X[:, 0] + np.pi * X[:, 1], "continuous"),
        (np.full((3, 2), "red"), [0, 1, 0], "red"),
        (X * 1e200, Y, "1e+150"),
    ],
)
def test_bad_data_are_refused(data, labels, words):
    for condenser in (CondensedReduced(), FastCondensed()):
        with pytest.raises(ValueError, match=words.replace("+", r"\+")):
            condenser.fit(data, labels)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CondensedReduced(progress=True), ["condensing, pass 1", "reducing, pass 1"]),
        (FastCondensed(progress=True, reduce="paper"), ["classified right", "reducing, pass 1"]),
    ],
)
def test_progress_is_shown_only_when_asked(model, words, capsys, monkeypatch):
    silent = clone(model).set_params(progress=False).fit(X, Y)
    assert capsys.readouterr().out == ""
    # Short calls, so that the bar moves: they change nothing else.
    monkeypatch.setattr(_condensing, "_WORK_PER_CALL", 10 * X.size)
    shown = model.fit(X, Y)
    out = capsys.readouterr().out
    assert all(word in out for word in words)
    assert "150/150" in out
    np.testing.assert_array_equal(shown.sample_indices_, silent.sample_indices_)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_ctrl_c_is_heard_between_calls(monkeypatch):
    real, calls = _condensing.condense_in_order, []

    def pressed(*arguments):
        calls.append(1)
        if len(calls) == 3:
            _thread.interrupt_main()
        return real(*arguments)

    monkeypatch.setattr(_condensing, "condense_in_order", pressed)
    monkeypatch.setattr(_condensing, "_WORK_PER_CALL", 10 * X.size)
    model = CondensedReduced()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert len(calls) == 3
    assert not hasattr(model, "sample_indices_")

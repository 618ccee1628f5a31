"""Wrong input to active learning: an error that names the parameter, what is allowed, what came."""

import numpy as np
import pandas as pd
import pytest

from allsplits import ActiveLearner, CommitteeQuery, simulate
from unit.refused import refused

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 2))
Y = np.where(np.arange(30) < 10, np.arange(30) % 2, np.nan)
FULL = np.arange(30) % 2


def ask(X=X, y=Y, candidates=None, **parameters):
    batch_size = parameters.pop("batch_size", 1)
    strategy = CommitteeQuery(**{"n_neighbors": 3, **parameters})
    return lambda: strategy.query(X, y, candidates, batch_size)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (ask(n_neighbors=0), ["n_neighbors", "at least 1", "0"]),
        (ask(n_neighbors=2.5), ["n_neighbors", "integer", "2.5"]),
        (ask(n_neighbors="3"), ["n_neighbors", "integer"]),
        (ask(leave_out=0), ["leave_out", "at least 1", "0"]),
        (ask(leave_out=True), ["leave_out", "integer"]),
        (ask(n_neighbors=8, leave_out=3), ["n_neighbors + leave_out = 11", "got 10"]),
        (ask(utility="doubt"), ["utility", "agreement", "doubt"]),
        (ask(diversity=0), ["diversity", "at least 1"]),
        (ask(distance_ties="no"), ["distance_ties", "average"]),
        (ask(label_ties="no"), ["label_ties", "share"]),
        (ask(metric="nearby"), ["metric", "nearby"]),
        (ask(n_jobs=0), ["n_jobs"]),
        (ask(batch_size=0), ["batch_size", "at least 1"]),
        (ask(batch_size="adaptive"), ["batch_size", "integer", "adaptive"]),
        (ask(X=None), ["X", "None"]),
        (ask(X=X[:, 0]), ["X", "shape"]),
        (ask(X=np.where(X > 2, np.nan, X) * np.array([1, np.nan])), ["X", "NaN"]),
        (ask(X=np.full((30, 2), np.inf)), ["X", "infinity"]),
        (ask(X=[["a", "b"]] * 30), ["X", "numeric"]),
        (ask(X=pd.DataFrame({"a": ["x"] * 30})), ["X", "numeric", "a"]),
        (ask(X=np.empty((0, 2)), y=[]), ["X", "at least 2"]),
        (ask(X=X, metric="precomputed"), ["X", "square"]),
        (ask(y=None), ["y", "None"]),
        (ask(y=Y[:20]), ["y", "30", "20"]),
        (ask(y=np.full(30, np.nan)), ["y", "at least", "got 0"]),
        (ask(y=np.full(30, np.inf)), ["y", "infinity"]),
        (ask(y=np.linspace(0, 1, 30)), ["y", "class labels"]),
        (ask(y=[1, "a"] * 15), ["y", "one kind", "int", "text"]),
        (ask(y=[[0, 1]] * 30), ["y"]),
        (ask(y=[{}] * 30), ["y", "one kind", "dict"]),
        (ask(y=FULL), ["candidates", "every sample in y has a label"]),
        (ask(candidates=[]), ["candidates", "at least one"]),
        (ask(candidates=[0.5, 1.5]), ["candidates", "integers"]),
        (ask(candidates=["a"]), ["candidates", "integers"]),
        (ask(candidates=[True, False]), ["candidates", "integers"]),
        (ask(candidates=[3, 30]), ["candidates", "0 to 29", "30"]),
        (ask(candidates=[-1]), ["candidates", "0 to 29", "-1"]),
        (ask(candidates=[5, 5]), ["candidates", "once"]),
        (ask(candidates=X[:, :1]), ["candidates", "2 features", "1"]),
        (ask(candidates=np.full((3, 2), np.nan)), ["candidates", "NaN"]),
        (ask(candidates=np.empty((0, 2))), ["candidates", "at least 1"]),
        (ask(candidates=np.zeros((2, 2, 2))), ["candidates"]),
        (ask(X=np.zeros((30, 30)), metric="precomputed", candidates=X), ["candidates", "rows"]),
        (ask(metric=lambda a, b: -1.0), ["metric", "not negative"]),
    ],
)  # fmt: skip
def test_query(call, words):
    refused(call, *words)


def fit(X=X, y=Y, **parameters):
    return lambda: ActiveLearner(**{"n_neighbors": 3, **parameters}).fit(X, y)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (fit(n_neighbors=[]), ["n_neighbors", "at least one"]),
        (fit(n_neighbors=[1, 1]), ["n_neighbors", "once"]),
        (fit(n_neighbors=(0, 1)), ["n_neighbors", "at least 1"]),
        (fit(n_neighbors="3"), ["n_neighbors"]),
        (fit(leave_out=0), ["leave_out", "at least 1"]),
        (fit(tune_leave_out=0), ["tune_leave_out", "at least 1"]),
        (fit(tune_leave_out=None), ["tune_leave_out", "integer"]),
        (fit(utility=None), ["utility"]),
        (fit(diversity=-1), ["diversity"]),
        (fit(metric="nearby"), ["metric"]),
        (fit(distance_ties="no"), ["distance_ties"]),
        (fit(y=Y[:5]), ["y", "30", "5"]),
        (fit(y=[1, "a"] * 15), ["y", "one kind"]),
        (fit(autosave="/no/such/folder/labels.json"), ["autosave", "folder"]),
        (fit(autosave="here", metric=lambda a, b: 1.0), ["metric", "saved", "function"]),
        (fit(autosave="here", metric_params={"V": object()}), ["metric_params", "saved"]),
    ],
)
def test_fit(call, words):
    refused(call, *words)


def test_points_of_a_learner():
    """X is checked by scikit-learn's own function, with its own messages."""
    for bad in (None, X[:, 0], np.full((30, 2), np.nan), [["a", "b"]] * 30, X[:1]):
        with pytest.raises((ValueError, TypeError)):
            ActiveLearner(3).fit(bad, Y)


@pytest.mark.parametrize(
    ("indices", "labels", "words"),
    [
        ([30], [1], ["indices", "0 to 29", "30"]),
        ([-1], [1], ["indices", "0 to 29"]),
        ([11, 11], [1, 0], ["indices", "once"]),
        ([1.5], [1], ["indices", "integers"]),
        ("a", [1], ["indices", "integers"]),
        ([True], [1], ["indices", "integers"]),
        ([3], [1], ["indices", "[3]", "overwrite"]),
        ([11, 12], [1], ["labels", "2", "1"]),
        ([11], [1, 0], ["labels", "1", "2"]),
        ([11], ["a"], ["one kind"]),
        ([11], [[1, 2]], ["y"]),
        ([11], [np.inf], ["infinity"]),
        ([], [], ["indices", "at least one"]),
    ],
)
def test_teach(indices, labels, words):
    learner = fit()()
    refused(lambda: learner.teach(indices, labels), *words)
    assert len(learner.rounds_) == 1


def test_ask_undo_predict():
    learner = fit()()
    refused(lambda: learner.ask(0), "n", "at least 1")
    refused(lambda: learner.ask(1.0), "n", "integer")
    refused(learner.undo, "nothing to undo")
    empty = ActiveLearner(3).fit(X)
    refused(lambda: empty.predict(X), "n_neighbors = 3", "got 0")


def test_load(tmp_path):
    path = tmp_path / "labels.json"
    load = ActiveLearner.load
    refused(lambda: load(path, X), "path", "not there")
    refused(lambda: load(tmp_path, X), "path", "cannot read")
    for text in (
        "",
        "{",
        "[]",
        "3",
        '{"format": "other"}',
        '{"format": "allsplits.ActiveLearner"}',
    ):
        path.write_text(text)
        refused(lambda: load(path, X), "path")
    path.write_bytes(b"\xff\xfe\x00")
    refused(lambda: load(path, X), "path", "cannot read")
    fit()().save(path)
    whole = path.read_text()
    refused(lambda: load(path, X[::-1]), "X", "same order", "other values")
    refused(lambda: load(path, X[:20]), "X", "[30, 2]", "[20, 2]")
    path.write_text(whole[: len(whole) // 2])
    refused(lambda: load(path, X), "path", "cannot read")
    for part in ("params", "X", "autosave", "rounds"):
        path.write_text(whole.replace(f'"{part}"', '"other"', 1))
        refused(lambda: load(path, X), "path", "damaged", part)
    damages = {'"indices": [': '"indices": [99, ', '"labels": [': '"labels": [1, 0, '}
    for old, new in damages.items():
        path.write_text(whole.replace(old, new, 1))
        refused(lambda: load(path, X), "path", "damaged")
    path.write_text(whole.replace('"tune_leave_out"', '"tuna"'))
    refused(lambda: load(path, X), "path", "damaged", "tuna")
    path.write_text(whole.replace('"version": 1', '"version": 99'))
    refused(lambda: load(path, X), "path", "version 1", "99")


def run(learner=None, X=X, y=FULL, rounds=2, **settings):
    learner = ActiveLearner(3) if learner is None else learner
    return lambda: simulate(learner, X, y, rounds, **{"n_start": 8, **settings})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (run(CommitteeQuery(3)), ["learner", "ActiveLearner", "CommitteeQuery"]),
        (run(rounds=0), ["rounds", "at least 1"]),
        (run(batch_size=0), ["batch_size"]),
        (run(n_start=0), ["n_start"]),
        (run(n_start=2), ["n_start", "at least 3"]),
        (run(repetitions=1.5), ["repetitions", "integer"]),
        (run(rounds=10), ["X", "59", "got 30"]),
        (run(y=Y), ["y", "NaN"]),
        (run(y=np.zeros(30)), ["y", "2 classes"]),
        (run(X=X * np.nan), ["X", "NaN"]),
        (run(test=X), ["test", "pair"]),
        (run(test=(X[:, :1], FULL)), ["test X", "2 features"]),
        (run(test=(X, FULL + 1)), ["test y", "[2]"]),
        (run(test=(X, FULL[:3])), ["y", "30"]),
    ],
)
def test_simulate(call, words):
    refused(call, *words)

"""Wrong input to active learning: an error that names the parameter, what is allowed, what came."""

import json

import numpy as np
import pandas as pd
import pytest

from allsplits import ActiveLearner, CommitteeQuery, simulate
from allsplits.exceptions import InvalidInputError
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
        (ask(utility="doubt"), ["utility", "agreement", "doubt"]),
        (ask(diversity=0), ["diversity", "at least 1"]),
        (ask(distance_ties="no"), ["distance_ties", "average"]),
        (ask(label_ties="no"), ["label_ties", "share"]),
        (ask(metric="nearby"), ["metric", "nearby"]),
        (ask(n_jobs=0), ["n_jobs"]),
        (ask(progress="no"), ["progress", "True", "no"]),
        (ask(batch_size=-1), ["batch_size", "at least 1", "-1"]),
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


def test_shares_need_a_committee():
    for call in (CommitteeQuery(8, 3).shares, CommitteeQuery(8, 3).agreement):
        refused(lambda call=call: call(X, Y), "n_neighbors + leave_out = 11", "got 10")
        refused(lambda call=call: call(X, np.full(30, np.nan)), "y", "at least", "got 0")


def fit(X=X, y=Y, **parameters):
    return lambda: ActiveLearner(**{"n_neighbors": 3, **parameters}).fit(X, y)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (fit(n_neighbors=[]), ["n_neighbors", "at least one"]),
        (fit(n_neighbors=[1, 1]), ["n_neighbors", "once"]),
        (fit(n_neighbors=(0, 1)), ["n_neighbors", "at least 1"]),
        (fit(n_neighbors="3"), ["n_neighbors"]),
        (fit(n_neighbors=(31, 40)), ["n_neighbors", "at most 30", "31"]),
        (fit(progress="no"), ["progress", "True", "no"]),
        (fit(autosave=5), ["autosave", "path", "5"]),
        (fit(autosave="/"), ["autosave", "file", "'/'"]),
        (fit(leave_out=0), ["leave_out", "at least 1"]),
        (fit(tune_leave_out=0), ["tune_leave_out", "at least 1"]),
        (fit(tune_leave_out=None), ["tune_leave_out", "integer"]),
        (fit(utility=None), ["utility"]),
        (fit(start="committee"), ["start", "cover", "random", "committee"]),
        (fit(diversity=-1), ["diversity"]),
        (fit(metric="nearby"), ["metric"]),
        (fit(distance_ties="no"), ["distance_ties"]),
        (fit(y=Y[:5]), ["y", "30", "5"]),
        (fit(y=[1, "a"] * 15), ["y", "one kind"]),
        (fit(autosave="/no/such/folder/labels.json"), ["autosave", "folder"]),
        (fit(autosave="here", metric=lambda a, b: 1.0), ["metric", "saved", "function"]),
        (fit(autosave="here", metric_params={"V": object()}), ["metric_params", "V"]),
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
    refused(lambda: learner.ask(0), "batch_size", "at least 1")
    refused(lambda: learner.ask(-1), "batch_size must", "at least 1", "-1")
    refused(lambda: learner.teach(20, 1, overwrite="no"), "overwrite", "True", "no")
    strategy = CommitteeQuery(3)
    refused(lambda: strategy.query(X, Y, None, 1, "no"), "return_utilities", "True", "no")
    refused(lambda: ActiveLearner.load("here", X, autosave="no"), "autosave", "True", "no")
    refused(lambda: ActiveLearner.load(5, X), "path", "5")
    refused(lambda: learner.save(5), "path", "5")
    refused(lambda: learner.save("/no/such/folder/labels.json"), "path", "folder")
    refused(lambda: learner.ask(1.0), "batch_size", "integer")
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
    path.write_text(whole.replace('"version": 3', '"version": 99'))
    refused(lambda: load(path, X), "path", "version 3", "99")


TAMPERED = {
    "k of 0": (["rounds", 1, "n_neighbors"], 0, ["rounds[1].n_neighbors", "got 0"]),
    "k of 1e9": (["rounds", 1, "n_neighbors"], 10**9, ["rounds[1].n_neighbors", "1000000000"]),
    "negative k": (["rounds", 1, "n_neighbors"], -5, ["rounds[1].n_neighbors", "-5"]),
    "k of text": (["rounds", 1, "n_neighbors"], "3", ["rounds[1].n_neighbors", "integer"]),
    "k not a candidate": (["rounds", 1, "n_neighbors"], 4, ["rounds[1].n_neighbors", "got 4"]),
    "candidate of 0": (["params", "n_neighbors"], 0, ["n_neighbors", "at least 1"]),
    "no candidates": (["params", "n_neighbors"], None, ["n_neighbors"]),
    "a row twice": (["rounds", 1, "indices"], [20, 20], ["rounds[1].indices", "once"]),
    "a row of -1": (["rounds", 1, "indices"], [20, -1], ["rounds[1].indices", "-1"]),
    "a row beyond": (["rounds", 1, "indices"], [20, 30], ["rounds[1].indices", "30"]),
    "a row of 1e30": (["rounds", 1, "indices"], [20, 10**30], ["rounds[1].indices"]),
    "a row of 2.5": (["rounds", 1, "indices"], [20, 2.5], ["rounds[1].indices", "2.5"]),
    "a row of true": (["rounds", 1, "indices"], [20, True], ["rounds[1].indices", "True"]),
    "rows of text": (["rounds", 1, "indices"], "20", ["rounds[1].indices", "list"]),
    "too few labels": (["rounds", 1, "labels"], [1], ["rounds[1].labels", "2", "got 1"]),
    "labels of two kinds": (["rounds", 1, "labels"], [1, "a"], ["one kind"]),
    "labels that are lists": (["rounds", 1, "labels"], [[1], [0]], ["rounds[1].labels", "text"]),
    "labels beyond float": (["rounds", 1, "labels"], [1e400, 0], ["cannot read", "Infinity"]),
    "a score of 2": (["rounds", 1, "score"], 2, ["rounds[1].score", "got 2"]),
    "a score of text": (["rounds", 1, "score"], "1", ["rounds[1].score"]),
    "a round that is a list": (["rounds", 1], [], ["rounds[1]", "object", "list"]),
    "no rounds": (["rounds"], [], ["rounds", "none"]),
    "rounds of text": (["rounds"], "[]", ["rounds", "list", "str"]),
    "a seed of text": (["params", "random_state"], "0", ["params.random_state", "integer"]),
    "leave_out of 0": (["params", "leave_out"], 0, ["leave_out", "at least 1"]),
    "diversity of 1.5": (["params", "diversity"], 1.5, ["diversity", "integer"]),
    "another utility": (["params", "utility"], ["agreement"], ["utility"]),
    "another start": (["params", "start"], "committee", ["start", "cover", "committee"]),
    "another metric": (["params", "metric"], 3, ["metric"]),
    "metric_params in a list": (["params", "metric_params"], [1], ["params.metric_params"]),
    "another tie rule": (["params", "distance_ties"], {}, ["distance_ties"]),
    "autosave of 1": (["autosave"], 1, ["autosave", "true or false"]),
    "a shape of one number": (["X", "shape"], [30], ["X.shape"]),
    "a shape of text": (["X", "shape"], ["a", "b"], ["X.shape", "integer"]),
    "a digest of 5": (["X", "sha256"], 5, ["X.sha256", "text"]),
    "X in a list": (["X"], [30, 2], ["X", "object"]),
    "an extra parameter": (["params", "speed"], 9, ["params", "speed"]),
}  # fmt: skip


@pytest.mark.parametrize(("place", "value", "words"), TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_file_is_refused_by_name(tmp_path, place, value, words):
    path = tmp_path / "labels.json"
    fit(autosave=path)().teach([20, 21], [1, 0])
    document = json.loads(path.read_text())
    field = document
    for step in place[:-1]:
        field = field[step]
    field[place[-1]] = value
    path.write_text(json.dumps(document))
    refused(lambda: ActiveLearner.load(path, X), "path", str(path), *words)
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]


def test_files_that_no_parser_likes(tmp_path):
    path = tmp_path / "labels.json"
    fit()().save(path)
    whole = path.read_text()
    made_up = {
        "deep nesting": "[" * 100_000,
        "deep nesting inside": whole.replace('"score": null', '"score": ' + "[" * 100_000, 1),
        "5,000 digits": whole.replace('"score": null', '"score": ' + "9" * 5000, 1),
        "4,000 digits": whole.replace('"n_neighbors": 3', '"n_neighbors": ' + "9" * 4000),
        "NaN": whole.replace('"score": null', '"score": NaN', 1),
        "another version": whole.replace('"version": 3', '"version": ' + "9" * 4000),
    }
    for text in made_up.values():
        assert text != whole
        path.write_text(text)
        with pytest.raises(InvalidInputError) as caught:
            ActiveLearner.load(path, X)
        assert str(path) in str(caught.value)
        assert len(str(caught.value)) < 1000


def test_a_parameter_that_is_missing_from_the_file(tmp_path):
    path = tmp_path / "labels.json"
    fit()().save(path)
    document = json.loads(path.read_text())
    del document["params"]["leave_out"]
    path.write_text(json.dumps(document))
    refused(lambda: ActiveLearner.load(path, X), str(path), "params", "leave_out")


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
        (run(rounds=10), ["X", "at least 58", "besides 8 held out", "got 22"]),
        (run(rounds=10, test_size="pool_remainder"), ["X", "at least 59", "got 30"]),
        (run(oracle="no"), ["oracle", "True", "no"]),
        (run(progress=2), ["progress", "True", "2"]),
        (run(n_start=-1), ["n_start", "at least 1", "-1"]),
        (run(y=Y), ["y", "NaN"]),
        (run(y=np.zeros(30)), ["y", "2 classes"]),
        (run(X=X * np.nan), ["X", "NaN"]),
        (run(test_size=0), ["test_size", "from 1 to 29", "0"]),
        (run(test_size=30), ["test_size", "from 1 to 29", "30"]),
        (run(test_size=-0.5), ["test_size", "between 0 and 1", "-0.5"]),
        (run(test_size=1.0), ["test_size", "between 0 and 1", "1.0"]),
        (run(test_size=True), ["test_size", "integer", "True"]),
        (run(test_size="pool"), ["test_size", "pool_remainder", "'pool'"]),
        (run(test_size=[3]), ["test_size", "[3]"]),
        (run(test_size=0.5, X_test=X, y_test=FULL), ["test_size", "None", "0.5"]),
        (run(X_test=X), ["X_test", "y_test", "both"]),
        (run(y_test=FULL), ["X_test", "y_test", "both"]),
        (run(X_test=X[:, :1], y_test=FULL), ["X_test", "2 features"]),
        (run(X_test=X, y_test=FULL + 1), ["y_test", "[2]"]),
        (run(X_test=X, y_test=FULL[:3]), ["y", "30"]),
    ],
)
def test_simulate(call, words):
    refused(call, *words)

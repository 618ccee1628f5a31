"""Wrong input to UNNClassifier gets an answer that names the parameter, before any work."""

import numpy as np
import pytest

from allsplits import UNNClassifier
from allsplits.boosting import _unn
from unit.refused import refused

X = np.arange(24.0).reshape(12, 2)
Y = np.arange(12) % 2


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"n_neighbors": 0}, ("n_neighbors", "at least 1", "0")),
        ({"n_neighbors": 2.5}, ("n_neighbors", "integer", "2.5")),
        ({"n_neighbors": True}, ("n_neighbors", "integer")),
        ({"n_neighbors": 12}, ("n_neighbors", "from 1 to 11", "12")),
        ({"theta": 0}, ("theta", "above 0", "0")),
        ({"theta": 1.01}, ("theta", "at most 1", "1.01")),
        ({"theta": np.nan}, ("theta", "nan")),
        ({"theta": "half"}, ("theta", "'half'")),
        ({"chooser": "greedy"}, ("chooser", "boosting", "longest step", "lazy", "'greedy'")),
        ({"smoothing": -1.0}, ("smoothing", "at least 0", "-1")),
        ({"smoothing": np.inf}, ("smoothing", "finite", "inf")),
        ({"smoothing": "much"}, ("smoothing", "'much'")),
        ({"normalize_weights": 1}, ("normalize_weights", "True or False", "1")),
        ({"n_rounds": 0}, ("n_rounds", "at least 1", "0")),
        ({"n_rounds": 3.0}, ("n_rounds", "integer", "3.0")),
        ({"tol": -1e-3}, ("tol", "at least 0", "-0.001")),
        ({"metric": "taxi"}, ("metric", "'taxi'")),
        ({"p": 0}, ("p", "0")),
        ({"n_jobs": 0}, ("n_jobs", "0")),
        ({"progress": 1}, ("progress", "True or False", "1")),
        ({"random_state": "dice"}, ("random_state", "'dice'")),
    ],
)
def test_bad_parameters(parameters, words, monkeypatch):
    def no_work(*arguments):
        raise RuntimeError("work began before the parameters were checked")

    monkeypatch.setattr(_unn, "boost", no_work)
    refused(lambda: UNNClassifier(**{"n_neighbors": 3, **parameters}).fit(X, Y), *words)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.zeros(12), ("y", "at least 2 classes", "1 class")),
        (np.arange(12) / 7, ("y", "class labels")),
        (np.stack([Y, 2 * Y], axis=1), ("y", "indicator", "zeros and ones")),
        (np.array([["a", "b"]] * 12), ("y", "indicator")),
    ],
)
def test_bad_labels(y, words):
    refused(lambda: UNNClassifier(3).fit(X, y), *words)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.where(X == 4, np.nan, X), "NaN"),
        (np.where(X == 4, np.inf, X), "infinity"),
        (np.array([["a", "b"]] * 12), "could not convert"),
        (X[:, 0], "2D array"),
        (X[:0], "0 sample"),
        (X[:1], "1 sample|inconsistent"),
        (X[:5], "inconsistent"),
        (np.full((12, 2), {}, dtype=object), "argument must be"),
    ],
)
def test_bad_points(points, message):
    with pytest.raises((ValueError, TypeError), match=message):
        UNNClassifier(3).fit(points, Y)


def test_enormous_values():
    refused(lambda: UNNClassifier(3).fit(X * 1e200, Y), "X", "rescale")


def test_precomputed_distances_are_checked():
    refused(lambda: UNNClassifier(3, metric="precomputed").fit(X, Y), "square", "(12, 2)")
    D = np.abs(X[:, :1] - X[:, :1].T)
    refused(lambda: UNNClassifier(3, metric="precomputed").fit(D + 1, Y), "diagonal")
    refused(lambda: UNNClassifier(3, metric="precomputed").fit(-D, Y), "≥ 0")


def test_new_samples_must_fit():
    model = UNNClassifier(3).fit(X, Y)
    with pytest.raises(ValueError, match="3 features"):
        model.predict(np.ones((2, 3)))
    with pytest.raises(ValueError, match="NaN"):
        model.decision_function([[np.nan, 0.0]])


def test_an_interrupt_gets_through(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("allsplits.boosting._boost.boost_by_looking", interrupted)
    with pytest.raises(KeyboardInterrupt):
        UNNClassifier(3, n_jobs=2).fit(X, np.arange(12) % 4)

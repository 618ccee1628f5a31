"""Results that look at X again later do not mix two data sets."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, order_neighbors
from allsplits.exact import neighbors
from allsplits.exceptions import InvalidInputError
from allsplits.orders import sparse_points, unchanged


def samples(n=60):
    rng = np.random.default_rng(3)
    return rng.standard_normal((n, 3)), np.arange(n) % 3


LATER = {
    "chances": lambda result: result.prediction_proba,
    "interval": lambda result: result.interval(),
    "frame": lambda result: result.frame(),
}


@pytest.fixture
def nothing_kept(monkeypatch):
    """As with data so large that orders are not kept."""
    monkeypatch.setattr(neighbors, "MOST_KEPT_FOR_LATER", 0)


@pytest.mark.parametrize("later", LATER.values(), ids=LATER)
@pytest.mark.usefixtures("nothing_kept")
def test_a_changed_x_is_refused(later):
    X, y = samples()
    result = evaluate(KNeighborsClassifier(3), X, y)
    X[0] += 1
    with pytest.raises(InvalidInputError, match="X was changed in place after the result was made"):
        later(result)
    X[0] -= 1
    X[:] = samples()[0]
    later(result)


@pytest.mark.usefixtures("nothing_kept")
def test_a_changed_test_set_is_refused():
    X, y = samples()
    X_test, y_test = samples(20)
    result = evaluate(KNeighborsClassifier(3), X, y, X_test=X_test, y_test=y_test)
    X_test *= 2
    with pytest.raises(InvalidInputError, match="X_test was changed in place"):
        result.prediction_proba  # noqa: B018


def test_kept_orders_need_no_x():
    X, y = samples()
    expected = evaluate(KNeighborsClassifier(3), X, y).prediction_proba
    result = evaluate(KNeighborsClassifier(3), X, y)
    X += np.arange(3) * X
    np.testing.assert_array_equal(result.prediction_proba, expected)


@pytest.mark.usefixtures("nothing_kept")
def test_other_kinds_of_x(monkeypatch):
    X, y = samples()
    model = KNeighborsClassifier(3)
    order = order_neighbors(X, depth=59)
    assert evaluate(model, order, y).prediction_proba.shape == (60, 3)
    loaded = pickle.loads(pickle.dumps(evaluate(model, X, y)))
    assert loaded.prediction_proba.shape == (60, 3)
    monkeypatch.setattr(sparse_points, "_MADE_DENSE", 0)
    texts = csr_array(random_array((60, 40), density=0.2, rng=np.random.default_rng(0)))
    result = evaluate(model, texts, y)
    assert result.prediction_proba.shape == (60, 3)


@pytest.mark.parametrize("rows", [7, 8, 9, 1000])
def test_large_samples_are_looked_at_in_steps(monkeypatch, rows):
    monkeypatch.setattr(unchanged, "_LOOKED_AT", 8 * 24)
    X = np.random.default_rng(0).standard_normal((rows, 3))
    seen = unchanged.Unchanged("X")
    seen.check(X)
    seen.check(X.copy())
    X += 1
    with pytest.raises(InvalidInputError, match="X was changed"):
        seen.check(X)

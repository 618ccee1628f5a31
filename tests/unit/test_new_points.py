"""New samples are checked as scikit-learn does, whichever way they come in."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import validate_data

from allsplits._validation import check_new_points

RNG = np.random.default_rng(0)
X = RNG.normal(size=(6, 3))
MODEL = LinearRegression().fit(X, X[:, 0])
NAMED = LinearRegression().fit(pd.DataFrame(X, columns=["a", "b", "c"]), X[:, 0])


def changed(value):
    other = X.copy()
    other[4, 1] = value
    return other


def what_happens(check, model, given):
    """The array, or the error or warning with its words."""
    try:
        return check(model, given)
    except (ValueError, TypeError, UserWarning) as error:
        return type(error), str(error)


def by_scikit_learn(model, given):
    return validate_data(model, given, dtype=np.float64, order="C", reset=False)


def test_what_needs_no_change_is_not_copied():
    assert check_new_points(MODEL, X) is X
    assert check_new_points(MODEL, X[2:4]).base is X


@pytest.mark.parametrize(
    "given",
    [
        X, X[:1], X[::2], X[:, ::-1], np.asfortranarray(X), X.astype(np.float32), X.tolist(),
        X.astype(">f8"), X.astype(int), X > 0, X.astype(object), np.full((2, 3), 1.7e308),
        -np.zeros((2, 3)), np.ma.masked_array(X), pd.DataFrame(X, columns=["a", "b", "c"]),
        changed(np.nan), changed(np.inf), changed(-np.inf), X[0], X[:, :2], np.hstack([X, X]),
        X[:0], np.empty((0, 3)), np.empty((3, 0)), X[None], X + 1j, X.astype(str), None,
    ],
    ids=lambda given: f"{type(given).__name__}{getattr(given, 'shape', '')}",
)  # fmt: skip
@pytest.mark.parametrize("model", [MODEL, NAMED], ids=["plain", "named"])
@pytest.mark.filterwarnings("error")
def test_the_same_as_by_scikit_learn(model, given):
    expected, found = (what_happens(f, model, given) for f in (by_scikit_learn, check_new_points))
    if isinstance(expected, tuple):
        assert found == expected
        return
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.flags.c_contiguous) == (np.float64, True)
    np.testing.assert_array_equal(found, expected)

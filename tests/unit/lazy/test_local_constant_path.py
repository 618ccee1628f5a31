"""local_constant_path: shapes, threads, and what it refuses."""

import numpy as np
import pytest

from allsplits import local_constant_path
from unit.refused import refused


def test_rows_are_independent():
    y = np.random.default_rng(0).normal(size=(7, 12))
    predictions, loo_mse = local_constant_path(y)
    assert predictions.shape == loo_mse.shape == y.shape
    for row in range(len(y)):
        alone = local_constant_path(y[row])
        np.testing.assert_array_equal(alone[0], predictions[row])
        np.testing.assert_array_equal(alone[1], loo_mse[row])


def test_the_formula_with_numpy():
    """Equation 4 of the paper: k/(k-1) times the sample variance."""
    y = np.random.default_rng(1).normal(size=(5000, 30))
    predictions, loo_mse = local_constant_path(y)
    assert np.isnan(loo_mse[:, 0]).all()
    for k in (2, 3, 17, 30):
        np.testing.assert_allclose(predictions[:, k - 1], y[:, :k].mean(axis=1), rtol=0, atol=1e-14)
        direct = k / (k - 1) * y[:, :k].var(axis=1, ddof=1)
        np.testing.assert_allclose(loo_mse[:, k - 1], direct, rtol=1e-12)


@pytest.mark.parametrize("offset", [1e9, 1e15, -(2.0**50)])
def test_an_offset_costs_no_digits(offset):
    y = np.random.default_rng(4).integers(-2, 3, size=(50, 30)).astype(float)
    predictions, loo_mse = local_constant_path(y)
    shifted, same = local_constant_path(y + offset)
    np.testing.assert_array_equal(same, loo_mse)
    np.testing.assert_array_equal(shifted, predictions + offset)


def test_squares_that_overflow():
    refused(lambda: local_constant_path([1e160, 0.0]), "y_sorted", "1e+150", "1e+160")


def test_threads_do_not_matter():
    y = np.random.default_rng(2).normal(size=(9000, 5))
    for one, two in zip(
        local_constant_path(y, n_jobs=1), local_constant_path(y, n_jobs=2), strict=True
    ):
        np.testing.assert_array_equal(one, two)


def test_frames_and_other_layouts():
    pandas = pytest.importorskip("pandas")
    y = np.random.default_rng(3).normal(size=(4, 6))
    expected = local_constant_path(y)[1]
    for same in (pandas.DataFrame(y), np.asfortranarray(y), y.tolist()):
        np.testing.assert_array_equal(local_constant_path(same)[1], expected)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([1.0, np.nan], ["NaN"]),
        ([1.0, np.inf], ["infinity"]),
        (["a", "b"], ["numeric"]),
        ([], ["0"]),
        (np.empty((3, 0)), ["(3, 0)"]),
        (np.zeros((2, 2, 2)), ["3"]),
        (5.0, ["shape"]),
        (None, ["numeric"]),
        ([1 + 1j], ["omplex"]),
        ([[1.0], [2.0, 3.0]], ["shape"]),
    ],
    ids=str,
)
def test_refused(y, words):
    refused(lambda: local_constant_path(y), "y_sorted", *words)


def test_wrong_threads_are_refused():
    refused(lambda: local_constant_path([1.0, 2.0], n_jobs=0), "n_jobs", "0")

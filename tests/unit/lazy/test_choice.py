"""The best models of each query: beside a stable sort, whether they are ranked or inserted."""

import numpy as np
import pytest

from allsplits.lazy._answers import make_answers
from allsplits.lazy._kernels_choice import choose_models
from allsplits.lazy._paths import make_paths


@pytest.mark.parametrize("kind", ["distinct", "few values", "zeros", "some zeros", "tiny"])
@pytest.mark.parametrize("n_combined", [1, 2, 7, 16, 30])
@pytest.mark.parametrize("n_models", [30, 31, 64, 65, 128, 129, 300])
def test_like_a_stable_sort(n_models, n_combined, kind):
    """Up to 128 models are ranked if at least a quarter is kept; otherwise they are inserted."""
    rng = np.random.default_rng(n_models + n_combined)
    paths = make_paths(20, n_models, 2, 3)
    paths.values[:] = rng.normal(size=paths.values.shape)
    paths.errors[:] = {
        "distinct": lambda shape: rng.random(shape),
        "few values": lambda shape: rng.integers(1, 6, shape) / 7,
        "zeros": np.zeros,
        "some zeros": lambda shape: rng.integers(0, 2, shape) * rng.random(shape),
        "tiny": lambda shape: 1e-300 * rng.random(shape),
    }[kind](paths.errors.shape)
    answers = make_answers(20, n_combined, 2, 3)
    choose_models(paths, paths.errors.view(np.int64), answers)
    best = np.argsort(paths.errors, axis=1, kind="stable")[:, :n_combined]
    np.testing.assert_array_equal(answers.models, best)
    np.testing.assert_array_equal(answers.mse, np.take_along_axis(paths.errors, best, axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = answers.mse[:, :1] / answers.mse
    weights = np.where(answers.mse[:, :1] > 0, inverse, answers.mse == 0)
    weights /= weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(answers.weights, weights, rtol=1e-13)
    chosen = np.take_along_axis(paths.values, best[:, :, None, :], axis=1)
    expected = (weights[:, :, None, :] * chosen).sum(axis=1)
    np.testing.assert_allclose(answers.coefficients, expected, rtol=1e-9, atol=1e-12)

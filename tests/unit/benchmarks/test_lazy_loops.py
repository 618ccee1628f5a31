"""The replay that small batches are timed against does the work of R's lazy: the same answers."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[3]))

from benchmarks._lazy_loops import Ranges, replay_lazy

from allsplits import LazyRegressor


@pytest.mark.parametrize("combine", ["best", 4, 30])
@pytest.mark.parametrize("degrees", [(0,), (1,), (0, 1)])
@pytest.mark.parametrize("n_features", [1, 3])
def test_predictions(n_features, degrees, combine):
    rng = np.random.default_rng(0)
    X, queries = rng.uniform(size=(80, n_features)), rng.uniform(size=(30, n_features))
    y = np.sin(4 * X).sum(axis=1) + 0.1 * rng.normal(size=80)
    model = LazyRegressor(degrees, combine=combine, penalize_intercept=True).fit(X, y)
    found = np.empty(30)
    replay_lazy(X.T.copy(), y, queries.T.copy(), Ranges.of(model.k_ranges_, combine), found)
    np.testing.assert_allclose(found, model.predict(queries), rtol=1e-6)

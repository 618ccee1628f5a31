"""Random small problems: boosting stays finite, never rises, and ignores what does not matter."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allsplits import UNNClassifier, order_neighbors

LOSSES = st.sampled_from(["exponential", "squared", "logistic"])
CHOOSERS = st.sampled_from(
    ["boosting", "boosting again", "longest step", "longest step once", "lazy"]
)


@st.composite
def cases(draw):
    """A few points on a coarse grid, so with duplicates and ties, and labels at random."""
    m = draw(st.integers(4, 18))
    n_classes = draw(st.integers(2, 4))
    points = draw(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=m, max_size=m))
    labels = draw(st.lists(st.integers(0, n_classes - 1), min_size=m, max_size=m))
    labels[:2] = [0, 1]
    parameters = {
        "n_neighbors": draw(st.integers(1, m - 1)),
        "loss": draw(LOSSES),
        "chooser": draw(CHOOSERS),
        "theta": draw(st.sampled_from([0.1, 0.5, 1.0])),
        "smoothing": draw(st.sampled_from([True, False, 1.0])),
        "normalize_weights": draw(st.booleans()),
        "n_rounds": draw(st.sampled_from([None, 1, 50, 400])),
    }
    return np.array(points, dtype=float), np.array(labels), parameters


@given(cases())
def test_everything_is_finite_and_the_risk_never_rises(case):
    X, y, parameters = case
    model = UNNClassifier(**parameters).fit(X, y)
    for values in (model.alphas_, model.margins_, model.surrogate_risk_):
        assert np.isfinite(values).all()
    assert np.diff(model.surrogate_risk_, axis=0).max(initial=0) <= 1e-14
    shares = model.predict_proba(X)
    assert np.isfinite(shares).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert set(model.predict(X)) <= set(y)


@given(cases())
def test_margins_belong_to_the_steps(case):
    X, y, parameters = case
    model = UNNClassifier(**parameters).fit(X, y)
    alphas = model._history.leverages()
    k = parameters["n_neighbors"]
    near = order_neighbors(X, depth=k).indices
    columns = [1] if len(model.classes_) == 2 else range(len(model.classes_))
    signs = np.stack([np.where(y == model.classes_[c], 1, -1) for c in columns], axis=1)
    margins = signs * (alphas * signs)[near].sum(axis=1)
    scale = 1 + np.abs(alphas).max() * k
    np.testing.assert_allclose(model.margins_, margins, atol=1e-10 * scale)


@given(cases())
def test_threads_change_nothing(case):
    X, y, parameters = case
    one, two = (UNNClassifier(**parameters, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.alphas_, two.alphas_)
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


@given(cases(), st.floats(0.1, 10), st.floats(-5, 5))
def test_moving_and_stretching_the_data_changes_nothing(case, scale, shift):
    X, y, parameters = case
    # Powers of two keep all distances, ties included, exactly in proportion.
    scale = 2.0 ** round(np.log2(scale))
    there = UNNClassifier(**parameters).fit(X * scale + round(shift) * scale, y)
    np.testing.assert_array_equal(there.alphas_, UNNClassifier(**parameters).fit(X, y).alphas_)

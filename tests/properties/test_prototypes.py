"""Properties of prototypes on random data: consistency, idempotence, independence of order."""

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from allsplits import CondensedReduced, FastCondensed, voronoi_complexity
from allsplits.prototypes._kernels import reduce_consistent, reduce_paper


@st.composite
def samples(draw, lattice=True):
    """Up to 60 samples of up to 4 classes; on a lattice with copies, each place of one class."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, d = draw(st.integers(2, 60)), draw(st.integers(1, 4))
    if not lattice:
        return rng.normal(size=(n, d)), rng.integers(0, draw(st.integers(2, 4)), size=n)
    side = draw(st.integers(2, 7))
    X = rng.integers(0, side, size=(n, d))
    labels = rng.integers(0, draw(st.integers(2, 4)), size=(side,) * d)
    return X.astype(float), labels[tuple(X.T)]


@given(samples(), st.sampled_from(["consistent", None]), st.integers(0, 5))
def test_training_error_is_zero(sample, reduce, seed):
    X, y = sample
    for model in (
        CondensedReduced(reduce=reduce),
        CondensedReduced(reduce=reduce, shuffle=True, random_state=seed),
        FastCondensed(reduce=reduce),
    ):
        assert np.array_equal(model.fit(X, y).predict(X), y)


def two_nearest(X, y, rows):
    """The two nearest of the rows to every sample, by plain numpy; integers have no rounding.

    Of equally near ones those of other classes come first.
    """
    squares = ((X[:, None] - X[rows]) ** 2).sum(axis=2)
    own = y[rows][None] == y[:, None]
    order = np.argsort(2 * squares + own, axis=1, kind="stable")[:, :2]
    nearest = np.full((2, len(X)), len(X))
    distances = np.full((2, len(X)), np.inf)
    nearest[: order.shape[1]] = rows[order].T
    distances[: order.shape[1]] = np.take_along_axis(squares, order, axis=1).T
    return nearest, distances


@given(samples())
def test_reducing_again_drops_nothing(sample):
    X, y = sample
    rows = CondensedReduced(reduce="consistent").fit(X, y).sample_indices_
    kept = np.isin(np.arange(len(X)), rows)
    assert reduce_consistent(X, y, np.arange(len(X)), kept, *two_nearest(X, y, rows)) == 0
    assert np.flatnonzero(kept).tolist() == rows.tolist()
    rows = CondensedReduced(reduce="paper").fit(X, y).sample_indices_
    kept = np.isin(np.arange(len(X)), rows)
    assert reduce_paper(X, y, np.arange(len(X)), kept, np.full(len(X), -1)) == 0
    assert np.flatnonzero(kept).tolist() == rows.tolist()


@given(samples())
def test_no_prototype_of_a_consistent_set_can_go(sample):
    X, y = sample
    rows = CondensedReduced(reduce="consistent").fit(X, y).sample_indices_
    for row in rows if len(rows) > 1 else ():
        rest = rows[rows != row]
        squares = ((X[:, None] - X[rest]) ** 2).sum(axis=2)
        near = squares == squares.min(axis=1, keepdims=True)
        assert np.any(near & (y[rest][None] != y[:, None]))


@given(samples())
def test_reductions_keep_a_part_of_the_condensed_set_with_every_class(sample):
    X, y = sample
    whole = set(CondensedReduced(reduce=None).fit(X, y).sample_indices_)
    for reduce in ("consistent", "paper"):
        rows = CondensedReduced(reduce=reduce).fit(X, y).sample_indices_
        assert set(rows) <= whole
        assert set(y[rows]) == set(y)


@given(samples(lattice=False), st.integers(0, 5))
def test_fast_condensing_does_not_depend_on_the_order_of_rows(sample, seed):
    X, y = sample
    # Two samples are equally far from their mean: there the lower row decides.
    assume(2 not in np.bincount(y))
    order = np.random.default_rng(seed).permutation(len(X))
    rows = FastCondensed().fit(X, y).sample_indices_
    shuffled = FastCondensed().fit(X[order], y[order]).sample_indices_
    assert sorted(order[shuffled]) == rows.tolist()


@given(samples(), st.integers(0, 5))
def test_facets_do_not_depend_on_the_order_of_rows(sample, seed):
    X, y = sample
    X, first = np.unique(X[:12], axis=0, return_index=True)
    y = y[first]
    if len(set(y)) < 2:
        return
    order = np.random.default_rng(seed).permutation(len(X))
    straight, shuffled = voronoi_complexity(X, y), voronoi_complexity(X[order], y[order])
    assert np.array_equal(straight.facets, shuffled.facets)
    again = np.sort(order[shuffled.pairs], axis=1)
    assert sorted(again.tolist()) == straight.pairs.tolist()

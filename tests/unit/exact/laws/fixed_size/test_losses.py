"""The own class by its losses, beside all classes by their wins, on rows of every kind."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest

from allsplits import Bernoulli, FixedSize, order_neighbors
from allsplits.exact.laws.fixed_size.majority import _FAINT, MajorityVote, log_doubts
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.question import Options
from allsplits.splits import Samples, resolve_cv

N = 150


def made(n_classes, step):
    """Classes that overlap, of unequal sizes; on a grid if there is a step."""
    rng = np.random.default_rng(n_classes)
    y = np.minimum(rng.geometric(2 / (n_classes + 1), N) - 1, n_classes - 1).astype(np.int32)
    y[:n_classes] = np.arange(n_classes)
    X = rng.standard_normal((n_classes, 2))[y] + 0.5 * rng.standard_normal((N, 2))
    return (np.rint(X / step) if step else X), y


def votes(cv, ks, n_classes, share):
    law = resolve_cv(cv, Samples(N))
    prefixes = prefixes_for([Column(k, law) for k in ks], 1e-15)
    return MajorityVote(prefixes, n_classes, Options(label_ties="share" if share else "first"))


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("step", [0, 0.2, 1.0])
@pytest.mark.parametrize(
    ("n_classes", "cv", "ks"),
    [
        (3, FixedSize(120), [1, 2, 5, 6]),
        (7, FixedSize(120), [30, 13, 1]),
        (26, FixedSize(75), [15, 4]),
        (3, FixedSize(10), [9, 4]),
        (60, FixedSize(120), [12]),
        (4, FixedSize(140), [60, 59]),
        (5, FixedSize(149), [3]),
        (5, FixedSize(3), [3, 2]),
        (9, Bernoulli(0.6), [10, 11]),
    ],
)
def test_losses_are_what_wins_leave(n_classes, cv, ks, step, share):
    X, y = made(n_classes, step)
    together = votes(cv, ks, n_classes, share)
    order = order_neighbors(X, depth=together.prefixes.depth)
    found = together.right(order, y, 1)
    for c, k in enumerate(ks):
        alone = votes(cv, [k], n_classes, share)
        every = alone.every_class(order_neighbors(X, depth=alone.prefixes.depth), y, 1)
        bound = together.rounding + alone.rounding + 2e-15
        np.testing.assert_allclose(found[:, c], every[np.arange(N), y], rtol=0, atol=bound)


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("step", [0, 0.2])
@pytest.mark.parametrize("size", [1, 3])
def test_many_classes_of_few_samples(size, step, share):
    """Own classes are first, last and everywhere in class order."""
    X, _ = made(5, step)
    y = (np.random.default_rng(size).permutation(N) // size).astype(np.int32)
    n_classes, ks = int(y.max()) + 1, [1, 2, 3, 10]
    together = votes(FixedSize(120), ks, n_classes, share)
    order = order_neighbors(X, depth=together.prefixes.depth)
    found = together.right(order, y, 1)
    for c, k in enumerate(ks):
        alone = votes(FixedSize(120), [k], n_classes, share)
        every = alone.every_class(order_neighbors(X, depth=alone.prefixes.depth), y, 1)
        bound = together.rounding + alone.rounding + 2e-15
        np.testing.assert_allclose(found[:, c], every[np.arange(N), y], rtol=0, atol=bound)
    if size > 1:
        # Somebody wins votes of several, or nothing would have been asked.
        assert found[:, 2:].max() > 0.01


def test_what_is_left_out_hardly_ever_happens():
    """The bound, beside the chance to draw at most v of n given items among N in Fractions."""
    for train in (12, 30, 39):
        doubts = log_doubts(40, 20, train / 40)
        assert doubts.max() > 10
        for n in (1, 5, 17, 40):
            chance = Fraction(0)
            for v in range(min(n, train, 20) + 1):
                chance += Fraction(comb(n, v) * comb(40 - n, train - v), comb(40, train))
                assert chance == 0 or doubts[n, v] <= -log(chance) + 1e-9
    assert not log_doubts(40, 20, 0.0).any()


@pytest.mark.parametrize("step", [0, 0.5])
def test_small_chances_keep_their_digits(step):
    """A sample among others of one class: it wins if hardly any of them is drawn."""
    X, y = made(3, step)
    y[:] = 0
    y[:2], y[2] = 1, 2
    X[:3] = 0.0
    [one, other] = [votes(FixedSize(120), [k], 3, False) for k in (15, 14)]
    order = order_neighbors(X, depth=one.prefixes.depth)
    found, every = one.right(order, y, 1), one.every_class(order, y, 1)
    assert 0 < found[0, 0] < _FAINT or found[0, 0] == every[0, 1] == 0
    np.testing.assert_allclose(found[:, 0], every[np.arange(N), y], rtol=1e-11, atol=0)
    assert other.right(order, y, 1)[0, 0] >= found[0, 0]


def test_threads_and_blocks_do_not_matter():
    X, y = made(9, 0.3)
    vote = votes(FixedSize(120), [1, 8, 9], 9, True)
    order = order_neighbors(X, depth=vote.prefixes.depth)
    np.testing.assert_array_equal(vote.right(order, y, 1), vote.right(order, y, 3))

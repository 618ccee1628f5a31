"""Prototypes, index for index, beside a literal transcription of the printed procedures."""

import numpy as np
import pytest

from allsplits import CondensedReduced, FastCondensed
from oracle import ratsaby


def problem(seed, n=40, integers=False, n_features=2, n_classes=3):
    """Overlapping classes; small integers have tied distances and copies (of one class)."""
    rng = np.random.default_rng(seed)
    if integers:
        X = rng.integers(0, 6, size=(n, n_features)).astype(float)
        labels = rng.integers(0, n_classes, size=(6,) * n_features)
        y = labels[tuple(X.astype(int).T)]
    else:
        X = rng.normal(size=(n, n_features))
        y = np.rint(1.5 * X.sum(axis=1)).astype(int) % n_classes
        y = np.where(rng.random(n) < 0.1, rng.integers(0, n_classes, size=n), y)
    return X, y


CASES = [(seed, integers) for seed in range(6) for integers in (False, True)]


@pytest.mark.parametrize(("seed", "integers"), CASES)
@pytest.mark.parametrize("reduce", ["paper", "consistent", None])
def test_condensed_reduced_in_row_order(seed, integers, reduce):
    X, y = problem(seed, integers=integers, n_features=1 + seed % 3)
    order = range(len(X))
    expected = ratsaby.condense(X, y, order)
    if reduce is not None:
        procedure = getattr(ratsaby, f"reduce_{reduce}")
        expected = procedure(X, y, expected, order)
    model = CondensedReduced(reduce=reduce).fit(X, y)
    assert model.sample_indices_.tolist() == expected


@pytest.mark.parametrize("reduce", ["paper", "consistent"])
def test_condensed_reduced_in_shuffled_order(reduce):
    X, y = problem(3, integers=True)
    order = np.random.RandomState(5).permutation(len(X)).tolist()
    procedure = getattr(ratsaby, f"reduce_{reduce}")
    expected = procedure(X, y, ratsaby.condense(X, y, order), order)
    model = CondensedReduced(reduce=reduce, shuffle=True, random_state=5).fit(X, y)
    assert model.sample_indices_.tolist() == expected
    assert expected != CondensedReduced(reduce=reduce).fit(X, y).sample_indices_.tolist()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("reduce", ["paper", "consistent", None])
def test_fast_condensed(seed, reduce):
    X, y = problem(seed, n_features=1 + seed % 3)
    expected = ratsaby.fast_condense(X, y)
    if reduce is not None:
        expected = getattr(ratsaby, f"reduce_{reduce}")(X, y, expected, range(len(X)))
    assert FastCondensed(reduce=reduce).fit(X, y).sample_indices_.tolist() == expected


def test_the_transcription_tells_procedures_apart():
    """The three reductions differ on these data, so agreement above says something."""
    X, y = problem(0, n=60)
    whole = ratsaby.condense(X, y, range(len(X)))
    paper = ratsaby.reduce_paper(X, y, whole, range(len(X)))
    consistent = ratsaby.reduce_consistent(X, y, whole, range(len(X)))
    assert len({tuple(whole), tuple(paper), tuple(consistent)}) == 3


def test_blocks_of_samples_join_seamlessly():
    """More samples than one block of the kernel, against plain numpy."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 40, size=(1300, 2)).astype(float)
    y = ((X[:, 0] // 7 + X[:, 1] // 9) % 3).astype(int)
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    prototypes = [0]
    changed = True
    while changed:
        changed = False
        for i in range(len(X)):
            near = distances[i, prototypes]
            if np.any(y[np.array(prototypes)[near == near.min()]] != y[i]):
                prototypes.append(i)
                changed = True
    model = CondensedReduced(reduce=None).fit(X, y)
    assert model.sample_indices_.tolist() == sorted(prototypes)

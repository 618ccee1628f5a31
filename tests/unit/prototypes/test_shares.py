"""The shares that did best so far: when priors stay, few examples, refusals."""

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier, ShareClassQuery
from allsplits.prototypes import _shares
from unit.refused import refused


def shares(places, codes, priors=None):
    return ShareClassQuery(priors).shares(np.array(places, dtype=float)[:, None], codes)


def stripes_and_one_apart(size=40):
    """Classes 1 and 2 in stripes, and class 0 far from them."""
    rng = np.random.default_rng(1)
    stripes = [4 * rng.integers(0, 6, size) + 2 * c + 2 * rng.random(size) for c in range(2)]
    return [*(1000 + rng.random(size)), *stripes[0], *stripes[1]], np.repeat([0, 1, 2], size)


def test_without_errors_priors_stay():
    places, codes = [*range(8), *range(50, 70)], np.repeat([0, 1], [8, 20])
    assert shares(places, codes).tolist() == [0.5, 0.5]
    assert shares(places, codes, [3, 1]).tolist() == [0.75, 0.25]


def test_a_class_apart_gets_less_and_the_others_share_the_rest():
    apart, *paired = shares(*stripes_and_one_apart())
    assert apart < 0.25
    assert paired[0] == pytest.approx(paired[1], abs=0.05)


def test_classes_mixed_by_chance_have_nothing_to_win():
    rng = np.random.default_rng(3)
    found = [shares(rng.random(60), np.repeat([0, 1, 2], 20)) for _ in range(20)]
    assert np.mean(found, axis=0) == pytest.approx(np.full(3, 1 / 3), abs=0.02)


def test_leaving_an_example_out_does_not_weaken_its_class():
    """Classes of one distribution: each is the nearest as often as its share of those kept."""
    rng = np.random.default_rng(0)
    codes, kept = np.repeat([0, 1], [5, 30]).astype(np.int32), np.array([2.5, 7.5])
    means = []
    for _ in range(800):
        examples = _shares.read_examples(rng.random((35, 1)), codes, np.array([0.5, 0.5]))
        means.append(np.bincount(codes, weights=examples.wrong_with(kept)) / [5, 30])
    errors = np.std(means, axis=0) / np.sqrt(len(means))
    assert errors.max() < 0.01
    assert np.all(np.abs(np.mean(means, axis=0) - [0.75, 0.25]) < 4 * errors)


def test_neighbours_far_away_play_no_part(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(600, 2)), rng.choice(3, 600, p=[0.8, 0.15, 0.05])
    near = ShareClassQuery().shares(X + y[:, None], y)
    monkeypatch.setattr(_shares, "_MOST_NEIGHBORS", 10_000)
    assert ShareClassQuery().shares(X + y[:, None], y) == pytest.approx(near, rel=1e-4)


def test_few_examples_are_enough_to_ask():
    assert shares([0, 1], [0, 1]).tolist() == [0.5, 0.5]
    found = shares([0, 1, 5], [0, 0, 1])
    assert found.sum() == pytest.approx(1)
    rng = np.random.default_rng(0)
    model = IncrementalNNClassifier(
        lambda label, count: rng.normal(size=(count, 2)) + label,
        classes=[0, 1], initial=1, batch_size=1, budget=6, query="shares",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].sum() == 6


def test_easy_classes_are_asked_in_turn():
    streams = [iter(range(10_000)), iter(range(1_000_000, 1_010_000))]
    model = IncrementalNNClassifier(
        lambda label, count: [[next(streams[label])] for _ in range(count)],
        classes=[0, 1], initial=150, budget=400, batch_size=10, query="shares",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [200, 200]


def test_a_class_without_prior_has_no_share_and_unavailable_ones_are_not_asked():
    places, codes = stripes_and_one_apart()
    found = shares(places, codes, [1, 1, 0])
    assert found[2] == 0
    assert np.isfinite(found).all()
    points = np.array(places)[:, None]
    assert ShareClassQuery().query(points, codes) > 0
    assert ShareClassQuery().query(points, codes, available=[True, False, False]) == 0
    assert ShareClassQuery([1, 1, 0]).query(points, codes, available=[False, False, True]) == 2


def test_the_order_of_rows_the_scale_and_the_names_of_classes_play_no_part():
    rng = np.random.default_rng(0)
    places, y = stripes_and_one_apart()
    X = np.column_stack([places, rng.random(len(y))])
    order = rng.permutation(len(y))
    straight = ShareClassQuery().shares(X, y)
    turned = ShareClassQuery().shares(8 * X[order] - 3, np.array(["a", "b", "c"])[y[order]])
    assert turned == pytest.approx(straight, rel=1e-12)
    assert straight[0] < 0.3
    assert ShareClassQuery().shares(X, y).tolist() == straight.tolist()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ShareClassQuery().query([[0.0], [1.0]], [0, 0]), ["y", "2 classes"]),
        (lambda: ShareClassQuery().shares([[0.0], [1.0]], [0]), ["y", "2", "1"]),
        (lambda: ShareClassQuery([1]).query([[0.0], [1.0]], [0, 1]), ["priors", "2"]),
        (
            lambda: ShareClassQuery().query([[0.0], [1.0]], [0, 1], available=[False, False]),
            ["available", "2"],
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    refused(call, *words)

"""What examples of a class are worth: signs, sizes and what cannot be halved."""

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier, ThinningClassQuery


def worth(places, codes, priors=None):
    return ThinningClassQuery(priors).utilities(np.array(places, dtype=float)[:, None], codes)


def test_classes_apart_are_worth_something_however_easy():
    near, far = worth([0, 1, 10, 11], [0, 0, 1, 1])
    assert near == far == 0.5  # without one of two the other has no neighbour of its class
    values = worth([*range(8), *range(50, 58)], np.repeat([0, 1], 8))
    assert np.all((values > 0) & (values < 0.01))


def test_a_class_that_crowds_out_another_is_worth_less_than_nothing():
    # Class 0 stands between examples of class 1; each has more elsewhere, among themselves.
    places = [0, 10, 20, 30, 2, 12, 22, 32, *range(100, 120), *range(130, 134)]
    codes = np.repeat([1, 0, 0, 1], [4, 4, 20, 4])
    crowding, crowded = worth(places, codes, np.array([0.1, 0.9]))
    assert crowding < 0 < crowded


def test_a_class_with_one_example_cannot_be_halved_and_is_asked_first():
    values = worth([0, 1, 5], [0, 0, 1])
    assert values[1] == np.inf > values[0]
    rng = np.random.default_rng(0)
    model = IncrementalNNClassifier(
        lambda label, count: rng.normal(size=(count, 2)) + label,
        classes=[0, 1], initial=1, batch_size=1, budget=4, query="thinning",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [2, 2]


def test_long_runs_count_nothing_and_classes_without_worth_are_asked_by_priors():
    places = [*range(300), *range(100_000, 100_300)]
    assert worth(places, np.repeat([0, 1], 300)).tolist() == [0, 0]
    streams = [iter(range(10_000)), iter(range(1_000_000, 1_010_000))]
    model = IncrementalNNClassifier(
        lambda label, count: [[next(streams[label])] for _ in range(count)],
        classes=[0, 1], initial=150, budget=400, batch_size=10, query="thinning",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [200, 200]


def test_priors_weigh_the_samples_that_change():
    places, codes = [0, 1, 2, 3.5, 5, 6, 7, 8.5], [0, 0, 1, 0, 1, 1, 0, 1]
    even, heavy = worth(places, codes), worth(places, codes, np.array([0.9, 0.1]))
    first, second = worth(places, codes, np.eye(2)[0]), worth(places, codes, np.eye(2)[1])
    assert even == pytest.approx((first + second) / 2)
    assert heavy == pytest.approx(0.9 * first + 0.1 * second)

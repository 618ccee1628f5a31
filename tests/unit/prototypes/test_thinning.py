"""What examples of a class are worth: sizes, what cannot be halved, refusals."""

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier, ThinningClassQuery
from unit.refused import refused


def worth(places, codes, priors=None):
    return ThinningClassQuery(priors).utilities(np.array(places, dtype=float)[:, None], codes)


def test_where_half_is_enough_only_the_allowance_is_left():
    assert worth([*range(8), *range(50, 58)], np.repeat([0, 1], 8)).tolist() == [1 / 128] * 2
    # Without one of two the other has no neighbour of its class.
    assert worth([0, 1, 10, 11], [0, 0, 1, 1]).tolist() == [0.5 * (1 + 1 / 4)] * 2


def test_a_class_beside_others_is_worth_more_than_one_that_is_apart():
    places = [*range(100, 110), *np.repeat(range(0, 20, 4), 2), *np.repeat(range(2, 22, 4), 2)]
    apart, *paired = worth(places, np.repeat([0, 1, 2], 10))
    assert apart < min(paired)
    assert ThinningClassQuery().query(np.array(places)[:, None], np.repeat(["a", "b", "c"], 10)) > 0


def test_a_class_with_one_example_cannot_be_halved_and_is_asked_first():
    values = worth([0, 1, 5], [0, 0, 1])
    assert values[1] == np.inf > values[0]
    rng = np.random.default_rng(0)
    model = IncrementalNNClassifier(
        lambda label, count: rng.normal(size=(count, 2)) + label,
        classes=[0, 1], initial=1, batch_size=1, budget=4, query="thinning",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [2, 2]


def test_easy_classes_are_asked_in_turn():
    streams = [iter(range(10_000)), iter(range(1_000_000, 1_010_000))]
    model = IncrementalNNClassifier(
        lambda label, count: [[next(streams[label])] for _ in range(count)],
        classes=[0, 1], initial=150, budget=400, batch_size=10, query="thinning",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [200, 200]


def test_priors_are_factors_and_unavailable_classes_are_not_asked():
    places, codes = [0, 1, 2, 3.5, 5, 6, 7, 8.5], [0, 0, 1, 0, 1, 1, 0, 1]
    even, uneven = worth(places, codes), worth(places, codes, [9, 1])
    assert uneven == pytest.approx(2 * even * [0.9, 0.1])
    points = np.array(places)[:, None]
    assert ThinningClassQuery([9, 1]).query(points, codes) == 0
    assert ThinningClassQuery([9, 1]).query(points, codes, available=[False, True]) == 1


def test_the_order_of_rows_the_scale_and_the_names_of_classes_play_no_part():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 3)), rng.integers(0, 3, 80)
    order = rng.permutation(80)
    straight = ThinningClassQuery().utilities(X, y)
    turned = ThinningClassQuery().utilities(8 * X[order] - 3, np.array(["a", "b", "c"])[y[order]])
    assert turned == pytest.approx(straight, rel=1e-12)
    assert len(set(straight)) == 3


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ThinningClassQuery().query([[0.0], [1.0]], [0, 0]), ["y", "2 classes"]),
        (lambda: ThinningClassQuery().query([[0.0], [1.0]], [0]), ["y", "2", "1"]),
        (lambda: ThinningClassQuery([1]).query([[0.0], [1.0]], [0, 1]), ["priors", "2"]),
        (
            lambda: ThinningClassQuery().query([[0.0], [1.0]], [0, 1], available=[False, False]),
            ["available", "2"],
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    refused(call, *words)

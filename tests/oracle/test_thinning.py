"""What examples of a class are worth, beside every way of leaving half of them out."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier, ThinningClassQuery


def squared(a, b):
    return sum((Fraction(u) - Fraction(v)) ** 2 for u, v in zip(a, b, strict=True))


def is_wrong(X, y, i, left_out):
    """Whether the nearest of the others, the lower row at equal distance, has another class."""
    rest = [j for j in range(len(X)) if j != i and j not in left_out]
    return y[min(rest, key=lambda j: (squared(X[i], X[j]), j))] != y[i]


def own_error(X, y, label, ways):
    """Leave-one-out error of a class; ``ways(i)`` are the sets left out beside sample i."""
    rows = [i for i in range(len(X)) if y[i] == label]
    wrong = [
        Fraction(sum(is_wrong(X, y, i, left_out) for left_out in ways(i)), len(ways(i)))
        for i in rows
    ]
    return sum(wrong) / len(rows)


def enumerated_worth(X, y, priors):
    worth = []
    for label, prior in enumerate(priors):
        rows = [j for j in range(len(X)) if y[j] == label]
        half = len(rows) // 2

        def ways(i, rows=rows, half=half):
            return list(combinations([j for j in rows if j != i], half))

        rise = own_error(X, y, label, ways) - own_error(X, y, label, lambda i: [()])
        worth.append(prior * (rise + Fraction(1, 2) / len(rows)) / half)
    return worth


def draw_sample(seed, integers):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [6, 4, 2 + seed % 3])
    X = rng.integers(0, 4, (len(y), 2)) if integers else rng.normal(size=(len(y), 2)) + y[:, None]
    order = rng.permutation(len(y))
    return X[order].astype(float), y[order]


@pytest.mark.parametrize("integers", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_worth_is_the_mean_over_all_ways_of_leaving_half_out(seed, integers):
    X, y = draw_sample(seed, integers)
    priors = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    expected = enumerated_worth(X.tolist(), y.tolist(), priors)
    found = ThinningClassQuery(np.array(priors, dtype=float)).utilities(X, y)
    assert found == pytest.approx([float(value) for value in expected], rel=1e-12, abs=1e-15)
    assert len(set(expected)) > 1


def test_the_learner_asks_for_the_class_that_is_worth_most():
    streams = [np.random.default_rng(c) for c in range(3)]

    def draw(label, count):
        scale = (0.3, 1.0, 1.0)[label]
        return scale * streams[label].normal(size=(count, 2)) + (5.0, 0.0, 1.0)[label]

    model = IncrementalNNClassifier(
        draw, classes=[0, 1, 2], budget=23, batch_size=2, initial=3, query="thinning"
    ).fit()
    samples, labels, history = (
        model.samples_.tolist(),
        model.sample_labels_.tolist(),
        model.history_,
    )
    third = [Fraction(1, 3)] * 3
    for step in range(1, len(history.n_samples)):
        known = history.n_samples[step - 1]
        worth = enumerated_worth(samples[:known], labels[:known], third)
        assert worth[history.asked[step]] == max(worth)
    assert len(set(history.asked[1:])) > 1

"""The loop of Ratsaby's algorithm INN, step by step, beside a literal transcription."""

from itertools import combinations
from math import e, log, sqrt

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier
from oracle import ratsaby

CLASSES = ["a", "b", "c"]


def maker():
    """A function that gives the same examples of a class whatever else was asked for."""
    streams = {label: np.random.default_rng(ord(label)) for label in CLASSES}

    def draw(label, count):
        points = streams[label].random((count, 2))
        # Two wide stripes and, for "c", two narrow ones between and beside them.
        if label == "a":
            return points * [0.4, 1.0]
        if label == "b":
            return points * [0.4, 1.0] + [0.5, 0.0]
        beyond = streams[label].random(count) < 0.5
        return points * [0.1, 1.0] + np.where(beyond, 0.9, 0.4)[:, None] * [1.0, 0.0]

    return draw


def transcription(draw, batch_size, initial, budget, orders):
    """Initialise, then CR and GQ in turn, until the examples are used up.

    The paper keeps the sample "in an array" and leaves its order open: ``orders(n)`` gives it.
    """
    sample = [(tuple(x), label) for label in CLASSES for x in draw(label, initial)]
    history = []
    while True:
        X, y = [x for x, _ in sample], [label for _, label in sample]
        order = orders(len(sample))
        rows = ratsaby.reduce_paper(X, y, ratsaby.condense(X, y, order), order)
        points, labels = [X[i] for i in rows], [y[i] for i in rows]
        k = dict.fromkeys(CLASSES, 0)
        for i, j in combinations(range(len(rows)), 2):
            if labels[i] != labels[j] and ratsaby.share_a_facet(points, i, j):
                k[labels[i]] += 1
                k[labels[j]] += 1
        m = {label: y.count(label) for label in CLASSES}
        history.append((m, k, rows))
        if len(sample) >= budget:
            return history

        def fall(label, m=m, k=k):
            """−∂f/∂m by a central difference, d = 2, equal priors."""
            f = lambda n: sqrt((3 * k[label] * log(n) + (e * k[label] / 2) ** 2) / n)  # noqa: E731
            return (f(m[label] - 1e-4) - f(m[label] + 1e-4)) / 2e-4

        asked = max(CLASSES, key=fall)
        sample += [(tuple(x), asked) for x in draw(asked, min(batch_size, budget - len(sample)))]


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize(("batch_size", "initial", "budget"), [(4, 2, 40), (7, 3, 33)])
def test_every_step_is_that_of_the_transcription(batch_size, initial, budget, shuffle):
    model = IncrementalNNClassifier(
        maker(),
        classes=CLASSES,
        batch_size=batch_size,
        initial=initial,
        budget=budget,
        query="greedy",
        reduce="paper",
        shuffle=shuffle,
        random_state=3,
    ).fit()
    shuffled = np.random.RandomState(3).permutation
    orders = (lambda n: shuffled(n).tolist()) if shuffle else range
    expected = transcription(maker(), batch_size, initial, budget, orders)
    history = model.history_
    assert len(expected) == len(history.n_samples)
    for step, (m, k, rows) in enumerate(expected):
        assert history.class_counts[step].tolist() == list(m.values())
        assert history.facets[step].tolist() == list(k.values())
        assert history.n_prototypes[step] == len(rows)
    assert np.array_equal(model.prototypes_, model.samples_[expected[-1][2]])
    assert len(set(model.history_.asked)) > 2

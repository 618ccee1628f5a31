"""The shares that did best so far, beside every way of keeping examples, and step by step."""

from fractions import Fraction
from itertools import combinations, product
from math import exp, lgamma

import numpy as np
import pytest

from allsplits import IncrementalNNClassifier, ShareClassQuery
from allsplits.prototypes._shares import read_examples

POWERS = (0, 1 / 4, 1 / 2, 3 / 4, 1)


def others_by_distance(X, i):
    """The others, nearest first, the lower row at equal distance."""

    def squared(j):
        return sum((Fraction(u) - Fraction(v)) ** 2 for u, v in zip(X[i], X[j], strict=True))

    return sorted((j for j in range(len(X)) if j != i), key=lambda j: (squared(j), j))


def enumerated_wrong(X, y, i, kept):
    """Share of the ways to keep ``kept[c]`` of each class in which the nearest one is wrong."""
    others = others_by_distance(X, i)
    choices = [combinations([j for j in others if y[j] == c], n) for c, n in enumerate(kept)]
    nearest = [min(sum(way, ()), key=others.index) for way in product(*map(list, choices))]
    return Fraction(sum(y[j] != y[i] for j in nearest), len(nearest))


def none_kept(size, kept, nearer):
    """C(size - nearer, kept) / C(size, kept) by gamma functions, for any number kept."""
    if size - nearer - kept + 1 <= 1e-9:
        return 0.0
    parts = (size - nearer + 1, size - kept + 1), (size + 1, size - nearer - kept + 1)
    return exp(sum(map(lgamma, parts[0])) - sum(map(lgamma, parts[1])))


def class_chance(X, y, i, kept, label):
    """The chances that the first one kept is the first, second, ... neighbour, if of a class."""
    others = others_by_distance(X, i)
    sizes = [sum(y[j] == c for j in others) for c in range(len(kept))]
    seen, reached, total = [0] * len(kept), 1.0, 0.0
    for j in others:
        seen[y[j]] += 1
        chances = [none_kept(m, n, s) for m, n, s in zip(sizes, kept, seen, strict=True)]
        beyond = float(np.prod(chances))
        total += (reached - beyond) * (y[j] == label)
        reached = beyond
    return total


def wrong_chances(X, y, kept):
    return [1 - class_chance(X, y, i, kept, y[i]) for i in range(len(X))]


def expected_hardness(X, y, rows, priors):
    """Errors of a class, and errors that name it, in halves; one more example is half wrong."""
    kept = [len(own) / 2 for own in rows]

    def mistaken(right, named):
        chances = [class_chance(X, y, i, kept, named) for i in rows[right]]
        return priors[right] * sum(chances) / len(chances)

    hardness = []
    for label, own in enumerate(rows):
        others = [other for other in range(len(rows)) if other != label]
        part = sum(mistaken(label, other) + mistaken(other, label) for other in others) / 2
        hardness.append((len(own) * part / priors[label] + 1 / 2) / (len(own) + 1))
    return hardness


def expected_shares(X, y, priors):
    labels = range(len(priors))
    rows = [[i for i in range(len(X)) if y[i] == label] for label in labels]
    hardness = expected_hardness(X, y, rows, priors)
    tried = []
    for t in POWERS:
        weights = [p * r**t for p, r in zip(priors, hardness, strict=True)]
        tried.append([weight / sum(weights) for weight in weights])
    n_kept = min((len(rows[c]) - 1) / shares[c] for shares in tried for c in labels)
    chances = [wrong_chances(X, y, [n_kept * q for q in shares]) for shares in tried]
    errors = [
        sum(p * sum(wrong[i] for i in own) / len(own) for p, own in zip(priors, rows, strict=True))
        for wrong in chances
    ]
    return tried[errors.index(min(errors))]


def draw_sample(seed, sizes):
    """A class that is apart, and two that touch; every third sample has ties."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], sizes)
    X = rng.normal(size=(len(y), 2)) + np.array([[9, 0], [0, 0], [1.5, 0]])[y]
    X = np.rint(1.5 * X) if seed % 3 == 0 else X
    order = rng.permutation(len(y))
    return X[order].astype(float), y[order]


@pytest.mark.parametrize("kept", [(1, 1, 1), (2, 3, 2), (3, 1, 4), (0, 2, 3)])
@pytest.mark.parametrize("seed", range(3))
def test_wrong_chances_are_those_of_all_ways_to_keep_examples(seed, kept):
    X, y = draw_sample(seed, [4, 5, 5])
    expected = [enumerated_wrong(X.tolist(), y.tolist(), i, kept) for i in range(len(X))]
    examples = read_examples(X, y.astype(np.int32), np.full(3, 1 / 3))
    found = examples.wrong_with(np.array(kept, dtype=float))
    assert found == pytest.approx([float(value) for value in expected], abs=1e-14)
    assert 0 < sum(expected) < len(X)


def test_shares_are_those_of_the_definition():
    stayed = set()
    for seed in range(12):
        X, y = draw_sample(seed, [9, 10 + seed % 4, 12])
        priors = [1 / 2, 1 / 4, 1 / 4] if seed % 2 else [1 / 3] * 3
        expected = expected_shares(X.tolist(), y.tolist(), priors)
        found = ShareClassQuery(priors).shares(X, y)
        assert found == pytest.approx(expected, rel=1e-7)
        stayed.add(found.tolist() == pytest.approx(priors))
    assert stayed == {True, False}


def test_the_learner_asks_for_the_class_farthest_behind_its_share():
    streams = [np.random.default_rng(c) for c in range(3)]

    def draw(label, count):
        return streams[label].normal(size=(count, 2)) + (9.0, 0.0, 1.5)[label]

    model = IncrementalNNClassifier(
        draw, classes=[0, 1, 2], budget=60, batch_size=5, initial=3, query="shares"
    ).fit()
    samples, labels = model.samples_.tolist(), model.sample_labels_.tolist()
    history = model.history_
    by_priors = 0
    for step in range(1, len(history.n_samples)):
        known = history.n_samples[step - 1]
        shares = expected_shares(samples[:known], labels[:known], [1 / 3] * 3)
        behind = shares / history.class_counts[step - 1]
        assert behind[history.asked[step]] == pytest.approx(max(behind), rel=1e-7)
        by_priors += shares == pytest.approx([1 / 3] * 3)
    assert 0 < by_priors < len(history.n_samples) - 1

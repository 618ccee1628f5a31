"""The start of a labelling effort: samples that cover the pool, until the committee can judge.

What could be wrong although a learner asks and learns: gains that are out of date decide; labels
that are there already are not counted; a start that never ends, or that looks at labels; distances
that rounding has eaten.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from allsplits import ActiveLearner
from allsplits.active._cover import cover_greedily

RNG = np.random.default_rng(7)


def best_by_the_definition(points, labelled):
    """The rows with the smallest sum of distances to the nearest label, in whole numbers.

    ``points`` are pairs of integers, distances those of streets and avenues.
    """
    sums = {}
    for row in set(range(len(points))) - set(labelled):
        marks = [points[i] for i in (*labelled, row)]
        sums[row] = sum(min(abs(x - a) + abs(y - b) for a, b in marks) for x, y in points)
    least = min(sums.values())
    return {row for row, value in sums.items() if value == least}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_labelled", [0, 1, 4])
def test_each_choice_is_the_best_of_its_moment(seed, n_labelled):
    """A batch, one sample after the other, beside the definition with all sums made anew."""
    points = np.random.default_rng([seed, n_labelled]).integers(0, 10**6, (41, 2)).tolist()
    labelled = list(range(n_labelled))
    y = [0] * n_labelled + [None] * (41 - n_labelled)
    learner = ActiveLearner(1, metric="manhattan", random_state=seed).fit(points, y)
    for row in learner.ask(8).tolist():
        best = best_by_the_definition(points, labelled)
        assert len(best) < 5
        assert row in best
        labelled.append(row)


def test_gains_that_are_out_of_date_do_not_decide():
    """Two twins in the largest crowd: after the one the other is worth nothing."""
    points = np.array([0, 1, 1, 2, 50, 51, 52, 100.0])
    between = np.abs(points[:, None] - points)
    chosen = cover_greedily(between, np.full(8, 200.0), 4)
    assert len({0 if points[i] < 10 else 1 if points[i] < 60 else 2 for i in chosen[:3]}) == 3
    everybody = cover_greedily(between, np.full(8, 200.0), 8)
    assert sorted(everybody) == list(range(8))


def test_the_sum_is_within_the_factor_that_is_proved():
    """Against the best of all sets of three, in Fractions: at least 1 - 1/e of its gain."""
    from itertools import combinations

    for seed in range(5):
        points = [Fraction(int(x)) for x in np.random.default_rng(seed).choice(1000, 12, False)]
        far = max(abs(a - b) for a in points for b in points)

        def gain(rows, points=points, far=far):
            return sum(far - min(abs(x - points[i]) for i in rows) for x in points)

        between = np.array([[float(abs(a - b)) for a in points] for b in points])
        chosen = cover_greedily(between, np.full(12, float(far)), 3)
        best = max(gain(rows) for rows in combinations(range(12), 3))
        assert gain(chosen) >= best * Fraction(632, 1000)


def test_labels_that_are_there_are_counted():
    """Three crowds, two of them with a label: the first question is for the third."""
    X = np.concatenate([RNG.normal(place, 1, (50, 2)) for place in (0, 30, 60)])
    y = np.full(150, np.nan)
    y[[3, 53]] = 0, 1
    assert ActiveLearner(1, random_state=0).fit(X, y).ask(1)[0] >= 100
    skipped = ActiveLearner(1, random_state=0).fit(X, y)
    first = skipped.ask(1)
    second = skipped.teach(first, None).ask(1)  # nobody knows its label: the crowd is still bare
    assert second[0] >= 100
    assert second[0] != first[0]


def test_no_label_is_looked_at():
    X = RNG.standard_normal((200, 3))
    asked = []
    for labels in (["a"] * 10, list("ababababab")):
        learner = ActiveLearner(1, random_state=0).fit(X)
        learner.teach(range(10), labels)
        asked.append(learner.ask(10))
    np.testing.assert_array_equal(*asked)


def test_a_batch_is_what_single_questions_would_be():
    X = RNG.standard_normal((150, 2))
    together = ActiveLearner(1, random_state=0).fit(X).ask(10)
    learner = ActiveLearner(1, random_state=3).fit(X)
    for expected in together:
        asked = learner.ask(1)
        assert asked[0] == expected
        learner.teach(asked, [0])


X_TWO = np.concatenate([RNG.normal(place, 1.5, (100, 2)) for place in (0, 4)])
#: Labels, the k, and whether the committee asks next.
MOMENTS = {
    "nothing": ([], 1, False),
    "two classes, one short": ([0] * 10 + [1] * 9, 1, False),
    "two classes": ([0] * 10 + [1] * 10, 1, True),
    "a rare class does not hold it up": ([0] * 14 + [1] * 15 + [2], 1, True),
    "a third class is news": ([0] * 10 + [1] * 14 + [2], 1, False),
    "one class": ([0] * 50, 1, False),
    "too few for the committee itself": ([0] * 12 + [1] * 12, 24, False),
    "enough for it": ([0] * 12 + [1] * 13, 24, True),
}


@pytest.mark.parametrize(("labels", "k", "judges"), MOMENTS.values(), ids=MOMENTS)
def test_when_the_committee_takes_over(labels, k, judges):
    """Ten labels for each class seen, on average; what it asks then is the committee's choice."""
    y = [*labels, *[None] * (200 - len(labels))]
    shuffled = np.random.default_rng(0).permutation(X_TWO)
    cover, committee = (
        ActiveLearner(k, start=start, random_state=0).fit(shuffled, y).ask(20)
        for start in ("cover", "random")
    )
    assert np.array_equal(cover, committee) == judges


@pytest.mark.parametrize("shift", [0.0, 1e8])
def test_points_far_from_zero_are_told_apart(shift):
    """Distances from products of coordinates would be noise there."""
    X = np.random.default_rng(0).integers(0, 1000, (60, 2)).astype(float)
    here = ActiveLearner(1, random_state=0).fit(X).ask(12)
    np.testing.assert_array_equal(ActiveLearner(1, random_state=0).fit(X + shift).ask(12), here)


def test_distances_in_place_of_points():
    X = RNG.standard_normal((90, 3))
    for metric in ("euclidean", "manhattan"):
        D = pairwise_distances(X, metric=metric)
        points = ActiveLearner(1, metric=metric, random_state=0).fit(X)
        distances = ActiveLearner(1, metric="precomputed", random_state=0).fit(D)
        np.testing.assert_array_equal(points.ask(12), distances.ask(12))


def test_equal_rows_are_asked_once_each_and_seeds_decide():
    X = np.zeros((30, 2))
    asked = [tuple(ActiveLearner(1, random_state=seed).fit(X).ask(9)) for seed in range(5)]
    assert all(len(set(one)) == 9 for one in asked)
    assert len(set(asked)) == 5


def test_a_large_pool_is_covered_by_some_of_it():
    """Far more samples than are drawn; a batch larger than that, too."""
    X = np.concatenate([np.zeros((4000, 1)), np.full((4000, 1), 9.0)])
    X += 0.01 * RNG.standard_normal(X.shape)
    learner = ActiveLearner(1, random_state=0).fit(X)
    asked = learner.ask(2)
    assert sorted(np.rint(X[asked].ravel())) == [0, 9]
    np.testing.assert_array_equal(learner.ask(2), asked)
    assert len(set(learner.ask(3000))) == 3000

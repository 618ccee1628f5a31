"""Influences of weighted votes and means against the enumeration of every training set."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut, ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, sample_values
from oracle import enumerate as oracle
from oracle.checks import every_distance_tie, every_tie
from oracle.datasets import N, dataset
from oracle.test_values import Utility, influences
from oracle.test_weighted import POSITIVE, TARGETS, city_block, every_weight

POINTS = ["no ties", "heavy ties", "duplicates"]
FIXED = [
    (FixedSize(4), oracle.fixed_size(N, 4)),
    (LeavePOut(2), oracle.fixed_size(N, N - 2)),
    (KFold(3), oracle.folds(N, 3)),
    (ShuffleSplit(test_size=2, train_size=4), oracle.train_and_test_size(N, 4, 2)),
]


class WeightedVote(Utility):
    def __init__(self, *args, weigh, **ties):
        super().__init__(*args, **ties)
        self.weigh, self.classes = weigh, sorted(set(self.labels))
        self.label_ties = "share" if self.share else "first"

    def of_voters(self, question, voters):
        weights = self.weigh([self.distances[question][i] for i in voters])
        labels = tuple(self.labels[i] for i in voters)
        won = oracle.heaviest(labels, weights, self.classes, self.label_ties)
        return Fraction(self.labels[question] in won, len(won))


class WeightedMean(Utility):
    def __init__(self, *args, weigh, **ties):
        super().__init__(*args, **ties)
        self.weigh = weigh

    def of_voters(self, question, voters):
        weights = self.weigh([self.distances[question][i] for i in voters])
        total = sum(w * self.labels[i] for w, i in zip(weights, voters, strict=True))
        return -((self.labels[question] - total / sum(weights)) ** 2)


def check(expected, found, largest: float) -> None:
    np.testing.assert_allclose(
        found.values, [float(e) for e in expected], rtol=0, atol=found.error_bound
    )
    assert found.error_bound < largest


@every_tie
@every_weight
@pytest.mark.parametrize("points", POINTS)
def test_votes_under_fixed_sizes(points, weights, ties):
    given, weigh = weights
    data = dataset(points, "3 classes")
    distances = oracle.given_distances(city_block(data.X))
    for k, (cv, law) in zip((2, 3, 4, 1), FIXED, strict=True):
        utility = WeightedVote(distances, data.labels, k, weigh=weigh, **ties)
        knn = KNeighborsClassifier(k, weights=given, metric="manhattan")
        found = sample_values(knn, data.X, data.y, cv=cv, **ties)
        check(influences(law, utility, N), found, 1e-10)


@every_distance_tie
@pytest.mark.parametrize("weights", POSITIVE)
@pytest.mark.parametrize("points", POINTS)
def test_means_under_fixed_sizes(points, weights, distance_ties):
    given, weigh = weights
    X = dataset(points, "3 classes").X
    distances = oracle.given_distances(city_block(X))
    for k, (cv, law) in zip((2, 3, 4, 1), FIXED, strict=True):
        utility = WeightedMean(
            distances, tuple(TARGETS), k, weigh=weigh, distance_ties=distance_ties
        )
        knn = KNeighborsRegressor(k, weights=given, metric="manhattan")
        found = sample_values(knn, X, TARGETS, cv=cv, distance_ties=distance_ties)
        check(influences(law, utility, N), found, 1e-6 * float(np.ptp(TARGETS)) ** 2)

"""Values of whole groups against the enumeration of all choices of training groups."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from sklearn.model_selection import GroupShuffleSplit, LeavePGroupsOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import sample_values
from oracle import enumerate as oracle
from oracle.datasets import dataset

GROUPS = ["p", "q", "p", "r", "s", "q", "s", "p"]


def expected_values(data, n_train: int, k: int) -> list[Fraction]:
    """Mean over the samples of P(right | G in training) - P(right | G out), G not their own."""
    names = sorted(set(GROUPS))
    values = []
    for group in names:
        total = Fraction(0)
        for i, own in enumerate(GROUPS):
            if own == group:
                continue
            means = []
            for inside in (True, False):
                rights = []
                for chosen in combinations([g for g in names if g != own], n_train):
                    if (group in chosen) == inside:
                        train = tuple(j for j in range(data.n) if GROUPS[j] in chosen)
                        law = [oracle.Split(Fraction(1), train, (i,))]
                        answer = oracle.classify(data.distances, data.labels, law, k)
                        rights.append(answer.score)
                means.append(oracle.mean(rights))
            total += means[0] - means[1]
        values.append(total / data.n)
    return values


@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])
@pytest.mark.parametrize(
    ("cv", "n_train"), [(LeavePGroupsOut(2), 2), (GroupShuffleSplit(train_size=1, test_size=2), 1)]
)
def test_values_of_groups(points, cv, n_train):
    data = dataset(points, "3 classes")
    for k in (1, 2) if n_train == 2 else (1,):
        expected = expected_values(data, n_train, k)
        options = {"cv": cv, "groups": GROUPS}
        knn = KNeighborsClassifier(k)
        found = sample_values(knn, data.X, data.y, **options)
        np.testing.assert_allclose(found.values, [float(e) for e in expected], rtol=0, atol=1e-13)
        assert list(found.groups) == ["p", "q", "r", "s"]
        exact = sample_values(knn, data.X, data.y, exact=True, **options)
        assert list(exact.fractions) == expected

"""Mullin & Sukthankar (2000), Complete Cross-Validation for Nearest Neighbor Classifiers, Table 1.

Row 1: liver-disorders, 345 items, training sets of 172, 1-NN: 60.7 %.
Row 2: the same, right if any of the 5 nearest has the class: 96.3 %.
"""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate
from papers.data_files import data_file, percent

NEAREST = KNeighborsClassifier(1)


@pytest.fixture(scope="module")
def liver():
    table = np.loadtxt(data_file("liver_bupa.csv"), delimiter=",", skiprows=1)
    assert table.shape == (345, 7)
    return table[:, :6], table[:, 6].astype(int)


def test_row_1_liver(liver):
    assert percent(evaluate(NEAREST, *liver, cv=FixedSize(172))) == 60.7


def test_row_1_depends_on_how_ties_are_treated(liver):
    """Tied rows in file order move the value, and reversing the file moves it again."""
    X, y = liver
    average, reverse_average = (
        evaluate(NEAREST, X[order], y[order], cv=FixedSize(172)).score
        for order in (slice(None), slice(None, None, -1))
    )
    forward, backward = (
        evaluate(NEAREST, X[order], y[order], cv=FixedSize(172), distance_ties="index").score
        for order in (slice(None), slice(None, None, -1))
    )
    assert average == pytest.approx(reverse_average, abs=1e-13)
    assert abs(forward - backward) > 1e-4
    assert min(abs(forward - average), abs(backward - average)) > 1e-5


def test_row_2_liver_any_of_five(liver):
    assert percent(evaluate(NEAREST, *liver, cv=FixedSize(172), scoring="recall@5")) == 96.3

"""Data that several files of tests share."""

import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)

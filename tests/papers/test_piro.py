"""Piro, Nock, Nielsen & Barlaud (2011): what section 4.1 says about Ripley's data."""

import numpy as np
import pytest

from allsplits import UNNClassifier
from papers.data_files import data_file

K = 5
BAYES = 0.08


@pytest.fixture(scope="module")
def ripley():
    train, test = (
        np.loadtxt(data_file(f"ripley_synth_{part}.csv"), delimiter=",", skiprows=1)
        for part in ("train", "test")
    )
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


@pytest.fixture(scope="module")
def errors(ripley):
    X, y, queries, truth = ripley
    thetas = np.round(np.arange(0.1, 1.01, 0.1), 1)
    return {
        theta: 1 - UNNClassifier(K, theta=theta).fit(X, y).score(queries, truth) for theta in thetas
    }


def test_a_tenth_of_the_examples_comes_close_to_bayes(errors):
    assert errors[0.1] < BAYES + 0.02


def test_three_percent_between_the_smallest_subset_and_everybody(errors):
    assert errors[1.0] - errors[0.1] == pytest.approx(0.03, abs=0.015)


def test_the_error_rises_sharply_where_unreliable_examples_come_in(errors):
    """Figure 2 and its text: between θ = 0.5 and 0.7."""
    assert max(errors[theta] for theta in (0.1, 0.2, 0.3, 0.4, 0.5)) < errors[0.7]


def test_boosting_beats_random_sampling_where_few_are_kept(ripley, errors):
    from sklearn.neighbors import KNeighborsClassifier

    X, y, queries, truth = ripley
    rng = np.random.default_rng(0)
    for theta in (0.1, 0.2):
        plain = []
        for _ in range(20):
            kept = rng.choice(len(X), int(theta * len(X)), replace=False)
            plain.append(1 - KNeighborsClassifier(K).fit(X[kept], y[kept]).score(queries, truth))
        assert errors[theta] < np.mean(plain)

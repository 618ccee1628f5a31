"""Piro, Nock, Nielsen & Barlaud (2011): section 4.1 on Ripley's data, Table 2 beside kNN."""

import numpy as np
import pytest
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import UNNClassifier
from papers.data_files import data_file

K = 5
BAYES = 0.08
THETAS = tuple(np.round(np.arange(0.1, 1.01, 0.1), 1))


@pytest.fixture(scope="module")
def ripley():
    train, test = (
        np.loadtxt(data_file(f"ripley_synth_{part}.csv"), delimiter=",", skiprows=1)
        for part in ("train", "test")
    )
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


def errors_by_theta(ripley, **options):
    X, y, queries, truth = ripley
    models = {theta: UNNClassifier(K, theta=theta, **options).fit(X, y) for theta in THETAS}
    return {theta: 1 - model.score(queries, truth) for theta, model in models.items()}


@pytest.fixture(scope="module")
def errors(ripley):
    return errors_by_theta(ripley)


def test_a_tenth_of_the_examples_comes_close_to_bayes(errors):
    assert errors[0.1] < BAYES + 0.01


def test_three_percent_between_the_smallest_subset_and_everybody(ripley, errors):
    """Found with the longest step of either sign; by default the gap is about half of it."""
    longest = errors_by_theta(ripley, chooser="longest step", normalize_weights=False)
    assert longest[1.0] - longest[0.1] == pytest.approx(0.03, abs=0.01)
    assert 0.01 < errors[1.0] - errors[0.1] < 0.02


def test_the_error_rises_where_unreliable_examples_come_in(errors):
    """Figure 2 and its text: between θ = 0.5 and 0.7."""
    assert max(errors[theta] for theta in (0.1, 0.2, 0.3, 0.4, 0.5)) < errors[0.7]


def test_boosting_beats_random_sampling_for_any_theta(ripley, errors):
    X, y, queries, truth = ripley
    rng = np.random.default_rng(0)
    for theta in THETAS:
        plain = []
        for _ in range(20):
            kept = rng.choice(len(X), int(theta * len(X)), replace=False)
            plain.append(1 - KNeighborsClassifier(K).fit(X[kept], y[kept]).score(queries, truth))
        assert errors[theta] < np.mean(plain)


@pytest.mark.parametrize(("file", "k"), [("balance_scale", 4), ("liver_bupa", 8), ("iris", 4)])
def test_table_2_has_unn_ahead_of_knn(file, k):
    """With all rounds, so that nothing is chosen in hindsight; ten runs of two folds."""
    table = np.loadtxt(data_file(f"{file}.csv"), delimiter=",", skiprows=1, dtype=str)
    X, y = table[:, :-1].astype(float), table[:, -1]
    halves = RepeatedStratifiedKFold(n_splits=2, n_repeats=10, random_state=7)
    voted, plain = (
        cross_val_score(model, X, y, cv=halves).mean()
        for model in (UNNClassifier(k), KNeighborsClassifier(k))
    )
    assert voted > plain

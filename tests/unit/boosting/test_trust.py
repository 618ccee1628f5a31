"""What the votes say: planted wrong labels are found, and the view reads well."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.preprocessing import StandardScaler

from allsplits import UNNClassifier
from allsplits.boosting import Trust
from unit.refused import refused


def with_wrong_labels(X, y, share=0.1, seed=0):
    """Give a share of the samples another label; returns the labels and who was changed."""
    rng = np.random.default_rng(seed)
    n_classes = len(np.unique(y))
    wrong = rng.choice(len(y), int(share * len(y)), replace=False)
    y = y.copy()
    y[wrong] = (y[wrong] + rng.integers(1, n_classes, len(wrong))) % n_classes
    return y, wrong


def scaled(load):
    X, y = load(return_X_y=True)
    return StandardScaler().fit_transform(X), y


DATA = {
    "digits": lambda: load_digits(return_X_y=True),
    "wine": lambda: scaled(load_wine),
    "breast cancer": lambda: scaled(load_breast_cancer),
    "moons": lambda: make_moons(600, noise=0.2, random_state=0),
}


@pytest.fixture(scope="module")
def trust():
    X, y = load_digits(return_X_y=True)
    y, _ = with_wrong_labels(X, y)
    return UNNClassifier(5, theta=0.3).fit(X, y).trust()


@pytest.mark.parametrize("name", DATA)
def test_most_wrong_labels_are_among_the_least_trusted(name):
    """Looking at as many samples as there are wrong ones finds at least 70 % of them."""
    X, y = DATA[name]()
    for seed in range(3):
        noisy, wrong = with_wrong_labels(X, y, seed=seed)
        trust = UNNClassifier(10, theta=0.3).fit(X, noisy).trust()
        found = np.isin(trust.least(len(wrong)), wrong).mean()
        assert found > 0.7, (seed, found)
        assert np.mean(trust.trust[wrong] < 0) > 0.7
        assert not np.isin(trust.most(len(wrong)), wrong).any()


def test_trust_by_hand():
    """1-NN on a line: who has whom near, and who agrees."""
    X = np.array([[0.0], [1.0], [1.9], [5.0], [6.0]])
    y = np.array([0, 0, 1, 1, 1])
    trust = UNNClassifier(1).fit(X, y).trust()
    # 0 → 1, 1 → 2, 2 → 1, 3 → 4, 4 → 3: who has j near?  1: {0, 2}; 2: {1}; 3: {4}; 4: {3}
    agree, differ = np.array([0, 1, 0, 1, 1]), np.array([0, 1, 1, 0, 0])
    np.testing.assert_allclose(trust.trust, 0.5 * np.log((agree + 1) / (differ + 1)))
    np.testing.assert_array_equal(trust.n_reciprocal, agree + differ)
    np.testing.assert_array_equal(trust.support, [1, 0, 0, 1, 1])
    assert list(trust.least(2)) == [2, 1]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_trust_is_the_step_that_an_example_takes_first(n_classes):
    """With the default smoothing, of normalised weights, and in its own class."""
    rng = np.random.default_rng(1)
    y = np.arange(30) % n_classes
    X = rng.normal(size=(30, 2)) + y[:, None]
    trust = UNNClassifier(4).fit(X, y).trust().trust
    assert (trust < 0).any()
    for j in range(30):
        # All in turn, and j has the first turn; the others keep their order among equals.
        order = np.r_[j, np.delete(np.arange(30), j)]
        model = UNNClassifier(4, chooser="lazy", n_rounds=1).fit(X[order], y[order])
        own = model.alphas_[0, y[j] if n_classes > 2 else 0]
        assert own == pytest.approx(trust[j], abs=1e-14)


def test_it_carries_the_fitted_leverages_and_margins(trust):
    X, y = load_digits(return_X_y=True)
    y, _ = with_wrong_labels(X, y)
    model = UNNClassifier(5, theta=0.3).fit(X, y)
    rows = np.arange(len(y))
    np.testing.assert_array_equal(trust.leverages, model.alphas_[rows, y])
    np.testing.assert_array_equal(trust.margins, model.margins_[rows, y])
    assert trust.leverages[trust.least(1, by="leverages")[0]] == trust.leverages.min() == 0
    assert trust.leverages[trust.most(1, by="leverages")[0]] == trust.leverages.max() > 0


def test_least_and_most_are_two_ends(trust):
    everybody = trust.least(len(trust.trust))
    np.testing.assert_array_equal(trust.most(7), everybody[::-1][:7])
    assert sorted(everybody) == list(range(len(trust.trust)))


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frame(trust, backend):
    frame = trust.frame(backend)
    assert list(frame.columns) == [
        "sample", "label", "trust", "leverage", "margin", "support", "n_reciprocal"
    ]  # fmt: skip
    assert list(frame["sample"][:3]) == list(trust.least(3))
    assert len(frame) == len(trust.labels)


def test_plot_and_repr(trust):
    ax = trust.plot(n=3)
    shown = [text.get_text() for text in ax.texts]
    assert shown == [str(row) for row in trust.least(3)]
    assert "against their label" in ax.get_title()
    pyplot.close(ax.figure)
    assert "negative trust" in repr(trust)
    assert isinstance(trust, Trust)


def test_several_labels():
    X = np.arange(20.0)[:, None]
    y = np.column_stack([X[:, 0] < 10, X[:, 0] % 20 > 4]).astype(int)
    y[15] = [1, 0]
    trust = UNNClassifier(3).fit(X, y).trust()
    assert trust.least(1) == [15]
    assert trust.labels[15] == "0"


def test_bad_numbers(trust):
    refused(lambda: trust.least(-1), "n", "-1")
    refused(lambda: trust.most(2.5), "n", "2.5")
    refused(lambda: trust.least(3, by="height"), "by", "trust", "height")

"""Votes of any number of classes on a GPU: the host's values, counted where the lists are."""

import numpy as np
import pytest
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bernoulli, ClassCounts, FixedSize, evaluate, validation_curve

torch = pytest.importorskip("torch", reason="needs torch")
if not torch.cuda.is_available():
    pytest.skip("needs a GPU", allow_module_level=True)

from allsplits.exact.on_device.votes import DeviceVotes  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture
def counted(monkeypatch):
    """How many rows the device was given, and how many it left to the host."""
    rows = []
    add = DeviceVotes.add

    def spy(self, some):
        left = add(self, some)
        rows.append((len(some.numbers), len(left)))
        return left

    monkeypatch.setattr(DeviceVotes, "add", spy)
    return rows


def made(n, n_classes, seed=0, n_features=8):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.geometric(min(0.5, 3 / n_classes), n) - 1, n_classes - 1)
    y[:n_classes] = np.arange(n_classes)
    return rng.standard_normal((n_classes, n_features))[y] + rng.standard_normal((n, n_features)), y


def assert_same_curves(X, y, ks, cv):
    """The curve of the device is that of the host."""
    found, expected = (
        validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks, cv=cv, backend=backend)
        for backend in ("torch", "exact")
    )
    bound = found.error_bound + expected.error_bound
    assert np.all(np.abs(np.subtract(found.scores, expected.scores)) <= bound)
    assert np.all(np.abs(np.subtract(found.scores, expected.scores)) <= 1e-13)


CURVES = {
    "fixed size": lambda n: FixedSize(int(0.8 * n)),
    "a third": lambda n: FixedSize(n // 3),
    "folds": lambda n: KFold(7),
    "independent draws": lambda n: Bernoulli(0.6),
    "stratified": lambda n: StratifiedKFold(3),
}


# Eight votes are looked at side by side; 32, 64 or 128 points, and items of a row in powers of two.
@pytest.mark.parametrize("k_most", [1, 7, 9, 20, 45])
@pytest.mark.parametrize("n_classes", [3, 40])
@pytest.mark.parametrize("name", CURVES)
def test_curves(name, n_classes, k_most, counted):
    X, y = made(700, n_classes)
    y = y if name != "stratified" else y % min(n_classes, 12)
    # In no order: the smallest k that a prefix is asked about is not that of the first column.
    ks = np.random.default_rng(1).permutation(np.arange(1, k_most + 1))
    assert_same_curves(X, y, ks, CURVES[name](len(X)))
    if k_most > 1:
        assert sum(given for given, _ in counted) == len(X)
        assert sum(left for _, left in counted) == 0


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("k", [2, 6, 13])
@pytest.mark.parametrize("cv", [FixedSize(500), StratifiedKFold(4), ClassCounts(60)], ids=repr)
@pytest.mark.parametrize("n_classes", [2, 9])
def test_every_class_of_every_sample(cv, k, label_ties, n_classes, counted):
    X, y = made(650, n_classes, seed=k)
    y = np.arange(650) % n_classes

    def result(backend):
        model = KNeighborsClassifier(k)
        return evaluate(model, X, y, cv=cv, label_ties=label_ties, backend=backend)

    found, expected = result("torch"), result("exact")
    bound = found.error_bound + expected.error_bound
    assert np.abs(found.prediction_proba - expected.prediction_proba).max() <= bound
    assert np.abs(found.sample_scores - expected.sample_scores).max() <= bound
    assert abs(found.score - expected.score) <= bound
    assert counted


@pytest.mark.parametrize("cv", [FixedSize(11), StratifiedKFold(2)], ids=repr)
@pytest.mark.parametrize("label_ties", ["first", "share"])
def test_fractions(cv, label_ties, counted):
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((16, 2)), np.array([0, 1, 2, 3] * 4)
    y[3] = 2

    def curve(**keywords):
        return validation_curve(
            KNeighborsClassifier(), X, y, n_neighbors=range(1, 7), cv=cv, label_ties=label_ties,
            **keywords,
        )  # fmt: skip

    found, exact = curve(backend="torch"), curve(exact=True)
    assert counted
    assert np.all(np.abs(found.scores - exact.scores) <= found.error_bound)


def test_contradicting_duplicates_are_left_to_the_host(counted):
    X, y = made(600, 5)
    X[1:40:2] = X[0:40:2]
    assert_same_curves(X, y, range(1, 9), FixedSize(450))
    assert 0 < sum(left for _, left in counted) < 600


def test_data_with_nothing_but_ties(counted):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (9000, 3)).astype(float), rng.integers(0, 4, 9000)
    assert_same_curves(X, y, range(1, 4), FixedSize(7000))


def test_scales_over_thirty_decades_and_the_fused_search(counted):
    X, y = made(40_001, 30, n_features=16)
    X = X * 1e-15
    assert_same_curves(X, y, range(1, 26), FixedSize(32_000))
    assert sum(given for given, _ in counted) == len(X)

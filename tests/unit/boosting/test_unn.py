"""UNNClassifier: what is kept, what is predicted, and what must not matter."""

import pickle
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine, make_moons, make_multilabel_classification
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from allsplits import UNNClassifier, order_neighbors

LOSSES = ["exponential", "squared", "logistic"]
CHOOSERS = ["boosting", "boosting again", "longest step", "longest step once", "lazy"]
ONCE = ["boosting", "longest step once"]


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.3, random_state=0)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def several_labels():
    return make_multilabel_classification(200, n_features=6, n_classes=4, random_state=0)


def votes_by_hand(model, X, y_signs, queries):
    """The definition: leveraged votes of the k nearest prototypes, one query at a time."""
    kept = model.prototype_indices_
    decisions = []
    for query in queries:
        distances = ((X[kept] - query) ** 2).sum(axis=1)
        nearest = kept[np.argsort(distances, kind="stable")[: model.n_neighbors]]
        decisions.append((model.alphas_[nearest] * y_signs[nearest]).sum(axis=0))
    return np.array(decisions)


@pytest.mark.parametrize("theta", [0.3, 1.0])
@pytest.mark.parametrize("loss", LOSSES)
def test_decisions_are_leveraged_votes_of_the_prototypes(wine, loss, theta):
    X, y = wine
    model = UNNClassifier(4, loss=loss, theta=theta).fit(X, y)
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    queries = X[:20] + 0.01
    expected = votes_by_hand(model, X, signs, queries)
    decision = model.decision_function(queries)
    voted = expected != 0
    assert voted.mean() > 0.8
    np.testing.assert_allclose(decision[voted], expected[voted], atol=1e-12)
    np.testing.assert_allclose(decision[~voted], 0, atol=4e-9)
    np.testing.assert_array_equal(model.predict(queries), decision.argmax(axis=1))


def test_equal_leverages_are_the_plain_vote(moons):
    X, y = moons
    model = UNNClassifier(5).fit(X, y)
    model.alphas_ = np.ones_like(model.alphas_)
    queries = X + 0.05
    plain = KNeighborsClassifier(5).fit(X[model.prototype_indices_], y[model.prototype_indices_])
    np.testing.assert_array_equal(model.predict(queries), plain.predict(queries))


def test_two_classes_are_one_problem_and_symmetric(moons):
    X, y = moons
    model = UNNClassifier(5, theta=0.5).fit(X, y)
    turned = UNNClassifier(5, theta=0.5).fit(X, 1 - y)
    assert model.alphas_.shape == (300, 1)
    np.testing.assert_array_equal(model.alphas_, turned.alphas_)
    np.testing.assert_array_equal(model.decision_function(X), -turned.decision_function(X))


@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("theta", [0.1, 0.37, 0.8])
def test_theta_limits_what_each_class_keeps(wine, chooser, theta):
    X, y = wine
    model = UNNClassifier(5, theta=theta, chooser=chooser).fit(X, y)
    most = int(np.ceil(theta * len(X)))
    assert (np.count_nonzero(model.alphas_, axis=0) <= most).all()
    union = np.flatnonzero((model.alphas_ != 0).any(axis=1))
    np.testing.assert_array_equal(model.prototype_indices_, union)
    assert len(union) < len(X) or theta > 0.5


def test_one_keeps_everybody_who_was_chosen(moons):
    X, y = moons
    model = UNNClassifier(5).fit(X, y)
    chosen = np.unique(model._history.chosen)
    np.testing.assert_array_equal(model.prototype_indices_, chosen)
    assert 0 < len(chosen) < len(X)


def test_lazy_keeps_the_largest_leverages(moons):
    X, y = moons
    full = UNNClassifier(5, chooser="lazy").fit(X, y).alphas_[:, 0]
    cut = UNNClassifier(5, chooser="lazy", theta=0.2).fit(X, y).alphas_[:, 0]
    kept = cut != 0
    assert kept.sum() == 60
    np.testing.assert_array_equal(cut[kept], full[kept])
    assert np.abs(full[kept]).min() >= np.abs(full[~kept]).max()


def test_fewer_rounds_are_the_first_rounds(moons):
    X, y = moons
    short = UNNClassifier(5, theta=0.2).fit(X, y)
    long = UNNClassifier(5, theta=0.9).fit(X, y)
    assert short.surrogate_risk_.shape == (61, 1)
    np.testing.assert_array_equal(short.surrogate_risk_, long.surrogate_risk_[:61])


@pytest.mark.parametrize("chooser", ONCE)
def test_everybody_is_chosen_at_most_once(moons, chooser):
    model = UNNClassifier(5, chooser=chooser, n_rounds=10_000).fit(*moons)
    chosen = model._history.chosen[0]
    assert len(chosen) == len(set(chosen)) <= 300


def test_margins_and_risk_belong_to_the_leverages(wine):
    X, y = wine
    model = UNNClassifier(6).fit(X, y)
    near = order_neighbors(X, depth=6).indices
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    margins = signs * (model.alphas_ * signs)[near].sum(axis=1)
    np.testing.assert_allclose(model.margins_, margins, atol=1e-12)
    np.testing.assert_allclose(model.surrogate_risk_[-1], np.exp(-margins).mean(axis=0))
    np.testing.assert_array_equal(model.surrogate_risk_[0], 1.0)


@pytest.mark.parametrize("chooser", CHOOSERS)
def test_tol_stops_when_nothing_falls_any_more(moons, chooser):
    X, y = (part[:60] for part in moons)
    options = {"chooser": chooser, "loss": "squared", "n_rounds": 300_000}
    short = UNNClassifier(5, tol=0.005, **options).fit(X, y)
    long = UNNClassifier(5, **options).fit(X, y)
    rounds = int(short.n_rounds_[0])
    assert rounds < 300_000
    assert np.isfinite(short.alphas_).all()
    if chooser in ONCE:
        assert (np.abs(short._history.steps) > 0.005).all()
    else:
        assert short.surrogate_risk_[-1, 0] - long.surrogate_risk_[-1, 0] < 0.01


def test_classes_stop_by_themselves(wine):
    model = UNNClassifier(
        5, loss="squared", chooser="longest step", n_rounds=100_000, tol=0.02
    ).fit(*wine)
    assert len(set(model.n_rounds_)) == 3
    assert model.n_rounds_.max() < 100_000
    assert model.surrogate_risk_.shape == (model.n_rounds_.max() + 1, 3)
    first = int(np.argmin(model.n_rounds_))
    rest = model.surrogate_risk_[model.n_rounds_[first] :, first]
    np.testing.assert_array_equal(rest, rest[0])


@pytest.mark.parametrize("smoothing", [True, False, 0, 1.0])
@pytest.mark.parametrize("chooser", CHOOSERS)
@pytest.mark.parametrize("loss", LOSSES)
def test_perfect_and_zero_agreement_stay_finite(loss, chooser, smoothing):
    X = np.r_[np.arange(20.0), 100 + np.arange(20.0)][:, None]
    apart = np.repeat([0, 1], 20)
    opposed = np.arange(40) % 2
    for y in (apart, opposed):
        model = UNNClassifier(
            2, loss=loss, chooser=chooser, smoothing=smoothing, n_rounds=2000
        ).fit(X, y)
        for values in (model.alphas_, model.margins_, model.surrogate_risk_):
            assert np.isfinite(values).all()
        assert np.isfinite(model.predict_proba(X + 0.3)).all()
    apart_again = UNNClassifier(2, loss=loss, chooser=chooser, theta=0.5).fit(X, apart)
    assert apart_again.score(X, apart) == 1


def test_duplicates_and_an_example_nobody_has_near():
    X = np.array([[0.0]] * 6 + [[1.0]] * 6 + [[50.0]])
    y = np.array([0] * 6 + [1] * 6 + [0])
    model = UNNClassifier(3, theta=0.5).fit(X, y)
    assert 12 not in model.prototype_indices_
    assert model.alphas_[12, 0] == 0
    assert np.isfinite(model.decision_function(X)).all()
    assert model.predict([[0.0]]) == [0]


def ring_of_four():
    """Two near ones on either side, one friend and one foe: nobody's step would help."""
    D = np.array([[0, 1, 9, 2], [2, 0, 1, 9], [9, 2, 0, 1], [1, 9, 2, 0]], dtype=float)
    return D, np.array([0, 0, 1, 1])


def test_when_no_step_helps_everybody_is_kept():
    D, y = ring_of_four()
    model = UNNClassifier(2, theta=0.5, metric="precomputed").fit(D, y)
    assert not model.alphas_.any()
    assert len(model.prototype_indices_) == 4
    assert list(model.n_rounds_) == [0]
    assert model.surrogate_risk_.shape == (1, 1)


def test_where_all_abstain_the_plain_vote_decides():
    D, y = ring_of_four()
    model = UNNClassifier(2, metric="precomputed").fit(D, y)
    queries = np.array([[1.0, 2, 9, 9], [9, 9, 1, 2], [1, 9, 2, 9]])
    np.testing.assert_allclose(model.decision_function(queries), [-2e-9, 2e-9, 0])
    assert list(model.predict(queries)) == [0, 1, 0]


@pytest.mark.parametrize(
    ("loss", "link"),
    [
        ("exponential", lambda h: 1 / (1 + np.exp(-2 * h))),
        ("logistic", lambda h: 1 / (1 + np.exp(-h))),
        ("squared", lambda h: np.clip((1 + h) / 2, 0, 1)),
    ],
)
def test_probabilities_follow_the_documented_link(moons, wine, several_labels, loss, link):
    X, y = moons
    model = UNNClassifier(5, loss=loss).fit(X, y)
    expected = link(model.decision_function(X))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-14)
    X, y = wine
    model = UNNClassifier(5, loss=loss).fit(X, y)
    shares = link(model.decision_function(X))
    np.testing.assert_allclose(
        model.predict_proba(X), shares / shares.sum(axis=1, keepdims=True), atol=1e-14
    )
    X, y = several_labels
    model = UNNClassifier(5, loss=loss).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X), link(model.decision_function(X)), atol=1e-14)


def test_probabilities_are_equal_where_every_class_is_refused(wine):
    X, y = wine
    model = UNNClassifier(3, loss="squared").fit(X, y)
    model.alphas_ = -5.0 * np.where(y[:, None] == np.arange(3), 1, -1)
    np.testing.assert_array_equal(model.predict_proba(X[:4]), 1 / 3)


def test_several_labels(several_labels):
    X, y = several_labels
    model = UNNClassifier(5, theta=0.5).fit(X[:150], y[:150])
    assert list(model.classes_) == [0, 1, 2, 3]
    found = model.predict(X[150:])
    assert found.shape == (50, 4)
    assert set(np.unique(found)) <= {0, 1}
    alone = UNNClassifier(5, n_rounds=75).fit(X[:150], y[:150, 2])
    np.testing.assert_array_equal(
        UNNClassifier(5, n_rounds=75).fit(X[:150], y[:150]).alphas_[:, [2]], alone.alphas_
    )
    assert (found == y[150:]).mean() > 0.6


def test_a_label_that_nobody_has():
    X = np.arange(12.0)[:, None]
    y = np.column_stack([X[:, 0] > 5, np.zeros(12)]).astype(int)
    model = UNNClassifier(3).fit(X, y)
    np.testing.assert_array_equal(model.predict(X)[:, 1], 0)


@pytest.mark.parametrize("data", ["moons", "wine", "several_labels"])
@pytest.mark.parametrize("theta", [0.4, 1.0])
def test_stages_end_at_the_prediction(request, data, theta):
    X, y = request.getfixturevalue(data)
    model = UNNClassifier(4, theta=theta).fit(X[::2], y[::2])
    stages = list(model.staged_predict(X[1::2]))
    assert len(stages) == model.n_rounds_.max()
    np.testing.assert_array_equal(stages[-1], model.predict(X[1::2]))
    assert any((stage != stages[-1]).any() for stage in stages)


def test_threads_do_not_matter(wine):
    X, y = wine
    for loss in LOSSES:
        models = [UNNClassifier(5, loss=loss, theta=0.5, n_jobs=n).fit(X, y) for n in (1, 2, 3, -1)]
        for model in models[1:]:
            np.testing.assert_array_equal(model.alphas_, models[0].alphas_)
            np.testing.assert_array_equal(model.surrogate_risk_, models[0].surrogate_risk_)
            np.testing.assert_array_equal(
                model.decision_function(X + 0.1), models[0].decision_function(X + 0.1)
            )


def test_no_seed_is_repeatable_and_a_seed_shuffles_equals():
    X, y = load_iris(return_X_y=True)
    plain = [UNNClassifier(5, theta=0.3).fit(X, y) for _ in range(2)]
    np.testing.assert_array_equal(plain[0].alphas_, plain[1].alphas_)
    seeds = [UNNClassifier(5, theta=0.3, random_state=s).fit(X, y) for s in (0, 0, 1)]
    np.testing.assert_array_equal(seeds[0].alphas_, seeds[1].alphas_)
    assert (seeds[0].alphas_ != seeds[2].alphas_).any()


def test_a_seed_keeps_rows_and_leverages_together(moons):
    X, y = moons
    model = UNNClassifier(5, random_state=3).fit(X, y)
    near = NearestNeighbors(n_neighbors=6).fit(X).kneighbors(X, return_distance=False)[:, 1:]
    signs = np.where(y == 1, 1, -1)
    margins = signs * (model.alphas_[:, 0] * signs)[near].sum(axis=1)
    np.testing.assert_allclose(model.margins_[:, 0], margins, atol=1e-12)


def balance_scale():
    """All places of two weights on two arms of 1 to 5: nearly every distance is tied."""
    X = np.array(list(product(range(1, 6), repeat=4)), dtype=float)
    return X, np.sign(X[:, 0] * X[:, 1] - X[:, 2] * X[:, 3]).astype(int)


@pytest.mark.parametrize("random_state", [None, 4])
@pytest.mark.parametrize("theta", [0.2, 1.0])
def test_prototypes_tied_at_the_last_place_share_its_votes(theta, random_state):
    """As the mean over all orders of the tied; the order of the rows does not matter."""
    X, y = balance_scale()
    rows = np.random.default_rng(0).permutation(625)
    train, test = rows[:312], rows[312:]
    options = {"n_neighbors": 4, "theta": theta, "random_state": random_state}
    model = UNNClassifier(**options).fit(X[train], y[train])
    kept = model.prototype_indices_
    signs = np.where(y[train][:, None] == [-1, 0, 1], 1, -1)
    votes = (model.alphas_ * signs)[kept]
    squares = ((X[test][:, None] - X[train][kept]) ** 2).sum(axis=2)
    expected = np.empty((len(test), 3))
    for i, row in enumerate(squares):
        fourth = np.sort(row)[3]
        nearer, tied = row < fourth, row == fourth
        expected[i] = votes[nearer].sum(axis=0) + (4 - nearer.sum()) * votes[tied].mean(axis=0)
    decision = model.decision_function(X[test])
    settled = np.abs(expected) > 1e-12
    np.testing.assert_allclose(decision[settled], expected[settled], atol=1e-12)
    assert np.abs(decision[~settled]).max(initial=0) < 1e-8
    *_, last = model.staged_predict(X[test])
    clear = np.sort(np.abs(expected), axis=1)[:, 0] > 1e-12
    if theta == 1.0:
        np.testing.assert_array_equal(last[clear], model.predict(X[test])[clear])
    for D in (pairwise_distances(X), np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))):
        by_distance = UNNClassifier(**options, metric="precomputed")
        by_distance.fit(D[np.ix_(train, train)], y[train])
        np.testing.assert_array_equal(by_distance.alphas_, model.alphas_)
        np.testing.assert_array_equal(
            by_distance.predict(D[np.ix_(test, train)]), model.predict(X[test])
        )


@pytest.mark.parametrize("metric", ["manhattan", "cosine", "seuclidean", "chebyshev"])
def test_metrics_agree_with_precomputed_distances(wine, metric):
    X, y = wine
    options = {"V": X.var(axis=0, ddof=1)} if metric == "seuclidean" else {}
    D = pairwise_distances(X, metric=metric, **options)
    np.fill_diagonal(D, 0)
    D = np.maximum(D, 0)
    by_name = UNNClassifier(5, theta=0.5, metric=metric).fit(X, y)
    by_distance = UNNClassifier(5, theta=0.5, metric="precomputed").fit(D, y)
    np.testing.assert_allclose(by_name.alphas_, by_distance.alphas_, atol=1e-9)
    np.testing.assert_array_equal(by_name.predict(X), by_distance.predict(D))


def test_minkowski_and_a_users_metric(wine):
    X, y = (part[:60] for part in wine)
    y = y == y[0]
    y[::3] = True
    by_name = UNNClassifier(4, p=3).fit(X, y)
    by_function = UNNClassifier(
        4, metric=lambda a, b: float((np.abs(a - b) ** 3).sum() ** (1 / 3))
    ).fit(X, y)
    np.testing.assert_allclose(by_name.alphas_, by_function.alphas_, atol=1e-9)
    np.testing.assert_array_equal(by_name.predict(X + 0.1), by_function.predict(X + 0.1))


def test_missing_values_with_the_metric_that_knows_them(wine):
    X, y = wine
    X = X.copy()
    X[::7, 3] = np.nan
    model = UNNClassifier(5, theta=0.5, metric="nan_euclidean").fit(X, y)
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames(wine, make):
    X, y = wine
    names = [f"f{i}" for i in range(X.shape[1])]
    frame = make(dict(zip(names, X.T, strict=True)))
    model = UNNClassifier(5, theta=0.4).fit(frame, y)
    assert list(model.feature_names_in_) == names
    np.testing.assert_array_equal(
        model.predict(frame), UNNClassifier(5, theta=0.4).fit(X, y).predict(X)
    )


def test_string_labels(moons):
    X, y = moons
    names = np.array(["no", "yes"])[y]
    model = UNNClassifier(5).fit(X, names)
    assert list(model.classes_) == ["no", "yes"]
    np.testing.assert_array_equal(model.predict(X) == "yes", UNNClassifier(5).fit(X, y).predict(X))


def test_a_fitted_model_survives_copying(moons):
    X, y = moons
    model = UNNClassifier(5, loss="logistic", theta=0.5).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert clone(model).get_params() == model.get_params()


def test_progress_is_shown_only_when_asked(moons, capsys):
    X, y = moons
    UNNClassifier(5).fit(X, y)
    assert capsys.readouterr().out == ""
    UNNClassifier(5, progress=True).fit(X, y)
    assert "boosting" in capsys.readouterr().out


def test_equally_near_prototypes_share_whatever_rounding_says():
    """0.3 - 0.2 is a little less than 0.2 - 0.1 in floating point."""
    for X in ([[0.1], [0.3], [5.0], [6.0]], [[0.3], [0.1], [5.0], [6.0]]):
        model = UNNClassifier(1).fit(X, [0, 1, 0, 1])
        order = order_neighbors([[0.2], *X], depth=1)
        assert order.tie_groups(0)[0].tolist() == [1, 2]
        assert model.predict_proba([[0.2]]).tolist() == [[0.5, 0.5]]

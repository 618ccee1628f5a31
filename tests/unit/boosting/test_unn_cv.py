"""UNNClassifierCV: the same as a grid search, from fewer trainings."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_wine, make_moons, make_multilabel_classification
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, GroupKFold, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from allsplits import UNNClassifier, UNNClassifierCV
from unit.refused import refused

KS, THETAS = (1, 4, 7), (0.2, 0.5, 1.0)
FOLDS = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


@pytest.fixture(scope="module")
def fitted(wine):
    return UNNClassifierCV(KS, theta=THETAS, cv=FOLDS).fit(*wine)


def scores_as_by_grid_search(X, y, **options):
    """Fit both ways, compare all scores; returns ours."""
    mine = UNNClassifierCV(KS, theta=THETAS, cv=FOLDS, **options).fit(X, y)
    scoring = options.pop("scoring", None)
    grid = {"n_neighbors": KS, "theta": THETAS}
    theirs = GridSearchCV(UNNClassifier(**options), grid, cv=FOLDS, scoring=scoring).fit(X, y)
    expected = theirs.cv_results_["mean_test_score"].reshape(len(KS), len(THETAS))
    np.testing.assert_allclose(mine.scores_.scores, expected, atol=1e-12)
    assert mine.best_score_ == pytest.approx(theirs.best_score_)
    return mine


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"chooser": "lazy", "loss": "logistic"},
        {"chooser": "longest step once", "loss": "squared"},
        {"chooser": "longest step", "n_rounds": 40, "smoothing": 1.0, "normalize_weights": False},
        {"random_state": 5},
    ],
)
def test_scores_are_those_of_a_grid_search(wine, options):
    scores_as_by_grid_search(*wine, **options)


@pytest.mark.parametrize("random_state", [None, 5])
def test_ties_are_those_of_a_grid_search(random_state):
    """Points on a grid: a seed decides between equally near ones, in folds as in `fit`."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (120, 3)).astype(float), rng.integers(0, 2, 120)
    scores_as_by_grid_search(X, y, random_state=random_state)


def test_two_classes_and_another_scoring():
    X, y = make_moons(200, noise=0.3, random_state=0)
    mine = scores_as_by_grid_search(X, y, scoring="roc_auc")
    assert mine.scores_.scoring == "roc_auc"


def test_several_labels_and_precomputed_distances(wine):
    X, y = make_multilabel_classification(120, n_features=5, n_classes=3, random_state=0)
    model = UNNClassifierCV(KS, theta=THETAS, cv=3).fit(X, y)
    assert model.predict(X).shape == y.shape
    X, y = wine
    D = pairwise_distances(X)
    by_distance = UNNClassifierCV(KS, theta=THETAS, cv=FOLDS, metric="precomputed").fit(D, y)
    by_name = UNNClassifierCV(KS, theta=THETAS, cv=FOLDS).fit(X, y)
    np.testing.assert_allclose(by_distance.scores_.scores, by_name.scores_.scores)
    np.testing.assert_array_equal(by_distance.predict(D), by_name.predict(X))


def test_the_best_pair_is_fitted_on_everything(wine, fitted):
    best = fitted.best_params_
    alone = UNNClassifier(best["n_neighbors"], theta=best["theta"]).fit(*wine)
    np.testing.assert_array_equal(fitted.best_estimator_.alphas_, alone.alphas_)
    X = wine[0] + 0.1
    np.testing.assert_array_equal(fitted.predict(X), alone.predict(X))
    np.testing.assert_array_equal(fitted.predict_proba(X), alone.predict_proba(X))
    np.testing.assert_array_equal(fitted.decision_function(X), alone.decision_function(X))


def test_of_equal_pairs_the_smaller_model_wins(fitted):
    scores = fitted.scores_
    equal = type(scores)(
        scores.n_neighbors, scores.thetas[::-1], np.ones_like(scores.fold_scores),
        scores.n_prototypes, "accuracy",
    )  # fmt: skip
    assert equal.best == {"n_neighbors": 1, "theta": 0.2}


def test_threads_do_not_matter(wine, fitted):
    for n_jobs in (1, 2, 3):
        again = UNNClassifierCV(KS, theta=THETAS, cv=FOLDS, n_jobs=n_jobs).fit(*wine)
        np.testing.assert_array_equal(again.scores_.fold_scores, fitted.scores_.fold_scores)


def test_frame_plot_and_repr(fitted):
    for backend in ("pandas", "polars"):
        frame = fitted.scores_.frame(backend)
        assert list(frame.columns) == ["n_neighbors", "theta", "accuracy", "std", "n_prototypes"]
        assert len(frame) == 9
    ax = fitted.scores_.plot()
    assert len(ax.lines) == len(KS) + 1
    pyplot.close(ax.figure)
    assert "3 × 3 pairs, 3 folds" in repr(fitted.scores_)


def test_groups_reach_the_splitter(wine):
    X, y = wine
    groups = np.arange(len(y)) // 6
    model = UNNClassifierCV((1, 3), theta=(0.5,), cv=GroupKFold(3)).fit(X, y, groups)
    assert model.scores_.fold_scores.shape == (2, 1, 3)


def test_progress_is_shown_only_when_asked(wine, capsys):
    UNNClassifierCV((1,), theta=(0.5,), cv=FOLDS).fit(*wine)
    assert capsys.readouterr().out == ""
    UNNClassifierCV((1,), theta=(0.5,), cv=FOLDS, progress=True).fit(*wine)
    assert "trainings" in capsys.readouterr().out


def test_candidates_that_do_not_fit_are_dropped_aloud(wine):
    X, y = (part[::8] for part in wine)
    with pytest.warns(UserWarning, match=r"n_neighbors above 14") as warned:
        model = UNNClassifierCV((1, 3, 40), theta=(0.5,), cv=FOLDS).fit(X, y)
    assert [one.filename for one in warned] == [__file__]
    assert list(model.scores_.n_neighbors) == [1, 3]
    refused(lambda: UNNClassifierCV((40,), cv=FOLDS).fit(X, y), "n_neighbors", "14", "40")


def test_bad_candidates(wine):
    refused(lambda: UNNClassifierCV(theta=()).fit(*wine), "theta", "at least one")
    refused(lambda: UNNClassifierCV(theta=(0.5, 0.5)).fit(*wine), "theta", "once")
    refused(lambda: UNNClassifierCV(theta=(0.5, 1.5)).fit(*wine), "theta", "1.5")
    refused(lambda: UNNClassifierCV(theta="all").fit(*wine), "theta", "'all'")
    refused(lambda: UNNClassifierCV((0, 3)).fit(*wine), "n_neighbors", "0")
    refused(lambda: UNNClassifierCV(chooser="best").fit(*wine), "chooser", "'best'")
    refused(lambda: UNNClassifierCV(progress="yes").fit(*wine), "progress", "'yes'")

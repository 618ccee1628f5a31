"""Scores of replayed splits are those of scikit-learn, for every splitter, vote and score."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, make_scorer, mean_pinball_loss
from sklearn.model_selection import (
    GroupKFold,
    LeaveOneOut,
    PredefinedSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import order_neighbors, replay
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.replays.scores import CLASS_SCORES, MEAN_SCORES

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
RNG = np.random.default_rng(3)
N = 60
LABELS = {
    "2 classes": RNG.permutation(np.arange(N) % 2),
    "-1 and 1": 2 * RNG.permutation(np.arange(N) % 3 % 2) - 1,
    "4 classes": RNG.permutation(np.arange(N) % 4),
    "words": np.array(["ant", "bee", "cat"])[RNG.permutation(np.arange(N) % 3)],
}
X = RNG.normal(size=(N, 3)) + LABELS["4 classes"][:, None] + LABELS["2 classes"][:, None]
TARGETS = X[:, 0] + RNG.normal(size=N)
GROUPS = np.arange(N) // 5
FOLDS = list(StratifiedKFold(4, shuffle=True, random_state=0).split(X, LABELS["4 classes"]))
NAMES = [name for name in CLASS_SCORES if name != "roc_auc"]
SPLITTERS = {
    "in time": TimeSeriesSplit(4),
    "predefined": PredefinedSplit(np.arange(N) % 4 - 1),
    "groups": GroupKFold(4),
    "stratified groups": StratifiedGroupKFold(3),
    "one left out": LeaveOneOut(),
}


def both(estimator, y, scoring, cv=FOLDS):
    """(ours, theirs) on the same splits."""
    groups = GROUPS if "Group" in type(cv).__name__ else None
    ours = replay(estimator, X, y, cv=cv, scoring=scoring, groups=groups)
    theirs = cross_val_score(estimator, X, y, cv=cv, scoring=scoring, groups=groups)
    return ours.split_scores[:, 0], theirs


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("labels", ["4 classes", "words"])
@pytest.mark.parametrize("scoring", [*NAMES, "roc_auc_ovo", "top_k_accuracy"])
def test_scores_of_several_classes(scoring, labels, weights):
    estimator = KNeighborsClassifier(5, weights=weights)
    ours, theirs = both(estimator, LABELS[labels], scoring)
    assert ours == pytest.approx(theirs, abs=1e-13)


@pytest.mark.parametrize("labels", ["2 classes", "-1 and 1"])
@pytest.mark.parametrize(
    "scoring", ["roc_auc", "f1", "precision", "recall", "jaccard", "average_precision", *NAMES]
)
def test_scores_of_two_classes(scoring, labels):
    ours, theirs = both(KNeighborsClassifier(4), LABELS[labels], scoring)
    assert ours == pytest.approx(theirs, abs=1e-13)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("scoring", [*MEAN_SCORES, "neg_median_absolute_error"])
def test_scores_of_means(scoring, weights):
    ours, theirs = both(KNeighborsRegressor(3, weights=weights), TARGETS, scoring)
    assert ours == pytest.approx(theirs, abs=1e-12)


@pytest.mark.parametrize("name", SPLITTERS)
def test_splitters_as_they_are(name):
    cv = SPLITTERS[name]
    ours, theirs = both(KNeighborsClassifier(3), LABELS["4 classes"], "accuracy", cv)
    assert ours.tolist() == pytest.approx(theirs.tolist(), abs=1e-15)
    if name != "stratified groups":
        again, means = both(KNeighborsRegressor(3), TARGETS, "neg_mean_squared_error", cv)
        assert again == pytest.approx(means, abs=1e-12)


def test_callables():
    y, estimator = LABELS["4 classes"], KNeighborsClassifier(5)
    macro = make_scorer(f1_score, average="macro")
    quantile = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
    ours, theirs = both(estimator, y, macro)
    assert ours == pytest.approx(theirs)
    ours, theirs = both(KNeighborsRegressor(4), TARGETS, quantile)
    assert ours == pytest.approx(theirs)

    def agreement(y_true, y_pred):
        return np.mean(y_true == y_pred)

    named = replay(estimator, X, y, cv=FOLDS, scoring=agreement)
    plain = replay(estimator, X, y, cv=FOLDS)
    assert named.scoring == "agreement"
    assert named.split_scores.tolist() == plain.split_scores.tolist()


def test_scorers_see_the_tested_rows():
    def far_out(estimator, rows, y):
        assert len(estimator.predict_proba(rows)) == len(rows) == len(y)
        return rows[:, 0].max()

    found = replay(KNeighborsClassifier(1), X, LABELS["2 classes"], cv=FOLDS, scoring=far_out)
    assert found.split_scores[:, 0].tolist() == [X[test, 0].max() for _, test in FOLDS]


def test_several_scores_share_their_splits():
    y, estimator = LABELS["4 classes"], KNeighborsClassifier(5)
    found = replay(estimator, X, y, scoring=["accuracy", "f1_macro"], n_splits=50, random_state=0)
    alone = replay(estimator, X, y, scoring="f1_macro", n_splits=50, random_state=0)
    assert list(found) == ["accuracy", "f1_macro"]
    assert found["f1_macro"].split_scores.tolist() == alone.split_scores.tolist()
    named = replay(estimator, X, y, scoring={"right": "accuracy"}, n_splits=50, random_state=0)
    assert named["right"].scoring == "right"
    assert named["right"].exact_mean == found["accuracy"].exact_mean is not None


def test_orders_and_distances_instead_of_samples():
    y, estimator = LABELS["4 classes"], KNeighborsClassifier(5)
    expected = replay(estimator, X, y, cv=TimeSeriesSplit(4)).split_scores
    complete = order_neighbors(X)
    assert replay(estimator, complete, y, cv=TimeSeriesSplit(4)).split_scores.tolist() == (
        expected.tolist()
    )
    distances = np.linalg.norm(X[:, None] - X[None], axis=2)
    known = KNeighborsClassifier(5, metric="precomputed")
    found = replay(known, distances, y, cv=TimeSeriesSplit(4))
    assert found.split_scores.tolist() == expected.tolist()
    with pytest.raises(InvalidInputError, match=r"NeighborOrder of depth 6.* complete one"):
        replay(estimator, order_neighbors(X, depth=6), y, cv=TimeSeriesSplit(4))


@pytest.mark.parametrize(
    ("scoring", "error", "words"),
    [
        ("f2", InvalidInputError, "get_scorer_names"),
        ("f1", InvalidInputError, "two classes, one of them called 1"),
        ("roc_auc", InvalidInputError, "roc_auc_ovr"),
        ([], InvalidInputError, "at least one score"),
        (3, InvalidTypeError, "a name, a callable"),
        (lambda y_true: 0.0, InvalidTypeError, "needs 1 arguments"),
    ],
)
def test_scores_that_are_none(scoring, error, words):
    with pytest.raises(error, match=words):
        replay(KNeighborsClassifier(3), X, LABELS["4 classes"], scoring=scoring)

"""evaluate of a Pipeline: exact where steps look at rows alone, honest where they are refitted."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    LeavePGroupsOut,
    LeavePOut,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    NeighborhoodComponentsAnalysis,
)
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)

from allsplits import (
    Bootstrap,
    Evaluation,
    FixedSize,
    KNeighborsClassifierCV,
    PipelineEvaluation,
    evaluate,
)
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError

X, Y = load_wine(return_X_y=True)
KNN = KNeighborsClassifier(3)
TINY_X = np.random.default_rng(1).normal(size=(9, 6)) * [1, 3, 9, 1, 1, 5]
TINY_Y = np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])


class NeedsMany(TransformerMixin, BaseEstimator):
    """Fails on few samples."""

    def fit(self, X, y=None):
        if len(X) < 160:
            raise ValueError("not enough samples")
        return self

    def transform(self, X):
        return X


@pytest.mark.parametrize(
    "step",
    [
        Normalizer(),
        Binarizer(threshold=1.0),
        FunctionTransformer(np.log1p),
        PolynomialFeatures(2),
        make_pipeline(FunctionTransformer(np.sqrt), Normalizer()),
        make_union(Normalizer(), FunctionTransformer(np.sqrt)),
        make_column_transformer((Normalizer(), [0, 1]), remainder="passthrough"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_look_at_rows_alone_leave_it_exact(step):
    found = evaluate(make_pipeline(step, KNN), X, Y)
    assert isinstance(found, Evaluation)
    assert found.score == evaluate(KNN, clone(step).fit_transform(X), Y).score


@pytest.mark.parametrize(
    "step",
    [
        FunctionTransformer(lambda X: X - X.mean(axis=0)),
        FunctionTransformer(lambda X: np.argsort(X, axis=0)),
        make_column_transformer((Normalizer(), [0, 1]), remainder=StandardScaler()),
        StandardScaler(),
    ],
    ids=["centred", "ranks", "columns", "scaled"],
)
def test_steps_that_look_at_other_rows_are_refitted(step):
    assert isinstance(evaluate(make_pipeline(step, KNN), X, Y, n_refits=2), PipelineEvaluation)


def test_no_steps_at_all():
    assert evaluate(make_pipeline("passthrough", KNN), X, Y).score == evaluate(KNN, X, Y).score
    assert evaluate(make_pipeline(KNN), X, Y).score == evaluate(KNN, X, Y).score


def whole_truth(pipeline, X, y, size):
    """The mean over all splits, refitted on each by scikit-learn."""
    rows = set(range(len(y)))
    scores = []
    for train in combinations(range(len(y)), size):
        test = sorted(rows - set(train))
        scores.append(clone(pipeline).fit(X[list(train)], y[list(train)]).score(X[test], y[test]))
    return float(np.mean(scores))


@pytest.mark.parametrize(
    "steps",
    [[StandardScaler()], [StandardScaler(), PCA(2)], [SelectKBest(k=2)]],
    ids=lambda steps: type(steps[-1]).__name__,
)
def test_the_mean_over_all_refitted_splits(steps):
    """84 splits of nine samples: the estimate is unbiased, and its error is what it says."""
    pipeline = make_pipeline(*steps, KNeighborsClassifier(3))
    truth = whole_truth(pipeline, TINY_X, TINY_Y, 6)
    found = [
        evaluate(
            pipeline, TINY_X, TINY_Y, cv=LeavePOut(3), n_refits=15, random_state=seed, n_jobs=1
        )
        for seed in range(30)
    ]
    scores = np.array([one.score for one in found])
    errors = np.array([one.standard_error for one in found])
    assert abs(scores.mean() - truth) < 4 * errors.mean() / np.sqrt(len(found))
    assert np.mean(np.abs(scores - truth) < 2.14 * errors) >= 0.8
    assert errors.mean() == pytest.approx(scores.std(ddof=1), rel=0.35)


def test_noise_that_leaks_through_the_selection_is_measured():
    rng = np.random.default_rng(1)
    noise, labels = rng.normal(size=(60, 2000)), np.arange(60) % 2
    found = evaluate(make_pipeline(SelectKBest(k=10), KNN), noise, labels)
    assert found.fit_once.score > 0.75
    assert abs(found.score - 0.5) < 4 * found.standard_error < 0.4
    assert found.flattery.value > 3 * found.flattery.standard_error
    assert "which flatters by" in repr(found)
    assert "SAMPLED from 10 refits" in repr(found)


@pytest.mark.parametrize(
    "steps",
    [
        [SimpleImputer(), StandardScaler(), NeighborhoodComponentsAnalysis(2, max_iter=5)],
        [SimpleImputer(), LinearDiscriminantAnalysis()],
    ],
    ids=lambda steps: type(steps[-1]).__name__,
)
def test_missing_values_and_steps_that_see_y(steps):
    gaps = X.copy()
    gaps[::7, 3] = np.nan
    found = evaluate(make_pipeline(*steps, KNN), gaps, Y, n_refits=3)
    plain = cross_val_score(
        make_pipeline(*steps, KNN), gaps, Y, cv=StratifiedKFold(5, shuffle=True, random_state=0)
    )
    assert abs(found.score - plain.mean()) < 0.12


def test_columns_by_name():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(X[:, :3], columns=["a", "b", "c"], index=[f"row {i}" for i in range(178)])
    table["kind"] = np.where(X[:, 4] > 100, "much", "little")
    steps = make_column_transformer((StandardScaler(), ["a", "b"]), (OneHotEncoder(), ["kind"]))
    found = evaluate(make_pipeline(steps, KNN), table, pd.Series(Y, index=table.index), n_refits=3)
    assert found.fit_once.row_names[0] == "row 0"
    assert 0.5 < found.score < 1


def test_regressors_and_groups():
    target, groups = X[:, 0], np.arange(178) % 12
    found = evaluate(make_pipeline(StandardScaler(), KNeighborsRegressor(4)), X[:, 1:], target)
    assert found.score < 0
    assert found.scoring == "neg_mean_squared_error"
    kept = evaluate(
        make_pipeline(StandardScaler(), KNN), X, Y, cv=LeavePGroupsOut(2), groups=groups, n_refits=3
    )
    assert kept.n_refits == 3


def test_the_same_seed_gives_the_same():
    pipeline = make_pipeline(StandardScaler(), KNN)
    one, two = (evaluate(pipeline, X, Y, n_jobs=jobs, n_refits=6) for jobs in (1, 2))
    assert one.score == two.score
    other = evaluate(pipeline, X, Y, n_refits=6, random_state=1)
    assert other.refit_scores.tolist() != one.refit_scores.tolist()
    frame = one.frame("pandas")
    assert frame["difference"].mean() == pytest.approx(one.score - one.fit_once.score)
    assert one.plain.value == pytest.approx(frame["refit"].mean())


def test_equal_scores_by_chance_are_not_certain():
    found = evaluate(make_pipeline(StandardScaler(), KNN), X, Y, n_refits=2, random_state=3)
    assert found.standard_error >= 1 / 36 / 2 * 0.9


def test_pipelines_that_cannot_be():
    with pytest.raises(InvalidTypeError, match="ends in RandomForestClassifier: its last step"):
        evaluate(make_pipeline(PCA(), RandomForestClassifier()), X, Y)
    with pytest.raises(InvalidTypeError, match="metric='precomputed'"):
        evaluate(make_pipeline(PCA(), KNeighborsClassifier(3, metric="precomputed")), X, Y)
    with pytest.raises(InvalidInputError, match=r"failed on refit 0 \(142 training .*not enough"):
        evaluate(make_pipeline(NeedsMany(), KNN), X, Y, cv=FixedSize(142), n_jobs=1)
    with pytest.raises(InvalidInputError, match="failed on all samples: ValueError"):
        evaluate(make_pipeline(PCA(50), KNN), X, Y)
    with pytest.raises(UnsupportedError, match="count all splits alike"):
        evaluate(make_pipeline(StandardScaler(), KNN), X, Y, cv=Bootstrap())
    with pytest.raises(InvalidInputError, match="n_refits must be at least 2"):
        evaluate(make_pipeline(StandardScaler(), KNN), X, Y, n_refits=1)


def test_choosing_estimators_work_inside_of_pipelines():
    chosen = make_pipeline(StandardScaler(), KNeighborsClassifierCV(range(1, 10)))
    assert cross_val_score(chosen, X, Y).mean() > 0.9

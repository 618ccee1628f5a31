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
    TimeSeriesSplit,
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
    compare,
    evaluate,
    report,
)
from allsplits.exact import Options
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection._differences import Differences
from allsplits.model_selection._task import Given, Task
from allsplits.replays.draw import RunDrawer

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


STEPS = pytest.mark.parametrize(
    "steps",
    [[StandardScaler()], [StandardScaler(), PCA(2)], [SelectKBest(k=2)]],
    ids=lambda steps: type(steps[-1]).__name__,
)


@STEPS
def test_the_mean_over_all_refitted_splits(steps):
    """84 splits of nine samples: the estimate is near the truth, and its error covers that."""
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
    assert abs(scores.mean() - truth) < errors.mean()
    assert np.mean(np.abs(scores - truth) < 2.14 * errors) >= 0.9
    # Thirty repetitions know this to about 13 %.
    assert 0.75 < errors.mean() / np.sqrt(np.mean((scores - truth) ** 2)) < 2


def asked_under_all(points, sample, k, size):
    """How often a sample is right under every training set of the others."""
    others = [i for i in range(len(TINY_Y)) if i != sample]
    return np.mean(
        [
            KNeighborsClassifier(k).fit(points[list(t)], TINY_Y[list(t)]).predict(points[[sample]])
            == TINY_Y[sample]
            for t in combinations(others, size)
        ]
    )


@STEPS
def test_smoothed_differences_by_enumeration(steps):
    """Test samples under every training set of six, with the steps fitted on the split's own."""
    pipeline = make_pipeline(*steps)
    found = evaluate(
        make_pipeline(*steps, KNN), TINY_X, TINY_Y, cv=FixedSize(6), n_refits=4, n_jobs=1
    )
    assert found.differences.unseen == pytest.approx(2 / 8)
    drawn = RunDrawer(Task.read(KNN, Given(TINY_X, TINY_Y, FixedSize(6)), Options()).question())
    fixed = clone(pipeline).fit(TINY_X, TINY_Y).transform(TINY_X)
    for (train, test), smoothed in zip(drawn.splits(0, 4), found.differences.smoothed, strict=True):
        points = clone(pipeline).fit(TINY_X[train], TINY_Y[train]).transform(TINY_X)
        change = [asked_under_all(points, i, 3, 6) - asked_under_all(fixed, i, 3, 6) for i in test]
        assert smoothed == pytest.approx(np.mean(change), abs=1e-12)


def test_how_plain_and_smoothed_differences_are_mixed():
    plain, smoothed = np.array([0.1, -0.1, 0.2, 0.0]), np.array([0.04, 0.02, 0.0, 0.02])
    some = Differences(0.8 + plain, np.full(4, 0.8), smoothed, unseen=0.5, least_error=0.01)
    assert some.weight == pytest.approx(4 / (4 + 16))
    np.testing.assert_allclose(some.mixed, 0.2 * plain + 0.8 * smoothed)
    error = np.sqrt(some.mixed.var(ddof=1) / 4 + (0.8 * 0.25) ** 2 * (plain - smoothed).var(ddof=1))
    assert some.mean == pytest.approx((some.mixed.mean(), error))
    many = Differences(0.8 + np.tile(plain, 10**6), np.array(0.8), np.tile(smoothed, 10**6), 0.2, 0)
    assert many.mean.value == pytest.approx(plain.mean(), abs=1e-5)
    # Nothing is left out but one sample: both are the same, and none of the plain is needed.
    assert Differences(some.scores, some.fixed_scores, plain, 0.0, 0.01).mean == pytest.approx(
        (plain.mean(), plain.std(ddof=1) / 2)
    )
    nothing = Differences(np.ones(4), np.ones(4), np.zeros(4), unseen=0.2, least_error=0.01)
    assert nothing.mean == (0, 0.01)
    # One of twenty differs: two more may, by as much as scores of splits do.
    once, spread = np.eye(20)[0] / 10, np.linspace(0.7, 0.9, 20)
    rare = Differences(spread + once, spread, once / 2, 0.0, 0.01)
    assert rare.mean == pytest.approx((1 / 400, np.hypot(1 / 400, spread.std(ddof=1) / 10)))


def test_whole_runs_of_folds_are_refitted():
    """Twelve refits of five folds: everybody is tested twice, and some a third time."""
    task = Task.read(KNN, Given(X, Y, StratifiedKFold(5)), Options())
    splits = RunDrawer(task.question()).splits(0, 12)
    times = np.bincount(np.concatenate([split.test for split in splits[:10]]), minlength=178)
    assert (times == 2).all()
    last = np.concatenate([split.test for split in splits[10:]])
    assert len(np.unique(last)) == len(last) == pytest.approx(2 / 5 * 178, abs=3)
    assert all(len(np.intersect1d(*split)) == 0 for split in splits)


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
    changes = (1 - one.differences.weight) * frame["smoothed"]
    changes += one.differences.weight * frame["difference"]
    assert changes.mean() == pytest.approx(one.score - one.fit_once.score)
    assert one.plain.value == pytest.approx(frame["refit"].mean())


def test_equal_scores_by_chance_are_not_certain():
    """Two classes far apart: no refit changes anything."""
    apart = np.random.default_rng(0).normal(size=(40, 2)) + 100 * (np.arange(40) % 2)[:, None]
    found = evaluate(make_pipeline(StandardScaler(), KNN), apart, np.arange(40) % 2, n_refits=5)
    assert found.flattery == (0, pytest.approx(1 / 8 / 5))


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
    with pytest.raises(InvalidTypeError, match=r"cv must be .* got TimeSeriesSplit.* cross_val_sc"):
        evaluate(make_pipeline(StandardScaler(), KNN), X, Y, cv=TimeSeriesSplit())
    with pytest.raises(InvalidInputError, match=r"'f1_macro' has no exact .* cross_val_score"):
        evaluate(make_pipeline(StandardScaler(), KNN), X, Y, scoring="f1_macro")
    with pytest.raises(InvalidTypeError, match=r"ends in KNeighborsClassifierCV: .* cross_val_sco"):
        evaluate(make_pipeline(StandardScaler(), KNeighborsClassifierCV()), X, Y)
    gaps = np.where(np.arange(178)[:, None] % 7 == 0, np.nan, X)
    with pytest.raises(InvalidInputError, match=r"gave NaN or infinity on all .* SimpleImputer"):
        evaluate(make_pipeline(StandardScaler(), KNN), gaps, Y)
    with pytest.raises(InvalidInputError, match="n_refits must be at least 2"):
        evaluate(make_pipeline(StandardScaler(), KNN), X, Y, n_refits=1)


def test_choosing_estimators_work_inside_of_pipelines():
    chosen = make_pipeline(StandardScaler(), KNeighborsClassifierCV(range(1, 10)))
    assert cross_val_score(chosen, X, Y).mean() > 0.9


def test_two_pipelines_are_compared_on_the_same_splits():
    plain, reduced = (
        evaluate(make_pipeline(StandardScaler(), *more, KNN), X, Y, n_refits=5)
        for more in ([], [PCA(4)])
    )
    found = plain.minus(reduced)
    assert found.value == pytest.approx(plain.score - reduced.score)
    assert plain.fixed_scores.tolist() != reduced.fixed_scores.tolist()
    paired = plain.differences.mixed - reduced.differences.mixed
    assert found.standard_error >= paired.std(ddof=1) / np.sqrt(5)
    # A Pipeline and its copy do not differ on any split, whatever each is off by.
    same = plain.minus(evaluate(make_pipeline(StandardScaler(), KNN), X, Y, n_refits=5))
    assert same == (0, plain.differences.least_error)


def test_where_an_evaluation_is_wanted():
    found = evaluate(make_pipeline(StandardScaler(), KNN), X, Y, n_refits=2)
    other = evaluate(KNN, X, Y)
    for call in (
        lambda: compare(found, other),
        lambda: compare(other, found.fit_once, found),
        lambda: report(found),
        lambda: report(other, against=found),
        lambda: report(other, against={"refitted": found}),
    ):
        with pytest.raises(InvalidTypeError, match=r"must be an Evaluation; got a Pipeline.*minus"):
            call()
    with pytest.raises(InvalidTypeError, match="other must be a PipelineEvaluation, too; got Eval"):
        found.minus(other)
    for changed, what in (
        ({"n_refits": 3}, "same n_refits and random_state"),
        ({"random_state": 1}, "same n_refits and random_state"),
        ({"cv": 4}, "averaged over the same splits"),
        ({"scoring": "balanced_accuracy"}, "the same scoring"),
    ):
        again = evaluate(make_pipeline(StandardScaler(), KNN), X, Y, **{"n_refits": 2, **changed})
        with pytest.raises(InvalidInputError, match=what):
            found.minus(again)


class Stops(TransformerMixin, BaseEstimator):
    """Somebody presses Ctrl-C while it is fitted the nth time; the first is on all samples."""

    fits = 0

    def __init__(self, at=1):
        self.at = at

    def fit(self, X, y=None):
        Stops.fits += 1
        if Stops.fits == self.at:
            raise KeyboardInterrupt
        self.mean_ = X.mean(axis=0)
        return self

    def transform(self, X):
        return X - self.mean_


def test_ctrl_c_keeps_the_refits_until_then():
    Stops.fits = 0
    found = evaluate(make_pipeline(Stops(at=6), KNN), X, Y, n_jobs=1)
    assert "SAMPLED from 4 refits STOPPED by Ctrl-C" in repr(found)
    whole = evaluate(make_pipeline(StandardScaler(with_std=False), KNN), X, Y, n_refits=4)
    assert found.refit_scores.tolist() == whole.refit_scores.tolist()
    Stops.fits = 0
    with pytest.raises(KeyboardInterrupt):
        evaluate(make_pipeline(Stops(at=3), KNN), X, Y, n_jobs=1)

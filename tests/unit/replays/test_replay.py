"""Replayed runs: means that are exact where all splits are there, errors that hold, early ends."""

import warnings
from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.metrics import f1_score
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeavePGroupsOut,
    LeavePOut,
    PredefinedSplit,
    ShuffleSplit,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    Episodes,
    FixedSize,
    LogLoss,
    evaluate,
    replay,
)
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._options import check_options
from allsplits.model_selection._task import Given, Task
from allsplits.replays import engine
from allsplits.replays.draw import RunDrawer, random_state_of
from oracle.datasets import dataset

X, Y = make_classification(90, 4, n_informative=3, n_redundant=0, n_classes=3, random_state=1,
                           n_clusters_per_class=1)  # fmt: skip
GROUPS = np.arange(90) % 9
KNN = KNeighborsClassifier(3)


def all_splits(n, size):
    rows = set(range(n))
    return [(list(train), sorted(rows - set(train))) for train in combinations(range(n), size)]


@pytest.mark.parametrize("points", ["no ties", "heavy ties", "all identical"])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_all_splits_have_the_exact_mean(points, k):
    """Every split of tiny data, given one by one."""
    sample = dataset(points, "3 classes")
    options = {"distance_ties": "index"}
    n = len(sample.y)
    exact = evaluate(
        KNeighborsClassifier(k), sample.X, sample.y, cv=FixedSize(5), exact=True, **options
    )
    found = replay(KNeighborsClassifier(k), sample.X, sample.y, cv=all_splits(n, 5), **options)
    assert found.mean == pytest.approx(float(exact.fraction), abs=1e-14)
    assert (found.standard_error, found.sampled, found.tied_share) == (0, False, 0)
    left_out = replay(KNeighborsClassifier(k), sample.X, sample.y, cv=LeavePOut(n - 5), **options)
    assert left_out.mean == pytest.approx(found.mean, abs=1e-14)


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("points", ["heavy ties", "all identical"])
def test_ties_are_drawn_so_that_the_mean_is_the_exact_one(points, label_ties):
    sample = dataset(points, "3 classes")
    options = {"cv": FixedSize(5), "label_ties": label_ties}
    exact = evaluate(KNeighborsClassifier(2), sample.X, sample.y, **options).score
    found = replay(
        KNeighborsClassifier(2), sample.X, sample.y, n_splits=20_000, random_state=0, control=False,
        **options,
    )  # fmt: skip
    assert found.tied_share > 0.3
    assert abs(found.mean - exact) < 4.5 * found.standard_error < 0.02


@pytest.mark.parametrize(
    "cv",
    [FixedSize(0.7), KFold(4), StratifiedKFold(3), ClassCounts(12), LeavePGroupsOut(2),
     GroupShuffleSplit(test_size=2, train_size=5)],
    ids=lambda cv: type(cv).__name__,
)  # fmt: skip
def test_drawn_means_agree_with_the_exact_ones(cv):
    found = replay(KNN, X, Y, cv=cv, groups=GROUPS, n_splits=3000, random_state=0)
    if found.sampled:
        mean, error = found.sampled_mean
        assert abs(mean - found.mean) < 4.5 * error < 0.02
        assert found.standard_error == 0
        assert "exact" in repr(found)
    else:
        assert found.n_splits == 36
    groups = GROUPS if "Group" in type(cv).__name__ else None
    expected = evaluate(KNN, X, Y, cv=cv, groups=groups).score
    assert found.mean == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("cv", [Bernoulli(0.6), Bootstrap(), Episodes(2, 3)], ids=str)
def test_laws_without_an_exact_mean_of_splits_are_sampled(cv):
    found = replay(KNeighborsClassifier(1), X[:80], Y[:80], cv=cv, n_splits=200, random_state=0)
    assert found.exact_mean is None is found.control
    assert "SAMPLED" in repr(found)


def test_means_of_regressors():
    found = replay(KNeighborsRegressor(3), X, X[:, 0], cv=5, n_splits=2000, random_state=0)
    exact = evaluate(KNeighborsRegressor(3), X, X[:, 0], cv=5).score
    assert found.mean == pytest.approx(exact, rel=1e-12)
    assert abs(found.sampled_mean.value - exact) < 4.5 * found.sampled_mean.standard_error


def test_a_score_with_an_exact_mean_sharpens_the_others():
    one, other = (
        replay(KNN, X, Y, cv=FixedSize(0.8), scoring="f1_macro", n_splits=400, random_state=0,
               control=control)
        for control in (True, False)
    )  # fmt: skip
    assert one.split_scores.tolist() == other.split_scores.tolist()
    assert one.standard_error < 0.5 * other.standard_error
    assert other.mean == one.sampled_mean.value


def test_errors_cover_what_they_say():
    """150 seeds of 150 splits: 95 % intervals of mean, std and median, around the long run."""
    kind = {"cv": FixedSize(0.7), "scoring": "f1_macro"}
    truth = replay(KNN, X, Y, n_splits=60_000, random_state=10**6, **kind)
    wanted = {"mean": truth.mean, "std": truth.std.value, "plain": truth.sampled_mean.value}
    inside = {name: [] for name in wanted}
    for seed in range(150):
        found = replay(KNN, X, Y, n_splits=150, random_state=seed, **kind)
        pairs = {
            "mean": (found.mean, found.standard_error),
            "std": found.std,
            "plain": found.sampled_mean,
        }
        for name, (value, error) in pairs.items():
            inside[name].append(abs(value - wanted[name]) < 1.96 * error)
    shares = {name: np.mean(flags) for name, flags in inside.items()}
    assert all(0.89 <= share <= 0.995 for share in shares.values()), shares


def test_quantiles_have_honest_errors():
    truth = replay(KNN, X, Y, cv=FixedSize(0.7), scoring="neg_log_loss", n_splits=40_000,
                   random_state=7)  # fmt: skip
    found = [
        replay(KNN, X, Y, cv=FixedSize(0.7), scoring="neg_log_loss", n_splits=300,
               random_state=seed, control=False)
        for seed in range(120)
    ]  # fmt: skip
    for q in (0.1, 0.5, 0.9):
        values = np.array([one.quantile(q) for one in found])
        assert values[:, 1].mean() == pytest.approx(values[:, 0].std(), rel=0.25)
        assert values[:, 0].mean() == pytest.approx(truth.quantile(q).value, abs=0.03)


def test_until_stops_when_the_error_is_small_enough():
    found = replay(KNN, X, Y, scoring="f1_macro", until=2e-3, random_state=0)
    assert found.standard_error <= 2e-3
    assert found.reached
    assert found.n_runs % engine.BATCH == 0
    short = replay(KNN, X, Y, scoring="f1_macro", until=1e-9, n_splits=300, random_state=0)
    assert not short.reached
    assert "NOT reached" in repr(short)
    own = replay(KNN, X, Y, until=3e-3, random_state=0)
    assert 0 < own.sampled_mean.standard_error <= 3e-3


def test_seeds_decide_and_threads_do_not():
    kind = {"scoring": ["accuracy", "roc_auc_ovr"], "n_splits": 1000}
    one, two = (replay(KNN, X, Y, n_jobs=jobs, random_state=5, **kind) for jobs in (1, 2))
    assert one["accuracy"].split_scores.tolist() == two["accuracy"].split_scores.tolist()
    assert one["roc_auc_ovr"].mean == two["roc_auc_ovr"].mean
    more = replay(KNN, X, Y, n_splits=1500, random_state=5)
    assert more.split_scores[:200].tolist() == one["accuracy"].split_scores.tolist()
    other = replay(KNN, X, Y, n_splits=1000, random_state=6)
    assert other.split_scores.tolist() != one["accuracy"].split_scores.tolist()
    state = np.random.RandomState(0)
    assert (
        replay(KNN, X, Y, n_splits=5, random_state=state).seed
        != replay(KNN, X, Y, n_splits=5, random_state=state).seed
    )


def test_random_splitters_are_asked_again():
    cv = StratifiedGroupKFold(3, shuffle=True, random_state=0)
    found = replay(KNN, X, Y, cv=cv, groups=GROUPS, n_splits=31, random_state=0)
    assert (found.n_runs, found.n_folds, found.sampled) == (11, 3, True)
    assert len({tuple(scores) for scores in found.split_scores.tolist()}) > 5
    again = replay(KNN, X, Y, cv=cv, groups=GROUPS, n_splits=31, random_state=0, n_jobs=2)
    assert again.split_scores.tolist() == found.split_scores.tolist()


def test_rows_that_end_too_early_are_searched_again(monkeypatch):
    expected = replay(KNN, X, Y, n_splits=300, scoring="f1_macro", random_state=0)
    means = replay(KNeighborsRegressor(3), X, X[:, 1], n_splits=300, random_state=0)
    monkeypatch.setattr(engine, "_MOST_BYTES", 4 * engine._EACH * len(Y))
    found = replay(KNN, X, Y, n_splits=300, scoring="f1_macro", random_state=0)
    assert found.split_scores.tolist() == expected.split_scores.tolist()
    again = replay(KNeighborsRegressor(3), X, X[:, 1], n_splits=300, random_state=0)
    assert again.split_scores == pytest.approx(means.split_scores, rel=1e-12)


def test_ctrl_c_keeps_what_was_scored():
    calls = []

    def interrupted(y_true, y_pred):
        calls.append(1)
        if len(calls) == 700:
            raise KeyboardInterrupt
        return np.mean(y_true == y_pred)

    found = replay(KNN, X, Y, scoring=interrupted, random_state=0, n_splits=5000, n_jobs=1)
    assert found.stopped
    assert found.n_runs == 139
    assert "STOPPED by Ctrl-C" in repr(found)
    plain = replay(KNN, X, Y, random_state=0, n_splits=5000)
    assert found.split_scores.tolist() == plain.split_scores[:139].tolist()
    calls[:] = [1] * 699
    with pytest.raises(KeyboardInterrupt):
        replay(KNN, X, Y, scoring=interrupted, random_state=0, n_jobs=1)


def test_scores_that_fail_are_named_or_left_out():
    plain = replay(KNN, X, Y, cv=FixedSize(60), n_splits=300, random_state=0)
    least = plain.quantile(0.2).value

    def picky(y_true, y_pred):
        if np.mean(y_true == y_pred) < least:
            raise ValueError("too few right")
        return 1.0

    broken = np.flatnonzero(plain.split_scores[:, 0] < least)
    assert 0 < len(broken) < 150
    with pytest.raises(
        InvalidInputError, match=f"'picky' failed: ValueError: too few right.*split {broken[0]};"
    ):
        replay(KNN, X, Y, cv=FixedSize(60), scoring=picky, n_splits=300, random_state=0)
    for value in (np.nan, -1.0):
        found = replay(
            KNN, X, Y, cv=FixedSize(60), scoring=picky, n_splits=300, random_state=0,
            error_score=value, n_jobs=1,
        )  # fmt: skip
        assert found.n_failed == len(broken)
        assert f"{len(broken)} splits FAILED" in repr(found)
    assert found.split_scores[broken, 0].tolist() == [-1.0] * len(broken)


def test_scores_that_are_nan_are_named():
    y = np.r_[np.zeros(84, int), np.ones(6, int)]
    with pytest.raises(InvalidInputError, match=r"'roc_auc' is NaN. This was split"):
        replay(KNN, X, y, cv=FixedSize(80), scoring="roc_auc", n_splits=100, random_state=0)
    found = replay(
        KNN, X, y, cv=FixedSize(80), scoring="roc_auc", n_splits=100, random_state=0,
        error_score=np.nan,
    )  # fmt: skip
    assert np.isfinite([found.mean, found.standard_error, *found.std, *found.quantile(0.5)]).all()
    assert found.n_failed == np.isnan(found.split_scores).sum() > 0


BAD = {
    "overlap": ([([0, 1, 2, 3], [3, 4])], "split 0: train and test must not share rows"),
    "no test": ([(range(9), [10]), (range(9), [])], "split 1: test must have at least one"),
    "no train": ([([], [1, 2])], "split 0: train must have at least one"),
    "outside": ([(range(5), [90])], "split 0: test must hold row numbers from 0 to 89"),
    "twice": ([([0, 0, 1, 2], [5])], "split 0: train must hold each row once"),
    "too few": (
        [([0, 1], [2, 3])],
        "n_neighbors must be at most 2, the training samples of split 0",
    ),
    "none": ([], "at least one split"),
}


@pytest.mark.parametrize("name", BAD)
def test_splits_that_are_none(name):
    cv, words = BAD[name]
    with pytest.raises(InvalidInputError, match=words):
        replay(KNN, X, Y, cv=cv)


@pytest.mark.parametrize("cv", ["five", 2.5, KFold, [1, 2, 3]], ids=str)
def test_what_is_no_cv(cv):
    with pytest.raises(InvalidTypeError, match="cv must"):
        replay(KNN, X, Y, cv=cv)


def test_splitters_that_do_not_fit():
    with pytest.raises(InvalidInputError, match="cv, split 0: train and test must have at least 3"):
        replay(KNN, X, Y, cv=PredefinedSplit([0, 1]))
    with pytest.raises(InvalidInputError, match="does not fit these samples"):
        replay(KNN, X, Y, cv=StratifiedGroupKFold(3))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_splits": 0}, "n_splits must be at least 1"),
        ({"until": 0}, "until must be a positive"),
        ({"until": "soon"}, "until must be a positive"),
        ({"error_score": "ignore"}, "error_score must be 'raise' or a number"),
        ({"random_state": "one"}, "random_state must be"),
        ({"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_options_that_are_none(options, words):
    with pytest.raises(InvalidInputError, match=words):
        replay(KNN, X, Y, **options)


def test_the_result_in_tables_and_pictures():
    found = replay(KNN, X, Y, n_splits=100, random_state=0)
    frame = found.frame("pandas")
    assert list(frame.columns) == ["run", "fold", "accuracy"]
    assert len(frame) == found.n_splits == 100
    bars = found.histogram(5)
    assert sum(bars["share"]) == pytest.approx(1)
    pytest.importorskip("matplotlib").use("Agg")
    ax = found.plot()
    assert ax.get_xlabel() == "accuracy"
    assert any("exact mean" in text.get_text() for text in ax.get_legend().get_texts())
    given = replay(KNN, X, Y, cv=[(range(60), range(60, 90))])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        given.plot()
        assert "all 1 splits" in repr(given)


def test_stopping_early_does_not_spoil_the_error():
    """100 seeds that stop where they like: their intervals still hold."""
    kind = {"cv": FixedSize(0.7), "scoring": "matthews_corrcoef", "control": False}
    long = replay(KNN, X, Y, n_splits=40_000, random_state=10**6, **kind)
    truth, until = long.mean, long.std.value / np.sqrt(170)
    found = [replay(KNN, X, Y, until=until, random_state=seed, **kind) for seed in range(100)]
    assert len({one.n_runs for one in found}) > 1
    inside = [abs(one.mean - truth) < 1.96 * one.standard_error for one in found]
    assert 0.87 <= np.mean(inside) <= 1


def test_a_bar_is_shown_if_asked_for(capfd):
    replay(KNN, X, Y, n_splits=20, random_state=0, progress=True)
    assert "replayed splits" in capfd.readouterr().out


def test_what_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(engine, "physical_memory", lambda: 1000)
    with pytest.raises(InvalidInputError, match="pass a smaller n_jobs"):
        replay(KNN, X, Y)


def test_pipelines_are_sent_to_evaluate():
    with pytest.raises(InvalidTypeError, match="evaluate takes it as it is"):
        replay(make_pipeline(StandardScaler(), KNN), X, Y)
    with pytest.raises(InvalidInputError, match=r"replay\(\.\.\.\) takes any splitter"):
        evaluate(KNN, X, Y, scoring="f1_macro")
    with pytest.raises(InvalidTypeError, match=r"replay\(\.\.\.\) takes any splitter"):
        evaluate(KNN, X, Y, cv=TimeSeriesSplit(3))
    with pytest.raises(InvalidInputError, match=r"replay\(\.\.\.\) takes any splitter"):
        evaluate(KNeighborsRegressor(2, weights="distance"), X, X[:, 0], cv=Bootstrap())


LAWS = {
    "fixed size": FixedSize(0.6),
    "smaller tests": ShuffleSplit(train_size=40, test_size=20),
    "class counts": ClassCounts(9),
    "folds": KFold(4),
    "stratified folds": StratifiedKFold(3),
    "independent draws": Bernoulli(0.5),
    "bootstrap": Bootstrap(),
    "groups": GroupShuffleSplit(test_size=2, train_size=5),
    "episodes": Episodes(2, 4),
}


@pytest.mark.parametrize("weights", ["uniform", "distance"])
@pytest.mark.parametrize("law", LAWS)
def test_runs_of_every_law_are_scored_as_scikit_learn_does(law, weights):
    """The masks are known by seed and number: fit and score each of their folds by hand."""
    knn = KNeighborsClassifier(3, weights=weights)
    found = replay(
        knn, X, Y, cv=LAWS[law], groups=GROUPS, scoring="f1_macro", n_splits=12, random_state=5,
        control=False,
    )  # fmt: skip
    task = Task.read(knn, Given(X, Y, LAWS[law], groups=GROUPS), check_options())
    drawer = RunDrawer(task.question())
    for number, scores in enumerate(found.split_scores):
        run = drawer(random_state_of(5, number))
        for fold, score in enumerate(scores):
            test = np.flatnonzero(run.folds == fold)
            train = np.flatnonzero((run.folds != fold) & (run.copies > 0))
            train = np.repeat(train, run.copies[train])
            given = knn.fit(X[train], Y[train]).predict(X[test])
            assert score == pytest.approx(f1_score(Y[test], given, average="macro"), abs=1e-12)


@pytest.mark.parametrize("cv", [TimeSeriesSplit(4), ShuffleSplit(3, random_state=0)])
def test_recall_of_a_rank_beside_a_search_of_its_own(cv):
    """R neighbours, whatever the estimator votes with, and however it weighs them."""
    splits = list(cv.split(X))
    model = KNeighborsClassifier(5, weights="distance")
    found = replay(model, X, Y, cv=splits, scoring="recall@2")
    expected = [
        (Y[train][NearestNeighbors(n_neighbors=2).fit(X[train]).kneighbors(X[test])[1]]
         == Y[test][:, None]).any(axis=1).mean()
        for train, test in splits
    ]  # fmt: skip
    np.testing.assert_allclose(found.split_scores[:, 0], expected, rtol=1e-15)
    assert (found.n_neighbors, model.n_neighbors) == (2, 5)


def test_recall_of_a_rank_has_its_exact_mean():
    sample = dataset("heavy ties", "3 classes")
    options = {"cv": FixedSize(5), "scoring": "recall@2", "n_splits": 20_000, "random_state": 0}
    found = replay(KNN, sample.X, sample.y, **options)
    exact = evaluate(KNN, sample.X, sample.y, cv=FixedSize(5), scoring="recall@2").score
    assert found.exact_mean == exact
    mean, error = found.sampled_mean
    assert abs(mean - exact) < 4.5 * error < 0.02
    both = replay(KNN, X, Y, cv=3, scoring=["recall@3", "accuracy"], n_splits=30, random_state=0)
    assert both["recall@3"].exact_mean > both["accuracy"].exact_mean
    assert (both["recall@3"].split_scores >= both["accuracy"].split_scores).all()


@pytest.mark.parametrize(
    ("scoring", "what"),
    [
        ("recall@0", r"'recall@R' with R = 1, 2"),
        ("map@r", r"'map@r' is not replayed, whatever cv is: .* where cv is KFold"),
        ("recall_of:9", "must name one of the classes"),
        ([LogLoss(1), "neg_log_loss+1"], "must hold each score once"),
        (["recall@2", "accuracy"], r"got 'recall@2' and 3 voters .* replay them one by one"),
        (["recall@2", "recall@3"], "same neighbours in one replay"),
    ],
    ids=str,
)
def test_scores_of_evaluate_that_are_not_replayed(scoring, what):
    with pytest.raises(InvalidInputError, match=what):
        replay(KNN, X, Y, scoring=scoring)
    with pytest.raises(InvalidInputError, match="for a regressor"):
        replay(KNeighborsRegressor(3), X, X[:, 0], scoring="recall@2")

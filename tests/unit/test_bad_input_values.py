"""Input that looks right and is not: masks, dates, gaps, mixed kinds, numbers beyond floats."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    KNeighborsClassifierCV,
    KNeighborsRegressorCV,
    cmc_curve,
    evaluate,
    learning_curve,
    order_neighbors,
    validation_curve,
)
from allsplits._validation import shown
from allsplits.exceptions import AllSplitsError, InvalidTypeError, UnsupportedError
from unit.refused import refused

N = 30
X = np.random.default_rng(0).normal(size=(N, 3))
y = np.arange(N) % 3
KNN, REGRESSOR = KNeighborsClassifier(3), KNeighborsRegressor(3)
DAYS = np.array(["2020-01-01", "2020-01-02"] * (N // 2), dtype="datetime64[ns]")
GAP = np.array([*DAYS[:-1], "NaT"], dtype="datetime64[ns]")

CALLS = {
    "evaluate": lambda X, y: evaluate(KNN, X, y),
    "validation_curve": lambda X, y: validation_curve(KNN, X, y, n_neighbors=[1, 3]),
    "learning_curve": lambda X, y: learning_curve(KNN, X, y, train_sizes=[9]),
    "fit": lambda X, y: KNeighborsClassifierCV([1, 3]).fit(X, y),
}
REGRESSIONS = {
    "evaluate": lambda y: evaluate(REGRESSOR, X, y),
    "fit": lambda y: KNeighborsRegressorCV([1, 3]).fit(X, y),
}

BAD_POINTS = {
    "masked": (np.ma.masked_array(X, X > 1), ["X", "masked", "of 90"]),
    "dates": (np.column_stack([GAP, GAP]), ["X", "numeric", "datetime64"]),
    "times between": (np.column_stack([GAP, GAP]) - DAYS[0], ["X", "timedelta64"]),
    "beyond floats": ([[10**400, 1.0]] * N, ["X", "int too large"]),
}
BAD_LABELS = {
    "masked": (np.ma.masked_array(y, y == 1), ["y", "masked", "10 of 30"]),
    "NaT": (GAP, ["y", "NaT", "row 29"]),
    "NaN in text": (["a", "b", float("nan")] * 10, ["y", "NaN", "row 2", "10 of 30"]),
    "None in text": (["a", "b", None] * 10, ["y", "None", "row 2"]),
    "None in numbers": ([0, 1, None] * 10, ["y", "None"]),
    "NA of pandas": (pd.Series(["a", "b", pd.NA] * 10, dtype=object), ["y", "<NA>", "row 2"]),
    "null of polars": (pl.Series(["a", "b", None] * 10), ["y", "None"]),
    "mixed": (["a", "b", 1] * 10, ["y", "one kind", "numbers and text"]),
    "mixed objects": (np.array(["a", "b", 1] * 10, dtype=object), ["y", "numbers and text"]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("points", "words"), BAD_POINTS.values(), ids=BAD_POINTS)
def test_points(call, points, words):
    refused(lambda: call(points, y), *words)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("labels", "words"), BAD_LABELS.values(), ids=BAD_LABELS)
def test_labels(call, labels, words):
    if call is CALLS["fit"] and isinstance(labels, (pd.Series, pl.Series, np.ndarray)):
        # scikit-learn's own check comes first and knows these.
        with pytest.raises((ValueError, TypeError)):
            call(X, labels)
    else:
        refused(lambda: call(X, labels), *words)


def test_a_mask_that_hides_nothing_is_no_mask():
    shown_all = np.ma.masked_array(X, np.zeros_like(X, dtype=bool))
    assert evaluate(KNN, shown_all, np.ma.masked_array(y)).score == evaluate(KNN, X, y).score
    refused(
        lambda: KNeighborsClassifierCV([1]).fit(X, y).predict(BAD_POINTS["masked"][0]), "masked"
    )


@pytest.mark.parametrize(
    "labels",
    [
        np.array([np.str_("a"), "b", "c"] * 10, dtype=object),
        pd.Series(["a", "b", "c"] * 10, dtype="category"),
        pd.Series(["a", "b", "c"] * 10, dtype="string"),
        pl.Series(["a", "b", "c"] * 10, dtype=pl.Categorical),
        ("a", "b", "c") * 10,
        pd.Series([0, 1, 2] * 10, dtype="Int64"),
        [True, False, False] * 10,
        [np.int8(0), 1, np.float64(2)] * 10,
    ],
    ids=["str_", "category", "string", "polars", "tuple", "Int64", "bool", "numbers"],
)
def test_labels_of_one_kind_however_they_are_stored(labels):
    found = evaluate(KNN, X, labels)
    assert len(found.classes) == len(set(np.asarray(labels).tolist()))


def test_dates_without_gaps_are_labels_but_no_numbers():
    assert len(evaluate(KNN, X, DAYS).classes) == 2
    refused(lambda: evaluate(REGRESSOR, X, DAYS), "y", "numeric", "datetime64")
    refused(lambda: evaluate(KNN, np.column_stack([DAYS, DAYS]), y), "X", "numeric", "datetime64")


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ([1.0, 2.0, np.nan] * 10, ["NaN", "row 2"]),
        (["a", "b", None] * 10, ["None"]),
        (["a", "b", np.nan] * 10, ["NaN"]),
        (["a", "b", 1] * 10, ["numbers and text"]),
        (np.ma.masked_array(y, y == 1), ["masked"]),
        (GAP, ["NaT"]),
    ],
    ids=["NaN", "None", "NaN in text", "mixed", "masked", "NaT"],
)
def test_groups(groups, words):
    refused(lambda: evaluate(KNN, X, y, cv=LeaveOneGroupOut(), groups=groups), "groups", *words)
    refused(lambda: cmc_curve(X, y, groups=groups), "groups", *words)


@pytest.mark.parametrize("call", REGRESSIONS.values(), ids=REGRESSIONS)
@pytest.mark.parametrize("size", [1e160, -1e160, 1e300])
def test_targets_whose_squares_overflow(call, size):
    refused(lambda: call(np.append(X[1:, 0], size)), "y", "1e+150", f"{abs(size):g}")
    call(np.append(X[1:, 0], 1e149))


def test_targets_beyond_floats():
    refused(lambda: evaluate(REGRESSOR, X, [10**400, *range(N - 1)]), "y", "numeric", "too large")


@pytest.mark.parametrize("value", ["no", "yes", 1, 0, None, [True]], ids=repr)
@pytest.mark.parametrize("flag", ["exact", "progress"])
def test_flags_are_true_or_false(flag, value):
    for function in (evaluate, validation_curve, learning_curve):
        refused(lambda f=function: f(KNN, X, y, **{flag: value}), flag, "True or False")
    refused(lambda: cmc_curve(X, y, **{flag: value}), flag, "True or False")


def test_flags_of_numpy():
    assert evaluate(KNN, X, y, cv=KFold(5), exact=np.True_).fraction is not None
    assert evaluate(KNN, X, y, cv=KFold(5), exact=np.False_).fraction is None
    refused(lambda: learning_curve(KNN, X, y, stratify="no"), "stratify", "True or False", "'no'")


@pytest.mark.parametrize("option", ["distance_ties", "label_ties", "backend", "tol", "n_jobs"])
def test_options_that_are_arrays(option):
    refused(lambda: evaluate(KNN, X, y, **{option: np.array(["first", "average"])}), option)


@pytest.mark.parametrize("n", [-1, 2.5, "all", True], ids=repr)
def test_numbers_of_hardest_samples(n):
    refused(lambda: evaluate(KNN, X, y).hardest(n), "n must be", shown(n))


@pytest.mark.parametrize("method", ["fit", "predict", "predict_proba", "kneighbors"])
def test_a_subclass_with_its_own_ways(method):
    for base in (KNeighborsClassifier, KNeighborsRegressor):
        own = type("Own", (base,), {method: lambda self, X, y=None: self})
        with pytest.raises(InvalidTypeError, match=f"estimator.*Own.*its own {method}"):
            evaluate(own(3), X, y)


def test_a_subclass_that_votes_as_scikit_learn_does():
    own = type("Own", (KNeighborsClassifier,), {"describe": lambda self: "mine"})
    assert evaluate(own(3), X, y).score == evaluate(KNN, X, y).score


@pytest.mark.parametrize("scoring", [np.array([1, 2]), 5, b"accuracy"], ids=repr)
def test_scorings_of_other_kinds(scoring):
    refused(lambda: evaluate(KNN, X, y, scoring=scoring), "scoring", "accuracy", shown(scoring))
    refused(lambda: evaluate(REGRESSOR, X, y, scoring=scoring), "scoring", "neg_mean")


@pytest.mark.parametrize("digits", [20, 5000])
def test_ranks_beyond_64_bits(digits):
    refused(lambda: evaluate(KNN, X, y, scoring="recall@" + "9" * digits), "scoring", "18 digits")
    refused(lambda: cmc_curve(X, y, ranks=[10**digits]), "ranks")


@pytest.mark.parametrize("cv", [KFold(5), ClassCounts(4), Bootstrap(), LeaveOneGroupOut()], ids=str)
def test_ranks_beyond_every_training_set(cv):
    """A training set smaller than R is looked at whole, however large R is."""
    groups = np.arange(N) // 5 if isinstance(cv, LeaveOneGroupOut) else None
    largest = N if isinstance(cv, Bootstrap) else N - 1
    far = evaluate(KNN, X, y, cv=cv, groups=groups, scoring="recall@100000000")
    whole = evaluate(KNN, X, y, cv=cv, groups=groups, scoring=f"recall@{largest}")
    assert far.score == whole.score
    assert far.n_neighbors == 100000000
    order = order_neighbors(X)
    assert evaluate(KNN, order, y, cv=cv, groups=groups, scoring="recall@40").score == far.score


def test_a_rank_that_is_a_condition_is_not_cut():
    refused(lambda: evaluate(KNN, X, y, cv=Bernoulli(0.5), scoring="recall@30"), "R", "29", "30")


def messages_of_many_classes():
    many, names = np.random.default_rng(0).normal(size=(2000, 2)), np.arange(2000)
    yield lambda: evaluate(KNN, many, names)
    yield lambda: evaluate(KNN, many, names % 1000, cv=ClassCounts(dict.fromkeys(range(999), 1)))
    yield lambda: evaluate(KNN, many, names % 2, cv=ClassCounts(dict.fromkeys(range(999), 1)))
    yield lambda: evaluate(KNN, many, names % 2, cv=list(KFold(5).split(many)))
    yield lambda: evaluate(KNN, many, names % 2, cv=KFold(5).split(many))
    yield lambda: evaluate(KNN, many, names % 2, scoring=names)
    yield lambda: validation_curve(KNN, many, names % 2, n_neighbors=[*range(1, 900), 1])
    yield lambda: learning_curve(KNN, many, names % 2, train_sizes=[*range(5, 900), 5])
    yield lambda: evaluate(KNN, pd.DataFrame({f"c{i}": ["a"] * 4 for i in range(900)}), [0, 1] * 2)


@pytest.mark.parametrize("call", list(messages_of_many_classes()))
def test_errors_are_short(call):
    with pytest.raises(AllSplitsError) as caught:
        call()
    assert len(str(caught.value)) < 700


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.arange(2000), "[0, 1, 2, 3, 4, 5, … 2,000 in all]"),
        ([np.int64(3), np.float64(0.5), "a"], "[3, 0.5, 'a']"),
        (np.zeros((3, 4)), "an array of shape (3, 4)"),
        (np.datetime64("2020-01-01"), "2020-01-01"),
        (np.int64(0), "0"),
        ("x" * 500, "'" + "x" * 158 + "…"),
        (((),), "[[]]"),
        (10**5000, "an integer of 16,610 bits"),
    ],
    ids=["array", "numpy numbers", "table", "date", "number", "text", "nothing", "huge"],
)
def test_what_errors_show(value, text):
    assert shown(value) == text


def test_one_class_is_shown_in_plain_python():
    refused(lambda: evaluate(KNN, X, y * 0), "every one of the 30 samples is 0")
    refused(lambda: evaluate(KNN, X, ["red"] * N), "every one of the 30 samples is 'red'")


@pytest.mark.parametrize("knn", [KNeighborsClassifier(1), KNeighborsRegressor(1)], ids=str)
def test_the_default_of_five_folds_is_named_where_it_does_not_fit(knn):
    refused(lambda: evaluate(knn, X[:3], [0, 1, 1]), "cv was not given", "5", "LeaveOneOut")
    refused(lambda: evaluate(knn, X[:3], [0, 1, 1], cv=4), "cv (number of folds)", "3 samples", "4")


def test_splits_that_are_drawn_already():
    refused(lambda: evaluate(KNN, X, y, cv=list(KFold(5).split(X))), "cv", "a list of 5", "KFold")
    refused(lambda: evaluate(KNN, X, y, cv=KFold(5).split(X)), "cv", "generator", "replay(")


def test_a_pair_without_a_formula_is_named_in_the_words_of_its_user():
    with pytest.raises(UnsupportedError) as caught:
        evaluate(KNeighborsRegressor(3, weights="distance"), X, X[:, 0], cv=Bootstrap())
    message = str(caught.value)
    for words in (
        "cv (Bootstrap)",
        "KNeighborsRegressor with weights='distance'",
        "KFold",
        "keep cv for a KNeighborsRegressor with weights='uniform'",
    ):
        assert words in message
    assert "recall@R" not in message
    assert len(message) < 400
    assert "law" not in message


def test_powers_are_candidates_for_the_metric():
    for p in ((1, 2), [1, 2], np.array([1, 2])):
        model = KNeighborsClassifierCV(p=p)
        refused(lambda model=model: model.fit(X, y), "p must", "[1, 2]", "'manhattan', 'euclidean'")
    chosen = KNeighborsClassifierCV([1, 3], metric=("manhattan", "euclidean")).fit(X, y)
    assert chosen.best_params_["metric"] in ("manhattan", "euclidean")

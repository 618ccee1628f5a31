"""Row names (a pandas index) survive, and rows that were shuffled alone are refused."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.model_selection import GroupShuffleSplit, LeaveOneGroupOut
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    ClassCounts,
    KNeighborsClassifierCV,
    cmc_curve,
    compare,
    evaluate,
    learning_curve,
    order_neighbors,
    validation_curve,
)
from unit.refused import refused

N = 24
RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(N, 2))
NAMES = [f"cell-{i}" for i in range(N)]
X = pd.DataFrame(POINTS, index=NAMES)
y = pd.Series(np.arange(N) % 2, index=NAMES)
KNN = KNeighborsClassifier(3)
SHUFFLED = RNG.permutation(N)

CALLS = {
    "evaluate": lambda X, y: evaluate(KNN, X, y),
    "validation_curve": lambda X, y: validation_curve(KNN, X, y, n_neighbors=[1, 3]),
    "learning_curve": lambda X, y: learning_curve(KNN, X, y, train_sizes=[5]),
    "cmc_curve": lambda X, y: cmc_curve(X, y, ranks=[1]),
    "fit": lambda X, y: KNeighborsClassifierCV([1, 3]).fit(X, y),
}


def test_names_are_those_of_the_rows():
    found = evaluate(KNN, X, y)
    assert found.row_names.tolist() == NAMES
    hardest = found.hardest(4)
    assert found.row_names[hardest].tolist() == [NAMES[i] for i in hardest]


def test_names_of_labels_are_taken_where_the_samples_have_none():
    assert evaluate(KNN, POINTS, y).row_names.tolist() == NAMES
    assert evaluate(KNN, order_neighbors(POINTS), y).row_names.tolist() == NAMES
    assert evaluate(KNN, X, y.tolist()).row_names.tolist() == NAMES


def test_plain_numbers_are_no_names():
    assert evaluate(KNN, POINTS, y.to_numpy()).row_names is None
    assert evaluate(KNN, X.reset_index(drop=True), y.to_numpy()).row_names is None
    assert evaluate(KNN, pl.DataFrame(POINTS), y.tolist()).row_names is None
    part = X.reset_index(drop=True).iloc[::2]
    assert evaluate(KNN, part, np.arange(12) % 2).row_names.tolist() == list(range(0, N, 2))


def test_frames_carry_the_names():
    found = evaluate(KNN, X, y)
    frame = found.frame("pandas")
    assert frame.index.tolist() == NAMES
    assert frame.loc["cell-7", "score"] == found.sample_scores[7]
    assert X.join(frame).loc["cell-7", "label"] == y["cell-7"]
    polars = found.frame("polars")
    assert polars["row"].to_list() == NAMES
    assert "row" not in evaluate(KNN, POINTS, y.to_numpy()).frame("polars").columns


@pytest.mark.parametrize(
    "index",
    [
        pd.MultiIndex.from_arrays([["a", "b"] * 12, range(N)]),
        pd.date_range("2020-01-01", periods=N),
        pd.CategoricalIndex(NAMES),
        pd.Index(["same"] * N),
        pd.Index([1.5 * i for i in range(N)]),
    ],
    ids=["several levels", "dates", "categories", "repeated", "real numbers"],
)
def test_kinds_of_names(index):
    found = evaluate(KNN, X.set_axis(index), y.set_axis(index))
    assert list(found.row_names) == list(index.to_numpy())
    for library in ("pandas", "polars"):
        assert len(found.frame(library)) == N


def test_a_comparison_carries_the_names():
    one, other = evaluate(KNN, X, y), evaluate(KNeighborsClassifier(1), POINTS, y.to_numpy())
    assert compare(one, other).frame("pandas").index.tolist() == NAMES
    assert compare(other, one).frame("pandas").index.tolist() == NAMES


def test_a_comparison_of_shuffled_rows_is_refused():
    same = pd.Series(np.zeros(N), index=NAMES)
    knn = KNeighborsRegressor(1)
    a, b = evaluate(knn, X, same), evaluate(knn, X.iloc[SHUFFLED], same.iloc[SHUFFLED])
    refused(lambda: compare(a, b), "same samples in the same order", "row_names")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_labels_that_were_shuffled_alone_are_refused(call):
    refused(
        lambda: call(X, y.iloc[SHUFFLED]), "y", "order of X", "cell-0", "y.loc[X.index]", "to_numpy"
    )
    refused(lambda: call(X.iloc[SHUFFLED], y), "y", "order of X")
    numbered = X.reset_index(drop=True)
    refused(lambda: call(numbered.sample(frac=1, random_state=0), y.reset_index(drop=True)), "y")


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_what_the_error_advises_works(call):
    shuffled = y.iloc[SHUFFLED]
    call(X, shuffled.loc[X.index])
    call(X, shuffled.to_numpy())


def test_groups_are_looked_at_as_well():
    groups = pd.Series(np.arange(N) % 4, index=NAMES)
    wrong = groups.iloc[SHUFFLED]
    for cv in (LeaveOneGroupOut(), GroupShuffleSplit(test_size=2)):
        evaluate(KNN, X, y, cv=cv, groups=groups)
        refused(lambda cv=cv: evaluate(KNN, X, y, cv=cv, groups=wrong), "groups", "order of X")
    refused(lambda: cmc_curve(X, y, cv=ClassCounts(1), groups=wrong), "groups", "order of X")


def test_labels_and_groups_are_compared_where_the_samples_have_no_index():
    groups = pd.Series(np.arange(N) % 4, index=NAMES)
    cv = LeaveOneGroupOut()
    for samples in (POINTS, order_neighbors(POINTS)):
        evaluate(KNN, samples, y, cv=cv, groups=groups)
        refused(
            lambda s=samples: evaluate(KNN, s, y, cv=cv, groups=groups.iloc[SHUFFLED]),
            "groups must be in the order of y",
            "groups.loc[y.index]",
        )


def test_an_index_of_its_own_says_nothing():
    """As in scikit-learn, rows belong together by position."""
    expected = evaluate(KNN, POINTS, y.to_numpy()).score
    other = y.set_axis([f"row {i}" for i in range(N)])
    assert evaluate(KNN, X, other).score == expected
    assert evaluate(KNN, X, y.reset_index(drop=True)).score == expected
    assert evaluate(KNN, X, pl.Series(y.to_numpy())).score == expected
    repeated = pd.Index(["a", "b"] * 12)
    assert evaluate(KNN, X.set_axis(repeated), y.set_axis(repeated)).score == expected

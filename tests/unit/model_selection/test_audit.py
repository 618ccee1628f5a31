"""`audit_split`: as scikit-learn scores it, however rows are given; which splits are like it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GroupShuffleSplit, StratifiedKFold, train_test_split
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import ClassCounts, FixedSize, audit_split, evaluate, order_neighbors
from allsplits.model_selection._audit import Audit
from unit.refused import refused

KNN = KNeighborsClassifier(3)
RUNS = 200


@pytest.fixture(scope="module")
def wine():
    """No two distances are equal."""
    rng = np.random.default_rng(0)
    y = np.repeat(["red", "rose", "white"], [50, 40, 30])
    X = rng.normal(size=(120, 3)) + np.repeat([0.0, 1.5, 3.0], [50, 40, 30])[:, None]
    return X, y


@pytest.fixture(scope="module")
def split():
    rows = np.random.default_rng(1).permutation(120)
    return rows[:80], rows[80:]


@pytest.fixture(scope="module")
def audit(wine, split) -> Audit:
    return audit_split(KNN, *wine, *split, n_runs=1000)


def test_the_score_is_scikit_learns(wine, split, audit):
    X, y = wine
    train, test = split
    assert audit.score == pytest.approx(KNN.fit(X[train], y[train]).score(X[test], y[test]))
    model = KNeighborsRegressor(4, weights="distance")
    X, y = load_diabetes(return_X_y=True)
    train, test = np.arange(0, 300), np.arange(300, 442)
    found = audit_split(model, X, y, train, test, n_runs=RUNS)
    off = y[test] - model.fit(X[train], y[train]).predict(X[test])
    assert found.score == pytest.approx(-np.mean(off**2))
    assert found.mean == pytest.approx(evaluate(model, X, y, cv=FixedSize(300)).score, rel=1e-9)


def test_a_split_that_no_chance_would_draw_is_scored_all_the_same():
    """The neighbours are far down the order, much deeper than drawn splits need."""
    n = 600
    X, y = np.arange(n, dtype=float)[:, None] ** 1.1, (np.arange(n) // 7) % 2
    train, test = np.arange(n) < 300, np.arange(n) >= 300
    found = audit_split(KNeighborsClassifier(1), X, y, train, test, n_runs=RUNS)
    expected = KNeighborsClassifier(1).fit(X[train], y[train]).score(X[test], y[test])
    assert found.score == pytest.approx(expected)
    assert found.score < found.run_scores.min()
    assert (found.luck, found.verdict) == (0.0, "unlucky")
    assert 0 < found.luck_error < 0.01
    assert f"; none of {RUNS} drawn splits score as low;" in repr(found)


def test_numbers_masks_and_tables_are_the_same(wine, split, audit):
    X, y = wine
    train, test = split
    masks = [np.isin(np.arange(120), part) for part in split]
    names = [f"row {i}" for i in range(120)]
    for points, labels, rows in [
        (X, y, masks),
        (X.tolist(), y.tolist(), [part.tolist() for part in split]),
        (pd.DataFrame(X, index=names), pd.Series(y, index=names), [pd.Series(m) for m in masks]),
        (pl.DataFrame(X), pl.Series(y), [np.sort(train), np.sort(test)]),
        (order_neighbors(X), y, split),
    ]:
        found = audit_split(KNN, points, labels, *rows, n_runs=1000)
        assert found.score == audit.score
        assert found.mean == pytest.approx(audit.mean, abs=1e-13)
        np.testing.assert_array_equal(found.run_scores, audit.run_scores)


def test_some_rows_of_any_table(wine):
    X, y = wine
    train, test = np.arange(0, 120, 3), np.arange(1, 120, 3)
    expected = audit_split(KNN, X, y, train, test, n_runs=RUNS)
    assert expected.law.n_samples == 80
    names = [f"row {i}" for i in range(120)]
    for points, labels in [
        (X.tolist(), y.tolist()),
        (pd.DataFrame(X, index=names), pd.Series(y, index=names)),
        (pl.DataFrame(X), pl.Series(y)),
        (X.astype(np.float64), pd.Series(y, dtype="category")),
    ]:
        found = audit_split(KNN, points, labels, train, test, n_runs=RUNS)
        assert (found.score, found.mean, found.luck) == (
            expected.score, expected.mean, expected.luck
        )  # fmt: skip


def test_distances_that_are_given(wine, split, audit):
    X, y = wine
    knn = KNeighborsClassifier(3, metric="precomputed")
    D = pairwise_distances(X)
    assert audit_split(knn, D, y, *split, n_runs=RUNS).score == audit.score
    train, test = split[0][:60], split[1][:30]
    some = audit_split(knn, D, y, train, test, n_runs=RUNS)
    direct = audit_split(KNN, X, y, train, test, n_runs=RUNS)
    assert some.score == direct.score
    assert some.mean == pytest.approx(direct.mean, abs=1e-12)


def test_the_law_is_read_off_the_split(wine):
    X, y = wine
    in_proportion = train_test_split(np.arange(120), test_size=0.25, stratify=y, random_state=0)
    found = audit_split(KNN, X, y, *in_proportion, n_runs=RUNS)
    counts = {c: int(np.sum(y[in_proportion[0]] == c)) for c in np.unique(y)}
    assert found.mean == evaluate(KNN, X, y, cv=ClassCounts(counts)).score
    for train, test in StratifiedKFold(7).split(X, y):
        assert audit_split(KNN, X, y, train, test, n_runs=100).law.kind == "class counts"
    plain = audit_split(KNN, X, y, *in_proportion, stratify=False, n_runs=RUNS)
    assert plain.mean == evaluate(KNN, X, y, cv=FixedSize(90)).score
    rows = np.arange(120)
    skewed = audit_split(KNN, X, y, rows % 5 > 0, (rows % 5 == 0) & (rows < 90), n_runs=RUNS)
    assert skewed.law.kind == "fixed size"
    assert skewed.law.n_samples == 96 + 18


def test_a_plain_split_is_seldom_taken_for_a_stratified_one(wine):
    X, y = wine
    rng = np.random.default_rng(3)
    kinds = []
    for _ in range(60):
        rows = rng.permutation(120)
        found = audit_split(KNeighborsClassifier(1), X, y, rows[:90], rows[90:], n_runs=100)
        kinds.append(found.law.kind)
    assert kinds.count("class counts") <= 12


def test_groups(wine):
    X, y = wine
    groups = np.arange(120) // 4
    train, test = next(GroupShuffleSplit(test_size=6, random_state=0).split(X, y, groups))
    found = audit_split(KNN, X, y, train, test, groups=groups, n_runs=RUNS)
    assert found.law.kind == "whole groups"
    assert (found.law.n_train, found.law.n_test) == (24, 6)
    refused(
        lambda: audit_split(KNN, X, y, train, test, groups=np.arange(120) % 7), "groups", "in both"
    )
    refused(
        lambda: audit_split(KNN, X, y, train, test, groups=groups, stratify=True), "stratify",
        "groups",
    )  # fmt: skip


def test_shares_as_good_and_as_bad_overlap_in_what_is_equal(audit):
    equal = np.mean(np.abs(audit.run_scores - audit.score) < 1e-9)
    assert audit.at_least_as_good + audit.at_least_as_bad == pytest.approx(1 + equal)
    assert audit.luck == (audit.at_least_as_good if audit.z >= 0 else audit.at_least_as_bad)


def test_the_error_of_the_luck_is_honest(wine, split):
    """Over other seeds the luck differs by as much as its standard error says."""
    found = [
        audit_split(KNeighborsClassifier(1), *wine, *split, n_runs=150, random_state=seed)
        for seed in range(60)
    ]
    spread = np.std([one.luck for one in found], ddof=1)
    assert 0.7 < spread / np.mean([one.luck_error for one in found]) < 1.3
    assert len({one.mean for one in found}) == 1


def test_luck_of_drawn_splits_is_uniform(wine):
    """Splits that are drawn at random are lucky about as often as they should be."""
    rng = np.random.default_rng(8)
    good = []
    for _ in range(60):
        rows = rng.permutation(120)
        found = audit_split(
            KNeighborsClassifier(1), *wine, rows[:60], rows[60:], stratify=False, n_runs=300
        )
        # Half of those that are equal.
        good.append((found.at_least_as_good + 1 - found.at_least_as_bad) / 2)
    assert abs(np.mean(good) - 0.5) < 4 * 0.29 / np.sqrt(60)
    assert 0.2 < np.std(good) < 0.38


def test_a_seed_and_threads_decide_nothing_else(wine, split, audit):
    again = audit_split(KNN, *wine, *split, n_runs=1000, n_jobs=1)
    np.testing.assert_array_equal(again.run_scores, audit.run_scores)
    other = audit_split(KNN, *wine, *split, n_runs=1000, random_state=5)
    assert (other.score, other.mean) == (audit.score, audit.mean)
    assert (other.run_scores != audit.run_scores).any()


def test_where_splits_do_not_differ():
    X = np.concatenate([np.arange(10.0), 100 + np.arange(10.0)])[:, None]
    y = np.repeat([0, 1], 10)
    found = audit_split(
        KNeighborsClassifier(1), X, y, np.arange(20) % 2 == 0, np.arange(20) % 2 == 1
    )
    assert (found.score, found.split_std, found.z, found.luck) == (1.0, 0.0, 0.0, 1.0)
    assert "the same" in repr(found)


def test_tied_neighbours_of_drawn_splits_are_averaged_exactly():
    """Every split scores the same, so all score as high: draws among the tied would differ."""
    X, y, half = np.zeros((40, 1)), np.arange(40) % 2, np.arange(40) < 20
    found = audit_split(KNeighborsClassifier(1), X, y, half, ~half)
    assert (found.score, found.luck, found.verdict) == (0.5, 1.0, "ordinary")
    assert found.at_least_as_bad == 1.0


def test_luck_among_many_tied_samples():
    """1.4 % of 60,000 splits that numpy drew and averaged score as high."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (30, 2)).astype(float), rng.integers(0, 2, 30)
    rows = np.random.default_rng(12).permutation(30)
    nearest = KNeighborsClassifier(1)
    found = audit_split(nearest, X, y, rows[:20], rows[20:], stratify=False, n_runs=20_000)
    assert found.verdict == "lucky"
    assert abs(found.luck - 0.0141) < 4 * (found.luck_error + 0.0005)


def test_few_splits_are_all_scored():
    X, y = np.array([[0.0], [1.0], [1.0], [2.0], [4.0], [7.0]]), [0, 0, 1, 1, 0, 1]
    found = audit_split(KNeighborsClassifier(1), X, y, [0, 2, 3, 5], [1, 4], stratify=False)
    assert (found.sampled, len(found.run_scores), found.luck_error) == (False, 15, 0.0)
    assert "of all 15 splits score as" in repr(found)
    assert not found.spread.sampled
    fewer = audit_split(
        KNeighborsClassifier(1), np.tile(X, (3, 1)), y * 3, range(8), range(8, 18), n_runs=100
    )
    assert fewer.sampled
    assert len(fewer.run_scores) == 100


def test_it_reads_well(audit):
    text = repr(audit)
    for words in ("on this split", "on average over all", "standard deviations", "SAMPLED",
                  "of 1,000 drawn splits score as", str(audit.law), audit.verdict):  # fmt: skip
        assert words in text
    for library in ("pandas", "polars"):
        frame = audit.frame(library)
        assert len(frame) == 1
        for name in ("score", "mean", "split_std", "z", "luck", "luck_error", "test_mean"):
            assert frame[name][0] == getattr(audit, name)


ROWS = np.arange(120)


@pytest.mark.parametrize(
    ("train", "test", "words"),
    [
        ([0, 1, 50, 99], [3, 1], ["train and test", "share", "row 1"]),
        ([], [1, 2, 3], ["train", "at least one", "none"]),
        ([0, 1, 2], np.zeros(120, dtype=bool), ["test", "at least one"]),
        ([0, 1, 120], [3], ["train", "from 0 to 119", "120"]),
        ([0, 1, 2], [-1], ["test", "from 0 to 119", "-1"]),
        ([0, 1, 1], [3], ["train", "once", "row 1"]),
        ([0.5, 1.0], [3], ["train", "row numbers"]),
        ([[0, 1]], [3], ["train", "row numbers"]),
        (["a"], [3], ["train", "row numbers", "a"]),
        (np.ones(7, dtype=bool), [3], ["train", "120 rows", "7"]),
        ([0], [1], ["at least 3 samples", "2"]),
        (ROWS[:50], ROWS[50:], ["train", "every class", "rose", "white"]),
        ([0, 99], [1, 100], ["n_neighbors", "at most 2", "3"]),
        (None, [1], ["train", "row numbers", "None"]),
    ],
)
def test_bad_splits_are_refused(wine, train, test, words):
    refused(lambda: audit_split(KNN, *wine, train, test), *words)


def test_other_bad_input_is_refused(wine, split):
    X, y = wine
    refused(lambda: audit_split(KNN, X, y[:100], *split), "y", "120", "100")
    refused(lambda: audit_split(KNN, X, y[:100], split[0][:50], split[1][:9]), "y", "120", "100")
    refused(lambda: audit_split(KNN, 3, y, *split), "X", "int")
    refused(lambda: audit_split(KNN, X, y, *split, stratify="yes"), "stratify", "yes")
    refused(lambda: audit_split(KNN, X, y, *split, n_runs=10), "n_runs", "100", "10")
    refused(lambda: audit_split(KNN, X, y, *split, random_state=-1), "random_state", "-1")
    refused(lambda: audit_split(KNeighborsRegressor(), X, ROWS, *split, stratify=True), "stratify")
    balanced = {"scoring": "balanced_accuracy", "stratify": False}
    refused(lambda: audit_split(KNN, X, y, *split, **balanced), "balanced_accuracy", "stratify")
    order = order_neighbors(X, depth=40)
    refused(lambda: audit_split(KNN, order, y, split[0][:50], split[1]), "NeighborOrder", "120")
    sorted_rows = np.argsort(X[:, 0])
    few = order_neighbors(X, depth=20)
    one = np.where(np.arange(120) % 2, "a", "b")
    refused(lambda: audit_split(KNN, few, one, sorted_rows[:60], sorted_rows[60:]), "depth 20")

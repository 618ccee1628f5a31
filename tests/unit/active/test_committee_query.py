"""CommitteeQuery: conventions, ties, batches, and what must not matter."""

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from allsplits import CommitteeQuery
from allsplits.exact.laws.fixed_size import two_classes
from allsplits.orders import reference as reference_file

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 2))
TRUTH = (X[:, 0] + 0.3 * RNG.standard_normal(60) > 0).astype(int)
THREE = np.digitize(X[:, 0], [-0.4, 0.4])
LABELLED = np.arange(12)
POOL = np.arange(12, 60)


def partly(labels, rows=LABELLED):
    y = np.full(len(labels), np.nan)
    y[rows] = labels[rows]
    return y


Y = partly(TRUTH)


@pytest.mark.parametrize("labels", [TRUTH, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("k", "p"), [(1, 1), (3, 2), (4, 3)])
def test_the_members_are_scikit_learns_classifiers(labels, k, p):
    """Each member really fitted, really asked."""
    classes = np.unique(labels[LABELLED])
    votes = np.zeros((len(POOL), len(classes)))
    members = list(combinations(LABELLED, len(LABELLED) - p))
    for train in map(list, members):
        predicted = KNeighborsClassifier(k).fit(X[train], labels[train]).predict(X[POOL])
        votes += predicted[:, None] == classes
    found = CommitteeQuery(k, p).shares(X, partly(labels))
    np.testing.assert_allclose(found, votes / len(members), atol=1e-13)


def test_candidates_may_be_none_rows_or_points():
    strategy = CommitteeQuery(3, 4, random_state=0)
    (first, *_), utilities = strategy.query(X, Y, batch_size=4, return_utilities=True)
    assert utilities.shape == (4, 60)
    assert np.isnan(utilities[0, LABELLED]).all()
    assert not np.isnan(utilities[0, POOL]).any()
    np.testing.assert_allclose(utilities[0, POOL], 1 - strategy.agreement(X, Y), atol=1e-15)
    np.testing.assert_array_equal(utilities[1:, first], np.nan)

    rows = POOL[10:30]
    asked, utilities = strategy.query(X, Y, rows, batch_size=20, return_utilities=True)
    assert sorted(asked) == list(rows)
    assert np.isnan(np.delete(utilities[0], rows)).all()

    asked, utilities = strategy.query(X, Y, X[rows], batch_size=20, return_utilities=True)
    assert utilities.shape == (20, 20)
    assert sorted(asked) == list(range(20))
    np.testing.assert_array_equal(strategy.agreement(X, Y, X[rows]), strategy.agreement(X, Y, rows))


def test_the_most_useful_come_first_and_chosen_ones_are_gone():
    asked, utilities = CommitteeQuery(3, 4, random_state=0).query(
        X, Y, batch_size=10, return_utilities=True
    )
    values = utilities[0, asked]
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] >= np.nanmax(np.delete(utilities[0], asked)) - 1e-12
    for i, row in enumerate(utilities):
        np.testing.assert_array_equal(np.isnan(row[asked]), np.arange(10) < i)


MISSING = {
    "NaN": Y,
    "None in a list": [None if np.isnan(v) else int(v) for v in Y],
    "None in an array": np.array([None if np.isnan(v) else int(v) for v in Y], dtype=object),
    "text and NaN in a list": [float("nan") if np.isnan(v) else "ab"[int(v)] for v in Y],
    "text and None": np.array([None if np.isnan(v) else "ab"[int(v)] for v in Y], dtype=object),
    "pandas Int64": pd.Series(Y).astype("Int64"),
    "pandas text": pd.Series([None if np.isnan(v) else "ab"[int(v)] for v in Y]),
    "pandas categories": pd.Series(Y).astype("category"),
    "dates and NaT": np.where(np.isnan(Y), np.datetime64("NaT"), np.datetime64(0, "D") + TRUTH),
    "polars integers": pl.Series([None if np.isnan(v) else int(v) for v in Y]),
    "polars text": pl.Series([None if np.isnan(v) else "ab"[int(v)] for v in Y]),
}


@pytest.mark.parametrize("y", MISSING.values(), ids=MISSING)
def test_missing_labels_of_every_kind(y):
    expected = CommitteeQuery(3).agreement(X, Y)
    np.testing.assert_array_equal(CommitteeQuery(3).agreement(X, y), expected)


def test_a_missing_label_of_choice():
    y = np.where(np.isnan(Y), -1, Y).astype(int)
    found = CommitteeQuery(3, missing_label=-1).agreement(X, y)
    np.testing.assert_array_equal(found, CommitteeQuery(3).agreement(X, Y))
    assert (
        len(
            CommitteeQuery(3, missing_label="?").agreement(
                X, ["?" if v < 0 else "ab"[v] for v in y]
            )
        )
        == 48
    )


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_frames(frame):
    table = frame({"a": X[:, 0], "b": X[:, 1]})
    expected = CommitteeQuery(3).agreement(X, Y)
    np.testing.assert_array_equal(CommitteeQuery(3).agreement(table, Y), expected)
    np.testing.assert_array_equal(
        CommitteeQuery(3).agreement(X, Y, frame({"a": X[12:, 0], "b": X[12:, 1]})), expected
    )


def test_ties_are_broken_at_random_from_random_state():
    """Four candidates at one place are equally useful: each is chosen now and then."""
    points = np.array([[0.0], [1.0], [3.0], [4.0], [2.0], [2.0], [2.0], [2.0]])
    y = [0, 0, 1, 1, None, None, None, None]
    chosen = [
        tuple(CommitteeQuery(1, random_state=seed).query(points, y, batch_size=2))
        for seed in range(60)
    ]
    assert set(np.ravel(chosen)) == {4, 5, 6, 7}
    assert all(a != b for a, b in chosen)
    assert len(set(chosen)) > 8
    again = CommitteeQuery(1, random_state=3)
    assert tuple(again.query(points, y, batch_size=2)) == chosen[3]


def test_rounding_does_not_break_ties():
    """Mirror images have the same agreement, though their sums round differently."""
    labelled = np.array([[-5.0], [-3.1], [-1.7], [1.7], [3.1], [5.0]])
    pool = np.array([[-0.3], [0.3], [-9.0]])
    y = [0, 0, 0, 1, 1, 1, None, None, None]
    strategy = CommitteeQuery(3, 2)
    first = {
        int(strategy.set_params(random_state=seed).query(np.vstack([labelled, pool]), y)[0])
        for seed in range(20)
    }
    assert first == {6, 7}


def test_diversity_avoids_copies():
    """Five copies of the most useful point, and useful ones elsewhere."""
    labelled = np.array([[0.0], [1.0], [3.0], [4.0]])
    pool = np.array([[2.0]] * 5 + [[1.9], [2.1], [1.8]])
    points, y = np.vstack([labelled, pool]), [0, 0, 1, 1] + [None] * 8
    plain = CommitteeQuery(1, 2, random_state=0).query(points, y, batch_size=3)
    spread = CommitteeQuery(1, 2, diversity=3, random_state=0).query(points, y, batch_size=3)
    assert len(np.unique(points[plain], axis=0)) < 3
    assert len(np.unique(points[spread], axis=0)) == 3
    assert len(set(spread)) == 3
    # With nothing but copies to choose from, copies it is.
    only = CommitteeQuery(1, 2, diversity=3, random_state=0).query(
        points, y, candidates=np.arange(4, 9), batch_size=5
    )
    assert sorted(only) == [4, 5, 6, 7, 8]


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
def test_diversity_follows_the_metric(metric):
    data = pairwise_distances(X) if metric == "precomputed" else X
    strategy = CommitteeQuery(3, 2, diversity=10, metric=metric, random_state=0)
    asked = strategy.query(data, Y, batch_size=4)
    distances = data if metric == "precomputed" else pairwise_distances(X, metric=metric)
    # 40 of the 48 are on the shortlist: the second is far from the first.
    assert distances[asked[0], asked[1]] >= np.sort(distances[asked[0], POOL])[-9]


def test_one_class_is_no_disagreement():
    y = np.where(np.isnan(Y), np.nan, 1.0)
    for utility in ("agreement", "entropy", "margin"):
        strategy = CommitteeQuery(3, utility=utility, random_state=0)
        np.testing.assert_array_equal(strategy.agreement(X, y), np.ones(48))
        asked, utilities = strategy.query(X, y, batch_size=2, return_utilities=True)
        np.testing.assert_array_equal(utilities[0, POOL], np.zeros(48))
        assert len(asked) == 2


def test_too_large_a_batch_is_everything_with_a_warning():
    with pytest.warns(UserWarning, match="48 candidates"):
        asked = CommitteeQuery(3).query(X, Y, batch_size=100)
    assert sorted(asked) == list(POOL)


@pytest.mark.parametrize("labels", [TRUTH, THREE], ids=["two", "three"])
def test_threads_and_blocks_change_nothing(labels, monkeypatch):
    points = np.rint(2 * RNG.standard_normal((500, 2)))
    y = partly(RNG.permutation(np.resize(labels, 500)), np.arange(30))
    expected = CommitteeQuery(5, 3, n_jobs=1).shares(points, y)
    np.testing.assert_array_equal(CommitteeQuery(5, 3, n_jobs=2).shares(points, y), expected)
    monkeypatch.setattr(reference_file, "_ENTRIES_PER_BLOCK", 1)
    np.testing.assert_array_equal(CommitteeQuery(5, 3, n_jobs=2).shares(points, y), expected)


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_the_table_of_two_classes_changes_nothing(k, label_ties, monkeypatch):
    """Two classes have a short cut; the general way gives the same, tied distances or not."""
    points = np.vstack([np.rint(X), X])
    y = np.concatenate([partly(TRUTH), np.full(60, np.nan)])
    strategy = CommitteeQuery(k, 3, label_ties=label_ties)
    expected = strategy.shares(points, y)
    monkeypatch.setattr(two_classes, "_DEEPEST_TABLE", 0)
    np.testing.assert_allclose(strategy.shares(points, y), expected, atol=1e-13)


def test_row_order_changes_nothing():
    points = RNG.integers(0, 4, (40, 2))
    y = partly(RNG.integers(0, 3, 40), np.arange(15))
    expected = CommitteeQuery(4, 2).shares(points, y, points[15:])
    order = RNG.permutation(40)
    found = CommitteeQuery(4, 2).shares(points[order], y[order], points[15:])
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("minkowski", {"p": 1}),
        ("minkowski", {"p": 3}),
        ("cosine", None),
        ("seuclidean", None),
        ("nan_euclidean", None),
        (lambda a, b: float(np.abs(a - b).max()), None),
    ],
)
def test_any_metric_agrees_with_its_distance_matrix(metric, params):
    name, extra = (metric, dict(params or {}))
    if metric == "seuclidean":
        extra = {"V": X.var(axis=0, ddof=1)}
    distances = pairwise_distances(X, metric=name, **extra)
    np.fill_diagonal(distances, 0)
    distances = (distances + distances.T) / 2
    found = CommitteeQuery(3, 2, metric=metric, metric_params=params).shares(X, Y)
    expected = CommitteeQuery(3, 2, metric="precomputed").shares(distances, Y)
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_it_has_scikit_learns_manners(capsys):
    strategy = CommitteeQuery(3, utility="margin", progress=True)
    assert clone(strategy).get_params() == strategy.get_params()
    assert repr(strategy) == "CommitteeQuery(n_neighbors=3, progress=True, utility='margin')"
    strategy.agreement(X, Y)
    assert "asking the committee" in capsys.readouterr().out


@pytest.mark.parametrize("known", [0, 1, 6])
@pytest.mark.parametrize("candidates", [None, POOL, X[POOL]], ids=["none", "rows", "points"])
def test_before_there_is_a_committee_candidates_are_drawn(known, candidates):
    """Fewer than k + p labels, even none: a random batch, all equally useful."""
    y = partly(TRUTH, np.arange(known))
    drawn = set()
    for seed in range(20):
        strategy = CommitteeQuery(5, 2, random_state=seed)
        asked, utilities = strategy.query(X, y, candidates, batch_size=3, return_utilities=True)
        assert len(set(asked)) == 3
        assert not (set(asked) & set(range(known)) and candidates is None)
        assert set(utilities[0][~np.isnan(utilities[0])]) == {0.0}
        drawn.add(tuple(asked))
    assert len(drawn) > 15

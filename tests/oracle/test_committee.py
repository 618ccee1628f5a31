"""The leave-p-out committee against the enumeration of all its C(n, p) members."""

from fractions import Fraction
from math import comb, log

import numpy as np
import pytest

from allsplits import CommitteeQuery
from allsplits.exact import Options
from allsplits.exact.laws.fixed_size.committee import Committee
from allsplits.orders import Metric, Reference
from oracle import enumerate as oracle
from oracle.checks import every_tie
from oracle.compare import assert_close, assert_within_bound
from oracle.datasets import DATASETS, POINTS, dataset

every_dataset = pytest.mark.parametrize("data", DATASETS, ids=str)
some_datasets = pytest.mark.parametrize(
    "data", [dataset(points, "3 classes") for points in POINTS], ids=str
)


def queries(data) -> np.ndarray:
    """A labelled point, points beside some, and one far away."""
    X = data.X
    return np.vstack([X[0], X[3] + 1, X[5] - 1, 0 * X[0], X.max(axis=0) + 5])


def enumerated_shares(data, p: int, k: int, **ties) -> list[list[Fraction]]:
    """What each class gets from the members, one row for each query."""
    points = queries(data)
    distances = oracle.squared_distances(np.vstack([data.X, points]))
    labels = data.labels + data.labels[:1] * len(points)
    law = oracle.committee(data.n, p, len(points))
    return oracle.classify(distances, labels, law, k, **ties).prediction_proba[data.n :]


def cases(n: int):
    """p and k: few and many, even and odd, and as many voters as a member has."""
    return [(p, k) for p in (1, 2, 3, n - 2) for k in sorted({1, 2, 3, 4, n - p}) if k <= n - p]


@every_tie
@every_dataset
def test_shares_of_all_members(data, ties):
    for p, k in cases(data.n):
        expected = enumerated_shares(data, p, k, **ties)
        found = CommitteeQuery(k, p, **ties).shares(data.X, data.y, queries(data))
        assert_close(found, expected, f"shares p={p} k={k}")


@every_tie
@some_datasets
def test_the_claimed_bound_holds(data, ties):
    classes, codes = np.unique(data.y, return_inverse=True)
    for p, k in cases(data.n):
        committee = Committee(codes.astype(np.int32), len(classes), k, p, Options(**ties))
        search = Reference(data.X.astype(float), Metric("euclidean"), 1)
        found = committee.shares(search.of(queries(data).astype(float), committee.depth), 1)
        for row, line in zip(found, enumerated_shares(data, p, k, **ties), strict=True):
            for value, exact in zip(row, line, strict=True):
                assert_within_bound(value, exact, committee.error_bound, f"p={p} k={k}")


def test_the_law_has_every_member_once():
    law = oracle.committee(5, 2, 3)
    assert len({split.train for split in law}) == len(law) == comb(5, 2)
    assert {split.test for split in law} == {(5, 6, 7)}
    assert all(len(split.train) == 3 and max(split.train) < 5 for split in law)


def test_a_wrong_p_is_seen():
    data = dataset("no ties", "2 classes")
    found = CommitteeQuery(3, 2).shares(data.X, data.y, queries(data))
    with pytest.raises(AssertionError):
        assert_close(found, enumerated_shares(data, 1, 3), "shares")


@every_dataset
def test_agreement_and_utilities(data):
    p, k = 2, 3
    shares = enumerated_shares(data, p, k)
    n_classes = len(shares[0])
    expected = [(n_classes * max(row) - 1) / Fraction(n_classes - 1) for row in shares]
    strategy = CommitteeQuery(k, p)
    assert_close(strategy.agreement(data.X, data.y, queries(data)), expected, "agreement")
    if n_classes == 2:
        assert expected == [2 * abs(row[1] - Fraction(1, 2)) for row in shares]
    by_utility = {
        "agreement": [1 - value for value in expected],
        "entropy": [-sum(float(s) * log(s) for s in row if s > 0) for row in shares],
        "margin": [1 - (sorted(row)[-1] - sorted(row)[-2]) for row in shares],
    }
    for utility, values in by_utility.items():
        strategy = CommitteeQuery(k, p, utility=utility)
        asked, found = strategy.query(
            data.X, data.y, queries(data), batch_size=5, return_utilities=True
        )
        assert_close(found[0], values, utility)
        assert [float(values[i]) for i in asked] == pytest.approx(
            sorted(map(float, values), reverse=True), abs=1e-12
        )


@some_datasets
@pytest.mark.parametrize("metric", ["manhattan", "chebyshev", "precomputed"])
def test_other_metrics(data, metric):
    everything = np.vstack([data.X, queries(data)])
    differences = np.abs(everything[:, None] - everything[None])
    distances = differences.max(axis=2) if metric == "chebyshev" else differences.sum(axis=2)
    labels = data.labels + data.labels[:1] * 5
    law = oracle.committee(data.n, 2, 5)
    proba = oracle.classify(oracle.given_distances(distances), labels, law, 3).prediction_proba
    y = np.array([*data.y.tolist(), *[None] * 5], dtype=object)
    X = distances if metric == "precomputed" else everything
    found = CommitteeQuery(3, 2, metric=metric).shares(X, y)
    assert_close(found, proba[data.n :], "shares")

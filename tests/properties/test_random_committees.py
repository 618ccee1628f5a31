"""Committees on random small problems: the enumeration, and what must always hold."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from allsplits import CommitteeQuery
from oracle import enumerate as oracle
from oracle.compare import assert_close
from properties.strategies import problems, ties


@st.composite
def committees(draw):
    """A problem whose last rows are the queries, with p and k that fit."""
    problem = draw(problems(smallest=4, largest=9))
    n_queries = draw(st.integers(1, 2))
    n = problem.n - n_queries
    p = draw(st.integers(1, n - 1))
    return problem, n, p, draw(st.integers(1, n - p))


@given(committees(), ties)
def test_shares_are_the_enumerated_ones(committee, ties):
    problem, n, p, k = committee
    labels = problem.labels[:n] + problem.labels[:1] * (problem.n - n)
    law = oracle.committee(n, p, problem.n - n)
    expected = oracle.classify(problem.distances, labels, law, k, **ties).prediction_proba[n:]
    y = list(labels[:n]) + [None] * (problem.n - n)
    found = CommitteeQuery(k, p, **ties).shares(problem.X, y)
    assert_close(found, expected, f"n={n} p={p} k={k}")


@given(
    st.integers(0, 2**31), st.integers(2, 4), st.integers(1, 8), st.integers(1, 20),
    st.booleans(),
)  # fmt: skip
def test_larger_committees(seed, n_classes, k, p, tied):
    """Shares sum to one, agreement stays between 0 and 1, classes may be renamed."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (60, 2)) if tied else rng.standard_normal((60, 2))
    y = np.where(np.arange(60) < 40, rng.integers(0, n_classes, 60), np.nan)
    strategy = CommitteeQuery(k, p, label_ties="share")
    shares = strategy.shares(X, y)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-12)
    agreement = strategy.agreement(X, y)
    assert (agreement >= 0).all()
    assert (agreement <= 1).all()
    renamed = strategy.shares(X, n_classes - 1 - y)
    np.testing.assert_allclose(renamed[:, ::-1], shares, atol=1e-12)

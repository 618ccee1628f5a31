"""Random small problems: integer rows, so that ties are common and distances exact."""

import numpy as np
from hypothesis import strategies as st
from sklearn.model_selection import KFold, LeaveOneOut, LeavePOut, ShuffleSplit

from allsplits import FixedSize
from oracle import enumerate as oracle
from oracle.datasets import Dataset


@st.composite
def problems(draw, smallest=3, largest=8, classes=4, spread=4) -> Dataset:
    """Rows of one or two integers from 0 to `spread`, with two classes or more."""
    n = draw(st.integers(smallest, largest))
    n_features = draw(st.integers(1, 2))
    row = st.lists(st.integers(0, spread), min_size=n_features, max_size=n_features)
    rows = draw(st.lists(row, min_size=n, max_size=n))
    label = st.integers(0, classes - 1)
    labels = draw(st.lists(label, min_size=n, max_size=n).filter(lambda found: len(set(found)) > 1))
    return Dataset("random", np.array(rows), np.array(labels))


@st.composite
def paired_problems(draw, largest=8, classes=3) -> Dataset:
    """The same, with at least two samples of every class."""
    problem = draw(problems(smallest=4, largest=largest, classes=classes))
    half = problem.n // 2
    pairs = np.concatenate([np.arange(2), problem.y])[:half]
    labels = np.concatenate([pairs, pairs, pairs[: problem.n % 2]])
    order = draw(st.permutations(range(problem.n)))
    return Dataset("random", problem.X, labels[order])


@st.composite
def fixed_size_laws(draw, n: int):
    """A splitter and the size of its smallest training set."""
    kind = draw(st.sampled_from(["size", "one out", "some out", "shuffle", "folds"]))
    if kind == "size":
        size = draw(st.integers(1, n - 1))
        return FixedSize(size), size
    if kind == "one out":
        return LeaveOneOut(), n - 1
    if kind == "some out":
        p = draw(st.integers(1, n - 1))
        return LeavePOut(p), n - p
    if kind == "shuffle":
        test_size = draw(st.integers(1, n - 1))
        train_size = draw(st.integers(1, n - test_size))
        return ShuffleSplit(test_size=test_size, train_size=train_size), train_size
    n_folds = draw(st.integers(2, n))
    return KFold(n_folds, shuffle=True), n - max(oracle.fold_sizes(n, n_folds))


ties = st.fixed_dictionaries(
    {
        "distance_ties": st.sampled_from(["average", "index"]),
        "label_ties": st.sampled_from(["first", "share"]),
    }
)

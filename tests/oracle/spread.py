"""The spread between runs by enumeration: every run, one at a time, in exact fractions.

A run is `Run(weight, splits)`: one split, or the folds of one shuffled k-fold, which count equally.
The score of a split is the mean over its test samples of how right each is: the mean over the
orders of tied neighbours, and the share of an even vote, as in `enumerate`.
"""

from fractions import Fraction
from itertools import combinations, product
from typing import NamedTuple

from oracle import enumerate as oracle


class Run(NamedTuple):
    weight: Fraction
    splits: list  # of (train, test)


def of_splits(law: oracle.Law) -> list[Run]:
    """Every split alone."""
    return [Run(split.weight, [(split.train, split.test)]) for split in law]


def deals(members, sizes):
    """All ways to deal the members out to folds of these sizes."""
    if not sizes:
        yield []
        return
    for fold in combinations(members, sizes[0]):
        rest = [i for i in members if i not in fold]
        for others in deals(rest, sizes[1:]):
            yield [fold, *others]


def of_folds(n: int, n_folds: int) -> list[Run]:
    """Every way to deal n samples out to folds."""
    return _equally_likely(n, deals(range(n), oracle.fold_sizes(n, n_folds)))


def of_stratified_folds(labels, n_folds: int) -> list[Run]:
    """Every way to deal the samples of each class out, in scikit-learn's numbers."""
    counts = oracle.stratified_fold_counts(labels, n_folds)
    by_class = [
        list(deals(members, [fold[label] for fold in counts]))
        for label, members in oracle.members_by(labels).items()
    ]
    dealt = (
        [sum((part[fold] for part in parts), ()) for fold in range(n_folds)]
        for parts in product(*by_class)
    )
    return _equally_likely(len(labels), dealt)


def _equally_likely(n: int, dealt) -> list[Run]:
    runs = [[(oracle.all_but(n, test), test) for test in folds] for folds in dealt]
    return [Run(Fraction(1, len(runs)), splits) for splits in runs]


def judge(data, k, *, distance_ties="average", label_ties="first"):
    """How right a sample is, given a training set: a function of both."""
    labels, classes = data.labels, tuple(sorted(set(data.labels)))
    known: dict = {}

    def right(sample, train):
        key = (sample, tuple(sorted(train)))
        if key not in known:
            chosen = oracle.nearest(data.distances[sample], key[1], k, distance_ties)
            won = tuple(
                oracle.winners(tuple(labels[i] for i in voters), label_ties) for voters in chosen
            )
            known[key] = oracle.shares(won, classes)[classes.index(labels[sample])]
        return known[key]

    return right


def run_scores(data, runs, k, *, balanced=False, **ties):
    """[(weight, score)] of all runs."""
    labels, right = data.labels, judge(data, k, **ties)

    def split_score(train, test):
        if not balanced:
            return oracle.mean(right(i, train) for i in test)
        of_class = oracle.members_by([labels[i] for i in test]).values()
        return oracle.mean(oracle.mean(right(test[i], train) for i in some) for some in of_class)

    return [
        (run.weight, oracle.mean(split_score(train, test) for train, test in run.splits))
        for run in runs
    ]


def second_moment_of(samples, data, runs, k) -> Fraction:
    """E[(what these samples add to the score)²]."""
    right, total = judge(data, k), Fraction(0)
    for run in runs:
        part = sum(
            Fraction(right(i, train), len(test) * len(run.splits))
            for train, test in run.splits
            for i in test
            if i in samples
        )
        total += run.weight * part**2
    return total


def moments(scores) -> tuple[Fraction, Fraction]:
    """(mean, variance) of weighted scores."""
    mean = sum(weight * score for weight, score in scores)
    return mean, sum(weight * (score - mean) ** 2 for weight, score in scores)

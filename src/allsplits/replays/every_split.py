"""All splits of a law, one after the other, where they are few: nothing is left to draw."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.pairs.result import GivenSplit
from allsplits.exact.question import Question
from allsplits.splits import CountsLaw, GroupLaw, SizeLaw

Rows = NDArray[np.intp]


class EverySplit(NamedTuple):
    """The splits of a law, and the share of each."""

    splits: list[GivenSplit]
    shares: NDArray[np.float64]


def has_few_splits(question: Question, at_most: int) -> bool:
    """Whether a run is one split of the samples, and there are no more of them than that."""
    law = question.columns[0].law
    if question.outside or not isinstance(law, (SizeLaw, CountsLaw, GroupLaw)):
        return False
    return not getattr(law, "n_folds", 0) and law.n_splits <= at_most


def every_split(question: Question) -> EverySplit:
    """All splits, for a question that has few."""
    law: Any = question.columns[0].law
    if isinstance(law, GroupLaw):
        members = [np.flatnonzero(law.groups == group) for group in range(len(law.group_sizes))]
        chosen = _parts(range(len(members)), law.n_train, law.n_test)
        splits = [
            GivenSplit(*(np.concatenate([members[g] for g in part]) for part in parts))
            for parts in chosen
        ]
        return EverySplit(splits, np.full(len(splits), 1 / len(splits)))
    pools: list[Sequence[int]] = [range(question.n_samples)]
    if isinstance(law, CountsLaw):
        classes = range(len(law.class_sizes))
        pools = [np.flatnonzero(question.codes == c).tolist() for c in classes]
    found, shares = [], []
    for component in law.components:
        some = list(_from_pools(pools, component.train, component.test))
        found += some
        shares += [float(component.weight) / len(some)] * len(some)
    return EverySplit(found, np.array(shares))


def _parts(
    members: Sequence[int], n_train: int, n_test: int
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All choices of so many for training and for test."""
    for train in combinations(members, n_train):
        left = sorted(set(members) - set(train))
        for test in combinations(left, n_test):
            yield train, test


def _from_pools(pools: Sequence[Sequence[int]], train: Any, test: Any) -> Iterator[GivenSplit]:
    """Every choice in one pool with every choice in the others."""
    numbers = zip(pools, np.atleast_1d(train).tolist(), np.atleast_1d(test).tolist(), strict=True)
    for parts in product(*(list(_parts(pool, a, t)) for pool, a, t in numbers)):
        yield GivenSplit(*(np.array(sum(part, ()), np.intp) for part in zip(*parts, strict=True)))

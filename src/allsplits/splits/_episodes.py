"""Few-shot episodes: some classes at random, a few support items of each."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import comb, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_count
from allsplits.splits._counts import ClassSizes


@dataclass(frozen=True)
class EpisodeLaw(ClassSizes):
    """Episodes for known class sizes."""

    kind: ClassVar[str] = "episodes"

    n_way: int
    k_shot: int
    outside: bool = False

    def without_tests(self) -> "EpisodeLaw":
        """The same support sets for questions from outside."""
        return replace(self, outside=True)

    @property
    def smallest_training_set(self) -> int:
        """Support items of an episode."""
        return self.n_way * self.k_shot

    def without_one(self, unit: int, at_least: int) -> "EpisodeLaw":
        """The law when a sample of class `unit` is gone."""
        sizes = list(self.class_sizes)
        sizes[unit] -= 1
        return EpisodeLaw(tuple(sizes), self.n_way, self.k_shot)

    @cached_property
    def n_splits(self) -> int:
        """How many different episodes are averaged over."""
        ways = [comb(size, self.k_shot) for size in self.class_sizes]
        if len(set(ways)) == 1:
            return comb(len(ways), self.n_way) * int(ways[0] ** self.n_way)
        if comb(len(ways), self.n_way) <= 10_000:
            return sum(prod(chosen) for chosen in combinations(ways, self.n_way))
        # Elementary symmetric polynomial of the numbers of support sets.
        totals = [1] + [0] * self.n_way
        for number in ways:
            for m in range(self.n_way, 0, -1):
                totals[m] += number * totals[m - 1]
        return totals[self.n_way]

    def __str__(self) -> str:
        return f"every {self.n_way}-way {self.k_shot}-shot episode"


@dataclass(frozen=True)
class Episodes:
    """Few-shot episodes: `n_way` random classes, `k_shot` support items of each.

    Queries are all other items of the chosen classes; the classes of an episode count equally, and
    so do all choices of classes, however many support sets each has. Where benchmarks average 600
    or 10,000 random episodes, this is the average over all of them. One neighbour takes any number
    of classes; more of them, weights, and recall@R, as many as have at most 2,000 sets of `n_way`.

    Parameters
    ----------
    n_way : int
        Classes in an episode.
    k_shot : int
        Support items of each class.

    Examples
    --------
    >>> from allsplits import Episodes, evaluate
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> X, y = load_digits(return_X_y=True)
    >>> round(evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(n_way=5, k_shot=1)).score, 4)
    0.7385
    """

    n_way: int
    k_shot: int

    def resolve(
        self, classes: NDArray[Any], codes: NDArray[np.int32], *, outside: bool = False
    ) -> EpisodeLaw:
        """Fix the classes and their sizes; questions from outside need nobody left to test."""
        sizes = np.bincount(codes, minlength=len(classes))
        n_way = check_count(
            "n_way", self.n_way, at_least=2, at_most=len(classes), why=" (the number of classes)"
        )
        smallest = int(np.argmin(sizes))
        why = f" (class {classes.tolist()[smallest]!r} has {sizes[smallest]} samples"
        why += ")" if outside else ", and one must be left as a query)"
        most = int(sizes[smallest]) - (not outside)
        k_shot = check_count("k_shot", self.k_shot, at_least=1, at_most=most, why=why)
        return EpisodeLaw(tuple(sizes.tolist()), n_way, k_shot)

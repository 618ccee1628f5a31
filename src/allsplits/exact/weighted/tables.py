"""Laws as the compiled weighted votes see them: tables, how deep they reach, what is left out.

A set drawn from all candidates is known by P(b of the first j are drawn), and by the same with the
next one drawn as well: a fixed size, a mixture of sizes and independent draws differ in nothing
else. Class counts have such a table for each class.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import binom

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.laws.class_counts.vote import needed_depth
from allsplits.exact.masses import (
    Column,
    binomial_table,
    mixed_masses,
    prefixes_for,
    rank_masses,
)
from allsplits.exact.question import Question
from allsplits.exact.weighted.kernel_types import LawTables
from allsplits.splits import BernoulliLaw, SizeLaw

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

#: Binomial coefficients are kept in range by powers that cancel: none falls below e^-300.
_LARGEST_EXPONENT = 300.0


class TabledLaw(ABC):
    """A law as the kernels see it.

    Attributes
    ----------
    n_components : int
        What is found is told apart by component.
    """

    n_components: int

    @abstractmethod
    def draws(
        self, own: int, component: int, rng: np.random.Generator, n_draws: int
    ) -> tuple[Integers, Integers]:
        """(candidates, draws) of each class for a question of class `own`, or of all together.

        The second has a line for each of `n_draws` training sets.
        """

    @abstractmethod
    def depth(self, k: int, tol: float) -> int:
        """Neighbours after which at most about `tol` of a vote of k is left."""

    @abstractmethod
    def left_out(self, k: int, tol: float) -> int:
        """Candidates before the last voter that do not vote, but for mass of about `tol`."""

    @abstractmethod
    def tables(self, k: int, longest: int, tol: float) -> LawTables:
        """Tables for votes of up to k among the first `longest` neighbours."""


def _beyond(first: int, masses: Floats, k: int, tol: float) -> int:
    """Candidates that do not vote, from the masses of prefixes."""
    tail = np.cumsum(masses[::-1])[::-1]
    return first + int(np.count_nonzero(tail > tol)) - k + 1


class SizedLaw(TabledLaw):
    """Sets of fixed sizes. `mixed`: all sizes together are one component, as they count."""

    def __init__(self, law: SizeLaw, n_classes: int, *, mixed: bool = False) -> None:
        self.law, self.n_classes = law, n_classes
        sizes = [component.train for component in law.components]
        shares = [float(component.weight) for component in law.components]
        self.sets = [(sizes, shares)] if mixed else [([size], [1.0]) for size in sizes]
        self.n_components = len(self.sets)

    def draws(
        self, own: int, component: int, rng: np.random.Generator, n_draws: int
    ) -> tuple[Integers, Integers]:
        """Of all together."""
        sizes, shares = self.sets[component]
        drawn = np.full(n_draws, sizes[0])
        if len(sizes) > 1:
            drawn = rng.choice(sizes, n_draws, p=np.array(shares) / sum(shares))
        return np.array([self.law.n_candidates]), drawn[:, None]

    def depth(self, k: int, tol: float) -> int:
        """From the masses of prefixes."""
        return prefixes_for([Column(k, self.law)], tol).depth

    def left_out(self, k: int, tol: float) -> int:
        """As if all sets were of the smallest size, unless they are mixed."""
        n = self.law.n_candidates
        if len(self.sets) == 1:
            return _beyond(*mixed_masses(Column(k, self.law)), k, tol)
        train = min(sizes[0] for sizes, _ in self.sets)
        return _beyond(*rank_masses(n, train, k), k, tol) if train >= k else n

    def tables(self, k: int, longest: int, tol: float) -> LawTables:
        """Hypergeometric chances, divided by what the product over classes brings."""
        n, shape = self.law.n_candidates, (longest + 1, k)
        mean = np.mean([np.dot(sizes, shares) / sum(shares) for sizes, shares in self.sets]) / n
        share = min(max(float(mean), 1e-3), 1 - 1e-3, _LARGEST_EXPONENT / (longest + 1))
        binomial = binomial_table(longest, k - 1, share)
        ends, lasts = (np.zeros((len(self.sets), *shape)) for _ in range(2))
        line, left = np.empty(shape), np.maximum(n - np.arange(longest + 1), 1)[:, None]
        for component, (sizes, shares) in enumerate(self.sets):
            for size, weight in zip(sizes, shares, strict=True):
                hypergeometric_table(n, size, longest, k - 1, line)
                ends[component] += weight * line
                lasts[component] += weight * line * np.maximum(size - np.arange(k), 0) / left
        for found in (ends, lasts):
            np.divide(found, binomial, out=found, where=binomial > 1e-280)
            found[:, binomial <= 1e-280] = 0.0
        return _of_sets(binomial, ends, lasts, self.n_classes, self.depth(k, tol))


class DrawnLaw(TabledLaw):
    """Independent draws, given that there are k voters at least: for votes of this k alone."""

    n_components = 1

    def __init__(self, law: BernoulliLaw, n_classes: int) -> None:
        self.law, self.n_classes, self.q = law, n_classes, float(law.q)

    def draws(
        self, own: int, component: int, rng: np.random.Generator, n_draws: int
    ) -> tuple[Integers, Integers]:
        """Sizes are drawn first."""
        n, least = self.law.n_candidates, self.law.at_least
        chance = binom.sf(least - 1, n, self.q)
        sizes = np.clip(binom.isf(chance * rng.random(n_draws), n, self.q), least, n)
        return np.array([n]), sizes.astype(np.int64)[:, None]

    def depth(self, k: int, tol: float) -> int:
        """From the masses of prefixes."""
        return prefixes_for([Column(k, self.law)], tol).depth

    def left_out(self, k: int, tol: float) -> int:
        """From the masses of prefixes."""
        return _beyond(*mixed_masses(Column(k, self.law)), k, tol)

    def tables(self, k: int, longest: int, tol: float) -> LawTables:
        """Given the first j, the others must bring the number of voters to k."""
        n, q = self.law.n_candidates, self.q
        binomial = binomial_table(longest, k - 1, q)
        left, wanted = n - np.arange(longest + 1)[:, None], k - np.arange(k)
        enough = binom.sf(k - 1, n, q)
        ends = binom.sf(wanted - 1, np.maximum(left, 0), q) / enough
        lasts = q * binom.sf(wanted - 2, np.maximum(left - 1, 0), q) / enough
        lasts = np.where(left > 0, lasts, 0.0)
        return _of_sets(binomial, ends[None], lasts[None], self.n_classes, self.depth(k, tol))


def _of_sets(
    binomial: Floats, ends: Floats, lasts: Floats, n_classes: int, reach: int
) -> LawTables:
    one = np.zeros(n_classes, dtype=np.int64)
    table = binomial[None, None]
    return LawTables(table, table, one, one, ends, lasts, reach)


class CountedLaw(TabledLaw):
    """Fixed numbers of each class.

    Parameters
    ----------
    sizes : array of shape (classes,)
        Candidates of each class, for a question of another class.
    own : array of shape (classes,)
        The same for a question of the class itself.
    trains : array of shape (components, classes)
        How many are drawn; no more than there are.
    """

    def __init__(self, sizes: ArrayLike, own: ArrayLike, trains: ArrayLike) -> None:
        self.sizes, self.own = np.asarray(sizes), np.asarray(own)
        self.trains = np.minimum(np.asarray(trains), self.sizes)
        self.n_components = len(self.trains)
        self.n_candidates = int(max(self.sizes.sum() + (self.own - self.sizes).min(), 1))

    def draws(
        self, own: int, component: int, rng: np.random.Generator, n_draws: int
    ) -> tuple[Integers, Integers]:
        """Of each class."""
        pool = np.where(np.arange(len(self.sizes)) == own, self.own, self.sizes)
        return pool, np.broadcast_to(np.minimum(self.trains[component], pool), (n_draws, len(pool)))

    def depth(self, k: int, tol: float) -> int:
        """Whatever the data are."""
        deepest = max(needed_depth(self.sizes, train, k, tol) for train in self.trains)
        return min(deepest, self.n_candidates)

    def left_out(self, k: int, tol: float) -> int:
        """As if all classes were drawn like the one that is drawn least."""
        there = self.sizes > 0
        shares = self.trains[:, there] / self.sizes[there]
        train = int(shares.min() * self.n_candidates)
        if train < k:
            return self.n_candidates
        return _beyond(*rank_masses(self.n_candidates, train, k), k, tol)

    def tables(self, k: int, longest: int, tol: float) -> LawTables:
        """A table for each kind of class."""
        n_classes, n_components = len(self.sizes), self.n_components
        pools = np.concatenate([self.sizes, self.own])
        drawn = np.minimum(np.concatenate([self.trains, self.trains], axis=1), pools).T
        kinds, ids = np.unique(np.column_stack([pools, drawn]), axis=0, return_inverse=True)
        ids = ids.reshape(-1)
        height = min(longest, int(pools.max())) + 1
        rows = np.zeros((n_components, len(kinds), height, k))
        nexts = np.zeros_like(rows)
        for table, (pool, *components) in enumerate(kinds.tolist()):
            top = min(pool + 1, height)
            items = np.arange(top)[:, None]
            for component, train in enumerate(components):
                line = rows[component, table, :top]
                hypergeometric_table(pool, train, top - 1, k - 1, line)
                left = np.maximum(train - np.arange(k), 0) / np.maximum(pool - items, 1)
                nexts[component, table, :top] = line * np.where(items < pool, left, 0.0)
        none = np.empty((0, 0, 0))
        return LawTables(
            rows, nexts, ids[:n_classes], ids[n_classes:], none, none, self.depth(k, tol)
        )


def tabled_law(question: Question, law: Any) -> TabledLaw:
    """The law of a question as the kernels see it; independent draws for one number of voters."""
    if isinstance(law, BernoulliLaw):
        return DrawnLaw(law, question.n_classes)
    if law.kind != "class counts":
        return SizedLaw(law, question.n_classes)
    sizes = np.array(law.class_sizes)
    held_out = 0 if question.outside else 1
    return CountedLaw(sizes, np.maximum(sizes - held_out, 0), [c.train for c in law.components])

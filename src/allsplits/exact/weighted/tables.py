"""Laws as the compiled weighted votes see them: tables, how deep they reach, what is left out."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact._kernels_draws import hypergeometric_table
from allsplits.exact.laws.class_counts.vote import needed_depth
from allsplits.exact.masses import Column, binomial_table, prefixes_for, rank_masses
from allsplits.exact.question import Question
from allsplits.exact.weighted.kernel_types import LawTables


class TabledLaw:
    """A law of fixed size or of class counts as the kernels see it."""

    def __init__(self, question: Question, law: Any) -> None:
        self.law, self.n_candidates = law, question.n_candidates
        self.held_out = 0 if question.outside else 1
        self.counts = law.kind == "class counts"
        sizes = np.array(law.class_sizes) if self.counts else question.class_sizes
        self.pools = np.concatenate([sizes, np.maximum(sizes - self.held_out, 0)])
        self.trains = [component.train for component in law.components]

    def draws(self, own: int, component: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """(candidates, draws) of each class for a sample of class `own`, or of all together."""
        if not self.counts:
            return np.array([self.n_candidates]), np.array([self.trains[component]])
        n_classes = len(self.pools) // 2
        pool = self.pools[:n_classes] - self.held_out * (np.arange(n_classes) == own)
        return pool, np.minimum(np.array(self.trains[component]), pool)

    def depth(self, k: int, tol: float) -> int:
        """Neighbours after which at most about `tol` of a vote of k is left."""
        if not self.counts:
            return prefixes_for([Column(k, self.law)], tol).depth
        sizes = self.law.class_sizes
        deepest = max(needed_depth(sizes, train, k, tol) for train in self.trains)
        return min(deepest, self.n_candidates)

    def left_out(self, k: int, tol: float) -> int:
        """Candidates before the last voter that do not vote, but for mass of about `tol`."""
        n = self.n_candidates
        if self.counts:
            # As if all classes were drawn like the one that is drawn least.
            shares = [min(a / b for a, b in zip(t, self.law.class_sizes, strict=True) if b)
                      for t in self.trains]  # fmt: skip
            train = int(min(shares) * n)
        else:
            train = min(self.trains)
        if train < k:
            return n
        first, masses = rank_masses(n, train, k)
        tail = np.cumsum(masses[::-1])[::-1]
        return first + int(np.count_nonzero(tail > tol)) - k + 1

    def tables(self, k: int, longest: int, tol: float) -> LawTables:
        """Tables for votes of up to k among the first `longest` neighbours."""
        make = self._count_tables if self.counts else self._size_tables
        return make(k, longest, self.depth(k, tol))

    def _size_tables(self, k: int, longest: int, reach: int) -> LawTables:
        n = self.n_candidates
        share = min(max(float(np.mean(self.trains)) / n, 1e-3), 1 - 1e-3)
        binomial = binomial_table(longest, k - 1, share)
        drawn = np.empty((len(self.trains), longest + 1, k))
        for component, train in enumerate(self.trains):
            hypergeometric_table(n, train, longest, k - 1, drawn[component])
        ends = np.divide(drawn, binomial, out=np.zeros_like(drawn), where=binomial > 1e-280)
        n_classes = len(self.pools) // 2
        one = np.zeros(n_classes, dtype=np.int64)
        table = binomial[None, None]
        return LawTables(table, table, one, one, ends, np.array(self.trains), n, reach)

    def _count_tables(self, k: int, longest: int, reach: int) -> LawTables:
        n_classes = len(self.pools) // 2
        trains = np.array(self.trains)
        drawn = np.minimum(np.concatenate([trains, trains], axis=1), self.pools).T
        kinds, ids = np.unique(np.column_stack([self.pools, drawn]), axis=0, return_inverse=True)
        ids = ids.reshape(-1)
        height = min(longest, int(self.pools.max())) + 1
        rows = np.zeros((len(self.trains), len(kinds), height, k))
        nexts = np.zeros_like(rows)
        for table, (pool, *components) in enumerate(kinds.tolist()):
            top = min(pool + 1, height)
            items = np.arange(top)[:, None]
            for component, train in enumerate(components):
                line = rows[component, table, :top]
                hypergeometric_table(pool, train, top - 1, k - 1, line)
                left = np.maximum(train - np.arange(k), 0) / np.maximum(pool - items, 1)
                nexts[component, table, :top] = line * np.where(items < pool, left, 0.0)
        return LawTables(
            rows, nexts, ids[:n_classes], ids[n_classes:], np.empty((0, 0, 0)),
            np.empty(0, dtype=np.int64), self.n_candidates, reach,
        )  # fmt: skip

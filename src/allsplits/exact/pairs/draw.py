"""Runs of a law, drawn at random: what scikit-learn's splitters would draw."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.pairs.kernel_types import ReplayRun
from allsplits.exact.question import Question
from allsplits.exceptions import InvalidInputError

Ints = NDArray[np.int32]
#: A law of random sizes may draw runs that cannot be scored, this often in a row.
_MOST_TRIALS = 1000


class RunDrawer:
    """Draws runs of the question's law."""

    def __init__(self, question: Question) -> None:
        self._law: Any = question.columns[0].law
        self._k = question.columns[0].k
        self._codes = question.codes
        self._by_class = question.balanced or self._law.kind == "episodes"
        self._n = question.n_samples
        self._n_outside = question.n_questions if question.outside else 0
        of_samples = self._codes[: self._n]
        self._classes = [np.flatnonzero(of_samples == c) for c in range(question.n_classes)]
        self._draw: Callable[[np.random.Generator], tuple[Ints, Ints]] = {
            "fixed size": self._sizes,
            "class counts": self._counts,
            "whole groups": self._groups,
            "episodes": self._episodes,
            "independent draws": self._independent,
            "draws with replacement": self._bootstrap,
        }[self._law.kind]

    def __call__(self, rng: np.random.Generator) -> ReplayRun:
        """One run, with a test sample and enough voters."""
        for _ in range(_MOST_TRIALS):
            folds, copies = self._draw(rng)
            if self._n_outside:
                folds = self._outside(copies)
            if folds.max() >= 0:
                return ReplayRun(folds, copies, self.units(folds))
        raise InvalidInputError(f"cv draws next to no splits that can be scored: {self._law}")

    def given(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> ReplayRun:
        """The run of one split that is not drawn."""
        folds, copies = self._nothing()
        folds[test], copies[train] = 0, 1
        return ReplayRun(folds, copies, self.units(folds))

    def units(self, folds: Ints) -> NDArray[np.float64]:
        """What tested samples count: folds equally, in a fold its samples, or classes, equally."""
        tested = folds >= 0
        n_folds = int(folds.max()) + 1
        if not self._by_class:
            sizes = np.bincount(folds[tested], minlength=n_folds)
            return np.where(tested, 1 / (n_folds * np.maximum(sizes, 1)[folds]), 0.0)
        n_classes = int(self._codes.max()) + 1
        cells = folds.astype(np.int64) * n_classes + self._codes
        sizes = np.bincount(cells[tested], minlength=n_folds * n_classes)
        present = (sizes.reshape(n_folds, n_classes) > 0).sum(axis=1)
        return np.where(tested, 1 / (n_folds * present[folds] * np.maximum(sizes, 1)[cells]), 0.0)

    def _outside(self, copies: Ints) -> Ints:
        """All questions from outside are tested; those of the classes of an episode."""
        folds = np.full(len(copies), -1, dtype=np.int32)
        if copies.sum() >= min(self._k, self._law.smallest_training_set):
            folds[self._n :] = 0
        if self._law.kind == "episodes":
            folds[~np.isin(self._codes, self._codes[copies > 0])] = -1
        return folds

    def _nothing(self) -> tuple[Ints, Ints]:
        """For the samples, and for questions from outside after them."""
        n = self._n + self._n_outside
        return np.full(n, -1, dtype=np.int32), np.zeros(n, dtype=np.int32)

    def _deal(
        self, rng: np.random.Generator, pools: Sequence[NDArray[Any]], draws: Sequence[Any]
    ) -> tuple[Ints, Ints]:
        """Numbers for training and test from each pool; or all folds of a run."""
        folds, copies = self._nothing()
        numbers = np.array([float(draw.weight) for draw in draws])
        if self._law.n_folds:
            numbers = np.round(numbers * self._law.n_folds).astype(int)
            tests = np.repeat(np.array([np.atleast_1d(d.test) for d in draws]), numbers, axis=0)
            for members, sizes in zip(pools, tests.T, strict=True):
                folds[rng.permutation(members)] = np.repeat(np.arange(len(sizes)), sizes)
            copies[:] = 1
            return folds, copies
        draw = draws[rng.choice(len(draws), p=numbers / numbers.sum())]
        train, test = np.atleast_1d(draw.train), np.atleast_1d(draw.test)
        for members, a, t in zip(pools, train, test, strict=True):
            shuffled = rng.permutation(members)
            copies[shuffled[:a]] = 1
            folds[shuffled[a : a + t]] = 0
        return folds, copies

    def _sizes(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        return self._deal(rng, [np.arange(self._n)], self._law.components)

    def _counts(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        return self._deal(rng, self._classes, self._law.components)

    def _groups(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        law = self._law
        folds, copies = self._nothing()
        shuffled = rng.permutation(len(law.group_sizes))
        copies[: self._n][np.isin(law.groups, shuffled[: law.n_train])] = 1
        tested = shuffled[law.n_train : law.n_train + law.n_test]
        folds[: self._n][np.isin(law.groups, tested)] = 0
        return folds, copies

    def _episodes(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        law = self._law
        folds, copies = self._nothing()
        for c in rng.permutation(len(law.class_sizes))[: law.n_way]:
            members = rng.permutation(self._classes[c])
            copies[members[: law.k_shot]] = 1
            folds[members[law.k_shot :]] = 0
        return folds, copies

    def _independent(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        folds, copies = self._nothing()
        train = rng.random(self._n) < float(self._law.q)
        if train.sum() >= self._k:
            copies[: self._n][train] = 1
            folds[: self._n][~train] = 0
        return folds, copies

    def _bootstrap(self, rng: np.random.Generator) -> tuple[Ints, Ints]:
        folds, copies = self._nothing()
        copies[: self._n] = np.bincount(rng.integers(self._n, size=self._n), minlength=self._n)
        folds[copies == 0] = 0
        return folds, copies

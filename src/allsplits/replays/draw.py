"""Runs of a law, drawn at random: what scikit-learn's splitters would draw.

A run is known by a seed and its number: who draws it, in which thread, and what was drawn before do
not matter.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.pairs.result import GivenSplit
from allsplits.exact.question import Question
from allsplits.exceptions import InvalidInputError
from allsplits.replays._kernels_draw import (
    deal_bootstrap,
    deal_episode,
    deal_folds,
    deal_groups,
    deal_independent,
    deal_split,
    uniform,
)
from allsplits.replays.kernel_types import Dealt, Pools, ReplayRun

Ints = NDArray[np.int32]
State = NDArray[np.uint64]
#: A law of random sizes may draw runs that cannot be scored, this often in a row.
_MOST_TRIALS = 1000
_BITS = (1 << 64) - 1


def random_state_of(seed: int, number: int) -> State:
    """The state of the random numbers of a run: bits of seed and number, well mixed."""
    mixed = _mixed(_mixed(seed & _BITS) ^ (seed >> 64)) ^ (number * 0x9E3779B97F4A7C15 & _BITS)
    return np.array([_mixed(mixed)], dtype=np.uint64)


def _mixed(bits: int) -> int:
    bits = (bits + 0x9E3779B97F4A7C15) & _BITS
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _BITS
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _BITS
    return bits ^ (bits >> 31)


class RunDrawer:
    """Draws runs of the question's law."""

    def __init__(self, question: Question) -> None:
        self._law: Any = question.columns[0].law
        self._k = question.columns[0].k
        self._codes = question.codes
        self._by_class = question.balanced or self._law.kind == "episodes"
        self._n = question.n_samples
        self._n_outside = question.n_questions if question.outside else 0
        self._deal: Callable[[State, Dealt], None] = {
            "fixed size": self._from_pools,
            "class counts": self._from_pools,
            "whole groups": self._groups,
            "episodes": self._episodes,
            "independent draws": self._independent,
            "draws with replacement": self._bootstrap,
        }[self._law.kind]()

    @property
    def n_folds(self) -> int:
        """Tests of a run: its folds, or the one split that it is."""
        return getattr(self._law, "n_folds", 0) or 1

    def deal(self, state: State, dealt: Dealt) -> None:
        """Write one run, with a test sample and enough voters."""
        for _ in range(_MOST_TRIALS):
            self._deal(state, dealt)
            if self._can_be_scored(dealt):
                return
        raise InvalidInputError(f"cv draws next to no splits that can be scored: {self._law}")

    def __call__(self, state: State) -> ReplayRun:
        """One run of its own, and what its samples count."""
        dealt = Dealt.room_for(self._n)
        self.deal(state, dealt)
        folds, copies = dealt.folds, dealt.copies
        if self._n_outside:
            folds, copies = self._outside(copies)
        return ReplayRun(folds, copies, self.units(folds))

    def _can_be_scored(self, dealt: Dealt) -> bool:
        if self._n_outside:
            return bool(dealt.copies.sum() >= min(self._k, self._law.smallest_training_set))
        return bool(dealt.folds.max() >= 0)

    def _outside(self, copies: Ints) -> tuple[Ints, Ints]:
        """All questions from outside are tested; those of the classes of an episode."""
        copies = np.append(copies, np.zeros(self._n_outside, dtype=copies.dtype))
        folds = np.full(len(copies), -1, dtype=np.int32)
        folds[self._n :] = 0
        if self._law.kind == "episodes":
            folds[~np.isin(self._codes, self._codes[copies > 0])] = -1
        return folds, copies

    def splits(self, seed: int, number: int) -> list[GivenSplit]:
        """So many splits: whole runs of folds, and of the last run some that are drawn."""
        found: list[GivenSplit] = []
        runs = 0
        while len(found) < number:
            found += self._folds(random_state_of(seed, runs))
            runs += 1
        return found[:number]

    def _folds(self, state: State) -> list[GivenSplit]:
        """The splits of one run; any of them may be the first."""
        dealt = Dealt.room_for(self._n)
        self.deal(state, dealt)
        first = int(uniform(state) * self.n_folds)
        return [
            GivenSplit(
                np.flatnonzero((dealt.copies > 0) & (dealt.folds != fold)),
                np.flatnonzero(dealt.folds == fold),
            )
            for fold in np.roll(np.arange(self.n_folds), first).tolist()
        ]

    def given(self, train: NDArray[np.intp], test: NDArray[np.intp]) -> ReplayRun:
        """The run of one split that is not drawn."""
        folds, copies = np.full(self._n, -1, dtype=np.int32), np.zeros(self._n, dtype=np.int32)
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

    def _from_pools(self) -> Callable[[State, Dealt], None]:
        """Numbers for training and test from each pool; or all folds of a run."""
        law = self._law
        pools = self._classes() if law.kind == "class counts" else _one_pool(self._n)
        trains, tests = (
            np.array([np.atleast_1d(getattr(c, part)) for c in law.components], dtype=np.int64)
            for part in ("train", "test")
        )
        shares = np.array([float(c.weight) for c in law.components])
        if law.n_folds:
            sizes = np.repeat(tests, np.round(shares * law.n_folds).astype(int), axis=0)
            return lambda state, dealt: deal_folds(pools, sizes, state, dealt)
        if len(shares) == 1:
            return lambda state, dealt: deal_split(pools, trains[0], tests[0], state, dealt)
        ends = np.cumsum(shares / shares.sum())[:-1]

        def deal(state: State, dealt: Dealt) -> None:
            c = int(np.searchsorted(ends, uniform(state), side="right"))
            deal_split(pools, trains[c], tests[c], state, dealt)

        return deal

    def _classes(self) -> Pools:
        codes = self._codes[: self._n]
        sizes = np.bincount(codes, minlength=len(self._law.class_sizes))
        members = np.argsort(codes, kind="stable")
        return Pools(members.astype(np.int64), np.concatenate([[0], np.cumsum(sizes)]))

    def _groups(self) -> Callable[[State, Dealt], None]:
        law = self._law
        numbers = (len(law.group_sizes), law.n_train, law.n_test)
        return lambda state, dealt: deal_groups(law.groups, *numbers, state, dealt)

    def _episodes(self) -> Callable[[State, Dealt], None]:
        pools, n_way, k_shot = self._classes(), self._law.n_way, self._law.k_shot
        return lambda state, dealt: deal_episode(pools, n_way, k_shot, state, dealt)

    def _independent(self) -> Callable[[State, Dealt], None]:
        q, k = float(self._law.q), self._k
        return lambda state, dealt: deal_independent(q, k, state, dealt)

    def _bootstrap(self) -> Callable[[State, Dealt], None]:
        return deal_bootstrap  # type: ignore[no-any-return]


def _one_pool(n: int) -> Pools:
    return Pools(np.arange(n), np.array([0, n]))

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
    BOOTSTRAP,
    EPISODE,
    FOLDS,
    GROUPS,
    INDEPENDENT,
    SPLIT,
    deal_run,
    uniform,
)
from allsplits.replays.kernel_types import Dealt, Drawing, Pools, ReplayRun

Ints = NDArray[np.int32]
State = NDArray[np.uint64]
_BITS = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15


def random_state_of(seed: int, number: int) -> State:
    """The state of the random numbers of a run: bits of seed and number, well mixed."""
    return random_states(seed, number, 1)


def random_states(seed: int, first: int, size: int) -> State:
    """Those of so many runs, from a first one on."""
    bits = _mixed(_mixed(_one(seed & _BITS)) ^ _one((seed >> 64) & _BITS))
    numbers = np.arange(first, first + size).astype(np.uint64)
    return _mixed(bits ^ (numbers * np.uint64(_STEP)))


def _one(bits: int) -> State:
    return np.array([bits], dtype=np.uint64)


def _mixed(bits: State) -> State:
    bits = bits + np.uint64(_STEP)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


class RunDrawer:
    """Draws runs of the question's law."""

    def __init__(self, question: Question) -> None:
        self._law: Any = question.columns[0].law
        self._codes = question.codes
        self._by_class = question.balanced or self._law.kind == "episodes"
        self._n = question.n_samples
        self._n_outside = question.n_questions if question.outside else 0
        self.drawing = _drawing_of(question)

    @property
    def n_folds(self) -> int:
        """Tests of a run: its folds, or the one split that it is."""
        return getattr(self._law, "n_folds", 0) or 1

    def deal(self, state: State, dealt: Dealt) -> None:
        """Write one run, with a test sample and enough voters."""
        if not deal_run(self.drawing, state, dealt):
            raise InvalidInputError(f"cv draws next to no splits that can be scored: {self._law}")

    def __call__(self, state: State) -> ReplayRun:
        """One run of its own, and what its samples count."""
        dealt = Dealt.room_for(self._n)
        self.deal(state, dealt)
        folds, copies = dealt.folds, dealt.copies
        if self._n_outside:
            folds, copies = self._outside(copies)
        return ReplayRun(folds, copies, self.units(folds))

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


def _drawing_of(question: Question) -> Drawing:
    """How the runs of a question's law are drawn, in the terms of the kernel."""
    k, law = question.columns[0].k, question.columns[0].law
    none = np.zeros((0, 0), dtype=np.int64)
    nothing = Drawing(
        way=BOOTSTRAP, pools=_one_pool(0), trains=none, tests=none, ends=np.empty(0),
        groups=np.empty(0, dtype=np.int32), n_groups=0, n_train=0, n_test=0, n_way=0, k_shot=0,
        q=0.0, k=k, outside=question.outside, fewest=min(k, int(law.smallest_training_set)),
    )  # fmt: skip
    return nothing._replace(**_TAKEN[law.kind](law, question))


def _pools(law: Any, question: Question) -> dict[str, Any]:
    """Numbers for training and test from each pool; or all folds of a run."""
    by_class = law.kind == "class counts"
    pools = _classes(law, question) if by_class else _one_pool(question.n_samples)
    trains, tests = (
        np.array([np.atleast_1d(getattr(c, part)) for c in law.components], dtype=np.int64)
        for part in ("train", "test")
    )
    shares = np.array([float(c.weight) for c in law.components])
    if law.n_folds:
        sizes = np.repeat(tests, np.round(shares * law.n_folds).astype(int), axis=0)
        return {"way": FOLDS, "pools": pools, "tests": sizes}
    ends = np.cumsum(shares / shares.sum())[:-1]
    return {"way": SPLIT, "pools": pools, "trains": trains, "tests": tests, "ends": ends}


def _one_pool(n: int) -> Pools:
    return Pools(np.arange(n), np.array([0, n]))


def _classes(law: Any, question: Question) -> Pools:
    codes = question.codes[: question.n_samples]
    sizes = np.bincount(codes, minlength=len(law.class_sizes))
    members = np.argsort(codes, kind="stable")
    return Pools(members.astype(np.int64), np.concatenate([[0], np.cumsum(sizes)]))


def _groups(law: Any, question: Question) -> dict[str, Any]:
    numbers = {"n_groups": len(law.group_sizes), "n_train": law.n_train, "n_test": law.n_test}
    return {"way": GROUPS, "groups": law.groups.astype(np.int32), **numbers}


def _episodes(law: Any, question: Question) -> dict[str, Any]:
    pools = _classes(law, question)
    return {"way": EPISODE, "pools": pools, "n_way": law.n_way, "k_shot": law.k_shot}


#: What is taken from a law, by its kind.
_TAKEN: dict[str, Callable[[Any, Question], dict[str, Any]]] = {
    "fixed size": _pools,
    "class counts": _pools,
    "whole groups": _groups,
    "episodes": _episodes,
    "independent draws": lambda law, question: {"way": INDEPENDENT, "q": float(law.q)},
    "draws with replacement": lambda law, question: {"way": BOOTSTRAP},
}

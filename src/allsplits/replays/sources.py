"""Where runs come from: a law that is drawn, splits that are given, a splitter that is asked again.

A run is what one cross-validation shows. Its splits are written one mask at a time: all folds of a
law fit into one mask, splits of others come one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.exact import GivenSplit, Question
from allsplits.exceptions import InvalidInputError
from allsplits.replays.draw import RunDrawer
from allsplits.replays.kernel_types import Dealt, Drawing

State = NDArray[np.uint64]


class Source(Protocol):
    """Runs by their number."""

    @property
    def n_folds(self) -> int:
        """Splits of a run."""
        ...

    @property
    def n_runs(self) -> int | None:
        """How many runs there are; None if as many as are wanted can be drawn."""
        ...

    @property
    def smallest_training_set(self) -> int:
        """Samples of the smallest training set, as far as is known."""
        ...

    @property
    def drawing(self) -> Drawing | None:
        """How runs are drawn in compiled code; None if they are asked for one by one."""
        ...

    def masks(self, number: int, state: State, dealt: Dealt) -> Iterator[None]:
        """Write the masks of a run in turn."""
        ...


class LawRuns:
    """Runs of a law, drawn."""

    n_runs = None

    def __init__(self, question: Question) -> None:
        self._drawer = RunDrawer(question)
        self.drawing = self._drawer.drawing
        self.n_folds = self._drawer.n_folds
        self.smallest_training_set = question.columns[0].law.smallest_training_set

    def masks(self, number: int, state: State, dealt: Dealt) -> Iterator[None]:
        """One mask for all folds."""
        self._drawer.deal(state, dealt)
        yield


class GivenRuns:
    """Splits that somebody made: each is a run, and there are no others."""

    n_folds = 1
    drawing = None

    def __init__(self, splits: Sequence[GivenSplit]) -> None:
        self._splits = splits
        self.n_runs = len(splits)
        self.smallest_training_set = min(len(split.train) for split in splits)

    def masks(self, number: int, state: State, dealt: Dealt) -> Iterator[None]:
        """The mask of one split."""
        _write(self._splits[number], dealt)
        yield


class SplitterRuns:
    """What a random splitter yields from different random states: one run each.

    `splits_of` returns the splits of a random state.
    """

    n_runs = None
    drawing = None

    def __init__(self, splits_of: Callable[[int], list[GivenSplit]]) -> None:
        self._splits_of = splits_of
        first = splits_of(0)
        self.n_folds = len(first)
        self.smallest_training_set = min(len(split.train) for split in first)

    def masks(self, number: int, state: State, dealt: Dealt) -> Iterator[None]:
        """The splits of one random state, one by one."""
        splits = self._splits_of(int(state[0] >> np.uint64(33)))
        if len(splits) != self.n_folds:
            raise InvalidInputError(
                "cv must yield as many splits from every random state; got "
                f"{len(splits)} after {self.n_folds}"
            )
        for split in splits:
            _write(split, dealt)
            yield


def _write(split: GivenSplit, dealt: Dealt) -> None:
    dealt.folds[:], dealt.copies[:] = -1, 0
    dealt.folds[split.test], dealt.copies[split.train] = 0, 1

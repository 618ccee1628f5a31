"""What `cv` means to `replay`: a law to draw from, splits that are given, a splitter to ask again.

What `evaluate` knows as a law is drawn, whatever its random state. LeaveOneOut and those like it
are taken as they are where they have few enough splits. Other splitters are asked for their splits:
once if nothing in them is random, once for each run otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import LeaveOneGroupOut, LeaveOneOut, LeavePGroupsOut, LeavePOut

from allsplits._validation import shown
from allsplits.exact import GivenSplit
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._split_rows import read_split
from allsplits.replays.sources import GivenRuns, SplitterRuns
from allsplits.splits import is_law

#: Splitters without chance that a law stands for where they have too many splits.
_ALL_OF_THEIRS = (LeaveOneOut, LeavePOut, LeaveOneGroupOut, LeavePGroupsOut)


class Data(NamedTuple):
    """What splitters are asked with, and the fewest training samples that can vote."""

    X: Any
    y: Any
    groups: Any
    n_neighbors: int


def read_runs(cv: Any, data: Data, n_splits: int) -> GivenRuns | SplitterRuns | None:
    """Where runs come from; None if a law is drawn."""
    if is_law(cv):
        if isinstance(cv, _ALL_OF_THEIRS) and _number(cv, data) <= n_splits:
            return GivenRuns(_splits_of(cv, data))
        return None
    if isinstance(cv, (str, bytes, type)):
        raise _not_a_cv(cv)
    if callable(getattr(cv, "split", None)):
        if not _is_random(cv):
            return GivenRuns(_splits_of(cv, data))
        return SplitterRuns(lambda seed: _splits_of(_with_state(cv, seed), data))
    if not isinstance(cv, Iterable):
        raise _not_a_cv(cv)
    return GivenRuns(_read_splits(cv, data))


def in_words(cv: Any, runs: GivenRuns | SplitterRuns) -> str:
    """Which splits: their number, and whose they are if they are a splitter's."""
    whose = f" of {type(cv).__name__}" if callable(getattr(cv, "split", None)) else ""
    if runs.n_runs is None:
        return f"random splits{whose}"
    return f"{runs.n_runs:,} given split{'s' if runs.n_runs > 1 else ''}{whose}"


def _not_a_cv(cv: Any) -> InvalidTypeError:
    return InvalidTypeError(
        "cv must be None, a number of folds, a law, a splitter with a method split, or splits as "
        f"pairs (train, test) of row numbers; got {shown(cv)}"
    )


def _number(cv: Any, data: Data) -> int:
    try:
        return int(cv.get_n_splits(data.X, data.y, data.groups))
    except (ValueError, TypeError):
        # resolve_cv says what is wrong with it.
        return np.iinfo(np.int64).max


def _is_random(cv: Any) -> bool:
    return hasattr(cv, "random_state") and bool(getattr(cv, "shuffle", True))


def _with_state(cv: Any, seed: int) -> Any:
    """A copy of a splitter with a random state of its own."""
    other = copy(cv)
    other.random_state = seed
    return other


def _splits_of(cv: Any, data: Data) -> list[GivenSplit]:
    try:
        splits = list(cv.split(data.X, data.y, data.groups))
    except (ValueError, TypeError) as error:
        raise InvalidInputError(f"cv={shown(cv)} does not fit these samples: {error}") from error
    return _read_splits(splits, data)


def _read_splits(pairs: Iterable[Any], data: Data) -> list[GivenSplit]:
    splits = []
    for number, pair in enumerate(pairs):
        try:
            train, test = pair
        except (TypeError, ValueError):
            raise InvalidTypeError(
                f"cv must hold pairs (train, test); split {number} is {shown(pair)}"
            ) from None
        try:
            rows = read_split(data.X, train, test)
        except (InvalidInputError, InvalidTypeError) as error:
            raise type(error)(f"cv, split {number}: {error}") from error
        if len(rows.train) < data.n_neighbors:
            raise InvalidInputError(
                f"n_neighbors must be at most {len(rows.train)}, the training samples of split "
                f"{number} of cv; got {data.n_neighbors}"
            )
        splits.append(GivenSplit(rows.train, rows.test))
    if not splits:
        raise InvalidInputError("cv must hold at least one split; got none")
    return splits

"""What intervals are made of, for many data sets from sources with known truth.

For each data set the exact scores of every k from one pass, and sums over its samples of what they
move the scores by. Any rule for intervals follows from those, so that they are drawn once and kept.
A data set has a seed of its own: parts of the work may be done in any order, by several processes
or machines, and their files put together in one folder.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _interval_data import KINDS, is_regression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, validation_curve
from allsplits.model_selection._column_moves import column_moves

KS, SHARES = (1, 3, 5, 15, 39), (0.5, 0.8, 0.95)
#: Data sets of the first look, by their number of samples, and how many more there are for those
#: that are looked at again.
RUNS = {60: 3000, 200: 600, 1000: 400}
MORE = {60: 8000, 200: 3000, 1000: 1200}
#: The rule of the interval was chosen on the first drawing; these data sets are of the second.
DRAWING = 2
#: Data sets in one file.
AT_ONCE = 50


class Drawn(NamedTuple):
    """What was found for some data sets of one kind, n and share in training.

    All but `ks` and `runs` have the shape (data sets, k); what is `of_gap` is of the difference to
    the next k, of the last k to the first.

    Attributes
    ----------
    ks, runs : ndarray
        Numbers of neighbours, and of data sets.
    scores : ndarray
    jackknife, jackknife4, sample_scores, sample_scores4 : ndarray
        Sums over samples of the squares of their moves, and of the fourth powers.
    counted_twice : ndarray
        What the jackknife counts twice.
    """

    ks: np.ndarray
    runs: np.ndarray
    scores: np.ndarray
    jackknife: np.ndarray
    jackknife4: np.ndarray
    sample_scores: np.ndarray
    sample_scores4: np.ndarray
    counted_twice: np.ndarray
    jackknife_of_gap: np.ndarray
    jackknife4_of_gap: np.ndarray
    sample_scores_of_gap: np.ndarray
    sample_scores4_of_gap: np.ndarray
    counted_twice_of_gap: np.ndarray

    def before(self, end: int) -> Drawn:
        """The data sets with numbers below."""
        return Drawn(self.ks, *(values[self.runs < end] for values in self[1:]))


class Part(NamedTuple):
    """Some data sets of one kind, n and share in training."""

    kind: str
    n: int
    share: float
    first: int = 0

    @property
    def name(self) -> str:
        kind = "".join(letter for letter in self.kind if letter.isalnum())
        return f"{kind}-{self.n}-{round(100 * self.share)}"

    def stored(self, folder: Path) -> Path:
        return folder / f"{self.name}-{self.first}.npz"

    def draw(self, folder: Path | None, n_runs: int = AT_ONCE) -> None:
        """Draw the data sets and keep what was found, if there is a folder."""
        # A larger vote is little more than a count of the classes.
        ks = [k for k in KS if k < self.share * self.n / 2]
        runs = np.arange(self.first, self.first + n_runs)
        found = [_of_one(self, ks, run) for run in runs.tolist()]
        drawn = Drawn(np.array(ks), runs, *(np.array(one) for one in zip(*found, strict=True)))
        if folder is not None:
            unfinished = self.stored(folder).with_suffix(".part")
            with unfinished.open("wb") as file:
                np.savez(file, **drawn._asdict())
            unfinished.rename(self.stored(folder))


def _of_one(part: Part, ks: Sequence[int], run: int) -> tuple:
    rng = np.random.default_rng(
        [DRAWING, list(KINDS).index(part.kind), part.n, round(100 * part.share), run]
    )
    model = KNeighborsRegressor() if is_regression(part.kind) else KNeighborsClassifier()
    X, y = KINDS[part.kind](part.n, rng)
    curve = validation_curve(model, X, y, n_neighbors=ks, cv=FixedSize(part.share), n_jobs=1)
    moves = column_moves(curve.task, curve.columns, keep=True)
    gaps = [one.less(two) for one, two in zip(moves, [*moves[1:], moves[0]], strict=True)]
    found: list = []
    for some in (moves, gaps):
        for of_each in ([one.jackknife for one in some], [one.sample_scores for one in some]):
            found += [np.sum(np.array(of_each) ** power, axis=1) for power in (2, 4)]
        found.append([one.counted_twice for one in some])
    return (curve.scores, *(np.asarray(sums, dtype=np.float32) for sums in found))


def read(kind: str, n: int, share: float, folder: Path) -> Drawn:
    """All that the folder has, in the order of the data sets."""
    parts = []
    for path in folder.glob(f"{Part(kind, n, share).name}-*.npz"):
        with np.load(path) as found:
            parts.append(Drawn(**{field: found[field] for field in Drawn._fields}))
    if not parts:
        raise FileNotFoundError(f"{folder} has no data sets of {kind}, n = {n}, {share:.0%}")
    parts.sort(key=lambda part: part.runs[0])
    joined = [np.concatenate(some) for some in list(zip(*parts, strict=True))[1:]]
    return Drawn(parts[0].ks, *joined)


def first_look(n: int) -> list[Part]:
    """The data sets of this size; those of all kinds come early."""
    firsts = range(0, RUNS[n], AT_ONCE)
    return [Part(kind, n, share, first) for first, kind, share in product(firsts, KINDS, SHARES)]


def second_look(part: Part) -> list[Part]:
    """More data sets of the same."""
    firsts = range(RUNS[part.n], RUNS[part.n] + MORE[part.n], AT_ONCE)
    return [part._replace(first=first) for first in firsts]


def seconds(part: Part) -> float:
    """Of one data set, the second one: the first may have to compile."""
    part.draw(None, 1)
    start = time.process_time()
    part.draw(None, 1)
    return time.process_time() - start


def draw_parts(parts: Sequence[Part], folder: Path, n_jobs: int, minutes: float) -> bool:
    """Draw what the folder does not have, and tell whether all of it was done in time."""
    folder.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * minutes
    parts = [part for part in parts if not part.stored(folder).exists()]
    with ProcessPoolExecutor(n_jobs, get_context("fork")) as pool:
        waiting = [pool.submit(_unless_late, part, folder, end) for part in parts]
        done = sum(one.result() for one in waiting)
    print(f"{done} of {len(parts)} parts drawn", flush=True)
    return done == len(parts)


def say_how_long(parts: Sequence[Part], folder: Path) -> None:
    """Measured by one data set of each; what is compiled for it is there for all processes."""
    parts = [part for part in parts if not part.stored(folder).exists()]
    cost = {part: seconds(part) for part in {p._replace(first=0) for p in parts}}
    total = AT_ONCE * sum(cost[part._replace(first=0)] for part in parts)
    print(f"{len(parts)} parts, {total:.0f} seconds by one process", flush=True)


def _unless_late(part: Part, folder: Path, end: float) -> bool:
    if time.monotonic() > end:
        return False
    part.draw(folder)
    return True

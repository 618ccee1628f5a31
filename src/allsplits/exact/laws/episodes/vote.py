"""Few-shot episodes with one nearest neighbour: the average over every episode.

Cost: O(N · C · n_way) per query for the chance of every class, C classes; only the items of the
query's own class matter if just the score is wanted.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.effort import episode_seconds
from allsplits.exact.laws.class_counts.fractions import exact_class_right
from allsplits.exact.laws.episodes._kernels import episode_scores
from allsplits.exact.masses import UNIT_ROUNDOFF
from allsplits.exact.question import Answer, Problem, RowValues, Solver, neighbor_labels, own_rows
from allsplits.exact.ties import tie_rules
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import EpisodeLaw

__all__ = ["solve_episodes"]

#: exact=True goes through every set of classes.
_MOST_CLASS_SETS = 20_000


def _weights(problem: Problem) -> list[Fraction]:
    """The classes of an episode count equally, so does every class in the end."""
    sizes = np.bincount(problem.codes, minlength=problem.n_classes)
    return [Fraction(1, problem.n_classes * int(sizes[y])) for y in problem.codes]


class _EpisodeVote:
    """P(right) of the rows of a block, or P(every class) if values of samples are wanted."""

    def __init__(self, problem: Problem, law: EpisodeLaw) -> None:
        self.law, self.codes, self.average = law, problem.codes, problem.options.average
        self.classes = problem.want_samples
        self.width = problem.n_classes if self.classes else 1
        self.sizes = np.array(law.class_sizes)
        self.rules = tie_rules(1)
        self.tables = _silence_tables(self.sizes, law.k_shot)

    def __call__(self, order: NeighborOrder, n_threads: int) -> NDArray[np.float64]:
        labels, own = neighbor_labels(order, self.codes), self.codes[own_rows(order)]
        out = np.zeros((order.n_samples, self.width))
        map_row_ranges(
            lambda start, stop: episode_scores(
                order.indptr, labels, order.tied, own, start, stop, self.sizes, self.law.n_way,
                self.law.k_shot, self.classes, self.average, self.rules, *self.tables, out,
            ),
            order.n_samples,
            n_threads,
        )  # fmt: skip
        return out


def _silence_tables(
    sizes: NDArray[np.int64], k_shot: int
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """(starts[is own, class], silent, first): by ratios, for all items of each class."""
    pools = np.stack([sizes, sizes - 1])
    ends = np.cumsum(pools + 1)
    silent, first = np.empty(ends[-1]), np.empty(ends[-1])
    for pool, end in zip(pools.ravel().tolist(), ends.tolist(), strict=True):
        left = np.arange(pool, 0, -1)
        here = slice(end - pool - 1, end)
        silent[here] = np.cumprod(np.append(1.0, np.maximum(left - k_shot, 0) / left))
        first[here] = np.append(silent[here][:-1] * k_shot / left, 0.0)
    return (ends - pools.ravel() - 1).reshape(pools.shape), silent, first


def solve_episodes(problem: Problem) -> Solver:
    """1-NN over all episodes."""
    law: EpisodeLaw = problem.columns[0].law
    if any(column.k != 1 for column in problem.columns):
        raise UnsupportedError(
            "Episodes are supported for n_neighbors=1; "
            f"got n_neighbors={max(column.k for column in problem.columns)}. ClassCounts takes any "
            "n_neighbors when all classes are in every episode"
        )
    if problem.options.exact:
        return _rational(problem, law)
    vote = _EpisodeVote(problem, law)
    classes = vote.classes
    found = RowValues(problem.n_samples, vote.width)

    def finish() -> Answer:
        right = values = found.values
        if classes:
            right = values[np.arange(problem.n_samples), problem.codes][:, None]
        weight = np.array([float(w) for w in _weights(problem)])
        rounding = (8 * problem.n_samples + 4 * problem.n_classes * law.n_way + 64) * UNIT_ROUNDOFF
        return Answer(
            scores=np.sum(right * weight[:, None], axis=0),
            error_bound=np.full(1, rounding),
            sample_weight=weight,
            sample_scores=right if classes else None,
            prediction_proba=values if classes else None,
        )

    depth = problem.n_samples - 1
    seconds = episode_seconds(problem.n_samples, depth, problem.n_classes, law.n_way)
    return Solver(depth, vote, found.add, finish, seconds)


def _rational(problem: Problem, law: EpisodeLaw) -> Solver:
    """exact=True: class counts of every set of classes, in integers."""
    others = problem.n_classes - 1
    if comb(others, law.n_way - 1) > _MOST_CLASS_SETS:
        raise UnsupportedError(
            f"exact=True goes through every set of classes: {comb(others, law.n_way - 1)} of them "
            f"here, at most {_MOST_CLASS_SETS} are supported; use exact=False"
        )
    values: list[Fraction] = []

    def value(order: NeighborOrder, row: int) -> Fraction:
        y = int(problem.codes[order.first_row + row])
        pools = [size - (c == y) for c, size in enumerate(law.class_sizes)]
        rest = [c for c in range(problem.n_classes) if c != y]
        total = Fraction(0)
        for chosen in combinations(rest, law.n_way - 1):
            train = [law.k_shot if c == y or c in chosen else 0 for c in range(problem.n_classes)]
            total += exact_class_right(
                order, row, problem.codes, pools, train, 1,
                average=problem.options.average, share=problem.options.share,
            )  # fmt: skip
        return total / comb(others, law.n_way - 1)

    def part(order: NeighborOrder, _: int) -> list[Fraction]:
        return [value(order, row) for row in range(order.n_samples)]

    def finish() -> Answer:
        weights = _weights(problem)
        score = sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0))
        return Answer(
            scores=np.array([float(score)]),
            error_bound=np.zeros(1),
            fractions=(score,),
            sample_weight=np.array([float(w) for w in weights]),
            sample_scores=np.array([[float(v)] for v in values]),
            sample_fractions=tuple((v,) for v in values),
        )

    return Solver(problem.n_samples - 1, part, values.extend, finish)

"""The score of one split that is given, not drawn: tied neighbours are averaged as in drawn ones.

The neighbours of the tested samples are searched among the training samples alone, so that a split
that no chance would draw (sorted rows, one class first) is scored as well as any other.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.pairs.result import GivenSplit
from allsplits.exact.question import Question
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder, Reference, SparsePoints
from allsplits.replays._kernels_choices import value_samples
from allsplits.replays.draw import RunDrawer
from allsplits.replays.kernel_types import ReplayWork
from allsplits.replays.sample import choice_work, rows_of, vote_of

Floats = NDArray[np.float64]
Numbers = NDArray[np.intp]


class SplitScore(NamedTuple):
    """The score of a split.

    Attributes
    ----------
    score : float
    values : ndarray of shape (n_samples,)
        How right each tested sample is, or its negative squared error; 0 for the others.
    units : ndarray of shape (n_samples,)
        What each tested sample counts.
    """

    score: float
    values: Floats
    units: Floats


def score_split(neighbors: Neighbors, question: Question, split: GivenSplit) -> SplitScore:
    """The score of one split, for a question of one column."""
    order = order_of_split(neighbors, question, split)
    run = RunDrawer(question).given(*split)
    rows, vote = rows_of(order, question), vote_of(question)
    work = ReplayWork.room_for(question.n_classes, np.zeros(1, dtype=np.uint64))
    values = np.zeros(question.n_samples)
    value_samples(rows, vote, run, work, choice_work(question), values)
    return SplitScore(float(np.sum(run.units * values)), values, run.units)


def order_of_split(neighbors: Neighbors, question: Question, split: GivenSplit) -> NeighborOrder:
    """Training neighbours of the tested samples, at their row numbers; other rows are empty."""
    train, test = np.sort(split.train), np.sort(split.test)
    depth = min(question.columns[0].k, len(train))
    if isinstance(neighbors.X, NeighborOrder):
        found = _among(neighbors.X, train, test, depth)
    else:
        threads = thread_count(question.options.n_jobs)
        points = neighbors.X
        if not isinstance(points, SparsePoints):
            # Distances in Euclidean geometry are computed in float64 from any type.
            points = np.asarray(points, None if neighbors.metric.is_euclidean else np.float64)
        found = _searched(points, neighbors, split, threads, depth)
    lengths = np.zeros(question.n_samples, dtype=np.int64)
    lengths[test] = np.diff(found.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return replace(found, indptr=indptr, first_row=0, numbers=None)


def _searched(
    points: Any, neighbors: Neighbors, split: GivenSplit, n_threads: int, depth: int
) -> NeighborOrder:
    train, test, metric = np.sort(split.train), np.sort(split.test), neighbors.metric
    if metric.precomputed:
        reference = Reference(points[np.ix_(train, train)], metric, n_threads)
        found = reference.of(points[np.ix_(test, train)], depth)
    else:
        reference = Reference(points[train], metric.fixed_by_sample(points), n_threads)
        found = reference.of(points[test], depth)
    return replace(found, flat_indices=train[found.flat_indices].astype(np.int32))


def _among(order: NeighborOrder, train: Numbers, test: Numbers, depth: int) -> NeighborOrder:
    """The training neighbours in an order that was given."""
    wanted = np.zeros(order.n_samples, dtype=bool)
    wanted[train] = True
    tested = np.repeat(~wanted, np.diff(order.indptr))
    found = order.where(tested & wanted[order.flat_indices])
    lengths = np.diff(found.indptr)[test]
    if lengths.min() < depth:
        raise InvalidInputError(
            f"X is a NeighborOrder of depth {order.depth}, in which sample "
            f"{test[lengths.argmin()]} has {lengths.min()} neighbours that are in train, and "
            f"{depth} are needed: use order_neighbors(X) for a complete one"
        )
    return replace(found, indptr=np.concatenate([[0], np.cumsum(lengths)]), depth=depth)

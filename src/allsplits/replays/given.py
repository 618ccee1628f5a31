"""The score of one split that is given, not drawn: tied neighbours are averaged exactly.

The neighbours of the tested samples are searched among the training samples alone, so that a split
that no chance would draw (sorted rows, one class first) is scored as well as any other. Only the
tie group at the k-th place leaves a choice: r of its g members vote, every choice equally likely,
and all of them weigh the same, because weights are functions of the distance. With γ_c members of
class c in the group and v_c votes of class c so far, class y wins in

    Σ_b C(γ_y, b) [z^(r-b)] Π_{d≠y} Σ_{e: d does not beat y} C(γ_d, e) z^e

of C(g, r) choices; where an even vote is shared, choices are counted by the number of even rivals.
Means: the sum of r of g targets with mean μ and mean square deviation σ² has mean rμ and variance
r (g-r)/(g-1) σ².
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import thread_count
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.pairs.result import GivenSplit
from allsplits.exact.question import Question
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder, Reference
from allsplits.replays._kernels_replay import replay_samples
from allsplits.replays.draw import RunDrawer
from allsplits.replays.kernel_types import ReplayRows, ReplayVote, ReplayWork
from allsplits.replays.sample import rows_of, vote_of

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
    values, at_random = np.zeros(question.n_samples), np.zeros(question.n_samples, dtype=bool)
    work = ReplayWork.room_for(question.n_classes, np.zeros(1, dtype=np.uint64))
    replay_samples(rows, vote, run, work, values, at_random)
    for sample in np.flatnonzero(at_random).tolist():
        values[sample] = _over_choices(rows, vote, sample)
    return SplitScore(float(np.sum(run.units * values)), values, run.units)


def order_of_split(neighbors: Neighbors, question: Question, split: GivenSplit) -> NeighborOrder:
    """Training neighbours of the tested samples, at their row numbers; other rows are empty."""
    train, test = np.sort(split.train), np.sort(split.test)
    depth = min(question.columns[0].k, len(train))
    if isinstance(neighbors.X, NeighborOrder):
        found = _among(neighbors.X, train, test, depth)
    else:
        threads = thread_count(question.options.n_jobs)
        found = _searched(np.asarray(neighbors.X, np.float64), neighbors, split, threads, depth)
    lengths = np.zeros(question.n_samples, dtype=np.int64)
    lengths[test] = np.diff(found.indptr)
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    return replace(found, indptr=indptr, first_row=0, numbers=None)


def _searched(
    points: Floats, neighbors: Neighbors, split: GivenSplit, n_threads: int, depth: int
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


class _Choice(NamedTuple):
    """A row at its last tie group.

    Attributes
    ----------
    nearer, tied : ndarray
        Samples before the group, and in it.
    weights : ndarray
        What those before it weigh.
    weight : float
        What a member of the group weighs.
    left : int
        How many of the group vote.
    """

    nearer: NDArray[Any]
    tied: NDArray[Any]
    weights: Floats
    weight: float
    left: int


def _over_choices(rows: ReplayRows, vote: ReplayVote, sample: int) -> float:
    """The mean value of a sample over all choices from its last tie group."""
    choice = _choice(rows, vote, sample)
    if vote.mean:
        return _mean_value(choice, vote, sample)
    if vote.ranked:
        own = vote.labels[sample]
        if (vote.labels[choice.nearer] == own).any():
            return 1.0
        others = int(np.sum(vote.labels[choice.tied] != own))
        return float(1 - Fraction(comb(others, choice.left), comb(len(choice.tied), choice.left)))
    return _chance_to_win(choice, vote, int(vote.labels[sample]))


def _choice(rows: ReplayRows, vote: ReplayVote, sample: int) -> _Choice:
    start, stop = rows.indptr[sample], rows.indptr[sample + 1]
    heads = np.append(start + np.flatnonzero(~rows.tied[start:stop]), stop)
    group = int(np.searchsorted(heads, start + vote.k, side="left")) - 1
    first, last = heads[group], heads[group + 1]
    weights = rows.weights[start:last] if len(rows.weights) else np.ones(last - start)
    at_zero = np.isinf(weights)
    if at_zero.any():
        # Voters at distance 0 decide alone.
        weights = at_zero.astype(np.float64)
    return _Choice(
        nearer=rows.neighbors[start:first],
        tied=rows.neighbors[first:last],
        weights=weights[: first - start],
        weight=float(weights[-1]),
        left=int(vote.k - (first - start)),
    )


def _mean_value(choice: _Choice, vote: ReplayVote, sample: int) -> float:
    """The negative expected squared error of the (weighted) mean."""
    tied, g, r = vote.targets[choice.tied], len(choice.tied), choice.left
    total = choice.weights.sum() + r * choice.weight
    known = np.sum(choice.weights * vote.targets[choice.nearer])
    off = vote.targets[sample] - (known + choice.weight * r * tied.mean()) / total
    variance = r * (g - r) / (g - 1) * tied.var() * (choice.weight / total) ** 2
    return float(-(off * off + variance))


def _chance_to_win(choice: _Choice, vote: ReplayVote, own: int) -> float:
    """The share of choices in which the class wins, an even vote shared where that is the rule."""
    n_classes = int(vote.labels.max()) + 1
    votes = np.bincount(vote.labels[choice.nearer], choice.weights, n_classes)
    members = np.bincount(vote.labels[choice.tied], minlength=n_classes)
    slack = 0.0
    if vote.weighted:
        weights = np.append(choice.weights, choice.weight)
        lightest = weights[weights > 0].min(initial=np.inf)
        slack = max(lightest * vote.tolerance, weights.max() * 1e-13) if weights.any() else 0.0
    total = Fraction(0)
    for b in range(min(int(members[own]), choice.left) + 1):
        mine = votes[own] + b * choice.weight
        ways = {(b, 0): comb(int(members[own]), b)}
        # A class without votes matters only where nobody's vote weighs anything.
        for rival in np.flatnonzero((votes > 0) | (members > 0) | (mine == 0)).tolist():
            if rival != own:
                ahead, number = votes[rival] - mine, int(members[rival])
                loses = rival < own and not vote.share
                ways = _with_rival(ways, choice, ahead, number, slack, even_loses=loses)
        won = [
            Fraction(number, 1 + even if vote.share else 1)
            for (voters, even), number in ways.items()
            if voters == choice.left
        ]
        total += sum(won, Fraction(0))
    return float(total / comb(len(choice.tied), choice.left))


def _with_rival(
    ways: dict[tuple[int, int], int],
    choice: _Choice,
    ahead: float,
    members: int,
    slack: float,
    *,
    even_loses: bool,
) -> dict[tuple[int, int], int]:
    """Ways by (voters, even rivals), with one more rival that does not beat the class."""
    found: dict[tuple[int, int], int] = {}
    for e in range(min(members, choice.left) + 1):
        lead = ahead + e * choice.weight
        even = abs(lead) <= slack
        if (lead > 0 and not even) or (even and even_loses):
            break
        for (voters, evens), number in ways.items():
            key = (voters + e, evens + even)
            if key[0] <= choice.left:
                found[key] = found.get(key, 0) + number * comb(members, e)
    return found

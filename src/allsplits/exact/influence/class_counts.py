"""Influences under class counts: whether a sample is in training depends on its class.

A question of class y counts ω_p in component p of the law, and a candidate of class c is in
training with probability q_p = α_c/N_c there. Given that it is out, the components count
ω_p (1 - q_p), and α_c of the N_c - 1 others are drawn. With P and D the mean values of the question
in either case, the influence is (P - D)/q, q being the mean of q_p.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.rows import (
    ListByList,
    ListVotes,
    RowInfluences,
    RowValues,
    redo_rows,
)
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.class_counts.draws import Pools
from allsplits.exact.laws.class_counts.race import RaceVote
from allsplits.exact.laws.class_counts.vote import ClassCountsVote
from allsplits.exact.question import own_rows
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class Contrast(NamedTuple):
    """How values of the components are put together; arrays of floats or of Fractions.

    Attributes
    ----------
    whole : array of shape (components, own classes)
        Shares of the components in a question's value.
    less : array of shape (components, own classes, classes)
        The same given that a candidate of a class is out.
    inside : array of shape (own classes, classes)
        Probability that a candidate is in training; 0 where there is none.
    """

    whole: NDArray[Any]
    less: NDArray[Any]
    inside: NDArray[Any]


def candidate_pools(asked: Asked) -> NDArray[np.int64]:
    """Candidates of each class (last) for a question of each class."""
    sizes = asked.class_sizes
    own = np.eye(len(sizes), dtype=np.int64)
    pools: NDArray[np.int64] = np.maximum(sizes - (0 * own if asked.outside else own), 0)
    return pools


def contrast(asked: Asked, number: Any) -> Contrast:
    """What class counts come to; `number` is float or Fraction."""
    kind = object if number is not float else np.float64
    weights = np.array([[number(w) for w in line] for line in asked.class_weights], dtype=kind)
    trains = np.array([c.train for c in asked.law.components])
    pools = candidate_pools(asked)
    drawn = np.minimum(trains[:, None], pools)
    q = np.array([number(0)], dtype=kind) + drawn
    q = q / np.maximum(pools, 1)
    total = ones_for_zeros(weights.sum(axis=0))
    inside = (weights[:, :, None] * q).sum(axis=0) / total[:, None]
    out = weights[:, :, None] * (1 - q)
    return Contrast(weights / total, out / ones_for_zeros(out.sum(axis=0)), inside)


def ones_for_zeros(values: NDArray[Any]) -> NDArray[Any]:
    """Zeros replaced by ones: nothing depends on what they divide."""
    return np.where(values == 0, values + 1, values)


@dataclass(frozen=True, eq=False)
class RaceInfluences:
    """Votes of two classes: one pass in rows without ties between them, `by_lists` in the others.

    Attributes
    ----------
    race : RaceVote
    shares : array of shape (2, components, 2)
        What a component counts if a candidate of a class (first) is out, by own class (last).
    by_lists : ListByList
    """

    race: RaceVote
    shares: Floats
    by_lists: ListByList

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowInfluences:
        """What the candidates of these rows do."""
        codes, votes = self.by_lists.codes, self.by_lists.votes
        own, gone = codes[own_rows(order)], codes[order.flat_indices]
        row_of = np.repeat(np.arange(len(own)), np.diff(order.indptr))
        rows = Rows(order.indptr, gone, order.tied, own)
        bases, changes = self.race.by_row(rows, self.shares)
        whole, far = votes.whole(order, n_threads).values, bases[..., 0]
        entries = whole[row_of] - far[row_of, gone] - changes[:, 0]
        found = RowInfluences(
            entries * votes.factors[own[row_of], gone], (whole[:, None] - far) * votes.factors[own]
        )
        mixed = np.zeros(len(gone), dtype=bool)
        mixed[1:] = order.tied[1:] & (gone[1:] != gone[:-1]) & self.by_lists.average
        some = np.bincount(row_of[mixed], minlength=len(own)) > 0
        return redo_rows(found, order, some, self.by_lists, n_threads)


def class_counts_influences(asked: Asked) -> tuple[ListByList | RaceInfluences, ClassCountsVote]:
    """Equal votes or recall@R: two classes as races, the others list by list."""
    found = contrast(asked, float)
    n_classes, pools = asked.n_classes, candidate_pools(asked)
    sizes = asked.class_sizes
    trains = np.array([c.train for c in asked.law.components])
    # Kind c: a sample of class c is gone; the last kind: nobody is.
    gone = np.vstack([np.eye(n_classes, dtype=np.int64), np.zeros((1, n_classes), dtype=np.int64)])
    others = np.maximum(sizes - gone, 0)
    own = np.maximum(np.diag(pools) - gone, 0)
    drawn = np.broadcast_to(trains, (n_classes + 1, *trains.shape))
    question = replace(asked.question, codes=asked.codes, want_samples=False)
    vote = ClassCountsVote(question, trains.tolist(), Pools(others, own, drawn))

    def whole(order: NeighborOrder, n_threads: int) -> RowValues:
        nobody = np.full(order.n_samples, n_classes, dtype=np.int32)
        values = vote.values(order, n_threads, nobody)[..., 0]
        shares = found.whole[:, asked.codes[own_rows(order)]]
        return RowValues(np.einsum("ip,pi->i", values, shares))

    def less(order: NeighborOrder, gone: Codes, n_threads: int) -> RowValues:
        values = vote.values(order, n_threads, gone)[..., 0]
        shares = found.less[:, asked.codes[own_rows(order)], gone]
        return RowValues(np.einsum("ip,pi->i", values, shares))

    factors = 1 / ones_for_zeros(found.inside)
    votes = ListVotes(whole, less, factors, pools)
    by_lists = ListByList(votes, asked.codes, question.options.average)
    if n_classes != 2 or question.vote != "majority":
        return by_lists, vote
    race = RaceVote(vote.pools, [asked.k], question.options.share)
    shares = np.ascontiguousarray(found.less.transpose(2, 0, 1))
    return RaceInfluences(race, shares, by_lists), vote

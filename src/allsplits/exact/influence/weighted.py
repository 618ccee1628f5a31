"""Influences of weighted votes and means, within bounds.

It matters which of the neighbours vote, so every candidate leaves a list of its own, and each list
is valued anew: as many evaluations as rows are deep. Votes come as intervals: the middles are
taken, and half of the width is the doubt. Laws and methods are those of equal votes (`sizes`,
`class_counts`): sets of fewer than k samples vote as a whole, so that a number of voters has a
mixture of sizes, and counts what that mixture counts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from allsplits.exact.effort import weighted_mean_seconds, weighted_shapley_seconds
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.class_counts import candidate_pools, contrast, ones_for_zeros
from allsplits.exact.influence.rows import ListByList, ListVotes, RowValues
from allsplits.exact.influence.sizes import MassPair, law_weights, shapley_weights
from allsplits.exact.influence.vote_masses import plain_votes
from allsplits.exact.kernel_types import Columns
from allsplits.exact.masses import Prefixes
from allsplits.exact.question import own_rows
from allsplits.exact.strikes import struck_rows
from allsplits.exact.weighted._kernels_means import QUADRATURE
from allsplits.exact.weighted.equal import weights_of
from allsplits.exact.weighted.means import WeightedMeanErrors, largest_error, subset_windows
from allsplits.exact.weighted.tables import CountedLaw, DrawnLaw, SizedLaw, TabledLaw
from allsplits.exact.weighted.votes import WeightedVote
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import BernoulliLaw, SizeLaw
from allsplits.splits._fixed import SizeComponent

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

#: Where no more sets of k can vote they are counted one by one, with so many states.
_FEW_SETS, _STATES_OF_FEW = 10_000_000, 1 << 19

#: Seconds for each candidate of a list, roughly.
_EACH_RANK = 2e-5


class WeightedLists(NamedTuple):
    """Lists that are valued one by one.

    Attributes
    ----------
    part : ListByList
    depth : int
        How deep rows must be before a strike.
    bound : float
        What is left out and rounded, besides the doubts.
    seconds : float
        What all rows take on one core, roughly.
    """

    part: ListByList
    depth: int
    bound: float
    seconds: float


class _Share(NamedTuple):
    """What sets that are drawn in some way, with so many voters, count."""

    weight: float
    law: TabledLaw
    voters: int


@dataclass(frozen=True, eq=False)
class _Votes:
    """Votes of sets of all kinds, as they count."""

    weights: list[float]
    votes: list[WeightedVote]

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowValues:
        middles, doubts = np.zeros(order.n_samples), np.zeros(order.n_samples)
        for weight, vote in zip(self.weights, self.votes, strict=True):
            low, high = vote.bounds(order, n_threads)[:, :, 0, 0].T
            middles += weight * (low + high) / 2
            doubts += weight * (high - low) / 2
        return RowValues(middles, doubts)

    @property
    def depth(self) -> int:
        return max(vote.depth for vote in self.votes)

    @property
    def rounding(self) -> float:
        pairs = zip(self.weights, self.votes, strict=True)
        return sum(weight * vote.rounding() for weight, vote in pairs)

    @property
    def seconds(self) -> float:
        """Deep lists take longer than the near neighbours of most laws."""
        return sum(
            max(vote.seconds, _EACH_RANK * vote.depth * vote.question.n_questions)
            for vote in self.votes
        )


def weighted_vote_lists(asked: Asked) -> WeightedLists:
    """Votes under laws of sizes, Shapley's and Banzhaf's sets."""
    whole, cut = _votes(asked, asked.n_candidates)
    less, cut_less = _votes(asked, asked.n_candidates - 1)
    part = ListByList(
        plain_votes(whole, less, asked.n_classes), asked.codes, asked.question.options.average,
        runs=False,
    )  # fmt: skip
    depth = min(max(whole.depth, less.depth + 1), asked.n_candidates)
    bound = whole.rounding + less.rounding + cut + cut_less
    seconds = whole.seconds + less.seconds * (1 + depth)
    if asked.method == "shapley":
        seconds = weighted_shapley_seconds(
            asked.question.n_questions, asked.n_candidates, asked.k, means=False
        )
    return WeightedLists(part, depth, bound, seconds)


def _votes(asked: Asked, n: int) -> tuple[_Votes, float]:
    """Votes of sets of n candidates, and what sets count that are left out."""
    shares, cut = _shares(asked, n)
    question, options = asked.question, asked.question.options
    if asked.method == "shapley" and comb(n, asked.k) <= _FEW_SETS:
        states = max(options.max_states, _STATES_OF_FEW)
        question = replace(question, options=replace(options, max_states=states))
    votes = [WeightedVote(question, each.law, [each.voters]) for each in shares]
    return _Votes([each.weight for each in shares], votes), cut


def _shares(asked: Asked, n: int) -> tuple[list[_Share], float]:
    N, k, n_classes = asked.n_candidates, asked.k, asked.n_classes
    if asked.method == "banzhaf":
        return _halves(asked, n)
    if isinstance(asked.law, BernoulliLaw) and asked.method == "influence":
        q = float(asked.law.q)
        inside = q * binom.sf(k - 2, N - 1, q) / binom.sf(k - 1, N, q)
        law = BernoulliLaw(n, asked.law.q, k, outside=True)
        return [_Share(1 / inside, DrawnLaw(law, n_classes), k)], 0.0
    weights = shapley_weights(N) if asked.method == "shapley" else law_weights(asked.law, N, k)
    if weights is None:
        raise AssertionError("a law that leaves nobody out is refused before")
    return _of_sizes(weights.whole if n == N else weights.less, n, asked), 0.0


def _of_sizes(weights: Mapping[int, Fraction], n: int, asked: Asked) -> list[_Share]:
    by_voters: dict[int, dict[int, Fraction]] = {}
    for size, weight in weights.items():
        by_voters.setdefault(min(asked.k, size), {})[size] = weight
    found = []
    for voters, sizes in by_voters.items():
        total = sum(sizes.values(), Fraction(0))
        components = tuple(SizeComponent(size, 0, w / total) for size, w in sizes.items())
        law = SizedLaw(SizeLaw(n, components, outside=True), asked.n_classes, mixed=True)
        found.append(_Share(float(total), law, voters))
    return found


def _halves(asked: Asked, n: int) -> tuple[list[_Share], float]:
    """Banzhaf's sets: independent draws with probability ½, twice; small sets are mostly rare."""
    k, tol, found, cut = asked.k, asked.question.options.tol, [], 0.0
    if k <= n:
        law = BernoulliLaw(n, Fraction(1, 2), k, outside=True)
        weight = 2 * float(binom.sf(k - 1, n, 0.5))
        found.append(_Share(weight, DrawnLaw(law, asked.n_classes), k))
    for size in range(1, min(k - 1, n) + 1):
        weight = 2 * float(binom.pmf(size, n, 0.5))
        if weight < tol / k:
            cut += weight
        else:
            found += _of_sizes({size: Fraction(weight)}, n, asked)
    return found, cut


def weighted_class_lists(asked: Asked) -> WeightedLists:
    """Votes under class counts: whether a sample is in training depends on its class."""
    found, pools, codes = contrast(asked, float), candidate_pools(asked), asked.codes
    trains, own = [c.train for c in asked.law.components], np.diag(pools)
    gone = np.vstack([np.eye(asked.n_classes, dtype=np.int64), np.zeros(asked.n_classes, np.int64)])
    votes = [
        WeightedVote(asked.question, CountedLaw(others, less, trains), [asked.k])
        for others, less in zip(
            np.maximum(asked.class_sizes - gone, 0), np.maximum(own - gone, 0), strict=True
        )
    ]

    def whole(order: NeighborOrder, n_threads: int) -> RowValues:
        return _mixed(votes[-1].bounds(order, n_threads), found.whole[:, codes[own_rows(order)]])

    def less(order: NeighborOrder, gone: Codes, n_threads: int) -> RowValues:
        bounds = np.empty((order.n_samples, 2, len(trains), 1))
        for c in np.unique(gone):
            rows = np.flatnonzero(gone == c)
            some = struck_rows(order, rows, np.full(len(rows), -1))
            bounds[rows] = votes[c].bounds(some, n_threads)
        return _mixed(bounds, found.less[:, codes[own_rows(order)], gone])

    factors = 1 / ones_for_zeros(found.inside)
    part = ListByList(
        ListVotes(whole, less, factors, pools), codes, asked.question.options.average, runs=False
    )
    depth = min(max(vote.depth for vote in votes) + 1, asked.n_candidates)
    bound = 2 * max(vote.rounding() for vote in votes) * float(factors.max())
    return WeightedLists(part, depth, bound, votes[-1].seconds * (2 + depth + asked.n_classes))


def _mixed(bounds: Floats, shares: Floats) -> RowValues:
    """The components of a law as they count; bounds are (rows, 2, components, 1)."""
    low, high = np.einsum("ibp,pi->bi", bounds[..., 0], shares)
    return RowValues((low + high) / 2, (high - low) / 2)


@dataclass(frozen=True, eq=False)
class _Errors:
    """Minus the expected squared errors of weighted means, all numbers of voters together."""

    prefixes: Prefixes
    errors: WeightedMeanErrors

    @classmethod
    def of(cls, asked: Asked, prefixes: Prefixes) -> "_Errors":
        options = asked.question.options
        columns = Columns(prefixes.ks, prefixes.masses, *subset_windows(prefixes, options.tol))
        weights = weights_of(asked.question)
        return cls(prefixes, WeightedMeanErrors(asked.targets, columns, weights, options.average))

    def __call__(self, order: NeighborOrder, n_threads: int) -> RowValues:
        losses = self.errors(order, n_threads).sum(axis=1)
        return RowValues(-losses, QUADRATURE * losses)


def weighted_mean_lists(asked: Asked, masses: MassPair) -> WeightedLists:
    """Weighted means under laws of sizes, Shapley's and Banzhaf's sets."""
    whole, less = _Errors.of(asked, masses.whole), _Errors.of(asked, masses.less)
    options = asked.question.options
    part = ListByList(plain_votes(whole, less, 1), asked.codes, options.average, runs=False)
    depth = min(masses.depth, asked.n_candidates)
    rounding = (24 * depth + 8 * asked.k + 256) * UNIT_ROUNDOFF * masses.total
    bound = (masses.missing + options.tol / 2 + rounding) * largest_error(asked.question)
    seconds = weighted_mean_seconds(asked.question.n_questions, depth, asked.k) * (2 + depth)
    return WeightedLists(part, depth, bound, seconds)

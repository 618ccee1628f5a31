"""What rows are worth when one sample is gone from the data: the same votes, a smaller law.

Laws of fixed size lose a sample, whichever it is. Laws of class counts lose a sample of a class, so
that a row is worth something else for each class; a row without candidates of that class within
its depth is worth what it was.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.effort import majority_seconds
from allsplits.exact.laws.bootstrap.mean import BootstrapErrors
from allsplits.exact.laws.bootstrap.vote import BootstrapVote
from allsplits.exact.laws.class_counts.draws import Pools
from allsplits.exact.laws.class_counts.race import RaceVote
from allsplits.exact.laws.class_counts.vote import ClassCountsVote
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.laws.fixed_size.strikes import ClassStrikes, TwoClassStrikes
from allsplits.exact.laws.fixed_size.vote import ranks_by_size
from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.question import Question
from allsplits.exact.strikes import Candidates, Struck, struck_rows
from allsplits.exact.weighted._kernels_means import QUADRATURE
from allsplits.exact.weighted.means import WeightedMeans
from allsplits.exact.weighted.tables import DrawnLaw, tabled_law
from allsplits.exact.weighted.votes import WeightedVote
from allsplits.orders import NeighborOrder
from allsplits.splits import BernoulliLaw, CountsLaw

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

#: What may be left out of a score with a sample gone: far below what one sample moves.
_TOL = 1e-7
#: The same for what weighted votes leave open, and the states they may take. The spread of the
#: scores, which is what they are for, changes by less than a thousandth of itself.
_VOTE_TOL, _MOST_STATES = 1e-2, 1 << 13


class Shortcut(Protocol):
    """Votes in rows without ties between classes: no lists are made."""

    def strikes(self, given: Candidates, n_threads: int) -> Struck:
        """What rows are worth, and what striking samples changes."""


class Valued(NamedTuple):
    """Values of rows, (rows, components, columns), and how far any of them may be off."""

    values: Floats
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class StruckVotes:
    """Values of rows in the data without one sample.

    Attributes
    ----------
    depth : int
        How deep rows must be after the strike.
    weights : array of shape (classes, components, classes)
        What a row counts if a sample of a class (first) is gone, by its own class (last).
    bound : float
        A value is off by no more than this, besides its doubt.
    values : callable
        (order, gone, n_threads) -> Valued. `gone` is the class of the sample that each row has
        lost; the number of classes means that it has lost none.
    seconds : float
        What all rows take once, on one core, roughly.
    by_class : bool
        Whether it matters of which class the sample is that is gone.
    runs : bool
        Whether neighbours of one class are all the same.
    shortcut : Shortcut or None
        A shorter way in rows without ties between classes.
    timed : bool
        Whether what a row takes is not known before: some are timed.
    """

    depth: int
    weights: Floats
    bound: float
    values: Callable[[NeighborOrder, Codes, int], Valued]
    seconds: float
    by_class: bool = False
    runs: bool = True
    shortcut: Shortcut | None = None
    timed: bool = False


def struck_votes(question: Question) -> StruckVotes | None:
    """How rows are valued with a sample gone; None where there is no such way.

    Law and vote may have none, and the smaller law may have fewer than k voters.
    """
    given = question.options
    options = replace(
        given, tol=max(given.tol, _TOL), vote_tol=max(given.vote_tol, _VOTE_TOL),
        max_states=min(given.max_states, _MOST_STATES),
    )  # fmt: skip
    question = or_majority(replace(question, options=options, want_samples=False))
    kind = question.columns[0].law.kind
    if kind == "class counts" and question.vote in _CLASS_COUNTS:
        return _CLASS_COUNTS[question.vote](question) if _one_law(question) else None
    if kind not in ("fixed size", "independent draws", "draws with replacement"):
        return None
    smaller = _smaller(question)
    if not has_voters(smaller):
        return None
    if kind == "draws with replacement":
        of_vote = _bootstrap_mean if question.vote == "mean" else _bootstrap
        return of_vote(smaller) if _one_law(question) else None
    return _FIXED_SIZE[question.vote](smaller) if question.vote in _FIXED_SIZE else None


def or_majority(question: Question) -> Question:
    """The vote of one neighbour has no weights."""
    alone = all(column.k == 1 for column in question.columns)
    if question.weights is None or callable(question.weights.function) or not alone:
        return question
    plain = {"weighted": "majority", "weighted mean": "mean"}
    return replace(question, vote=plain[question.vote], weights=None)  # type: ignore[arg-type]


def _one_law(question: Question) -> bool:
    return len({column.law for column in question.columns}) == 1


def _smaller(question: Question) -> Question:
    """The question with one sample gone."""
    return question.with_columns(
        [Column(column.k, column.law.without_one(0, column.k)) for column in question.columns]
    )


def has_voters(question: Question) -> bool:
    """Whether every training set has k voters (recall@R looks at those that are there)."""
    return question.vote == "ranked" or all(
        column.k <= column.law.smallest_training_set for column in question.columns
    )


def _weights(question: Question) -> Floats:
    """What a row of each class counts when a sample of each class is gone."""
    sizes = question.class_sizes if question.n_classes else np.array([len(question.targets)])
    left = np.maximum(sizes - np.eye(len(sizes), dtype=np.int64), 0)
    if not question.balanced:
        each = np.full(left.shape, 1 / (sizes.sum() - 1))
    else:
        present = np.count_nonzero(left, axis=1)
        each = 1 / (present[:, None] * np.maximum(left, 1))
    return np.where(left > 0, each, 0.0)[:, None]


def _plain_seconds(question: Question, depth: int) -> float:
    """A few operations for each neighbour and column."""
    return 5e-9 * question.n_samples * depth * len(question.columns)


def _majority(question: Question) -> StruckVotes:
    prefixes = prefixes_for(question.columns, question.options.tol)
    vote = MajorityVote(prefixes, question.n_classes, question.options)

    def right(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        return Valued(vote.right(order, question.codes, n_threads)[:, None])

    shortcut: Shortcut = ClassStrikes(vote)
    if question.n_classes == 2 and TwoClassStrikes.fits(prefixes.depth):
        shortcut = TwoClassStrikes(prefixes, question.options.share)
    bound = float(prefixes.missing.max()) + vote.rounding
    k = int(prefixes.ks.max())
    seconds = majority_seconds(question.n_samples, prefixes.depth, question.n_classes, k)
    return StruckVotes(prefixes.depth, _weights(question), bound, right, seconds, shortcut=shortcut)


def _ranked(question: Question) -> StruckVotes:
    columns, mixing = ranks_by_size(question.columns)
    prefixes = prefixes_for(columns, question.options.tol)
    vote = RankedVote(prefixes, question.options)
    matrix = np.array(mixing, dtype=np.float64)

    def hits(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        found: Floats = vote.right(order, question.codes, n_threads) @ matrix.T
        return Valued(found[:, None])

    bound = float(prefixes.missing.max()) + vote.rounding
    return StruckVotes(
        prefixes.depth, _weights(question), bound, hits, _plain_seconds(question, prefixes.depth)
    )


def _mean(question: Question) -> StruckVotes:
    prefixes = prefixes_for(question.columns, question.options.tol)
    errors = MeanErrors(question.targets, prefixes, question.options.average)
    worst = float(np.ptp(question.targets)) ** 2

    def losses(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        return Valued(-errors(order, n_threads)[:, None])

    bound = float(prefixes.missing.max()) * worst
    seconds = _plain_seconds(question, prefixes.depth)
    return StruckVotes(prefixes.depth, _weights(question), bound, losses, seconds, runs=False)


def _bootstrap(question: Question) -> StruckVotes:
    vote = BootstrapVote(question)

    def right(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        return Valued(vote(order, n_threads)[:, None])

    return StruckVotes(vote.depth, _weights(question), question.options.tol, right, vote.seconds())


def _bootstrap_mean(question: Question) -> StruckVotes:
    errors = BootstrapErrors.of(question)

    def losses(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        return Valued(-errors(order, n_threads)[:, None])

    bound, seconds = errors.bound(question.options.tol), errors.seconds(question.n_samples)
    return StruckVotes(errors.draws.depth, _weights(question), bound, losses, seconds, runs=False)


def _weighted(question: Question) -> StruckVotes | None:
    if not _one_law(question):
        return None
    law, ks = question.columns[0].law, [column.k for column in question.columns]
    votes, shares = [WeightedVote(question)], np.ones(1)
    if isinstance(law, BernoulliLaw):
        # Training sets with fewer than k samples are left out: each k has a law of its own.
        draws = [DrawnLaw(law.given(k), question.n_classes) for k in ks]
        votes = [
            WeightedVote(question, *pair) for pair in zip(draws, [[k] for k in ks], strict=True)
        ]
    else:
        shares = np.array([float(component.weight) for component in law.components])

    def right(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        bounds = [vote.bounds(order, n_threads) for vote in votes]
        return _middle(np.concatenate(bounds, axis=-1))

    weights = _weights(question) * shares[:, None]
    depth, rounding = max(vote.depth for vote in votes), max(vote.rounding() for vote in votes)
    seconds = sum(vote.seconds for vote in votes)
    return StruckVotes(depth, weights, rounding, right, seconds, runs=False, timed=True)


def _middle(bounds: Floats) -> Valued:
    """The middle between bounds (rows, 2, ...), and what it may be off by."""
    doubt = float(np.max(bounds[:, 1] - bounds[:, 0], initial=0.0)) / 2
    return Valued(bounds.mean(axis=1), doubt)


def _weighted_mean(question: Question) -> StruckVotes:
    means = WeightedMeans.of(question)

    def losses(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        errors = means.errors(order, n_threads)
        return Valued(-errors[:, None], QUADRATURE * float(errors.max(initial=0.0)))

    bound = float(means.bound(question).max())
    seconds = means.seconds(question.n_samples)
    return StruckVotes(means.prefixes.depth, _weights(question), bound, losses, seconds, runs=False)


_FIXED_SIZE: dict[str, Callable[[Question], StruckVotes | None]] = {
    "majority": _majority,
    "ranked": _ranked,
    "mean": _mean,
    "weighted": _weighted,
    "weighted mean": _weighted_mean,
}


def fixed_size_votes(question: Question) -> StruckVotes | None:
    """How rows are valued under laws of fixed size, as the question has them."""
    return _FIXED_SIZE[question.vote](question)


def _smaller_laws(question: Question) -> list[CountsLaw] | None:
    """The laws without a sample of each class, and the law; None if one has too few voters."""
    law: CountsLaw = question.columns[0].law
    k = max(column.k for column in question.columns)
    at_least = 1 if question.vote == "ranked" else k
    present = [size > 0 for size in law.class_sizes]
    laws = [law.without_one(c, at_least) if present[c] else law for c in range(question.n_classes)]
    if any(at_least > smaller.smallest_training_set for smaller in laws):
        return None
    return [*laws, law]


def _of_class_counts(question: Question) -> StruckVotes | None:
    laws = _smaller_laws(question)
    if laws is None:
        return None
    sizes = np.array([each.class_sizes for each in laws])
    trains = np.array([[c.train for c in each.components] for each in laws])
    pools = Pools(sizes, np.maximum(sizes - 1, 0), trains)
    vote = ClassCountsVote(question, [c.train for c in laws[-1].components], pools)
    weights = np.array([_component_weights(question, each) for each in laws[:-1]])
    bound = 1.25 * question.options.tol + vote.rounding
    race = None
    if question.n_classes == 2 and question.vote == "majority":
        race = RaceVote(pools, [column.k for column in question.columns], question.options.share)

    def values(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        return Valued(vote.values(order, n_threads, gone))

    return StruckVotes(
        vote.depth, weights, bound, values, vote.seconds(), by_class=True, shortcut=race
    )


def _weighted_class_counts(question: Question) -> StruckVotes | None:
    laws = _smaller_laws(question)
    if laws is None:
        return None
    votes = [WeightedVote(question, tabled_law(question, law)) for law in laws]
    weights = np.array([_component_weights(question, each) for each in laws[:-1]])

    def values(order: NeighborOrder, gone: Codes, n_threads: int) -> Valued:
        bounds = np.empty((order.n_samples, 2, weights.shape[1], len(question.columns)))
        for c in np.unique(gone):
            rows = np.flatnonzero(gone == c)
            some = struck_rows(order, rows, np.full(len(rows), -1))
            bounds[rows] = votes[c].bounds(some, n_threads)
        return _middle(bounds)

    return StruckVotes(
        max(vote.depth for vote in votes), weights, max(vote.rounding() for vote in votes), values,
        votes[-1].seconds, by_class=True, runs=False, timed=True,
    )  # fmt: skip


_CLASS_COUNTS: dict[str, Callable[[Question], StruckVotes | None]] = {
    "majority": _of_class_counts,
    "ranked": _of_class_counts,
    "weighted": _weighted_class_counts,
}


def _component_weights(question: Question, law: CountsLaw) -> Floats:
    """What a row of each class counts in each component, shape (components, classes)."""
    sizes = np.maximum(law.class_sizes, 1)
    tests = np.array([c.test for c in law.components])
    shares = np.array([float(c.weight) for c in law.components])[:, None]
    if question.balanced:
        present = np.maximum(np.count_nonzero(tests, axis=1), 1)[:, None]
        weights: Floats = shares * (tests > 0) / (present * sizes)
    else:
        weights = shares * tests / (sizes * np.maximum(tests.sum(axis=1), 1)[:, None])
    return weights

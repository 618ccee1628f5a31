"""How much the score of one run differs from the average: counted where it can be, else sampled.

Var S = E[S²] - E[S]² over all runs of the law. What is counted: votes of the nearest neighbour
under laws of fixed size and class counts, folds included (`nearest`); votes of two classes with any
k, one split at a time (`race`). Where there are few splits, each of them is scored (`every_split`).
Everything else is sampled by replaying runs (`sample`), and the result says so.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from allsplits._threads import thread_count
from allsplits.exact.effort import warn_if_long
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.pairs.fractions import nearest_in_fractions, race_in_fractions
from allsplits.exact.pairs.lists import listed_orders
from allsplits.exact.pairs.nearest import find_changes, nearest_moments, nearest_seconds
from allsplits.exact.pairs.race import race_moments, race_seconds
from allsplits.exact.pairs.result import SplitSpread
from allsplits.exact.pairs.runs import Runs
from allsplits.exact.question import Question
from allsplits.exact.solve import solver_for
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.replays.every_split import every_split, has_few_splits
from allsplits.replays.kernel_types import Floats
from allsplits.replays.sample import (
    replay_scores,
    sampling_seconds,
    scores_of_splits,
    spread_of,
)
from allsplits.splits import GroupLaw, SizeLaw

#: Mass that rows may leave out: of E[S²] as of E[S].
_TOL = 1e-11
#: Pairs that take longer are sampled; those that are asked for take what they take.
_SECONDS_IN_PASSING = 2.0
_SECONDS = {
    "exact": inf, "exact if possible": inf, "auto": 600.0, "quick": 20.0,
    "in passing": _SECONDS_IN_PASSING,
}  # fmt: skip
#: Runs that are drawn in passing, fewer where they take long; and neighbours that are stored then.
_RUNS_IN_PASSING, _FEWEST_RUNS, _MOST_IN_PASSING = 1000, 100, 1 << 24
#: Pairs of prefixes that are counted in Fractions, for one neighbour and for more.
_MOST_NEAREST, _MOST_RACES = 10**7, 2 * 10**6
#: So few splits are scored one by one.
_MOST_SPLITS = 4000
_CHEAPER = "split_spread(method='sampled')"


class SpreadAndRuns(NamedTuple):
    """The spread, and the scores of runs that were drawn, or of all there are: not `sampled`."""

    spread: SplitSpread
    scores: Floats
    sampled: bool


def split_spread(
    neighbors: Neighbors, question: Question, *, method: str, n_runs: int, seed: int
) -> SplitSpread:
    """The spread of the score between runs, for a question of one column."""
    if is_alone(question):
        return SplitSpread(0.0, 0, Fraction(0))
    order = _stored_order(neighbors, question)
    found = _counted_if(order, question, method)
    if isinstance(found, SplitSpread):
        return found
    return _sampled(question, _replayed(order, question, n_runs, seed), found)


def spread_and_runs(
    neighbors: Neighbors, question: Question, *, n_runs: int, seed: int
) -> SpreadAndRuns:
    """The spread, counted where that is quick, and drawn runs, for a question of one column.

    All splits instead, where there are no more of them. The question's law has one component.
    """
    order = _stored_order(neighbors, question)
    if has_few_splits(question, min(n_runs, _MOST_SPLITS)):
        return _one_by_one(order, question)
    found = _counted_if(order, question, "quick")
    scores = _replayed(order, question, n_runs, seed)
    spread = found if isinstance(found, SplitSpread) else _sampled(question, scores, found)
    return SpreadAndRuns(spread, scores, sampled=True)


def spread_in_passing(neighbors: Neighbors, question: Question) -> SplitSpread | None:
    """The spread as a by-product: counted or sampled in a few seconds, None if neither can be.

    Nobody runs one split of leave-one-out alone: there is none for it either.
    """
    n_runs = _runs_in_passing(question)
    if n_runs == 0:
        return None
    order = _stored_order(neighbors, question)
    found = _counted_if(order, question, "in passing")
    if isinstance(found, SplitSpread):
        return found
    return _sampled(question, _replayed(order, question, n_runs, 0), found)


def runs_in_passing(neighbors: Neighbors, question: Question, n_runs: int) -> Floats | None:
    """Scores of so many drawn runs, for a picture; None where they take long, or are no runs."""
    n_runs = min(n_runs, _runs_in_passing(question))
    if n_runs == 0:
        return None
    order = _stored_order(neighbors, question)
    return _replayed(order, question, n_runs, 0)


def _runs_in_passing(question: Question) -> int:
    """Runs that can be drawn in a few seconds; 0 if none should be."""
    if is_alone(question) or (leaves_one_out(question) and not question.outside):
        return 0
    each = sampling_seconds(question, 1) / thread_count(question.options.n_jobs)
    n_runs = min(_RUNS_IN_PASSING, int(_SECONDS_IN_PASSING / each))
    too_many = question.n_questions * _depth(question) > _MOST_IN_PASSING
    return 0 if too_many or n_runs < _FEWEST_RUNS else n_runs


def is_alone(question: Question) -> bool:
    """Whether there is one training set only: all samples answer a fixed test set."""
    return question.outside and bool(question.columns[0].law.n_splits == 1)


def leaves_one_out(question: Question) -> bool:
    """Whether a split tests one sample, or one group."""
    law = question.columns[0].law
    if isinstance(law, GroupLaw):
        return law.n_test == 1
    return isinstance(law, SizeLaw) and max(c.test for c in law.components) == 1


def _stored_order(neighbors: Neighbors, question: Question) -> NeighborOrder:
    blocks = neighbors.blocks(_depth(question), whole_order)
    return concatenate([part for block in blocks for part in block.parts])


def _counted_if(order: NeighborOrder, question: Question, method: str) -> SplitSpread | str:
    """The exact spread, or why it is sampled."""
    if method == "sampled":
        return ""
    reason = why_not_counted(question)
    if not reason:
        found = _counted(order, question, _SECONDS[method])
        if isinstance(found, SplitSpread):
            return found
        reason = found
    if has_few_splits(question, _MOST_SPLITS):
        return _one_by_one(order, question).spread
    if method == "exact":
        raise UnsupportedError(
            f"the exact spread between splits cannot be counted: {reason}. "
            "split_spread() samples it, with a standard error"
        )
    return reason


def _one_by_one(order: NeighborOrder, question: Question) -> SpreadAndRuns:
    """The scores of all splits, which are few, and their spread."""
    every, k = every_split(question), question.columns[0].k
    scores = scores_of_splits(order, question, every.splits)
    mean = float(every.shares @ scores)
    variance, scale = float(every.shares @ (scores - mean) ** 2), float(np.abs(scores).max())
    # A value rounds by some units for each voter, rival and choice; a score for each sample.
    units = 4 * question.n_samples + 64 * k * k + 1024
    spread = _with_bound(variance, 0, units * UNIT_ROUNDOFF * scale**2)
    return SpreadAndRuns(spread, scores, sampled=False)


def _replayed(order: NeighborOrder, question: Question, n_runs: int, seed: int) -> Floats:
    n_threads = thread_count(question.options.n_jobs)
    fewer = "a smaller n_runs"
    warn_if_long(0.0, sampling_seconds(question, n_runs), n_threads, order.depth, fewer)
    return replay_scores(order, question, n_runs, seed)


def _sampled(question: Question, scores: Floats, reason: str) -> SplitSpread:
    std, error = spread_of(scores)
    n_runs = len(scores)
    return SplitSpread(std, _n_folds(question), n_runs=n_runs, standard_error=error, reason=reason)


def _n_folds(question: Question) -> int:
    return getattr(question.columns[0].law, "n_folds", 0)


def why_not_counted(question: Question) -> str:
    """Why pairs of this law and vote are not counted; nothing if they are."""
    column = question.columns[0]
    if question.outside:
        return "pairs of questions from outside are not counted"
    if question.vote != "majority":
        return "only equal votes for classes are counted"
    if column.law.kind not in ("fixed size", "class counts"):
        return "only laws of fixed size and of class counts are counted"
    if question.balanced and column.law.kind == "fixed size":
        return "a split of fixed size may miss a class"
    if column.k > 1 and question.n_classes > 2:
        return "more than two classes with more than one neighbour are not counted"
    if column.k > 1 and column.law.n_folds:
        return "two folds train on different samples, and only one neighbour is counted then"
    return ""


def _depth(question: Question) -> int:
    """How deep the rows must be; complete for Fractions."""
    n = question.n_samples
    if question.options.exact and not question.outside and _few(n * (n - 1), question.columns[0].k):
        return n - 1
    # Where splits are few nothing is left out: what is left out of a row is at least one of them.
    few = has_few_splits(question, _MOST_SPLITS)
    options = replace(question.options, tol=_TOL if few else max(question.options.tol, _TOL))
    return solver_for(replace(question, options=options)).depth


def _counted(order: NeighborOrder, question: Question, most_seconds: float) -> SplitSpread | str:
    """The exact spread, or why it is not counted."""
    options, k, n_folds = question.options, question.columns[0].k, _n_folds(question)
    runs = Runs.of(question)
    lists = listed_orders(
        order, question.codes, runs.pools, average=options.average, nearest=k == 1
    )
    if lists is None:
        return "tied neighbours have too many orders (distance_ties='index' has one)"
    complete = order.depth == order.n_candidates
    if options.exact and complete and _few(len(lists.neighbors), k):
        mean, second = (
            nearest_in_fractions(lists, runs)
            if k == 1
            else race_in_fractions(lists, runs, k, share=options.share)
        )
        variance = second - mean * mean
        return SplitSpread(sqrt(variance), n_folds, variance)
    n_threads = thread_count(options.n_jobs)
    changes = find_changes(lists, len(runs.sizes))
    seconds = nearest_seconds(changes, runs) if k == 1 else race_seconds(lists, k, runs)
    waiting = seconds / n_threads
    if waiting > most_seconds:
        time = f"{waiting:.0f} seconds" if waiting < 120 else f"{waiting / 60:.0f} minutes"
        return f"counting all pairs would take about {time}"
    warn_if_long(0.0, seconds, n_threads, order.depth, _CHEAPER)
    if k == 1:
        first, square = nearest_moments(lists, changes, runs, n_threads)
    else:
        first, square = race_moments(lists, k, runs, n_threads, share=options.share)
    off = _left_out(order.depth, k, max(options.tol, _TOL))
    return _with_bound(square - first * first, n_folds, off)


def _few(n_prefixes: int, k: int) -> bool:
    """Whether pairs may be counted in Fractions."""
    return n_prefixes**2 <= (_MOST_NEAREST if k == 1 else _MOST_RACES)


def _left_out(depth: int, k: int, tol: float) -> float:
    """What a counted variance may be off by.

    A row leaves out at most 1.25 tol, a pair twice that, E[S]² twice that again. Every factor
    rounds by a few units, and a pair adds and subtracts up to depth² chances.
    """
    return 5 * tol + (depth * depth + 64 * depth + 64 * k + 1024) * UNIT_ROUNDOFF


def _with_bound(variance: float, n_folds: int, off: float) -> SplitSpread:
    """The standard deviation and what it may be off by.

    If v is off by δ, √v is off by at most √δ, and by δ/√v where v exceeds δ.
    """
    if variance <= off:
        return SplitSpread(0.0, n_folds, error_bound=sqrt(max(variance, 0.0) + off))
    std = sqrt(variance)
    return SplitSpread(std, n_folds, error_bound=min(sqrt(off), off / std))

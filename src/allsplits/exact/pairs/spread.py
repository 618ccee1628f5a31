"""How much the score of one run differs from the average: counted where it can be, else sampled.

Var S = E[S²] - E[S]² over all runs of the law. What is counted: votes of the nearest neighbour
under laws of fixed size and class counts, folds included (`nearest`); votes of two classes with any
k, one split at a time (`race`). Everything else is sampled by replaying runs (`sample`), and the
result says so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from math import sqrt

from allsplits._threads import thread_count
from allsplits.exact.effort import warn_if_long
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.pairs.fractions import nearest_in_fractions, race_in_fractions
from allsplits.exact.pairs.lists import listed_orders
from allsplits.exact.pairs.nearest import find_changes, nearest_moments, nearest_seconds
from allsplits.exact.pairs.race import race_moments, race_seconds
from allsplits.exact.pairs.runs import Runs
from allsplits.exact.pairs.sample import sample_spread, sampling_seconds
from allsplits.exact.question import Question
from allsplits.exact.solve import solver_for
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order

#: Mass that rows may leave out: of E[S²] as of E[S].
_TOL = 1e-11
#: Pairs that take longer are sampled unless they are asked for.
_TOO_LONG = 600.0
#: Pairs of prefixes that are counted in Fractions, for one neighbour and for more.
_MOST_NEAREST, _MOST_RACES = 10**7, 2 * 10**6
_CHEAPER = "split_spread(method='sampled')"


@dataclass(frozen=True, repr=False)
class SplitSpread:
    """The standard deviation, over all runs of a law, of the score that one run shows.

    Attributes
    ----------
    std : float
        The standard deviation.
    n_folds : int
        A run is the mean over so many folds; 0: a run is one split.
    variance : Fraction or None
        Its square as a fraction, with ``exact=True`` and few samples.
    error_bound : float
        `std` is off by no more than this (mass left out and rounding); 0 if it is sampled.
    n_runs : int
        Runs that were drawn; 0 if all of them were counted.
    standard_error : float
        Of a sampled `std`.
    reason : str
        Why it is sampled.
    """

    std: float
    n_folds: int
    variance: Fraction | None = None
    error_bound: float = 0.0
    n_runs: int = 0
    standard_error: float = 0.0
    reason: str = ""

    @property
    def sampled(self) -> bool:
        """Whether runs were drawn, instead of all of them counted."""
        return self.n_runs > 0

    def __repr__(self) -> str:
        what = f"the mean of {self.n_folds} folds" if self.n_folds else "one split"
        if not self.sampled:
            return f"SplitSpread(std={self.std:.6f} ± {self.error_bound:.0e}, exact, of {what})"
        why = f": {self.reason}" if self.reason else ""
        return (
            f"SplitSpread(std={self.std:.6f}, SAMPLED from {self.n_runs:,} runs with standard "
            f"error {self.standard_error:.1g}, of {what}{why})"
        )


def split_spread(
    neighbors: Neighbors, question: Question, *, method: str, n_runs: int, seed: int
) -> SplitSpread:
    """The spread of the score between runs, for a question of one column."""
    reason = "" if method == "sampled" else why_not_counted(question)
    depth = _depth(question)
    order = concatenate(
        [part for block in neighbors.blocks(depth, whole_order) for part in block.parts]
    )
    n_folds = getattr(question.columns[0].law, "n_folds", 0)
    if method != "sampled" and not reason:
        found = _counted(order, question, n_folds, any_time=method == "exact")
        if isinstance(found, SplitSpread):
            return found
        reason = found
    if method == "exact":
        raise UnsupportedError(
            f"the exact spread between splits cannot be counted: {reason}. "
            "split_spread() samples it, with a standard error"
        )
    n_threads = thread_count(question.options.n_jobs)
    fewer = "a smaller n_runs"
    warn_if_long(0.0, sampling_seconds(question, n_runs), n_threads, depth, fewer)
    std, error = sample_spread(order, question, n_runs, seed, n_threads)
    return SplitSpread(std, n_folds, n_runs=n_runs, standard_error=error, reason=reason)


def why_not_counted(question: Question) -> str:
    """Why pairs of this law and vote are not counted; nothing if they are."""
    column = question.columns[0]
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
    if question.options.exact and _few(n * (n - 1), question.columns[0].k):
        return n - 1
    options = replace(question.options, tol=max(question.options.tol, _TOL))
    return solver_for(replace(question, options=options)).depth


def _counted(
    order: NeighborOrder, question: Question, n_folds: int, *, any_time: bool
) -> SplitSpread | str:
    """The exact spread, or why it is not counted."""
    options, k = question.options, question.columns[0].k
    runs = Runs.of(question)
    lists = listed_orders(
        order, question.codes, runs.pools, average=options.average, nearest=k == 1
    )
    if lists is None:
        return "tied neighbours have too many orders"
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
    if seconds / n_threads > _TOO_LONG and not any_time:
        return f"counting all pairs would take about {seconds / n_threads / 60:.0f} minutes"
    warn_if_long(0.0, seconds, n_threads, order.depth, _CHEAPER)
    if k == 1:
        first, square = nearest_moments(lists, changes, runs, n_threads)
    else:
        first, square = race_moments(lists, k, runs, n_threads, share=options.share)
    return _with_bound(square - first * first, order.depth, k, n_folds, max(options.tol, _TOL))


def _few(n_prefixes: int, k: int) -> bool:
    """Whether pairs may be counted in Fractions."""
    return n_prefixes**2 <= (_MOST_NEAREST if k == 1 else _MOST_RACES)


def _with_bound(variance: float, depth: int, k: int, n_folds: int, tol: float) -> SplitSpread:
    """The standard deviation and what it may be off by.

    A row leaves out at most 1.25 tol, a pair twice that, E[S]² twice that again. Every factor
    rounds by a few units, and a pair adds and subtracts up to depth² chances. If v is off by δ, √v
    is off by at most √δ, and by δ/√v where v exceeds δ.
    """
    off = 5 * tol + (depth * depth + 64 * depth + 64 * k + 1024) * UNIT_ROUNDOFF
    if variance <= off:
        return SplitSpread(0.0, n_folds, error_bound=sqrt(max(variance, 0.0) + off))
    std = sqrt(variance)
    return SplitSpread(std, n_folds, error_bound=min(sqrt(off), off / std))

"""Asking the committee about candidates, block by block, and choosing a batch of them.

The most useful are chosen, ties at random, spread out if asked for.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._ranking import smallest_first
from allsplits._threads import thread_count
from allsplits.active._candidates import Candidates
from allsplits.active._labels import PartialLabels
from allsplits.active._utility import UTILITIES
from allsplits.exact import Options
from allsplits.exact.laws.fixed_size.committee import Committee
from allsplits.orders import Reference

Numbers = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Votes:
    """What the committee says about the candidates: shares of shape (n_candidates, n_classes)."""

    candidates: Candidates
    shares: Floats
    error_bound: float


def ask_committee(
    found: Candidates,
    labels: PartialLabels,
    k: int,
    leave_out: int,
    reference: Any,
    options: Options,
) -> Votes:
    """Shares of the committee on `reference`, the labelled points; memory for a block at a time.

    While there are fewer than k + leave_out labels there is no committee: it agrees on everything,
    as it does while all labels have one class, so that any candidate is as useful as any other.
    """
    n_classes = len(labels.classes)
    if n_classes < 2 or len(labels.rows) < k + leave_out:
        return Votes(found, np.ones((len(found), 1)), 0.0)
    n_threads = thread_count(options.n_jobs)
    committee = Committee(labels.codes, n_classes, k, leave_out, options)
    search = Reference(reference, found.metric, n_threads)
    shares = np.empty((len(found), n_classes))
    with progress_bar(options.progress, "asking the committee", len(found)) as step:
        for start in range(0, len(found), search.rows_per_block):
            stop = min(start + search.rows_per_block, len(found))
            order = search.of(found.block(start, stop), committee.depth, start)
            shares[start:stop] = committee.shares(order, n_threads)
            step(stop - start)
    return Votes(found, shares, committee.error_bound)


def choose_batch(
    votes: Votes, utility: str, diversity: int, size: int, rng: np.random.RandomState
) -> tuple[Numbers, Floats]:
    """Positions of the chosen candidates, and the utilities of all."""
    utilities = UTILITIES[utility](votes.shares)
    # -s ln s turns an error of 1e-14 near s = 0 into one of 3e-13; the classes' errors add up.
    tolerance = 64 * votes.shares.shape[1] * votes.error_bound
    shortlist = min(diversity * size, len(utilities))
    positions = most_useful(utilities, shortlist, tolerance, rng)
    if diversity > 1:
        positions = farthest_first(positions, size, votes.candidates.distances_to(positions))
    return positions, utilities


def most_useful(
    utilities: Floats, size: int, tolerance: float, rng: np.random.RandomState
) -> Numbers:
    """Positions of the `size` largest utilities, largest first.

    Utilities that differ by no more than `tolerance` are equal but for rounding: which of them
    comes first, or at all, is drawn at random.
    """
    last = np.partition(utilities, -size)[-size]
    shuffled = rng.permutation(np.flatnonzero(utilities >= last - tolerance))
    return shuffled[smallest_first(-utilities[shuffled], tolerance)[:size]]


def farthest_first(
    shortlist: Numbers, size: int, distances_from: Callable[[int], Floats]
) -> Numbers:
    """`size` of the shortlist: its first, then each time the one farthest from those chosen.

    ``distances_from(i)`` are the distances of the whole shortlist to its member i. Among equally
    far ones the earlier in the list is taken; no member is taken twice.
    """
    chosen = [0]
    nearest = distances_from(0).copy()
    nearest[0] = -1.0
    while len(chosen) < size:
        following = int(np.argmax(nearest))
        chosen.append(following)
        nearest = np.minimum(nearest, distances_from(following))
        nearest[following] = -1.0
    return shortlist[chosen]

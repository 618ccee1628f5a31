"""UNN: leverages of nearest-neighbour votes by boosting (Piro, Nock, Nielsen & Barlaud, 2011).

Example j votes y_jc = ±1 on membership of class c, with a leverage α_jc. The margin of example i is

    u_ic = Σ α_jc y_jc y_ic    over the k nearest j of i (i itself left out)

and the surrogate risk of class c is the mean of ψ(u_ic). Each round picks an example j and moves
α_jc to the minimum along that coordinate, which only touches the margins of j's reciprocal
neighbours. Classes are independent problems and run side by side in threads.

Which example steps next is the *chooser*. The paper's text leaves it open; `RULES` lists the
readings, and `studies/piro_table2.md` holds them against the paper's numbers.

Smoothing adds 1/m to both sums of weights (13), of weights that sum to 1 if they are normalised
(the proof of Theorem 3.2 does so, and so does the work that (13) is taken from); else of weights
that begin at -ψ'(0). For losses without a closed step smoothing is a pair of examples at margin
0, one that agrees and one that does not: at equal margins the two are the same.
Smoothed steps are shorter, have the same sign, and vanish at the same place, so the surrogate
never rises. Without any smoothing, perfect agreement would ask for an infinite step; so at
least `LEAST_SMOOTHING` is added, which keeps steps below 30.

Cost: search, then for each class O(m k) to begin with and, for each round, O(k²) small updates for
the largest step or O(k) in turn (k is also the mean number of reciprocal neighbours). Normalised
weights change every step in every round, so that each looks at everybody: O(m) more, or O(m k)
where steps have no closed form.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.boosting._kernel_types import Problem, Rule, Trace
from allsplits.boosting._kernels_boosting import (
    boost_by_looking,
    boost_by_queue,
    boost_in_turn,
    reverse_neighbors,
)
from allsplits.boosting._kernels_losses import SQUARED
from allsplits.boosting._losses import CompiledLoss
from allsplits.orders import UNIT_ROUNDOFF

Chooser = Literal["boosting", "boosting again", "longest step", "longest step once", "lazy"]

#: Choosers of the largest step: whether it must be positive, and whether each example steps once.
RULES = {
    "boosting": (True, True),
    "boosting again": (True, False),
    "longest step": (False, False),
    "longest step once": (False, True),
}

#: What one rounding takes from a weight of 1.
LEAST_SMOOTHING = UNIT_ROUNDOFF


@dataclass(frozen=True)
class Neighborhoods:
    """Who is near whom, both ways."""

    #: The k nearest of each example, shape (m, k).
    neighbors: NDArray[np.int32]
    #: ``members[indptr[j]:indptr[j + 1]]`` have j among their nearest.
    indptr: NDArray[np.int64]
    members: NDArray[np.int32]

    @classmethod
    def read(cls, nearest: NDArray[np.intp]) -> Neighborhoods:
        """From the k nearest of each example."""
        neighbors = np.ascontiguousarray(nearest, dtype=np.int32)
        m, k = neighbors.shape
        indptr = np.zeros(m + 1, dtype=np.int64)
        members = np.empty(m * k, dtype=np.int32)
        reverse_neighbors(neighbors, indptr, members)
        return cls(neighbors, indptr, members)


@dataclass(frozen=True)
class Rounds:
    """How to boost."""

    loss: CompiledLoss
    chooser: Chooser
    n_rounds: int
    smoothing: float
    normalized: bool
    tol: float


@dataclass(frozen=True)
class History:
    """Every round of every class (one row per class)."""

    #: Examples and steps, shape (n_classes, n_rounds); unused rounds have the step 0.
    chosen: NDArray[np.int32]
    steps: NDArray[np.float64]
    #: Mean loss before the first round and after each, shape (n_classes, n_rounds + 1).
    risks: NDArray[np.float64]
    #: How many rounds each class took.
    n_rounds: NDArray[np.int64]
    #: Margins after the last round, shape (n_classes, m).
    margins: NDArray[np.float64]

    def leverages(self, n_rounds: int | None = None) -> NDArray[np.float64]:
        """α after the first `n_rounds` rounds, shape (m, n_classes)."""
        n_classes, m = self.margins.shape
        alphas = np.zeros((m, n_classes))
        for c in range(n_classes):
            np.add.at(alphas[:, c], self.chosen[c, :n_rounds], self.steps[c, :n_rounds])
        return alphas


def boost(
    near: Neighborhoods,
    signs: NDArray[np.int8],
    rounds: Rounds,
    n_threads: int,
    advance: Callable[[int], None] = lambda done: None,
) -> History:
    """Boost every class; ``signs`` holds ±1 memberships, shape (n_classes, m)."""
    n_classes, m = signs.shape
    chosen = np.zeros((n_classes, rounds.n_rounds), dtype=np.int32)
    steps = np.zeros((n_classes, rounds.n_rounds))
    risks = np.empty((n_classes, rounds.n_rounds + 1))
    margins = np.empty((n_classes, m))
    taken = np.zeros(n_classes, dtype=np.int64)
    code = rounds.loss.code
    smoothing = max(rounds.smoothing, LEAST_SMOOTHING)
    pseudo = smoothing / rounds.loss.start_weight
    # Steps of the squared loss are not smoothed: there is nothing to normalise.
    normalized = rounds.normalized and code.kind != SQUARED

    def run(start: int, stop: int) -> None:
        for c in range(start, stop):
            problem = Problem(
                code, near.indptr, near.members, signs[c], smoothing, pseudo, normalized
            )
            out = Trace(chosen[c], steps[c], risks[c], margins[c])
            if rounds.chooser == "lazy":
                taken[c] = boost_in_turn(problem, rounds.tol, out)
            else:
                rule = Rule(*RULES[rounds.chooser], rounds.tol)
                boost_class = boost_by_looking if normalized else boost_by_queue
                taken[c] = boost_class(problem, near.neighbors, rule, out)
            # A class that is done stays where it is.
            risks[c, taken[c] :] = risks[c, taken[c]]
            advance(1)

    map_row_ranges(run, n_classes, n_threads, smallest=1)
    longest = int(taken.max())
    return History(chosen[:, :longest], steps[:, :longest], risks[:, : longest + 1], taken, margins)


def leading_leverages(alphas: NDArray[np.float64], theta: float) -> NDArray[np.float64]:
    """In each class (column) only the ⌈θm⌉ leverages that are largest in size; the others are 0."""
    most = math.ceil(theta * len(alphas))
    kept = np.zeros_like(alphas)
    for c in range(alphas.shape[1]):
        leading = np.argsort(-np.abs(alphas[:, c]), kind="stable")[:most]
        kept[leading, c] = alphas[leading, c]
    return kept

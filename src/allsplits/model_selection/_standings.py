"""Many evaluations of the same samples: who is tied for first, and how far behind the others are.

With scores S₁ … Sₘ and their expectations θ₁ … θₘ over data sets, the question is θᵢ - max θⱼ over
the others j: how far i is ahead of, or behind, the best of the others (Hsu's multiple comparisons
with the best; the form for unequal and correlated scores is that of Edwards & Hsu 1983, *Multiple
comparisons with the best treatment*). If b is truly best, then with the given confidence

    θ_b - θⱼ ≤ S_b - Sⱼ + dⱼ(b) · se(b, j)        for all j at once,

and everything follows from this one event. A candidate i that could be b has all right-hand sides
at least 0: these are **tied for first**. The interval of i reaches up to the least of its
right-hand sides, but not below 0, and down to the least of Sᵢ - Sⱼ - dᵢ(j) · se over the other
candidates j that are tied for first, but not above 0; alone in first place it starts at 0. Whoever
is behind has 0 as its upper end.

The differences to one b are strongly correlated, so dⱼ(b) comes from their joint distribution.
Every sample moves all scores at once (`Moves`); the products of the moves of both kinds, jackknife
and sample scores, say which differences go together. Normal draws with these correlations (2¹⁵
scrambled Sobol points with a fixed seed) give the level u that the largest of the differences, in
units of its se, keeps to with the given confidence; dⱼ(b) is Student's quantile at u with the
degrees of freedom of the difference, and se(b, j) that of `compare` for two.
How often all intervals cover is in studies/compare_coverage.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import qmc
from scipy.stats import t as student

from allsplits._frames import DataFrame, make_frame
from allsplits._ranking import rounding_of, smallest_first
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._interval import Interval
from allsplits.model_selection._moves import Moves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Two to this power are drawn, from this seed.
_LOG_DRAWS, _SEED = 15, 0
#: What is less, in units of the larger of two standard errors, is rounding.
_ROUNDING = 1e-9
#: A repr names so many.
_MOST_NAMED = 8


@dataclass(frozen=True, eq=False, repr=False)
class Standings:
    """Who of many is first: scores, and the distance of each to the best of the others.

    Attributes
    ----------
    names : tuple of str
        What the evaluations are called.
    evaluations : tuple of Evaluation
        What was compared, in the order of the names.
    differences : tuple of Interval
        Of each one: its score less the best score of the others. These intervals hold all at once.
        One that is behind ends at 0, one that is first alone starts there.
    is_tied : ndarray of bool
        Which could be best.
    confidence : float
        How often, over data sets from the same source, all `differences` hold what they should; the
        one that is truly best is then among the tied.
    """

    names: tuple[str, ...]
    evaluations: tuple[Evaluation, ...]
    differences: tuple[Interval, ...]
    is_tied: NDArray[np.bool_]
    confidence: float

    @property
    def scoring(self) -> str:
        """Name of the score."""
        return self.evaluations[0].scoring

    @cached_property
    def scores(self) -> Floats:
        """The scores, in the order of the names."""
        return np.array([one.score for one in self.evaluations])

    @cached_property
    def best_first(self) -> NDArray[np.intp]:
        """Positions from the best score down; of equal ones, up to rounding, the first is first."""
        bound = 2 * max(one.error_bound for one in self.evaluations)
        return smallest_first(-self.scores, rounding_of(self.scores, bound))

    @property
    def best(self) -> str:
        """The name of the one with the best score, of several equal ones the first."""
        return self.names[int(self.best_first[0])]

    @property
    def tied_for_first(self) -> tuple[str, ...]:
        """Names of those that could be best, best score first; one name where it is decided."""
        return tuple(self.names[i] for i in self.best_first if self.is_tied[i])

    @property
    def decided(self) -> bool:
        """Whether one is first alone."""
        return int(self.is_tied.sum()) == 1

    @cached_property
    def intervals(self) -> tuple[Interval, ...]:
        """The interval of each score alone, as `Evaluation.interval` gives it."""
        return tuple(one.interval(self.confidence) for one in self.evaluations)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per evaluation, best first, as a pandas or polars data frame.

        ``low`` and ``high`` are the interval of the score alone; ``difference`` is to the best of
        the others, and its interval holds for all rows at once.
        """
        rows = self.best_first
        intervals = [self.intervals[i] for i in rows]
        differences = [self.differences[i] for i in rows]
        columns = {
            "name": [self.names[i] for i in rows],
            self.scoring: self.scores[rows],
            "low": [one.low for one in intervals],
            "high": [one.high for one in intervals],
            "difference": [one.estimate for one in differences],
            "difference_low": [one.low for one in differences],
            "difference_high": [one.high for one in differences],
            "tied_for_first": self.is_tied[rows],
        }
        return make_frame(columns, backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw each one's difference to the best of the others, those tied for first marked."""
        from allsplits.plots._standings import draw_standings

        return draw_standings(self, ax)

    def __repr__(self) -> str:
        n = len(self.evaluations[0].y)
        tied = [i for i in self.best_first if self.is_tied[i]]
        behind = [i for i in self.best_first if not self.is_tied[i]]
        what = "tied for first" if len(tied) > 1 else "first"
        note = self.differences[0].note
        return (
            f"Standings({self.scoring} of {len(self.names)} on {n} samples; {what} with "
            f"{self.confidence:.4g} confidence{note}: {self._listed(tied)}"
            + (f"; behind: {self._listed(behind)}" if behind else "")
            + ")"
        )

    def _listed(self, positions: list[int]) -> str:
        named = [f"{self.names[i]} ({self.scores[i]:.4f})" for i in positions[:_MOST_NAMED]]
        more = len(positions) - _MOST_NAMED
        return ", ".join(named) + (f" and {more} more" if more > 0 else "")


class _Pairs(NamedTuple):
    """All ordered pairs of evaluations.

    Attributes
    ----------
    difference, bound : ndarray
        Difference of the scores, and what it may be off by.
    error, freedom : ndarray
        Its standard error, and the degrees of freedom of that.
    seen : ndarray
        How far the moves of the two are apart, 0 where the samples do not part them.
    """

    difference: Floats
    bound: Floats
    error: Floats
    freedom: Floats
    seen: Floats


def make_standings(
    evaluations: Sequence[Evaluation], names: tuple[str, ...], confidence: float
) -> Standings:
    """Compare each with the best of the others, at one confidence for all."""
    moves = _moves(evaluations)
    pairs = _pairs(evaluations, moves)
    reach = pairs.bound + _quantiles(moves, pairs, confidence) * pairs.error
    return _standings(evaluations, names, confidence, moves[0], pairs, reach)


def _moves(evaluations: Sequence[Evaluation]) -> list[Moves]:
    """What each unit moves the scores by: all by the jackknife as well, or none."""
    moves = [one.paired_moves() for one in evaluations]
    if all(one.jackknife is not None for one in moves):
        return moves
    return [one._replace(jackknife=None) for one in moves]


def _pairs(evaluations: Sequence[Evaluation], moves: Sequence[Moves]) -> _Pairs:
    scores = np.array([one.score for one in evaluations])
    bounds = np.array([one.error_bound for one in evaluations])
    m = len(moves)
    error, seen, freedom = np.zeros((m, m)), np.zeros((m, m)), np.ones((m, m))
    alone = [sqrt(one.together) for one in moves]
    for i in range(m):
        for j in range(i):
            between = moves[i].less(moves[j])
            found = between.variance("combined")
            shown = sqrt(between.together)
            freedom[i, j] = freedom[j, i] = found.freedom
            error[i, j] = error[j, i] = sqrt(found.value)
            if shown > _ROUNDING * max(alone[i], alone[j]):
                seen[i, j] = seen[j, i] = shown
    return _Pairs(scores[:, None] - scores, bounds[:, None] + bounds, error, freedom, seen)


def _quantiles(moves: Sequence[Moves], pairs: _Pairs, confidence: float) -> Floats:
    """Entry (i, j): how many standard errors j may be off if i is best, for all j at once."""
    # Which differences go together is read off both kinds of moves: covariances are root'root.
    root = np.linalg.qr(np.column_stack([one.both for one in moves]), mode="r")
    m = len(moves)
    normals = _normal_draws(len(root) + m)
    together, apart = normals[:, m:] @ root, normals[:, :m]
    quantiles = np.zeros((m, m))
    for i in range(m):
        others = np.arange(m) != i
        # Where the samples do not part two, what others might do is independent.
        seen = pairs.seen[i] > 0
        parts = [
            (drawn[:, which] - drawn[:, [i]]) / unit[which]
            for drawn, which, unit in (
                (together, seen, pairs.seen[i]),
                (apart, others & ~seen, np.full(m, sqrt(2))),
            )
            if which.any()
        ]
        largest = np.maximum.reduce([part.max(axis=1) for part in parts])
        level = np.quantile(largest, confidence, method="higher")
        quantiles[i, others] = student.ppf(ndtr(level), pairs.freedom[i, others])
    return quantiles


@lru_cache(maxsize=1)
def _normal_draws(n_columns: int) -> Floats:
    """Independent normal draws, always the same."""
    points = qmc.Sobol(n_columns, seed=_SEED).random_base2(_LOG_DRAWS)
    drawn: Floats = ndtri(np.clip(points, 1e-15, 1 - 1e-15))
    return drawn


def _standings(
    evaluations: Sequence[Evaluation],
    names: tuple[str, ...],
    confidence: float,
    moves: Moves,
    pairs: _Pairs,
    reach: Floats,
) -> Standings:
    m = len(evaluations)
    others = ~np.eye(m, dtype=bool)
    ahead = np.where(others, pairs.difference + reach, np.inf).min(axis=1)
    tied = ahead >= 0
    differences = []
    for i in range(m):
        rival = int(np.argmin(np.where(others[i], pairs.difference[i], np.inf)))
        rivals = np.flatnonzero(tied & others[i])
        low = min((pairs.difference[i, rivals] - reach[rivals, i]).min(initial=0.0), 0.0)
        differences.append(
            Interval(
                estimate=float(pairs.difference[i, rival]),
                low=float(low),
                high=float(max(ahead[i], 0.0)),
                confidence=confidence,
                standard_error=float(pairs.error[i, rival]),
                n_units=len(moves.sample_scores),
                unit=moves.unit,
                method="sample scores" if moves.jackknife is None else "combined",
            )
        )
    return Standings(names, tuple(evaluations), tuple(differences), tied, confidence)

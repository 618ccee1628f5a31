"""What each sample, or group, moves a score by: as the jackknife and as the sample scores have it.

Their squares add up to the variances of `_variance`. Laws of whole groups take out whole groups,
and deviations of a group are summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from allsplits.exact import ScoresWithout
from allsplits.model_selection._scoring import score_limits
from allsplits.model_selection._variance import Squares, Variance, variance_by

if TYPE_CHECKING:
    from allsplits.splits import Law

Floats = NDArray[np.float64]

#: Scores that count who is right, or how far off; there is recall@R, too.
_COUNTED = ("accuracy", "balanced_accuracy", "neg_mean_squared_error")
#: Of a score from 0 to 1, what is less is rounding.
_ROUNDING = 1e-12


class Moves(NamedTuple):
    """What each unit moves a score by; the squares of each kind add up to a variance.

    Attributes
    ----------
    jackknife : ndarray of shape (units,) or None
        None where law and vote have no jackknife.
    sample_scores : ndarray of shape (units,)
    unit : str
        "samples", "groups" or "test samples".
    weights : ndarray of shape (units,)
        What each unit counts in a score from 0 to 1; all 0 for a score without such a scale.
    neighborhoods : float
        Sets of k neighbours that a training set has, but not more than there are units.
    least_variance : float
        Of a difference: the variance is not less. 0 for a score.
    counted_twice : float
        What the jackknife counts for both units of a pair: the squares of what units change in each
        other's rows.
    changes : Together or None
        What units change in each other's rows, where it was kept.
    why : str
        Why there is no jackknife, where there is none.
    """

    jackknife: Floats | None
    sample_scores: Floats
    unit: str
    weights: Floats
    neighborhoods: float
    least_variance: float = 0.0
    counted_twice: float = 0.0
    changes: Together | None = None
    why: str = ""

    def less(self, other: Moves) -> Moves:
        """The moves of a difference.

        Its variance is at least that of two units of middling weight, one for each side: where two
        models agree on all samples that happen to be there, others may yet part them.
        """
        both = self.jackknife is not None and other.jackknife is not None
        return Moves(
            self.jackknife - other.jackknife if both else None,  # type: ignore[operator]
            self.sample_scores - other.sample_scores,
            self.unit,
            self.weights,
            min(self.neighborhoods, other.neighborhoods),
            2 * self.one_unit,
            self._counted_twice_in_difference(other),
            why=self.why or other.why,
        )

    @property
    def one_unit(self) -> float:
        """The variance of a unit of middling weight, wholly right or wrong."""
        return _sum_of_squares(self.weights) / len(self.weights)

    @property
    def both(self) -> Floats:
        """The moves of both kinds, one after the other."""
        parts = (
            [self.sample_scores] if self.jackknife is None else [self.jackknife, self.sample_scores]
        )
        return np.concatenate(parts)

    @property
    def together(self) -> float:
        """The sum of the squares of all moves."""
        return _sum_of_squares(self.both)

    def _counted_twice_in_difference(self, other: Moves) -> float:
        """At least the difference of the norms, where single changes were not kept."""
        if self.changes is None or other.changes is None:
            return float((sqrt(self.counted_twice) - sqrt(other.counted_twice)) ** 2)
        return self.changes.less(other.changes).squares

    def variance(self, method: str) -> Variance:
        """Variance and degrees of freedom by a method, or by sample scores if there is no other."""
        jackknife = None if self.jackknife is None else self._squares(self.jackknife)
        found = variance_by(
            method, jackknife, self._squares(self.sample_scores), self.counted_twice,
            self.neighborhoods,
        )  # fmt: skip
        return found._replace(value=max(found.value, self.least_variance))

    def _squares(self, moves: Floats) -> Squares:
        # Scores without a scale may be as small as they like.
        return Squares.of(moves, _ROUNDING if self.one_unit else 0.0)


class Together(NamedTuple):
    """What units change in each other's rows.

    Attributes
    ----------
    changes : sparse array of shape (units, units)
        By a unit (column) in the rows of another one (row).
    scopes : ndarray of shape (units,)
        Within a row changes are set against their mean over all units with the same number.
    """

    changes: csr_array
    scopes: NDArray[np.int32]

    def less(self, other: Together) -> Together:
        """Of a difference."""
        return self._replace(changes=self.changes - other.changes)

    @property
    def squares(self) -> float:
        """The sum of the squares, each row centred."""
        n, n_scopes = len(self.scopes), int(self.scopes.max()) + 1
        member = csr_array((np.ones(n), (np.arange(n), self.scopes)), shape=(n, n_scopes))
        totals = (self.changes @ member).toarray()
        others = np.tile(np.bincount(self.scopes, minlength=n_scopes), (n, 1))
        others[np.arange(n), self.scopes] -= 1
        return _sum_of_squares(self.changes.data) - float(np.sum(totals**2 / np.maximum(others, 1)))


def _sum_of_squares(moves: Floats) -> float:
    return float(np.sum(moves**2))


def _why_none(law: Law, scoring: str) -> str:
    """Why no sample can be taken out, if it is so."""
    if law.outside:
        return "the references are given, and test samples teach nobody"
    if law.kind == "episodes":
        return "episodes have no pass for it (jackknife_variance has it, with exact=True)"
    if scoring not in _COUNTED and not scoring.startswith("recall@"):
        return f"{scoring} is not known with a sample gone"
    return "without one of them too few voters are left, or law and vote have no such pass"


def jackknife_moves(without_one: Floats) -> Floats:
    """From the scores without each unit."""
    n = len(without_one)
    moves: Floats = sqrt((n - 1) / n) * (without_one.mean() - without_one)
    return moves


def jackknife_variance(without_one: Sequence[Fraction]) -> Fraction:
    """The variance from the scores without each unit, in Fractions."""
    n = len(without_one)
    mean = sum(without_one, Fraction(0)) / n
    return Fraction(n - 1, n) * sum(((one - mean) ** 2 for one in without_one), Fraction(0))


class SampleScores(NamedTuple):
    """The scores of all samples in one column, and how they make up the score.

    Attributes
    ----------
    score : float
    scores, weight : ndarray of shape (n_samples,)
        The score of each sample, and what it counts.
    y : ndarray of shape (n_samples,) or None
        The labels, if classes count equally.
    groups : ndarray of shape (n_samples,) or None
        The group of each sample, where whole groups are drawn.
    has_scale : bool
        Whether the score is from 0 to 1.
    outside : bool
        Whether the questions are a fixed test set.
    neighborhoods : float
        Sets of k neighbours that a training set has.
    why : str
        Why there might be no jackknife.
    """

    score: float
    scores: Floats
    weight: Floats
    y: NDArray[Any] | None
    groups: NDArray[Any] | None
    has_scale: bool
    outside: bool
    neighborhoods: float
    why: str

    @classmethod
    def of(
        cls, score: float, scores: Floats, weight: Floats, *, y: NDArray[Any], law: Law, k: int,
        scoring: str,
    ) -> SampleScores:  # fmt: skip
        """As the law and the score demand."""
        classes_count_equally = scoring == "balanced_accuracy" or law.kind == "episodes"
        groups = None if law.outside else getattr(law, "groups", None)
        has_scale = bool(np.isfinite(score_limits(scoring)[0]))
        labels = y if classes_count_equally else None
        neighborhoods = law.smallest_training_set / k
        why = _why_none(law, scoring)
        return cls(
            score, scores, weight, labels, groups, has_scale, law.outside, neighborhoods, why
        )

    def moves(self, without: ScoresWithout | None, column: int = 0) -> Moves:
        """What each unit moves the score by, from the scores without each unit."""
        deviations = self._by_unit(self._deviations())
        n = len(deviations)
        found = Moves(
            None if without is None else jackknife_moves(without.scores[:, column]),
            deviations,
            self._unit,
            # Of a score without a scale from 0 to 1 nothing is known beforehand.
            self._by_unit(self.weight if self.has_scale else np.zeros_like(self.weight)),
            min(self.neighborhoods, n),
            why=self.why if without is None else "",
        )
        changes = None if without is None else without.changes
        if changes is None:
            return found
        twice = (n - 1) / n * float(changes.squares[column])
        if changes.values is None or changes.scopes is None:
            return found._replace(counted_twice=twice)
        entries = sqrt((n - 1) / n) * changes.values[:, column], (changes.rows, changes.units)
        matrix = coo_array(entries, shape=(n, n)).tocsr()
        return found._replace(counted_twice=twice, changes=Together(matrix, changes.scopes))

    @property
    def _unit(self) -> str:
        if self.groups is not None:
            return "groups"
        return "test samples" if self.outside else "samples"

    def _by_unit(self, values: Floats) -> Floats:
        """Sums over groups, where whole groups are drawn."""
        if self.groups is None:
            return values
        return np.bincount(self.groups, weights=values).astype(np.float64)

    def _deviations(self) -> Floats:
        """What each sample moves the score away from its expectation (they sum to zero)."""
        scores = np.where(self.weight > 0, np.nan_to_num(self.scores), 0.0)
        if self.y is None:
            return self.weight * (scores - self.score)
        codes = np.unique(self.y, return_inverse=True)[1]
        totals = np.bincount(codes, weights=self.weight)
        sums = np.bincount(codes, weights=self.weight * scores)
        return self.weight * (scores - (sums / np.where(totals > 0, totals, 1.0))[codes])

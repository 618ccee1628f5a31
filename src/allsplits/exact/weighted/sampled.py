"""Weighted votes by drawing: for samples whose certified interval stays wide, by permission only.

Candidates are met nearest first and drawn or not with the chances of the law, (α - drawn so far) /
(candidates left), many training sets side by side; the vote of k is read off when the k-th voter
comes, so one walk serves all k. Members of a tie group come in random order in every draw. What
comes back is a mean with its variance, never a bound.

Sums are plain floats, which cannot tell a light vote beside one that is 10¹² times heavier: samples
with such neighbours are not drawn and keep their interval.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.weighted.weights import VOTE_TOLERANCE

Floats = NDArray[np.float64]
#: Training sets drawn for a sample and a component of the law.
N_DRAWS = 2048
#: Sums of floats that agree to this share of the heaviest vote are equal but for rounding.
_FLOAT_TOLERANCE = 1e-13


class Candidates(NamedTuple):
    """The candidates of one sample, nearest first: classes, weights (inf at 0), tie groups.

    For class counts `pool` holds the candidates of each class, otherwise their number; `train` has
    as many of them as are drawn, a line for each training set.
    """

    labels: NDArray[np.int32]
    tied: NDArray[np.bool_]
    weights: Floats
    pool: NDArray[np.int64]
    train: NDArray[np.int64]


def can_be_sampled(weights: Floats) -> bool:
    """Whether floats can tell the lightest vote beside the heaviest."""
    finite = weights[np.isfinite(weights) & (weights > 0)]
    return bool(len(finite) == 0 or finite.max() < 1e12 * finite.min())


def sample_votes(
    row: Candidates, ks: list[int], n_classes: int, share: bool, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """(mean, variance of that mean) of the share of every class, shape (classes, ks)."""
    votes = _Votes(ks, n_classes, share)
    by_class = len(row.pool) > 1
    met = np.zeros((N_DRAWS, len(row.pool)))
    drawn = np.zeros((N_DRAWS, len(row.pool)))
    everyone = np.arange(N_DRAWS)
    heads = np.flatnonzero(~row.tied)
    for start, stop in zip(heads, [*heads[1:], len(row.labels)], strict=True):
        members = np.broadcast_to(row.labels[start:stop], (N_DRAWS, stop - start))
        if stop - start > 1:
            members = rng.permuted(members, axis=1)
        for column in range(stop - start):
            labels = members[:, column]
            pool = labels if by_class else np.zeros(N_DRAWS, dtype=np.intp)
            left = row.pool[pool] - met[everyone, pool]
            wanted = row.train[everyone, pool] - drawn[everyone, pool]
            comes = rng.random(N_DRAWS) * left < wanted
            met[everyone, pool] += 1
            drawn[everyone, pool] += comes
            votes.add(np.flatnonzero(comes), labels, float(row.weights[start]))
        if votes.finished:
            break
    return votes.result()


class _Votes:
    """Sums of weights of many votes side by side, and who leads when the k-th voter has come."""

    def __init__(self, ks: list[int], n_classes: int, share: bool) -> None:
        self.slots = np.full(max(ks) + 1, -1)
        self.slots[ks] = np.arange(len(ks))
        self.share = share
        self.sums = np.zeros((N_DRAWS, n_classes))
        self.at_zero = np.zeros((N_DRAWS, n_classes))
        self.heaviest = np.zeros(N_DRAWS)
        self.lightest = np.full(N_DRAWS, np.inf)
        self.voters = np.zeros(N_DRAWS, dtype=np.intp)
        self.total = np.zeros((len(ks), n_classes))
        self.squares = np.zeros((len(ks), n_classes))

    @property
    def finished(self) -> bool:
        """Whether all votes are over."""
        return bool(self.voters.min() >= len(self.slots) - 1)

    def add(self, rows: NDArray[np.intp], labels: NDArray[np.int32], weight: float) -> None:
        """One more voter in these draws."""
        rows = rows[self.voters[rows] < len(self.slots) - 1]
        into = self.at_zero if np.isinf(weight) else self.sums
        into[rows, labels[rows]] += 1.0 if np.isinf(weight) else weight
        if np.isfinite(weight) and weight > 0:
            self.heaviest[rows] = np.maximum(self.heaviest[rows], weight)
            self.lightest[rows] = np.minimum(self.lightest[rows], weight)
        self.voters[rows] += 1
        slots = self.slots[self.voters[rows]]
        for slot in np.unique(slots[slots >= 0]):
            shares = self._shares(rows[slots == slot])
            self.total[slot] += shares.sum(axis=0)
            self.squares[slot] += (shares**2).sum(axis=0)

    def _shares(self, rows: NDArray[np.intp]) -> Floats:
        """What every class gets: voters at distance 0 decide alone."""
        zeros = self.at_zero[rows]
        alone = zeros.sum(axis=1) > 0
        sums = np.where(alone[:, None], zeros, self.sums[rows])
        slack = np.minimum(self.lightest[rows], 1e300) * VOTE_TOLERANCE
        slack = np.maximum(slack, self.heaviest[rows] * _FLOAT_TOLERANCE)
        slack = np.where(alone | (self.heaviest[rows] == 0), 0.0, slack)
        leads = sums >= (sums.max(axis=1) - slack)[:, None]
        if not self.share:
            leads &= np.cumsum(leads, axis=1) == 1
        found: Floats = leads / leads.sum(axis=1, keepdims=True)
        return found

    def result(self) -> tuple[Floats, Floats]:
        """Means and their variances, classes in rows."""
        mean = self.total / N_DRAWS
        spread = np.maximum(self.squares / N_DRAWS - mean**2, 0.0)
        # All draws alike: the rule of three, so that no variance is taken for zero.
        variance = np.maximum(spread, 3 / N_DRAWS * (1 - 3 / N_DRAWS)) / (N_DRAWS - 1)
        return mean.T, variance.T

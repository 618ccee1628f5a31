"""Laws of fixed size, and independent draws, as votes on a circle.

The voters of a prefix of length j are a uniform k-subset: as if every item had been drawn with
probability θ, given that k of them were. So a class with n items has the row T[n, ·] of a binomial
law, and the coefficient of z^k counts m_j / T[j, k]. With θ the share that is drawn these numbers
are near θ, whatever j and k.
"""

import numpy as np

from allsplits.exact.masses import Prefixes, binomial_table
from allsplits.exact.on_device.circle import FEWEST, MOST, class_tables, rounding
from allsplits.exact.on_device.votes import DEEPEST, CircleVote
from allsplits.exact.ties import legendre_rules
from allsplits.orders import UNIT_ROUNDOFF

#: What votes may be off by; otherwise the host counts them.
_LARGEST_ERROR = 1e-9


def circle_vote(prefixes: Prefixes, n_classes: int, share: bool) -> CircleVote | None:
    """The vote of these columns; None where a circle of few points is not enough."""
    depth, ks, votes = prefixes.depth, prefixes.ks, int(prefixes.ks.max())
    if depth > DEEPEST:
        return None
    table = binomial_table(depth, depth, _drawn_share(prefixes))
    active = prefixes.masses > 0
    below = table[:, ks].T
    if not below[active].all():
        return None
    weights = np.divide(prefixes.masses, below, out=np.zeros_like(below), where=active)
    n_points = FEWEST
    while n_points <= MOST and _aliases(table, weights, ks, 2 * n_points).max() > UNIT_ROUNDOFF:
        n_points *= 2
    if n_points > MOST:
        return None
    each = rounding(depth, n_classes, votes, n_points) + 3 * depth * UNIT_ROUNDOFF
    # What the masses and the tables they are divided by are off by counts once.
    error = weights.sum(axis=1) * each + 16 * depth * UNIT_ROUNDOFF
    error += _aliases(table, weights, ks, 2 * n_points) + prefixes.missing
    if error.max() > _LARGEST_ERROR:
        return None
    return CircleVote(
        class_tables(table, n_points, votes),
        np.zeros(n_classes, np.int32), np.zeros(n_classes, np.int32), ks,
        np.ascontiguousarray(weights.T), legendre_rules(votes // 2 + 1 if share else 0),
        False, error,
    )  # fmt: skip


def _drawn_share(prefixes: Prefixes) -> float:
    """The share that is drawn: (k + 1) of the items up to the next one, on average."""
    column = int(prefixes.ks.argmax())
    masses = prefixes.masses[column]
    ranks = np.arange(len(masses)) + 1.0
    share = (prefixes.ks[column] + 1) * masses.sum() / (masses @ ranks)
    return float(min(share, 1 - 1 / (prefixes.depth + 1)))


def _aliases(table: np.ndarray, weights: np.ndarray, ks: np.ndarray, period: int) -> np.ndarray:
    """What coefficients a whole number of periods away may add to each column."""
    j, columns = np.arange(len(table)), table.shape[1]
    other = np.zeros_like(weights)
    for line, k in zip(other, ks, strict=True):
        away = np.arange(k % period, columns, period)
        line += table[np.ix_(j, away[away != k])].sum(axis=1)
    found: np.ndarray = (weights * other).sum(axis=1)
    return found

"""Tie groups of any size under class counts: when the next training item comes.

Tied neighbours come in random order: give each a uniform time λ. If t items of the group are drawn
and r of them come before λ, the next one comes at λ with density

    f(λ) = t C(t-1, r) λ^r (1-λ)^(t-1-r),                                   r ≤ k,

and every value is a mixture of such densities, with weights that add up to at most one. So a rule
that integrates each of them within ε gives values within ε. Two ways, the cheaper is taken:

- f is a polynomial of degree t - 1: Gauss-Legendre with ⌈t/2⌉ nodes on [0, 1] is exact. No more
  items are drawn than the law has for the classes, however large the group is.
- Of a large group more than k items have come long before λ = 1: beyond the window w, in which
  `reach` items are expected, at most k have come with probability (m/k)^k e^(k-m), m = reach
  (Chernoff; drawing without replacement is more concentrated than drawing independently). In the
  window, Gauss-Legendre with N nodes errs by at most

      64/15 · ρ^(2-2N)/(1-ρ^-2) · s/2 · (s A/2)^r/r! · e^(s B),     s = t w,

  for any ρ > 1, A = 1 + (ρ + 1/ρ)/2, B = ((ρ + 1/ρ)/2 - 1)/2: the bound for functions that are
  analytic within an ellipse (Trefethen, Approximation Theory and Approximation Practice, theorem
  19.3), where |λ| ≤ w A/2 and |1 - λ| ≤ 1 + w B. So the number of nodes depends on k, not on the
  size of the group.

Everything left out this way is below 2⁻⁶⁰ for a sample: less than one rounding.

Samples in the same place with the same class see the same tie groups: each such row is computed
once (`distinct_rows`).
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import gammaln

from allsplits.exact._kernels_ties import row_keys, sort_tied
from allsplits.exact.kernel_types import Quadrature, Rows, TieRules

Floats = NDArray[np.float64]
#: log of what a rule may err by, of what lies beyond the window, and of larger draws than expected.
_LOG_TINY = -64 * np.log(2.0)
_LOG_UNLIKELY = -100 * np.log(2.0)


@lru_cache(maxsize=8)
def tie_rules(k_max: int) -> TieRules:
    """Rules for votes of up to k_max (1 suffices for the first training item)."""
    reach = _reach(k_max)
    spread = -_LOG_UNLIKELY
    # No window needs more: if it is all of [0, 1], fewer than `reach` items are expected.
    largest = reach + np.sqrt(2 * reach * spread) + spread
    sizes = [*range(1, 25)]
    spans = [_span(size, k_max) for size in sizes]
    while spans[-1] < largest:
        sizes.append(sizes[-1] + 4 + sizes[-1] // 16)
        spans.append(_span(sizes[-1], k_max))
    nodes, weights = unit_legendre(sizes)
    return TieRules(
        np.array(sizes),
        np.concatenate([[0], np.cumsum(sizes)[:-1]]),
        np.array(spans),
        nodes,
        weights,
        reach,
        float(spread),
    )


def _reach(k: int) -> float:
    """The mean m at which (m/k)^k e^(k-m), the chance of at most k items, is tiny."""

    def log_chance(mean: float) -> float:
        return float(k * np.log(mean / k) + k - mean - _LOG_TINY)

    return float(brentq(log_chance, k, 4 * k - 4 * _LOG_TINY))


def _span(n_nodes: int, k: int) -> float:
    """The largest s for which a rule of n_nodes nodes is known to be good enough."""
    rho = np.geomspace(1.05, 100, 200)
    half_axes = (rho + 1 / rho) / 2
    A, B = 1 + half_axes, (half_axes - 1) / 2

    def log_error(log_s: float) -> float:
        s = np.exp(log_s)
        r = np.minimum(k, s * A / 2)
        size = np.log(s / 2) + r * np.log(s * A / 2) - gammaln(r + 1) + s * B
        tail = (2 - 2 * n_nodes) * np.log(rho) - np.log1p(-(rho**-2))
        # The largest term over whole r is at most twice the one at r = s A/2.
        return float(np.min(np.log(2 * 64 / 15) + size + tail) - _LOG_TINY)

    if log_error(np.log(1e-6)) > 0:
        return 0.0
    return float(np.exp(brentq(log_error, np.log(1e-6), np.log(1e4))))


def distinct_rows(
    rows: Rows, kinds: NDArray[np.int32], *, least_tied: float = 0.5
) -> tuple[Rows, NDArray[np.intp], Any]:
    """(distinct rows, their numbers, where each row is among them).

    Rows are alike if class, kind and the class counts of all tie groups agree. Looking for them
    pays where many neighbours are tied; where fewer than the share `least_tied` are, all rows are
    taken for distinct. The labels are sorted within each tie group, in place: rows that are alike
    give the same bits.
    """
    n = len(rows.own)
    if least_tied > 0 and not rows.tied.any():
        return rows, np.arange(n), slice(None)
    n_classes = int(max(rows.labels.max(), rows.own.max())) + 1
    sort_tied(rows.labels, rows.tied, n_classes)
    if rows.tied.mean() < least_tied:
        return rows, np.arange(n), slice(None)
    salts = np.random.default_rng(0).integers(1, 2**63, size=(2 + n_classes, 2), dtype=np.uint64)
    keys = np.empty((n, 2), dtype=np.uint64)
    who = kinds.astype(np.int64) * n_classes + rows.own + 1
    row_keys(rows.indptr, rows.labels, rows.tied, who, salts * 2 + 1, keys)
    order = np.argsort(keys[:, 0])
    # Rows that share one key only would stand apart, which costs time and nothing else.
    starts = np.flatnonzero(np.r_[True, (np.diff(keys[order], axis=0) != 0).any(axis=1)])
    first = np.minimum.reduceat(order, starts)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.repeat(np.arange(len(first)), np.diff(starts, append=n))
    if len(first) == n:
        return rows, np.arange(n), slice(None)
    # Distinct rows stay in their order.
    order = np.argsort(first)
    first, place = first[order], np.argsort(order)[place]
    return chosen_rows(rows, first), first, place


def chosen_rows(rows: Rows, chosen: NDArray[np.intp]) -> Rows:
    """Some of the rows."""
    indptr, entries = entries_of_rows(rows.indptr, chosen)
    return Rows(indptr, rows.labels[entries], rows.tied[entries], rows.own[chosen])


def entries_of_rows(
    indptr: NDArray[np.int64], chosen: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(where the chosen rows start among themselves, their entries)."""
    lengths = np.diff(indptr)[chosen]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(indptr.dtype)
    return starts, np.repeat(indptr[chosen] - starts[:-1], lengths) + np.arange(starts[-1])


def legendre_rules(largest: int) -> Quadrature:
    """Gauss-Legendre nodes and weights on [0, 1]; row q holds the rule with q nodes."""
    nodes = np.zeros((largest + 1, max(1, largest)))
    weights = np.zeros_like(nodes)
    filled = np.tri(largest + 1, max(1, largest), -1, dtype=bool)
    nodes[filled], weights[filled] = unit_legendre([*range(1, largest + 1)])
    return Quadrature(nodes, weights)


def unit_legendre(sizes: list[int]) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1] of the rules of these sizes, one after the other.

    With x = 1 - 2λ, Newton's steps for λ itself: 1 - x loses digits near the ends, where the nodes
    are as small as 1/n², and with them the weights 4 λ (1-λ) / (n P_{n-1})². The differences
    D_m = P_m - P_{m-1} = ((m-1) D_{m-1} - 2 (2m-1) λ P_{m-1}) / m lose none.
    """
    n = np.repeat(sizes, sizes)
    number = np.concatenate([np.arange(1, size + 1) for size in sizes] or [n])
    # The upper half mirrors the lower one.
    lower = np.minimum(number, n + 1 - number)
    nodes = np.sin(np.pi * (lower - 0.25) / (2 * n + 1)).astype(np.longdouble) ** 2
    for _ in range(4):
        before, value = _two_polynomials(n, nodes)
        slope = n * (before - (1 - 2 * nodes) * value) / (4 * nodes * (1 - nodes))
        nodes += value / (2 * slope)
    before, _ = _two_polynomials(n, nodes)
    weights = 4 * nodes * (1 - nodes) / (n * before) ** 2
    nodes = np.where(number == lower, nodes, 1 - nodes)
    return nodes.astype(np.float64), weights.astype(np.float64)


def _two_polynomials(n: NDArray[np.int64], nodes: Any) -> tuple[Any, Any]:
    """P_{n-1} and P_n at 1 - 2λ, each for its own n."""
    value, difference = np.ones_like(nodes), np.zeros_like(nodes)
    found = np.ones((2, len(nodes)), dtype=nodes.dtype)
    for m in range(1, int(n.max(initial=0)) + 1):
        difference = ((m - 1) * difference - 2 * (2 * m - 1) * nodes * value) / m
        value = value + difference
        for last in (0, 1):
            at = n == m + 1 - last
            found[last, at] = value[at]
    return found[0], found[1]

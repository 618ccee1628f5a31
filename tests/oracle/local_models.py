"""Local models in exact fractions, refitted from scratch with each neighbour left out.

Normal equations solved by elimination; nothing is recursive and nothing is shared with the library.
"""

from fractions import Fraction
from typing import NamedTuple


class Fit(NamedTuple):
    """Coefficients of one local model (the first is the prediction) and its two errors."""

    coefficients: list[Fraction]
    loo_mse: Fraction


def mean_path(targets) -> list[tuple[Fraction, Fraction | None]]:
    """Means of the first 1, 2, … targets, and the error of each by the mean of the others."""
    values = [Fraction(value) for value in targets]
    path = []
    for k in range(1, len(values) + 1):
        head = values[:k]
        errors = [
            head[j] - sum(head[:j] + head[j + 1 :], Fraction(0)) / (k - 1)
            for j in range(k)
            if k > 1
        ]
        path.append((sum(head) / k, sum(e * e for e in errors) / k if k > 1 else None))
    return path


def fit_local(rows, targets, query, degree, ridge, *, penalize_intercept=False) -> Fit:
    """The model of these neighbours, and its error when each is left out and the rest refitted."""
    Z = [terms(row, query, degree) for row in rows]
    y = [Fraction(value) for value in targets]
    penalty = [Fraction(ridge)] * len(Z[0])
    if not penalize_intercept:
        penalty[0] = Fraction(0)
    errors = []
    for j in range(len(Z)):
        rest = solve_ridge(Z[:j] + Z[j + 1 :], y[:j] + y[j + 1 :], penalty)
        errors.append(y[j] - sum(z * c for z, c in zip(Z[j], rest, strict=True)))
    return Fit(solve_ridge(Z, y, penalty), sum(e * e for e in errors) / len(errors))


def terms(row, query, degree) -> list[Fraction]:
    """1, the centred features, and for degree 2 their squares and products."""
    centred = [Fraction(a) - Fraction(b) for a, b in zip(row, query, strict=True)]
    found = [Fraction(1)]
    if degree > 0:
        found += centred
    if degree > 1:
        found += [
            centred[f] * centred[g] for f in range(len(centred)) for g in range(f, len(centred))
        ]
    return found


def solve_ridge(Z, y, penalty) -> list[Fraction]:
    """Minimise the squared residuals plus Σ penalty · coefficient²."""
    p = len(penalty)
    system = [
        [sum(z[r] * z[c] for z in Z) + (penalty[r] if r == c else 0) for c in range(p)]
        + [sum(z[r] * v for z, v in zip(Z, y, strict=True))]
        for r in range(p)
    ]
    return eliminate(system)


def eliminate(system) -> list[Fraction]:
    """Solve a regular system, given as rows with the right-hand side at the end."""
    p = len(system)
    for r in range(p):
        pivot = next(i for i in range(r, p) if system[i][r] != 0)
        system[r], system[pivot] = system[pivot], system[r]
        for i in range(r + 1, p):
            factor = system[i][r] / system[r][r]
            if factor:
                system[i] = [a - factor * b for a, b in zip(system[i], system[r], strict=True)]
    solution = [Fraction(0)] * p
    for r in reversed(range(p)):
        known = sum(system[r][c] * solution[c] for c in range(r + 1, p))
        solution[r] = (system[r][p] - known) / system[r][r]
    return solution

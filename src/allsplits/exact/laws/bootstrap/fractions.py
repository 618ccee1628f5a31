"""exact=True for draws with replacement: W(u) and the votes as in the kernels, in integers."""

from fractions import Fraction
from math import comb, factorial
from typing import Any

from allsplits.exact.laws.fixed_size.fractions import groups_of
from allsplits.exact.question import Question
from allsplits.orders import NeighborOrder


def exact_right(question: Question, order: NeighborOrder, row: int) -> list[Fraction]:
    """P(right) of a row for each column."""
    most = question.n_samples
    return [_value(question, order, row, min(column.k, most)) for column in question.columns]


def ends_here(n: int, N: int, s: int, g: int, k: int, u: int) -> Fraction:
    """P(u of n draws are among the first s of N, at least k - u in the group of g that follows)."""
    exactly = Fraction(comb(n, u) * s**u * (N - s) ** (n - u), N**n)
    left, rest = n - u, N - s
    fewer = sum(comb(left, x) * g**x * (rest - g) ** (left - x) for x in range(k - u))
    return exactly * (1 - Fraction(fewer, rest**left))


def _value(question: Question, order: NeighborOrder, row: int, k: int) -> Fraction:
    codes = question.codes
    own = int(codes[order.sample_of(row)])
    before: dict[int, int] = {}
    s, total = 0, Fraction(0)
    for members in groups_of(order, row, question.options.average):
        labels = codes[members].tolist()
        tied = {c: labels.count(c) for c in set(labels)}
        g = len(labels)
        for u in range(k):
            weight = ends_here(question.n_samples, question.n_candidates, s, g, k, u)
            if weight and (s or u == 0):
                total += weight * _right(own, before, tied, s, g, u, k - u, question)
        before = {c: before.get(c, 0) + tied.get(c, 0) for c in before.keys() | tied.keys()}
        s += g
    return total


def exact_errors(
    question: Question, targets: list[Fraction], order: NeighborOrder, row: int
) -> list[Fraction]:
    """Minus the expected squared error of a row for each column."""
    most = question.n_samples
    groups = list(groups_of(order, row, question.options.average))
    own = targets[order.sample_of(row)]
    return [
        -_error(question, targets, own, groups, min(column.k, most)) for column in question.columns
    ]


def _error(
    question: Question, targets: list[Fraction], own: Fraction, groups: list[Any], k: int
) -> Fraction:
    s, L, Q, total = 0, Fraction(0), Fraction(0), Fraction(0)
    for members in groups:
        differences = [targets[j] - own for j in members.tolist()]
        g = len(differences)
        L_group = sum(differences, Fraction(0))
        Q_group = sum((r * r for r in differences), Fraction(0))
        m, q = (L / s, Q / s) if s else (Fraction(0), Fraction(0))
        m_group, q_group = L_group / g, Q_group / g
        for u in range(k):
            i = k - u
            squares = u * q + u * (u - 1) * m * m + i * q_group + i * (i - 1) * m_group * m_group
            weight = ends_here(question.n_samples, question.n_candidates, s, g, k, u)
            total += weight * (squares + 2 * u * i * m * m_group)
        s, L, Q = s + g, L + L_group, Q + Q_group
    return total / (k * k)


def _right(
    own: int,
    before: dict[int, int],
    tied: dict[int, int],
    s: int,
    g: int,
    u: int,
    i: int,
    question: Question,
) -> Fraction:
    """P(right | u independent voters from the prefix, i from the group)."""
    share = question.options.share
    if question.vote == "ranked":
        outside = Fraction(s - before.get(own, 0), s) ** u if u else Fraction(1)
        return 1 - outside * Fraction(g - tied.get(own, 0), g) ** i
    classes = sorted(before.keys() | tied.keys())
    total = Fraction(0)
    for votes, ways in vote_vectors(classes, before, tied, u, i).items():
        most = max(votes)
        winners = [c for c, count in zip(classes, votes, strict=True) if count == most]
        if share:
            total += ways * Fraction(int(own in winners), len(winners))
        else:
            total += ways * int(winners[0] == own)
    scale = factorial(u) * factorial(i)
    return total * scale / (Fraction(s) ** u * Fraction(g) ** i if u else Fraction(g) ** i)


def vote_vectors(
    classes: list[int], before: dict[int, int], tied: dict[int, int], u: int, i: int
) -> dict[tuple[int, ...], Fraction]:
    """Σ Π n^b/b! γ^β/β! over (b, β) with the given totals, by votes b + β of each class."""
    states: dict[tuple[tuple[int, ...], int, int], Fraction] = {((), 0, 0): Fraction(1)}
    for c in classes:
        new: dict[tuple[tuple[int, ...], int, int], Fraction] = {}
        for (votes, used, used_tied), ways in states.items():
            for b in range((u - used if before.get(c, 0) else 0) + 1):
                for beta in range((i - used_tied if tied.get(c, 0) else 0) + 1):
                    key = ((*votes, b + beta), used + b, used_tied + beta)
                    factor = Fraction(before.get(c, 0) ** b, factorial(b))
                    factor *= Fraction(tied.get(c, 0) ** beta, factorial(beta))
                    new[key] = new.get(key, Fraction(0)) + ways * factor
        states = new
    result: dict[tuple[int, ...], Fraction] = {}
    for (votes, used, used_tied), ways in states.items():
        if used == u and used_tied == i:
            result[votes] = result.get(votes, Fraction(0)) + ways
    return result

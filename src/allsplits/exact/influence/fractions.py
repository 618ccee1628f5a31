"""exact=True: influences in integers, list by list."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np

from allsplits.exact.effort import announced
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.class_counts import candidate_pools, contrast
from allsplits.exact.influence.sizes import (
    SizeWeights,
    banzhaf_weights,
    law_weights,
    shapley_weights,
)
from allsplits.exact.influence.soft import SoftShapley
from allsplits.exact.laws.class_counts.fractions import (
    exact_class_ranked,
    exact_class_right,
    exact_row,
)
from allsplits.exact.laws.fixed_size.fractions import exact_ranked, exact_right
from allsplits.exact.laws.fixed_size.mean import exact_errors
from allsplits.exact.masses import Column
from allsplits.exact.question import Question
from allsplits.exact.strikes import Strikes, struck_rows
from allsplits.exact.weighted.mean_fractions import exact_weighted_errors
from allsplits.exact.weighted.vote_fractions import (
    draw_counts,
    exact_shares,
    exact_weighted_right,
    groups_of_row,
)
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw
from allsplits.splits._fixed import SizeComponent

#: (order, row, class of the candidate that the row lacks; None: it lacks none) -> its value.
RowValue = Callable[[NeighborOrder, int, int | None], Fraction]


@dataclass(frozen=True, eq=False)
class FractionPart:
    """What the rows of a block add to the values of all samples."""

    asked: Asked
    line: Callable[[NeighborOrder, int], list[Fraction]]

    def __call__(self, order: NeighborOrder, n_threads: int) -> dict[int, Fraction]:
        """{sample: what it does for these rows, as they count}."""
        codes = self.asked.codes
        weights = [sum(w, Fraction(0)) for w in zip(*self.asked.class_weights, strict=True)]
        totals: dict[int, Fraction] = {}
        question = self.asked.question
        n_all = question.n_questions if question.is_first(order) else 0
        for row in announced(order.n_samples, n_all):
            here = slice(order.indptr[row], order.indptr[row + 1])
            weight = weights[codes[order.sample_of(row)]]
            for sample, value in zip(
                order.flat_indices[here].tolist(), self.line(order, row), strict=True
            ):
                totals[sample] = totals.get(sample, Fraction(0)) + weight * value
        return totals


@dataclass(frozen=True, eq=False)
class _Line:
    """What the candidates of a row do for it."""

    asked: Asked
    value: RowValue
    factor: Callable[[int, int], Fraction]
    constant: Callable[[int], Fraction]

    def __call__(self, order: NeighborOrder, row: int) -> list[Fraction]:
        codes, number = self.asked.codes, order.sample_of(row)
        alone = struck_rows(order, np.array([row]), np.array([-1]))
        alike = self.asked.question.vote in ("majority", "ranked")
        kinds = codes[alone.flat_indices] if alike else None
        strikes = Strikes.of(alone, kinds, self.asked.question.options.average)
        whole, own = self.value(alone, 0, None), int(codes[number])
        of_list = []
        for entry in strikes.entries.tolist():
            gone = int(codes[alone.flat_indices[entry]])
            struck = struck_rows(alone, np.array([0]), np.array([entry]))
            change = (whole - self.value(struck, 0, gone)) * self.factor(own, gone)
            of_list.append(change + self.constant(number))
        return [of_list[number] for number in strikes.of_entry.tolist()]


def fraction_part(asked: Asked) -> FractionPart:
    """The part of method, law and vote."""
    return FractionPart(asked, _line(asked))


def _line(asked: Asked) -> Callable[[NeighborOrder, int], list[Fraction]]:
    if asked.method == "soft_shapley":
        return SoftShapley(asked.codes, asked.k, asked.question.options.average).exact_line
    if asked.by_class:
        return _of_class_counts(asked)
    N = asked.n_candidates
    if asked.method == "shapley":
        weights = shapley_weights(N)
    elif asked.method == "banzhaf":
        weights = banzhaf_weights(N)
    else:
        found = law_weights(asked.law, N, asked.k)
        if found is None:
            raise AssertionError("a law that leaves nobody out is refused before")
        weights = found
    return _of_sizes(asked, weights)


def _of_sizes(asked: Asked, weights: SizeWeights) -> _Line:
    N, k = asked.n_candidates, asked.k
    question = replace(asked.question, codes=asked.codes, targets=asked.targets)
    whole = question.with_columns(_columns(weights.whole, N, k))
    less = question.with_columns(_columns(weights.less, N - 1, k))
    lines: dict[str, Callable[[Question, NeighborOrder, int], list[Fraction]]] = {
        "majority": exact_right,
        "ranked": exact_ranked,
        "weighted": exact_weighted_right,
        "mean": partial(_errors, [Fraction(y) for y in asked.targets.tolist()]),
        "weighted mean": exact_weighted_errors,
    }
    line = lines[question.vote]

    def value(order: NeighborOrder, row: int, gone: int | None) -> Fraction:
        values = line(whole if gone is None else less, order, row)
        return sum(values, Fraction(0))

    def constant(number: int) -> Fraction:
        return weights.empty * _score_of_nobody(asked, number)

    return _Line(asked, value, lambda own, gone: Fraction(1), constant)


def _errors(
    targets: list[Fraction], question: Question, order: NeighborOrder, row: int
) -> list[Fraction]:
    return exact_errors(question, targets, order, row)


def _columns(weights: dict[int, Fraction], N: int, k: int) -> list[Column]:
    """A column for each number of voters, its law a sum over sizes."""
    by_voters: dict[int, list[SizeComponent]] = {}
    for size, weight in weights.items():
        by_voters.setdefault(min(k, size), []).append(SizeComponent(size, 1, weight))
    return [Column(voters, SizeLaw(N + 1, tuple(parts))) for voters, parts in by_voters.items()]


def _score_of_nobody(asked: Asked, number: int) -> Fraction:
    """Nobody names no class; without neighbours the mean of all candidates is predicted."""
    if asked.question.n_classes:
        return Fraction(0)
    own = Fraction(float(asked.targets[number]))
    targets = [Fraction(y) for y in asked.targets[: asked.n_samples].tolist()]
    if not asked.outside:
        del targets[number]
    error = own - sum(targets, Fraction(0)) / len(targets)
    return -error * error


def _of_class_counts(asked: Asked) -> _Line:
    found, pools = contrast(asked, Fraction), candidate_pools(asked).tolist()
    options, k = asked.question.options, asked.k
    exact = exact_class_ranked if asked.question.vote == "ranked" else exact_class_right
    components, weighted = asked.law.components, asked.question.vote == "weighted"

    def value(order: NeighborOrder, row: int, gone: int | None) -> Fraction:
        counted = exact_row(order, row, asked.codes, options.average)
        pool = list(pools[counted.own])
        shares = found.whole[:, counted.own]
        if gone is not None:
            pool[gone] -= 1
            shares = found.less[:, counted.own, gone]
        groups = groups_of_row(asked.question, order, row) if weighted else []
        total = Fraction(0)
        for component, share in zip(components, shares, strict=True):
            drawn = [min(pair) for pair in zip(pool, component.train, strict=True)]
            if share and weighted:
                draw = draw_counts(pool, drawn)
                total += share * exact_shares(asked.question, groups, k, draw)[counted.own]
            elif share:
                total += share * exact(counted, pool, drawn, k, options.share)
        return total

    return _Line(
        asked, value, lambda own, gone: 1 / Fraction(found.inside[own, gone]), lambda _: Fraction(0)
    )

"""What each sample counts in the splits of a component."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.class_counts.draws import class_pools, query_kinds
from allsplits.exact.question import Question, class_weights
from allsplits.splits import CountsComponent


def component_weights(question: Question, component: CountsComponent) -> list[Fraction]:
    """What a question of each class counts in a split with these counts."""
    if question.outside:
        return class_weights(question)
    sizes = question.class_sizes.tolist()
    tested = max(sum(component.test), 1)
    present = sum(1 for count in component.test if count)
    return [
        Fraction(int(count > 0), max(present * size, 1))
        if question.balanced
        else Fraction(count, max(size, 1) * tested)
        for count, size in zip(component.test, sizes, strict=True)
    ]


def alike(question: Question, counted: NDArray[np.bool_] | None = None) -> list[Fraction]:
    """What each number counts with an exclusion: queries that can be answered count alike.

    Those that are not `counted` do not.
    """
    can_be_right = class_pools(question)[1][query_kinds(question), question.codes] > 0
    if counted is not None:
        can_be_right &= counted
    each = Fraction(1, max(int(can_be_right[question.asked].sum()), 1))
    return [each if valid else Fraction(0) for valid in can_be_right]


def exact_weights(question: Question, component: CountsComponent) -> list[Fraction]:
    """What each number counts. With an exclusion every query that can be answered counts alike."""
    if question.exclusion is not None:
        return alike(question)
    per_class = component_weights(question, component)
    return [per_class[code] for code in question.codes.tolist()]


def law_weights(question: Question) -> list[list[Fraction]]:
    """What each number counts under each component of the law, times the share of its splits.

    Where galleries hold candidates that are passed over they are the training sets of splits that
    hold the query out, which some components do more often than others.
    """
    components = question.columns[0].law.components
    if not question.passes_over:
        each = [exact_weights(question, component) for component in components]
        return [[c.weight * w for w in line] for c, line in zip(components, each, strict=True)]
    per_class = [[c.weight * w for w in component_weights(question, c)] for c in components]
    totals = [sum(of_class, Fraction(0)) for of_class in zip(*per_class, strict=True)]
    codes = question.codes.tolist()
    weights = alike(question, np.array([total > 0 for total in totals])[question.codes])
    return [
        [w * line[code] / totals[code] if w else w for w, code in zip(weights, codes, strict=True)]
        for line in per_class
    ]


def float_weights(question: Question, component: CountsComponent) -> NDArray[np.float64]:
    """The same as floats, times the share of splits that have these counts."""
    if question.exclusion is None:
        per_class = [float(component.weight * w) for w in component_weights(question, component)]
        return np.array(per_class)[question.codes]
    return np.array([float(component.weight * w) for w in exact_weights(question, component)])

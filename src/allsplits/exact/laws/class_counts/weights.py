"""What each sample counts in the splits of a component."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.class_counts.draws import class_pools
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


def exact_weights(question: Question, component: CountsComponent) -> list[Fraction]:
    """What each number counts. With an exclusion every query that can be answered counts alike."""
    if question.exclusion is None:
        per_class = component_weights(question, component)
        return [per_class[code] for code in question.codes.tolist()]
    _, own_pools = class_pools(question)
    can_be_right = own_pools[question.exclusion.groups, question.codes] > 0
    each = Fraction(1, int(can_be_right[question.asked].sum()))
    return [each if valid else Fraction(0) for valid in can_be_right]


def float_weights(question: Question, component: CountsComponent) -> NDArray[np.float64]:
    """The same as floats, times the share of splits that have these counts."""
    if question.exclusion is None:
        per_class = [float(component.weight * w) for w in component_weights(question, component)]
        return np.array(per_class)[question.codes]
    return np.array([float(component.weight * w) for w in exact_weights(question, component)])

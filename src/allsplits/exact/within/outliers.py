"""Questions without a neighbour within the radius: what is said of them, or why that is refused."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.question import NOT_GIVEN, Question, Within
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.splits import CountsComponent, SizeLaw


def within_of(question: Question) -> Within:
    """The radius, and what is predicted where nobody is within it."""
    if question.within is None:
        raise AssertionError("a radius was asked for")
    return question.within


def outlier_class(question: Question, component: CountsComponent | None) -> int:
    """The class that is predicted there, in a component of class counts or in all training sets."""
    within = within_of(question)
    if not within.most_frequent:
        return within.outlier
    if component is not None:
        return int(np.argmax(component.train))
    sizes, law = question.class_sizes, question.columns[0].law
    top = int(np.argmax(sizes))
    if isinstance(law, SizeLaw):
        # Even if all who are left out of a training set are of the largest class.
        left = sizes[top] - (law.n_samples - law.smallest_training_set)
        if np.all(sizes[:top] < left) and np.all(sizes[top + 1 :] <= left):
            return top
    raise UnsupportedError(
        "outlier_label must be a class, or cv stratified folds or ClassCounts: the most frequent "
        f"class is not the same in all training sets ({law}); got 'most_frequent'"
    )


def check_empty(question: Question, empty: NDArray[Any]) -> float:
    """P(no neighbour) that is left out; raise if it is more than may be, and nothing is said of it.

    `empty` is that of each question. What scikit-learn does there is an error, or NaN.
    """
    within, regression = within_of(question), len(question.targets) > 0
    if within.outlier != NOT_GIVEN or within.most_frequent or within.outlier_target is not None:
        return 0.0
    allowed = 0.0 if question.options.exact else question.options.tol
    alone = int(np.sum(empty > allowed))
    if alone == 0:
        return float(max(empty))
    worst = int(np.argmax(empty))
    name = "outlier_target" if regression else "outlier_label"
    remedy = "a number to predict there" if regression else "a class, or 'most_frequent'"
    does = "predicts NaN" if regression else "raises an error"
    raise InvalidInputError(
        f"{name} must be given ({remedy}), or a larger radius: {alone} of {len(empty)} samples "
        f"have no neighbour within radius={within.radius:g} in some training sets (sample {worst} "
        f"in {float(empty[worst]):.2g} of them), where scikit-learn {does}; got None"
    )

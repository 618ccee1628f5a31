"""What the steps of a Pipeline see: nothing but their own row, other rows, or y as well.

Fixed distances are what the closed forms rest on; steps that are fitted on each training set change
them from split to split. Steps that look at one row at a time change nothing. To fit the others on
all of X first is a small optimism where they see X alone, and a leak where they see y: SelectKBest
on pure noise then scores far above chance. `evaluate` measures it; elsewhere a Pipeline is refused.
"""

import inspect
from collections.abc import Iterator
from typing import Any

from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.utils import get_tags

from allsplits.exceptions import InvalidTypeError

#: A step is shown with its parameters up to this length.
_LONGEST_STEP = 50


#: How errors about a Pipeline begin.
_START = "estimator must be a KNeighborsClassifier or KNeighborsRegressor; got a Pipeline"


_CHOOSES = (
    "cross_val_score(pipeline, X, y) fits it on each training set, with k chosen by exact averages"
)


def read_pipeline(pipeline: Pipeline) -> tuple[Pipeline | None, Any]:
    """(the steps before the last, or None if there are none; the neighbour model at the end)."""
    last = pipeline.steps[-1][1]
    if not isinstance(last, (KNeighborsClassifier, KNeighborsRegressor)):
        raise InvalidTypeError(
            f"{_START} that ends in {type(last).__name__}: its last step must be one of these"
            + (f". {_CHOOSES}" if hasattr(last, "nested_score") else "")
        )
    if last.metric == "precomputed":
        raise InvalidTypeError(
            f"{_START} whose last step has metric='precomputed': distances to training samples "
            "differ from split to split, pass the matrix and the last step alone"
        )
    return (pipeline[:-1] if list(_fitted_steps(pipeline.steps[:-1])) else None), last


def looks_at_rows_alone(steps: Pipeline) -> bool:
    """Whether every step is known to make of a row something of this row alone."""
    return all(_is_stateless(step) for _, step in _leaves(steps.steps))


def _is_stateless(step: Any) -> bool:
    if isinstance(step, PolynomialFeatures):
        return True
    try:
        return not get_tags(step).requires_fit
    except (AttributeError, TypeError, ValueError):
        return False


def refuse_pipeline(pipeline: Pipeline) -> None:
    """Raise an error that names the steps which see y, and shows what works instead."""
    start, last = _START, read_pipeline(pipeline)[1]
    steps = [step for _, step in _fitted_steps(pipeline.steps[:-1])]
    if not steps:
        raise InvalidTypeError(f"{start} without other steps: pass its last step alone")
    supervised = [name for name, step in _leaves(pipeline.steps[:-1]) if _may_see_y(step)]
    fixed = "Its steps are fitted on each training set, so distances differ from split to split"
    if supervised:
        named = ", ".join(supervised)
        what = (
            f"and no closed form exists. {named} may learn from y: to transform X first would show "
            "it the labels of the samples it is tested on, and the score would be far too good"
        )
    else:
        what = (
            "and no closed form exists. To transform X first and pass the last step alone lets the "
            "steps see the held-out X, though not its labels: a value that may be a little too good"
        )
    raise InvalidTypeError(
        f"{start}. {fixed} {what}. evaluate takes it as it is, and refits its steps on a few "
        "splits. Honest, over sampled splits of any cv, by any scoring, with k chosen by exact "
        f"averages within each training set: {_what_works(steps, last)}"
    )


def _what_works(steps: list[Any], last: Any) -> str:
    kind = "Regressor" if isinstance(last, KNeighborsRegressor) else "Classifier"
    parts = [_as_code(step) for step in steps]
    return f"cross_val_score(make_pipeline({', '.join(parts)}, KNeighbors{kind}CV()), X, y)"


def _as_code(step: Any) -> str:
    text = " ".join(repr(step).split())
    readable = len(text) <= _LONGEST_STEP and "<" not in text
    return text if readable else f"{type(step).__name__}(...)"


def _fitted_steps(steps: Any) -> Iterator[tuple[str, Any]]:
    """Names and steps, without the gaps."""
    for name, step, *_ in steps:
        if step is not None and not isinstance(step, str):
            yield name, step


def _leaves(steps: Any) -> Iterator[tuple[str, Any]]:
    """The steps themselves: pipelines, unions and column transformers are looked into."""
    for name, step in _fitted_steps(steps):
        for inner in ("steps", "transformer_list", "transformers"):
            if isinstance(getattr(step, inner, None), (list, tuple)):
                yield from _leaves(getattr(step, inner))
                yield from _leaves([("remainder", getattr(step, "remainder", None))])
                break
        else:
            yield f"its step {name!r} ({type(step).__name__})", step


def _may_see_y(step: Any) -> bool:
    """Whether a step may learn from the labels; those that cannot be judged may."""
    try:
        tags = get_tags(step)
        parameters = inspect.signature(step.fit).parameters
    except (AttributeError, TypeError, ValueError):
        return True
    if tags.target_tags.required or tags.estimator_type in ("classifier", "regressor"):
        return True
    if isinstance(step, SelectorMixin):
        # Their tags say that y is not needed, which is true of a few ways to use them.
        return not isinstance(step, VarianceThreshold)
    needed = "y" in parameters and parameters["y"].default is inspect.Parameter.empty
    foreign = type(step).__module__.split(".")[0] != "sklearn"
    return needed or (foreign and "y" in parameters)

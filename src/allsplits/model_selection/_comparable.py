"""What may be compared: at least two different evaluations, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.model_selection._evaluation import Evaluation
from allsplits.model_selection._pipeline_evaluation import refuse_refitted
from allsplits.model_selection._same_samples import check_pair


def check_comparable(evaluations: Sequence[Any], names: Any) -> tuple[str, ...]:
    """Raise unless these can be compared; returns their names."""
    given = None if names is None else _read_names(names, len(evaluations))
    numbers = [str(i + 1) for i in range(len(evaluations))]
    called = [f"evaluation {i}" for i in numbers] if given is None else [repr(i) for i in given]
    for call, one in zip(called, evaluations, strict=True):
        _check_kind(call, one)
    if len(evaluations) < 2:
        raise InvalidInputError(
            f"compare needs at least 2 evaluations to compare; got {len(evaluations)}"
        )
    seen: dict[int, str] = {}
    for call, one in zip(called, evaluations, strict=True):
        if id(one) in seen:
            raise InvalidInputError(
                f"evaluations must be different ones; got the same object as {seen[id(one)]} and "
                f"{call}"
            )
        seen[id(one)] = call
    for call, one in zip(called[1:], evaluations[1:], strict=True):
        check_pair(called[0], evaluations[0], call, one)
    return tuple(numbers) if given is None else given


def _read_names(names: Any, number: int) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidTypeError(
            f"names must be a list of text, one name for each evaluation; got {shown(names)}"
        )
    found = list(names)
    for name in found:
        if not isinstance(name, str) or not name.strip():
            raise InvalidTypeError(f"names must be text, none of it empty; got {shown(name)}")
    if len(found) != number:
        raise InvalidInputError(
            f"names must have one name for each of the {number} evaluations; got {len(found)}"
        )
    twice = [name for name, times in Counter(found).items() if times > 1]
    if twice:
        raise InvalidInputError(f"names must differ; got {shown(twice[0])} more than once")
    return tuple(found)


def _check_kind(call: str, one: Any) -> None:
    if isinstance(one, Evaluation):
        return
    refuse_refitted(call, one)
    several = isinstance(one, (list, tuple, dict))
    hint = ": pass several as compare(*evaluations, names=...)" if several else ""
    raise InvalidTypeError(
        f"{call} must be an Evaluation, the result of evaluate(); got {type(one).__name__}{hint}"
    )

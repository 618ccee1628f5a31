"""Checks of single parameters: numbers, choices, flags, and the table of what each may be."""

import math
import numbers
import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from allsplits.exceptions import InvalidInputError, InvalidTypeError

#: Errors show this many items of a list, and this many characters of anything.
_MOST_ITEMS, _MOST_CHARACTERS, _MOST_BITS = 6, 160, 256


def shown(value: Any) -> str:
    """How an error shows what was given: in plain Python, long lists cut to their first items."""
    if isinstance(value, np.ndarray) and value.ndim > 1:
        return f"an array of shape {value.shape}"
    if isinstance(value, (list, tuple, np.ndarray)):
        items = [shown(item) for item in islice(value, _MOST_ITEMS)]
        more = [f"… {len(value):,} in all"] if len(value) > _MOST_ITEMS else []
        text = f"[{', '.join(items + more)}]"
    elif isinstance(value, type):
        return f"the class {value.__name__}, not an instance of it"
    elif isinstance(value, (np.datetime64, np.timedelta64)):
        text = str(value)
    elif isinstance(value, int) and value.bit_length() > _MOST_BITS:
        # Python itself refuses to print integers of some thousand digits.
        return f"an integer of {value.bit_length():,} bits"
    else:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[: _MOST_CHARACTERS - 1]}…"


def check_flag(name: str, value: Any) -> None:
    """Raise unless `value` is True or False: a word such as "no" would count as True."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidTypeError(f"{name} must be True or False; got {shown(value)}")


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> None:
    """Raise unless `value` is one of `allowed`."""
    # An array compared with a word is an array.
    single = np.ndim(value) == 0
    if not any(value is option or (single and value == option) for option in allowed):
        raise InvalidInputError(f"{name} must be one of {list(allowed)}; got {shown(value)}")


def check_count(
    name: str, value: Any, *, at_least: int = 0, at_most: int | None = None, why: str = ""
) -> int:
    """Return `value` as an int within bounds."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise InvalidTypeError(f"{name} must be an integer; got {shown(value)}")
    count = int(value)
    if count < at_least or (at_most is not None and count > at_most):
        bounds = f"at least {at_least}" if at_most is None else f"from {at_least} to {at_most}"
        raise InvalidInputError(f"{name} must be {bounds}{why}; got {shown(count)}")
    return count


def check_counts(
    name: str, values: Any, *, at_least: int = 1, at_most: int | None = None, why: str = ""
) -> list[int]:
    """Return a non-empty list of distinct ints within bounds, in the order given."""
    if isinstance(values, numbers.Integral):
        values = [values]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidTypeError(
            f"{name} must be an integer or a list of integers; got {shown(values)}"
        )
    counts = [
        check_count(f"each value of {name}", value, at_least=at_least, at_most=at_most, why=why)
        for value in values
    ]
    if not counts:
        raise InvalidInputError(f"{name} must hold at least one value; got none")
    if len(set(counts)) < len(counts):
        raise InvalidInputError(f"{name} must hold each value once; got {shown(counts)}")
    return counts


def check_radius(name: str, value: Any) -> float:
    """Return a float that is not negative; infinity means everybody."""
    real = isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_))
    if not real or not float(value) >= 0:
        raise InvalidInputError(f"{name} must be a number of at least 0; got {shown(value)}")
    return float(value)


def check_radii(name: str, values: Any) -> list[float]:
    """Return a non-empty list of distinct radii, in the order given."""
    if isinstance(values, numbers.Real):
        values = [values]
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise InvalidTypeError(f"{name} must be a number or a list of numbers; got {shown(values)}")
    radii = [check_radius(f"each value of {name}", value) for value in values]
    if not radii:
        raise InvalidInputError(f"{name} must hold at least one value; got none")
    if len(set(radii)) < len(radii):
        raise InvalidInputError(f"{name} must hold each value once; got {shown(radii)}")
    return radii


def keep_fitting(name: str, counts: list[int], most: int, what: str) -> list[int]:
    """Candidates of at most `most`; says which are left out, and raises if none remains."""
    fitting = [count for count in counts if count <= most]
    if not fitting:
        raise InvalidInputError(
            f"{name} must hold a value of at most {most}, {what}; got {shown(counts)}"
        )
    if len(fitting) < len(counts):
        warnings.warn(
            f"{name} above {most}, {what}, are left out: {len(fitting)} of {len(counts)} "
            "candidates remain",
            UserWarning,
            stacklevel=4,
        )
    return fitting


def check_fraction(name: str, value: Any, *, allow_one: bool = False) -> float:
    """Return a float between 0 and 1, not 0 itself; 1 itself only if allowed."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number between 0 and 1; got {shown(value)}")
    if not 0 < float(value) <= 1 or (value == 1 and not allow_one):
        where = "be above 0 and at most 1" if allow_one else "lie strictly between 0 and 1"
        raise InvalidInputError(f"{name} must {where}; got {shown(value)}")
    return float(value)


def check_not_negative(name: str, value: Any) -> float:
    """Return a finite float of at least 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidTypeError(f"{name} must be a number; got {shown(value)}")
    if not 0 <= float(value) < math.inf:
        raise InvalidInputError(f"{name} must be at least 0 and finite; got {shown(value)}")
    return float(value)


#: What parameters may be whose name means the same wherever it stands.
_CONSTRAINTS: dict[str, Callable[[str, Any], object]] = {
    **dict.fromkeys(
        (
            "normalize_weights", "oracle", "overwrite", "penalize_intercept", "progress",
            "return_utilities", "shuffle",
        ),
        check_flag,
    ),
    **dict.fromkeys(
        (
            "batch_size", "diversity", "initial", "leave_out", "n_start", "repetitions", "rounds",
            "tune_leave_out",
        ),
        partial(check_count, at_least=1),
    ),
    "chooser": partial(
        check_choice,
        allowed=("boosting", "boosting again", "longest step", "longest step once", "lazy"),
    ),
    "complexity": partial(check_choice, allowed=("auto", "exact", "bound")),
    "query": partial(check_choice, allowed=("shares", "greedy", "priors")),
    "reduce": partial(check_choice, allowed=("consistent", "paper", None)),
    "start": partial(check_choice, allowed=("cover", "random")),
    "theta": partial(check_fraction, allow_one=True),
    "utility": partial(check_choice, allowed=("agreement", "entropy", "margin")),
}  # fmt: skip


def check_parameters(**values: Any) -> None:
    """Raise unless each of these parameters is what the table of constraints allows."""
    for name, value in values.items():
        _CONSTRAINTS[name](name, value)

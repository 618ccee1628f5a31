"""What users write on the command line: lists of numbers and ways to split.

The text is read before any data is, so that a slip is answered at once; scikit-learn's objects are
made later, when they are needed.
"""

import re
from dataclasses import dataclass
from typing import Any

from allsplits.exceptions import InvalidInputError

#: Numbers of more digits are no number of rows.
_DIGITS = r"\d{1,15}"
_RANGE = re.compile(rf"({_DIGITS})-({_DIGITS})(?::({_DIGITS}))?")
_MOST_NUMBERS = 100_000


def parse_numbers(option: str, text: str) -> list[int]:
    """Read ``5``, ``1,3,5``, ``1-30`` or ``1-99:2``; each number once, in the order given."""
    numbers: list[int] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match:
            first, last, step = int(match[1]), int(match[2]), int(match[3] or 1)
            if first > last or step < 1 or last - first > _MOST_NUMBERS:
                raise _not_numbers(option, text)
            numbers.extend(range(first, last + 1, step))
        elif re.fullmatch(_DIGITS, part.strip()):
            numbers.append(int(part))
        else:
            raise _not_numbers(option, text)
    if min(numbers) < 1:
        raise _not_numbers(option, text)
    return list(dict.fromkeys(numbers))


def _not_numbers(option: str, text: str) -> InvalidInputError:
    return InvalidInputError(
        f"{option} must be numbers from 1 such as 5, 1,3,5, 1-30 or 1-99:2 (every second); "
        f"got {_shortened(text)!r}"
    )


def parse_sizes(option: str, text: str) -> list[int | float]:
    """Read sizes of training sets: numbers as above, or fractions such as ``0.1,0.5``."""
    if "." not in text:
        return list(parse_numbers(option, text))
    try:
        fractions = [float(part) for part in text.split(",")]
    except ValueError:
        fractions = []
    if not fractions or not all(0 < value < 1 for value in fractions):
        raise InvalidInputError(
            f"{option} must be numbers such as 10,100 or fractions such as 0.1,0.5; got "
            f"{_shortened(text)!r}"
        )
    return list(fractions)


def parse_distances(option: str, text: str) -> list[float]:
    """Read ``0.5`` or ``0.5,1,2``: distances, each once."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(value >= 0 for value in found):
        raise InvalidInputError(
            f"{option} must be distances of at least 0 such as 0.5 or 0.5,1,2; got "
            f"{_shortened(text)!r}"
        )
    return list(dict.fromkeys(found))


#: Classes may hold commas: an entry ends with its number.
_COST = re.compile(r"(.+?)>(.+?)=(-?[0-9.]+(?:e-?[0-9]+)?)(?:,|$)")


def parse_costs(texts: list[str] | None) -> list[tuple[str, str, float]]:
    """Read ``sick>well=10,well>sick=1``: (true, predicted, cost)."""
    found = []
    for text in texts or []:
        entries = _COST.findall(text)
        try:
            found += [(true.strip(), said.strip(), float(cost)) for true, said, cost in entries]
        except ValueError:
            entries = []
        if not entries or _COST.sub("", text).strip():
            raise InvalidInputError(
                "--costs must be TRUE>PREDICTED=COST such as sick>well=10, several with commas; "
                f"got {_shortened(text)!r}"
            )
    return found


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:50]}… ({len(text):,} characters)"


@dataclass(frozen=True)
class Cv:
    """A way to split, as named on the command line."""

    text: str
    kind: str
    value: Any = None

    @property
    def column(self) -> str | None:
        """The column that holds the groups."""
        return str(self.value[0]) if self.kind == "groups" else None

    def build(self) -> Any:
        """The splitter or law."""
        from sklearn import model_selection as sk

        from allsplits.splits import Bootstrap, ClassCounts, Episodes, FixedSize

        makers = {
            "folds": lambda folds: folds,
            "stratified": sk.StratifiedKFold,
            "kfold": sk.KFold,
            "lpo": sk.LeavePOut,
            "loo": lambda _: sk.LeaveOneOut(),
            "holdout": lambda share: sk.ShuffleSplit(test_size=share),
            "stratified-holdout": lambda share: sk.StratifiedShuffleSplit(test_size=share),
            "size": FixedSize,
            "shots": ClassCounts,
            "episodes": lambda pair: Episodes(n_way=pair[0], k_shot=pair[1]),
            "bootstrap": lambda _: Bootstrap(),
            "groups": lambda pair: sk.LeavePGroupsOut(pair[1]),
        }
        return makers[self.kind](self.value)


#: kind -> (how its value is written, what it must look like)
_COUNT = r"[1-9]\d{0,14}"
_FOLDS = r"[2-9]|[1-9]\d{1,14}"
_KINDS = {
    "stratified": ("FOLDS", _FOLDS),
    "kfold": ("FOLDS", _FOLDS),
    "lpo": ("P", _COUNT),
    "loo": ("", ""),
    "holdout": ("SHARE", r"0?\.\d+"),
    "stratified-holdout": ("SHARE", r"0?\.\d+"),
    "size": ("ROWS", _COUNT),
    "shots": ("ROWS", _COUNT),
    "episodes": ("WAYSxSHOTS", rf"{_COUNT}x{_COUNT}"),
    "bootstrap": ("", ""),
    "groups": ("COLUMN", r".+"),
}


def parse_cv(text: str | None) -> Cv | None:
    """Read ``stratified:5``, ``loo``, ``groups:patient``, …; None stays None, the default.

    A number alone is folds as in scikit-learn: stratified for classes, plain for regression.
    """
    if text is None:
        return None
    if re.fullmatch(_FOLDS, text):
        return Cv(text, "folds", int(text))
    kind, colon, value = text.partition(":")
    if kind not in _KINDS or not re.fullmatch(_KINDS[kind][1], value) or (colon and not value):
        ways = ", ".join(f"{k}:{v}" if v else k for k, (v, _) in _KINDS.items())
        raise InvalidInputError(
            f"--cv must be one of {ways}, or a number of folds from 2; got {_shortened(text)!r}"
        )
    return Cv(text, kind, _read_value(kind, value))


def _read_value(kind: str, value: str) -> Any:
    if kind in ("holdout", "stratified-holdout"):
        return float(value)
    if kind == "episodes":
        ways, _, shots = value.partition("x")
        return int(ways), int(shots)
    if kind == "groups":
        column, colon, count = value.rpartition(":")
        return (column, int(count)) if colon and re.fullmatch(_COUNT, count) else (value, 1)
    return int(value) if value else None

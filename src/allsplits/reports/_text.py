"""Words and numbers as the page writes them. Nothing here knows HTML: the template escapes."""

from __future__ import annotations

import math
from typing import Any

from allsplits.model_selection import Evaluation, Interval
from allsplits.model_selection._evaluation import count_in_words

__all__ = [
    "as_number",
    "as_text",
    "count_as_text",
    "percent",
    "score_in_words",
    "sentence",
    "written_out",
]

#: Labels and names are cut after this many characters.
_LONGEST = 200
#: Numbers of splits with more digits than this are not written out.
_MOST_DIGITS = 20_000
#: A share this close to one is one.
_ROUNDING = 1e-9
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def as_text(value: Any) -> str:
    """A label or a name as text that every page can hold."""
    text = str(value).encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(c if c.isprintable() or c == " " else repr(c)[1:-1] for c in text)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def as_number(value: Any) -> float | None:
    """A float for JSON, which has no NaN and no infinity."""
    number = float(value)
    return number if math.isfinite(number) else None


def percent(value: float) -> str:
    """A share with two digits after the point; 100 % only if it is that up to rounding errors."""
    text = f"{100 * value:.2f}"
    if text == "100.00" and value < 1 - _ROUNDING:
        text = "99.99"
    return f"{text}\u00a0%"


def count_as_text(number: int) -> str:
    """A count as one prints it: 10³⁸⁰, 1.54 · 10⁹⁵, 4,950."""
    words = count_in_words(number)
    mantissa, _, power = words.removeprefix("about ").replace("10^", "e").partition("e")
    if not power:
        return words
    ten = "10" + power.translate(_SUPERSCRIPTS)
    return f"{mantissa} · {ten}" if mantissa else f"about {ten}"


def written_out(number: int) -> str | None:
    """All digits in groups of three, or None where there are too many to read."""
    if number.bit_length() > _MOST_DIGITS * math.log2(10):
        return None
    # In pieces: Python refuses to turn very long integers into text at once.
    pieces: list[str] = []
    while number >= 10**999:
        number, low = divmod(number, 10**999)
        pieces.append(f"{low:0999d}")
    digits = "".join([str(number), *reversed(pieces)])
    first = len(digits) % 3 or 3
    groups = [digits[:first], *(digits[i : i + 3] for i in range(first, len(digits), 3))]
    return ",".join(groups)


def score_in_words(scoring: str, value: float) -> str:
    """A score as one writes it: shares in percent, squared errors as numbers."""
    return f"{-value:.6g}" if scoring.startswith("neg_") else percent(value)


def sentence(evaluation: Evaluation, interval: Interval) -> str:
    """The answer in one sentence."""
    scoring, k = evaluation.scoring, evaluation.n_neighbors
    value = score_in_words(scoring, evaluation.score)
    neighbours = "1 nearest neighbour" if k == 1 else f"{k} nearest neighbours"
    if scoring.startswith("neg_"):
        claim = f"With {neighbours} the mean squared error on held-out samples is {value}"
        ends = sorted([-interval.low, -interval.high])
        span = f"{ends[0]:.6g} to {ends[1]:.6g}"
    else:
        rank = scoring.removeprefix("recall@")
        claim = {
            "accuracy": f"With {neighbours}, {value} of held-out samples are given their class",
            "balanced_accuracy": f"With {neighbours}, held-out samples of a class are given it "
            f"{value} of the time, on average over the classes",
        }.get(scoring, f"{value} of held-out samples have their class among the {rank} nearest")
        span = f"{percent(interval.low)} to {percent(interval.high)}"
    splits = count_as_text(evaluation.n_splits)
    return (
        f"{claim}, on average over all splits ({splits}); for other data from the "
        f"same source the {100 * interval.confidence:.4g}\u00a0% interval is {span}."
    )

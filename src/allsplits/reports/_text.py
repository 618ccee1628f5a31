"""Words and numbers as the page writes them. Nothing here knows HTML: the template escapes."""

import math
from typing import Any

from allsplits.model_selection import Evaluation, Interval
from allsplits.model_selection._evaluation import count_in_words

#: Labels and names are cut after this many characters.
_LONGEST = 200
#: Numbers of splits with more digits than this are not written out.
_MOST_DIGITS = 20_000
#: A share this close to one is one, and to nothing is none: rounding, and what was left out.
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


def cell(value: Any) -> str:
    """A value of the data as a table shows it."""
    return f"{value:.6g}" if isinstance(value, float) else as_text(value)


def percent_digits(value: float, digits: int = 2) -> str:
    """A share in percent; all and none only where they are that up to rounding errors."""
    text = f"{100 * min(1.0, max(0.0, value)):.{digits}f}"
    if float(text) == 100 and value < 1 - _ROUNDING:
        return f">{100 - 10.0**-digits:.{digits}f}"
    if float(text) == 0 and value > _ROUNDING:
        return f"<{10.0**-digits:.{digits}f}"
    return text


def percent(value: float) -> str:
    """A share with two digits after the point, and its sign."""
    return f"{percent_digits(value)}\u00a0%"


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


def tick_in_words(scoring: str, value: float, step: float) -> str:
    """A score beside an axis, with as many digits as the steps need."""
    if scoring.startswith("neg_"):
        return f"{abs(value):.6g}"
    digits = max(0, -math.floor(math.log10(100 * step) + 1e-9))
    return f"{100 * value:.{digits}f}\u00a0%"


def name_of_score(scoring: str) -> str:
    """What a score is called in running text."""
    return "mean squared error" if scoring.startswith("neg_") else scoring.replace("_", " ")


def interval_in_words(scoring: str, interval: Interval) -> tuple[list[str] | None, str]:
    """The interval's ends (None where the spread says nothing), and a clause that says it."""
    confidence = f"{100 * interval.confidence:.4g}\u00a0%"
    if interval.high - interval.low > 2 * _ROUNDING * abs(interval.estimate):
        ordered = sorted(interval, reverse=scoring.startswith("neg_"))
        ends = [score_in_words(scoring, end) for end in ordered]
        same = "for other data from the same source"
        if interval.unit == "test samples":
            same = "for other test samples from the same source"
        return ends, f"{same} the {confidence} interval is {' to '.join(ends)}"
    return None, "all sample scores are equal, so that their spread gives no interval"


def sentence(evaluation: Evaluation, interval: Interval) -> str:
    """The answer in one sentence."""
    scoring, k = evaluation.scoring, evaluation.n_neighbors
    value = score_in_words(scoring, evaluation.score)
    neighbours = "1 nearest neighbour" if k == 1 else f"{k} nearest neighbours"
    if evaluation.radius is not None:
        neighbours = f"all neighbours within {evaluation.radius:g}"
    samples = "test samples" if evaluation.law.outside else "held-out samples"
    if scoring.startswith("neg_"):
        claim = f"With {neighbours} the mean squared error on {samples} is {value}"
    else:
        rank = scoring.removeprefix("recall@")
        claim = {
            "accuracy": f"With {neighbours}, {value} of {samples} are given their class",
            "balanced_accuracy": f"With {neighbours}, {samples} of a class are given it "
            f"{value} of the time, on average over the classes",
        }.get(scoring, f"{value} of {samples} have their class among the {rank} nearest")
    splits = count_as_text(evaluation.n_splits)
    clause = interval_in_words(scoring, interval)[1]
    if evaluation.law.outside and evaluation.n_splits == 1:
        return f"{claim}; {clause}."
    sets = "training sets" if evaluation.law.outside else "splits"
    return f"{claim}, on average over all {sets} ({splits}); {clause}."

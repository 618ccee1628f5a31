"""The answer as a picture: scores on one scale, with the noise of sampling as a band."""

from typing import Any

from allsplits.reports._text import tick_in_words

#: Bands narrower than this, in percent of the width, would lie under their mark.
_NARROWEST = 1.5


def strip(summary: dict[str, Any]) -> dict[str, Any]:
    """Rows of the picture, with places in percent of its width: this model, others, the baseline.

    Shares have the scale from none to all; squared errors the one from zero to the largest.
    """
    score, interval, baseline = summary["score"], summary["interval"], summary["baseline"]
    found = [{**score, "name": "this model"}]
    found += [{**other, "value": other["score"]} for other in summary["comparisons"]]
    found += [] if baseline is None else [baseline]
    ends = [interval["low"], interval["high"]] if interval["in_words"] else []
    squared = score["scoring"].startswith("neg_")
    values = [abs(v) for v in (*(row["value"] for row in found), *ends) if v is not None]
    most = (max(values) or 1.0) if squared else 1.0

    def place(value: float | None) -> float:
        return round(100 * min(1.0, (most if value is None else abs(value)) / most), 2)

    band = sorted(place(end) for end in ends)
    visible = bool(band) and band[1] - band[0] >= _NARROWEST
    return {
        "scale": [tick_in_words(score["scoring"], most * i / 4, most / 4) for i in range(5)],
        "band": band if visible else None,
        "rows": [
            {"name": row["name"], "in_words": row["in_words"], "at": place(row["value"])}
            for row in found
        ],
    }


def run_dots(summary: dict[str, Any]) -> dict[str, Any] | None:
    """Where single runs land, as dots with places in percent, and the exact mean as a line.

    The scale goes from the lowest run to the highest. None if there are no runs, or all are equal.
    """
    runs = summary["spread"]["runs"] if summary["spread"] else []
    mean, scoring = summary["score"]["value"], summary["score"]["scoring"]
    low, high = min([mean, *runs]), max([mean, *runs])
    if not runs or high - low <= 1e-9 * max(abs(low), abs(high)):
        return None
    step = (high - low) / 2

    def place(value: float) -> float:
        return float(round(100 * (value - low) / (high - low), 2))

    # Heights follow the golden ratio, which spreads any number of dots evenly.
    heights = [round(8 + 84 * (i * 0.6180339887 % 1), 1) for i in range(len(runs))]
    return {
        "dots": [{"left": place(run), "top": top} for run, top in zip(runs, heights, strict=True)],
        "mean": place(mean),
        "scale": [tick_in_words(scoring, abs(low + step * i), step) for i in range(3)],
        "n_folds": summary["spread"]["n_folds"],
    }

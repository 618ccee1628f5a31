"""The answer as a picture: scores on one scale, with the noise of sampling as a band."""

from __future__ import annotations

from typing import Any

from allsplits.reports._text import tick_in_words

__all__ = ["strip"]


def strip(summary: dict[str, Any]) -> dict[str, Any]:
    """Rows of the picture, with places in percent of its width: this model, others, the baseline.

    Shares have the scale from none to all; squared errors the one from zero to the largest.
    """
    score, interval, baseline = summary["score"], summary["interval"], summary["baseline"]
    shown = interval["in_words"] is not None
    ends = [interval["low"], interval["high"]] if shown else []
    found = [("this model", score["value"], score["in_words"], ends)]
    found += [(c["name"], c["score"], c["in_words"], []) for c in summary["comparisons"]]
    if baseline is not None:
        found.append((baseline["name"], baseline["value"], baseline["in_words"], []))
    squared = score["scoring"].startswith("neg_")
    values = [abs(v) for _, value, _, band in found for v in (value, *band) if v is not None]
    most = (max(values) or 1.0) if squared else 1.0

    def place(value: float | None) -> float:
        return round(100 * min(1.0, (most if value is None else abs(value)) / most), 2)

    return {
        "scale": [tick_in_words(score["scoring"], most * i / 4, most / 4) for i in range(5)],
        "rows": [
            {
                "name": name, "in_words": words, "at": place(value),
                "band": sorted(place(end) for end in band),
            }
            for name, value, words, band in found
        ],
    }  # fmt: skip

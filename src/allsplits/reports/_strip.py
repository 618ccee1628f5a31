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

"""From the summary to one HTML file that needs nothing else: no network, no other file.

Whatever comes from users is text to the template, which escapes it. The page's policy allows no
request and no script but its own, known by its hash.
"""

import base64
import hashlib
from importlib.resources import files
from typing import Any

from allsplits._optional import import_optional
from allsplits.plots._style import BLUE, ORANGE, SKY, VERMILION, shortened
from allsplits.reports._chart import chart
from allsplits.reports._strip import run_dots, strip
from allsplits.reports._text import percent, percent_digits

#: Larger confusion matrices are listed by their largest entries only.
_LARGEST_MATRIX = 30
#: Larger ones are written in whole percents.
_LARGEST_ROOMY = 12
#: Labels longer than this stand upright above the matrix.
_LONGEST_FLAT = 6
#: Longer labels are cut, in the matrix of whole percents sooner; tips have them complete.
_LONGEST_LABEL, _LONGEST_DENSE = 22, 16
#: More classes than this are listed with a box to search them.
_LONGEST_LIST = 30


def render(summary: dict[str, Any]) -> str:
    """The page for a summary."""
    jinja2 = import_optional("jinja2", extra="report", purpose="html()")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["percent"] = percent
    environment.filters["digits"] = percent_digits
    environment.filters["shortened"] = shortened
    script, style = _resource("page.js"), _colors() + _resource("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    many = len(summary["classes"]) > _LONGEST_LIST
    charts = [chart(curve) for curve in summary["curves"]]
    page: str = environment.from_string(_resource("page.html.jinja")).render(
        s=summary,
        strip=strip(summary),
        runs=run_dots(summary),
        charts=charts,
        points=[{"points": c["points"], "best": c["best_index"]} for c in charts],
        matrix=_matrix(summary["confusion"]),
        search=many,
        listed=sorted(summary["classes"], key=_hardness) if many else summary["classes"],
        script=jinja2.utils.markupsafe.Markup(script),
        style=jinja2.utils.markupsafe.Markup(style),
        script_hash=f"sha256-{digest}",
    )
    return page


def _matrix(confusion: dict[str, Any] | None) -> dict[str, Any] | None:
    """How the confusion matrix is written, or None where there is none or it is too large."""
    if confusion is None or len(confusion["labels"]) > _LARGEST_MATRIX:
        return None
    dense = len(confusion["labels"]) > _LARGEST_ROOMY
    longest = max(map(len, confusion["labels"]))
    return {
        "digits": 0 if dense else 2,
        "longest": _LONGEST_DENSE if dense else _LONGEST_LABEL,
        "look": ("dense " if dense else "")
        + ("upright" if longest > (2 if dense else _LONGEST_FLAT) else ""),
    }


def _hardness(described: dict[str, Any]) -> float:
    """Classes that are seldom right first, those never held out last."""
    score: float | None = described["score"]
    return 2.0 if score is None else score


def _colors() -> str:
    """The palette of the pictures as variables of the page: on white, and on black."""
    return (
        f":root {{ --accent: {BLUE}; --mark: {VERMILION}; --heat: {_channels(BLUE)}; }}\n"
        "@media (prefers-color-scheme: dark) {\n"
        f"  :root {{ --accent: {SKY}; --mark: {ORANGE}; --heat: {_channels(SKY)}; }}\n"
        "}\n"
    )


def _channels(color: str) -> str:
    return ", ".join(str(int(color[i : i + 2], 16)) for i in (1, 3, 5))


def _resource(name: str) -> str:
    return (files("allsplits.reports") / name).read_text(encoding="utf-8")

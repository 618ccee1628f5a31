"""From the summary to one HTML file that needs nothing else: no network, no other file.

Whatever comes from users is text to the template, which escapes it. The page's policy allows no
request and no script but its own, known by its hash.
"""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import Any

from allsplits._optional import import_optional
from allsplits.reports._chart import chart
from allsplits.reports._text import percent

__all__ = ["render"]

#: Larger confusion matrices are listed by their largest entries only.
_LARGEST_MATRIX = 30


def render(summary: dict[str, Any]) -> str:
    """The page for a summary."""
    jinja2 = import_optional("jinja2", extra="report", purpose="html()")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["percent"] = percent
    script, style = _resource("page.js"), _resource("page.css")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    charts = [chart(curve) for curve in summary["curves"]]
    confusion = summary["confusion"]
    page: str = environment.from_string(_resource("page.html.jinja")).render(
        s=summary,
        charts=charts,
        points=[{"points": c["points"], "best": c["best_index"]} for c in charts],
        matrix=confusion is not None and len(confusion["labels"]) <= _LARGEST_MATRIX,
        script=jinja2.utils.markupsafe.Markup(script),
        style=jinja2.utils.markupsafe.Markup(style),
        script_hash=f"sha256-{digest}",
    )
    return page


def _resource(name: str) -> str:
    return (files("allsplits.reports") / name).read_text(encoding="utf-8")

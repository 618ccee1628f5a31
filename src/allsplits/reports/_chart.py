"""Where the lines, ticks and points of a curve go on the page: geometry only, in SVG units."""

import math
from typing import Any

import numpy as np

from allsplits.reports._text import score_in_words, tick_in_words

_WIDTH, _HEIGHT = 680, 360
#: Room for text of twice the usual size: small screens show the picture at half its size.
_LEFT, _RIGHT, _TOP, _BOTTOM = 112, 24, 22, 76
#: More points than this are thinned out, evenly along the axis.
_MOST_POINTS = 600
#: Rows of the table under a curve.
_MOST_ROWS = 60


def chart(curve: dict[str, Any]) -> dict[str, Any]:
    """Geometry of one curve of the summary."""
    x, y = np.array(curve["x"], dtype=float), np.array(curve["scores"], dtype=float)
    best = int(np.flatnonzero(x == curve["best"])[0])
    to_x = _scale(_spread(x, curve["log"]), _LEFT, _WIDTH - _RIGHT)
    y_ticks = _ticks(float(y.min()), float(y.max()))
    bottom, top = min(y_ticks[0], float(y.min())), max(y_ticks[-1], float(y.max()))
    to_y = _scale(np.array([bottom, top]), _HEIGHT - _BOTTOM, _TOP)
    px = to_x(_spread(x, curve["log"]))
    py = to_y(y)
    kept = _thin(px, best, _MOST_POINTS)
    scoring, words = curve["scoring"], curve["words"]
    points = [
        [round(float(px[i]), 1), round(float(py[i]), 1),
         f"{words} = {curve['x'][i]}: {score_in_words(scoring, float(y[i]))}"]
        for i in kept
    ]  # fmt: skip
    return {
        "width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "right": _WIDTH - _RIGHT,
        "top": _TOP, "bottom": _HEIGHT - _BOTTOM,
        "line": " ".join(f"{a},{b}" for a, b, _ in points),
        "dots": points if len(points) <= 60 else [],
        "points": points,
        "best": [round(float(px[best]), 1), round(float(py[best]), 1)],
        "best_index": kept.index(best),
        "x_ticks": [
            (round(float(to_x(_spread(np.array([t]), curve["log"]))[0]), 1), _x_text(t))
            for t in _x_ticks(x, curve["log"])
        ],
        "y_ticks": [
            (round(float(to_y(np.array([t]))[0]), 1), text)
            for t, text in zip(y_ticks, _y_texts(scoring, y_ticks), strict=True)
        ],
        "table": [
            (curve["x"][i], score_in_words(scoring, float(y[i])), f"{y[i]:.12g}")
            for i in _thin(px, best, _MOST_ROWS)
        ],
    }  # fmt: skip


def _spread(values: Any, log: bool) -> Any:
    return np.log10(values) if log else values


def _scale(values: Any, start: float, stop: float) -> Any:
    """The straight line that takes the least value to `start` and the largest to `stop`."""
    low, high = float(values.min()), float(values.max())
    if high == low:
        return lambda v: np.full(len(v), (start + stop) / 2)
    return lambda v: start + (v - low) / (high - low) * (stop - start)


def _ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round values that cover low to high."""
    if high - low < 1e-12 * max(1.0, abs(high)):
        return [low]
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def _y_texts(scoring: str, ticks: list[float]) -> list[str]:
    if len(ticks) == 1:
        return [score_in_words(scoring, ticks[0])]
    return [tick_in_words(scoring, tick, ticks[1] - ticks[0]) for tick in ticks]


def _x_ticks(x: Any, log: bool) -> list[float]:
    low, high = float(x.min()), float(x.max())
    if log:
        powers = [10.0**p for p in range(math.ceil(math.log10(low)), int(math.log10(high)) + 1)]
        return powers or [low, high]
    counted = bool(np.all(x == np.floor(x)))
    inside = [t for t in _ticks(low, high, 8) if low <= t <= high and (t % 1 == 0 or not counted)]
    if not inside:
        return [low, high]
    return inside if inside[0] - low < 0.06 * (high - low) else [low, *inside]


def _x_text(tick: float) -> str:
    return f"{tick:,.0f}" if tick % 1 == 0 else f"{tick:g}"


def _thin(px: Any, best: int, most: int) -> list[int]:
    """At most about `most` points, evenly along the axis and in its order, the best among them."""
    order = np.argsort(px, kind="stable")
    if len(px) <= most:
        return [int(i) for i in order]
    places = np.linspace(px[order[0]], px[order[-1]], most)
    nearest = order[np.clip(np.searchsorted(px[order], places), 0, len(px) - 1)]
    return sorted({*nearest.tolist(), best}, key=lambda i: float(px[i]))

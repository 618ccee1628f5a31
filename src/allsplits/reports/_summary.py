"""Everything the page says, as one plain dict of text, numbers and lists."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from allsplits.model_selection import Curve, Evaluation, Interval, compare
from allsplits.reports._rows import Rows, hardest, suspects
from allsplits.reports._text import (
    as_number,
    as_text,
    count_as_text,
    score_in_words,
    sentence,
    written_out,
)

__all__ = ["summarize"]

NOISE = (
    "Exactness removes the noise of splitting: another seed, more repeats or other folds cannot "
    "change these numbers. It does not remove the noise of sampling: another data set from the "
    "same source would give others."
)
_INTERVAL = (
    "The interval is the central-limit interval of Bayle et al. (2020) from the sample scores, for "
    "the sampling noise of this data set. It is too narrow for few neighbours: a 95 % interval "
    "covered 84 to 92 % for k up to 5 in simulations. It knows nothing of choices made by the same "
    "scores, and has no width where all sample scores are equal."
)
_PACKAGES = ("allsplits", "numpy", "scipy", "scikit-learn", "numba")


def summarize(
    evaluation: Evaluation,
    *,
    rows: Rows | None,
    curves: Sequence[Curve],
    against: Mapping[str, Evaluation],
    confidence: float,
    n_samples_shown: int,
    title: str,
    notes: Sequence[str],
    timings: Mapping[str, float],
) -> dict[str, Any]:
    """The summary of one evaluation; JSON can hold it."""
    interval = evaluation.interval(confidence)
    return {
        "title": as_text(title),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "answer": sentence(evaluation, interval),
        "score": _score(evaluation),
        "interval": _interval(evaluation.scoring, interval),
        "law": {
            "text": str(evaluation.law),
            "n_splits": count_as_text(evaluation.n_splits),
            "n_splits_written_out": written_out(evaluation.n_splits),
        },
        "data": _data(evaluation, rows),
        "classes": _classes(evaluation),
        "confusion": _confusion(evaluation),
        "curves": [_curve(curve) for curve in curves],
        "comparisons": [
            _comparison(name, evaluation, other, confidence) for name, other in against.items()
        ],
        "hardest": hardest(evaluation, rows, n_samples_shown),
        "suspects": suspects(evaluation, rows, n_samples_shown),
        "notes": [NOISE, _INTERVAL, *(as_text(note) for note in notes)],
        "timings": {name: float(seconds) for name, seconds in timings.items()},
        "versions": {
            "Python": platform.python_version(),
            **{name: version(name) for name in _PACKAGES},
        },
    }


def _score(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "value": float(evaluation.score),
        "scoring": evaluation.scoring,
        "in_words": score_in_words(evaluation.scoring, evaluation.score),
        "error_bound": float(evaluation.error_bound),
        "fraction": None if evaluation.fraction is None else _fraction(evaluation.fraction),
        "n_neighbors": None if evaluation.scoring.startswith("recall@") else evaluation.n_neighbors,
    }


def _fraction(fraction: Any) -> str | None:
    top, bottom = written_out(abs(fraction.numerator)), written_out(fraction.denominator)
    if top is None or bottom is None:
        return None
    return f"{'-' if fraction < 0 else ''}{top} / {bottom}"


def _interval(scoring: str, interval: Interval) -> dict[str, Any]:
    ends = sorted(interval, reverse=scoring.startswith("neg_"))
    return {
        "low": as_number(interval.low),
        "high": as_number(interval.high),
        "in_words": [score_in_words(scoring, end) for end in ends],
        "confidence": interval.confidence,
        "standard_error": interval.standard_error,
        "n_units": interval.n_units,
        "unit": interval.unit,
    }


def _data(evaluation: Evaluation, rows: Rows | None) -> dict[str, Any]:
    return {
        "n_samples": len(evaluation.y),
        "n_features": rows.n_features if rows else None,
        "features": rows.shown if rows else [],
        "n_never_held_out": int(np.sum(np.isnan(evaluation.sample_scores))),
    }


def _classes(evaluation: Evaluation) -> list[dict[str, Any]]:
    """How often the samples of each class are right."""
    if evaluation.classes is None:
        return []
    described = []
    for name in evaluation.classes:
        mine = evaluation.y == name
        scores = evaluation.sample_scores[mine]
        held = scores[np.isfinite(scores)]
        described.append(
            {
                "label": as_text(name),
                "n": int(mine.sum()),
                "score": float(held.mean()) if len(held) else None,
            }
        )
    return described


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    """Each row as shares of its class, and the pairs that are confused most."""
    matrix = evaluation.confusion
    if matrix is None or evaluation.classes is None:
        return None
    totals = matrix.sum(axis=1, keepdims=True)
    shares = matrix / np.where(totals > 0, totals, 1.0)
    labels = [as_text(name) for name in evaluation.classes]
    off = matrix - np.diag(np.diag(matrix))
    order = np.argsort(-off, axis=None, kind="stable")[:10]
    pairs = [tuple(int(i) for i in np.unravel_index(flat, off.shape)) for flat in order]
    return {
        "labels": labels,
        "shares": shares.tolist(),
        "pairs": [
            {
                "label": labels[r], "given": labels[c], "share": float(shares[r, c]),
                "of_all": float(off[r, c]),
            }
            for r, c in pairs
            if off[r, c] > 1e-12
        ],
    }  # fmt: skip


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "parameter": curve.parameter,
        "scoring": curve.scoring,
        "x": curve.x.tolist(),
        "scores": curve.scores.tolist(),
        "best": curve.best,
        "best_score": curve.best_score,
        "best_in_words": score_in_words(curve.scoring, curve.best_score),
        "error_bound": float(curve.error_bound),
        "log": curve.log_scale,
    }


def _comparison(
    name: str, evaluation: Evaluation, other: Evaluation, confidence: float
) -> dict[str, Any]:
    found = compare(evaluation, other, confidence=confidence)
    return {
        "name": as_text(name),
        "score": float(other.score),
        "in_words": score_in_words(other.scoring, other.score),
        "difference": found.difference,
        "low": found.interval.low,
        "high": found.interval.high,
        "decided": found.decided,
        "n_better": found.n_better,
        "n_worse": found.n_worse,
    }

"""Everything the page says, as one plain dict of text, numbers and lists."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits import __version__
from allsplits._ranking import rounding_of, smallest_first
from allsplits.model_selection import Curve, Evaluation, Interval, compare
from allsplits.model_selection._spreads import runs_in_passing, spread_in_passing
from allsplits.plots._style import parameter_in_words
from allsplits.reports._rows import Rows
from allsplits.reports._run import Run
from allsplits.reports._samples import samples_worth_a_look
from allsplits.reports._text import (
    as_number,
    as_text,
    count_as_text,
    interval_in_words,
    name_of_score,
    score_in_words,
    sentence,
    written_out,
)
from allsplits.splits import EpisodeLaw

NOISE = (
    "Exactness removes the noise of splitting: another seed, more repeats or other folds cannot "
    "change these numbers. It does not remove the noise of sampling: another data set from the "
    "same source would give others."
)
_INTERVAL = (
    "The interval is for the sampling noise of this data set: each sample was taken out of the "
    "data in turn, as a question and as a neighbour. It knows nothing of choices made by the same "
    "scores."
)
_FROM_SCORES = (
    "The interval is for the sampling noise of this data set, from the sample scores alone: with "
    "this law and vote samples cannot be taken out of the data. It is too narrow for few "
    "neighbours, and knows nothing of choices made by the same scores."
)
_FROM_TESTS = (
    "The interval is for the sampling noise of the test samples: what others from the same source "
    "might have given, the references being these. It knows nothing of other references, nor of "
    "choices made by the same scores."
)
_APPROXIMATE = (
    "Neighbours come from an approximate index and may be missing: the bounds know nothing of that."
)
#: Drawn runs that are shown as dots.
_DOTS = 200
_PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def summarize(
    done: Run,
    *,
    rows: Rows | None,
    title: str,
    notes: Sequence[str],
    against: Mapping[str, Evaluation] | None = None,
    confidence: float = 0.95,
    n_samples_shown: int = 12,
) -> dict[str, Any]:
    """The summary of what was computed; JSON can hold it."""
    evaluation = done.evaluation
    interval = evaluation.interval(confidence)
    how = _FROM_SCORES if interval.method == "sample scores" else _INTERVAL
    how = _FROM_TESTS if evaluation.law.outside else how
    fixed = [NOISE, how, *([_APPROXIMATE] if evaluation.search.approximate else [])]
    return {
        "title": as_text(title),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "answer": sentence(evaluation, interval),
        "score": _score(evaluation),
        "model": done.model,
        "baseline": _baseline(evaluation),
        "interval": _interval(evaluation.scoring, interval),
        "spread": _spread(evaluation),
        "law": {
            "text": str(evaluation.law),
            "n_splits": count_as_text(evaluation.n_splits),
            "n_splits_written_out": written_out(evaluation.n_splits),
        },
        "data": _data(evaluation, rows),
        "classes": _classes(evaluation),
        "confusion": _confusion(evaluation),
        "curves": [_curve(curve) for curve in done.curves],
        "comparisons": [
            _comparison(name, evaluation, other, confidence)
            for name, other in (against or {}).items()
        ],
        **samples_worth_a_look(evaluation, done.judged, done.valued, rows, n_samples_shown),
        "notes": [*fixed, *(as_text(note) for note in [*done.notes, *notes])],
        "timings": {name: float(seconds) for name, seconds in done.timings.items()},
        "versions": {
            "Python": platform.python_version(),
            "allsplits": __version__,
            **{name: version(name) for name in _PACKAGES},
        },
    }


def _score(evaluation: Evaluation) -> dict[str, Any]:
    counted = evaluation.radius is None and not evaluation.scoring.startswith("recall@")
    return {
        "value": float(evaluation.score),
        "scoring": evaluation.scoring,
        "name": name_of_score(evaluation.scoring),
        "in_words": score_in_words(evaluation.scoring, evaluation.score),
        "error_bound": float(evaluation.error_bound),
        "fraction": None if evaluation.fraction is None else _fraction(evaluation.fraction),
        "n_neighbors": evaluation.n_neighbors if counted else None,
        "radius": evaluation.radius,
    }


def _fraction(fraction: Any) -> str | None:
    top, bottom = written_out(abs(fraction.numerator)), written_out(fraction.denominator)
    if top is None or bottom is None:
        return None
    return f"{'-' if fraction < 0 else ''}{top} / {bottom}"


def _interval(scoring: str, interval: Interval) -> dict[str, Any]:
    ends, clause = interval_in_words(scoring, interval)
    return {
        "low": as_number(interval.low),
        "high": as_number(interval.high),
        "in_words": ends,
        "reason": clause if ends is None else None,
        "confidence": interval.confidence,
        "standard_error": interval.standard_error,
        "n_units": interval.n_units,
        "unit": interval.unit,
        "method": interval.method,
    }


def _spread(evaluation: Evaluation) -> dict[str, Any] | None:
    """How much single runs differ; None where that would take long."""
    spread = None if evaluation.task is None else spread_in_passing(evaluation.task)
    if evaluation.task is None or spread is None:
        return None
    runs = runs_in_passing(evaluation.task, _DOTS)
    return {
        "runs": [] if runs is None else [round(float(score), 9) for score in runs],
        "std": spread.std,
        "n_folds": spread.n_folds,
        "sampled": spread.sampled,
        "n_runs": spread.n_runs,
        "standard_error": spread.standard_error,
        "in_words": spread.in_words(evaluation.scoring, evaluation.law.kind),
    }


def _baseline(evaluation: Evaluation) -> dict[str, Any] | None:
    """What one would score without looking at a sample: always the same answer."""
    weight = evaluation.sample_weight
    if evaluation.classes is None:
        mean = float(np.sum(weight * evaluation.y))
        value = -float(np.sum(weight * (evaluation.y - mean) ** 2))
        name = "always the mean of the targets"
    elif evaluation.scoring.startswith("recall@"):
        return None
    elif isinstance(evaluation.law, EpisodeLaw):
        value, name = 1 / evaluation.law.n_way, "guessing one of the classes"
    else:
        shares = np.bincount(np.searchsorted(evaluation.classes, evaluation.y), weights=weight)
        value = float(shares.max())
        largest = evaluation.classes[shares > value - 1e-12]
        name = f"always {as_text(largest[0])}, the most frequent class"
        if len(largest) > 1:
            name = "always the same class"
    return {"name": name, "value": value, "in_words": score_in_words(evaluation.scoring, value)}


def _data(evaluation: Evaluation, rows: Rows | None) -> dict[str, Any]:
    return {
        "n_samples": len(evaluation.y),
        "n_references": evaluation.law.n_samples if evaluation.law.outside else None,
        "n_features": rows.n_features if rows else None,
        "features": rows.shown if rows else [],
        "n_never_held_out": int(np.sum(np.isnan(evaluation.sample_scores))),
    }


def _classes(evaluation: Evaluation) -> list[dict[str, Any]]:
    """How often the samples of each class are right, and how far its name can be trusted."""
    if evaluation.classes is None:
        return []
    n_classes = len(evaluation.classes)
    codes = np.searchsorted(evaluation.classes, evaluation.y)
    held = np.isfinite(evaluation.sample_scores)
    sizes = np.bincount(codes, minlength=n_classes)
    n_held = np.bincount(codes[held], minlength=n_classes)
    right = np.bincount(codes[held], weights=evaluation.sample_scores[held], minlength=n_classes)
    precision = _precision(evaluation)
    return [
        {
            "label": as_text(name),
            "n": int(sizes[i]),
            "score": float(right[i] / n_held[i]) if n_held[i] else None,
            "precision": None if precision is None else as_number(precision[i]),
        }
        for i, name in enumerate(evaluation.classes)
    ]


def _precision(evaluation: Evaluation) -> NDArray[np.float64] | None:
    """Of all times a class is given, over all splits, the share where it is right."""
    matrix = evaluation.confusion
    if matrix is None:
        return None
    given = matrix.sum(axis=0)
    precision = np.full(len(given), np.nan)
    np.divide(np.diag(matrix), given, out=precision, where=given > 1e-12)
    return precision


def _confusion(evaluation: Evaluation) -> dict[str, Any] | None:
    """Each row as shares of its class, and the pairs that are confused most."""
    matrix = evaluation.confusion
    if matrix is None or evaluation.classes is None:
        return None
    totals = matrix.sum(axis=1, keepdims=True)
    shares = matrix / np.where(totals > 0, totals, 1.0)
    labels = [as_text(name) for name in evaluation.classes]
    off = matrix - np.diag(np.diag(matrix))
    rounding = rounding_of(off, evaluation.error_bound * max(1.0, float(totals.max())))
    order = smallest_first(-off.ravel(), rounding)[:10]
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
        "words": parameter_in_words(curve.parameter),
        "scoring": curve.scoring,
        "score_name": name_of_score(curve.scoring),
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

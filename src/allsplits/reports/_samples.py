"""The samples worth looking at: suspected labels, the hardest, who misleads and who teaches."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.model_selection import Evaluation
from allsplits.reports._rows import Rows
from allsplits.reports._text import as_number, as_text, cell
from allsplits.values import SampleValues, Suspects

_NOBODY = np.empty(0, dtype=np.intp)


def samples_worth_a_look(
    evaluation: Evaluation,
    judged: Suspects | None,
    valued: SampleValues | None,
    rows: Rows | None,
    n: int,
) -> dict[str, Any]:
    """At most n of each kind; the hardest are those that are not suspected."""
    suspected = _NOBODY if judged is None else judged.rows
    hard = _hard(evaluation)
    hard = hard[~np.isin(hard, suspected)][:n]
    return {
        "hardest": [_hard_one(evaluation, rows, row) for row in hard.tolist()],
        "suspects": None if judged is None else _suspects(evaluation, judged, rows, n),
        "values": None if valued is None else _valued(evaluation, valued, rows, n),
    }


def _hard(evaluation: Evaluation) -> NDArray[np.intp]:
    """All samples that are not always right, worst first."""
    perfect = 0.0 if evaluation.scoring.startswith("neg_") else 1.0
    ordered = evaluation.hardest(len(evaluation.y))
    return ordered[evaluation.sample_scores[ordered] < perfect - 1e-9]


def _hard_one(evaluation: Evaluation, rows: Rows | None, row: int) -> dict[str, Any]:
    """A sample, and the other class that it is taken for most often."""
    described = _describe(evaluation, rows, row)
    other = best_other(evaluation, row)
    if other is not None:
        described["given"], described["share"] = as_text(other[0]), other[1]
    return described


def _suspects(
    evaluation: Evaluation, judged: Suspects, rows: Rows | None, n: int
) -> dict[str, Any]:
    """The first suspects, each with its nearest neighbours."""
    samples = []
    for row in judged.rows[:n].tolist():
        near = [_neighbor(evaluation, rows, row, other) for other in judged.neighbors(row).tolist()]
        samples.append({
            **_describe(evaluation, rows, row),
            "given": as_text(judged.suggested[row]),
            "share": min(float(judged.probability[row]), 1.0),
            "own_share": min(float(judged.own_probability[row]), 1.0),
            "neighbors": near,
        })  # fmt: skip
    return {"n": len(judged), "n_expected": judged.n_expected, "samples": samples}


def _neighbor(evaluation: Evaluation, rows: Rows | None, row: int, other: int) -> dict[str, Any]:
    return {
        "row": other,
        "name": _name(evaluation, rows, other),
        "label": cell(evaluation.y[other]),
        "same": bool(evaluation.y[other] == evaluation.y[row]),
        "picture": rows.picture(other) if rows else None,
    }


def _valued(
    evaluation: Evaluation, valued: SampleValues, rows: Rows | None, n: int
) -> dict[str, Any]:
    """The most harmful and the most helpful samples; those that do nothing are neither."""
    worst, best = valued.worst(n), valued.best(n)
    return {
        "method": valued.method,
        "harmful": [
            _describe(evaluation, rows, row, float(valued.values[row]))
            for row in worst[valued.values[worst] < -valued.error_bound].tolist()
        ],
        "helpful": [
            _describe(evaluation, rows, row, float(valued.values[row]))
            for row in best[valued.values[best] > valued.error_bound].tolist()
        ],
    }


def _describe(
    evaluation: Evaluation, rows: Rows | None, row: int, value: float | None = None
) -> dict[str, Any]:
    """What is said of every sample."""
    return {
        "row": row,
        "name": _name(evaluation, rows, row),
        "label": cell(evaluation.y[row]),
        "score": as_number(evaluation.sample_scores[row]),
        "given": None,
        "share": None,
        "value": value,
        "neighbors": [],
        "values": rows.values(row) if rows else [],
        "picture": rows.picture(row) if rows else None,
    }


def best_other(evaluation: Evaluation, row: int) -> tuple[Any, float] | None:
    """The class beside its own that a sample is given most often, and how often."""
    if evaluation.prediction_proba is None or evaluation.classes is None:
        return None
    others = evaluation.classes != evaluation.y[row]
    # Within 0 and 1, whatever rounding made of it; never held out counts as never.
    shares = np.clip(np.nan_to_num(evaluation.prediction_proba[row][others]), 0.0, 1.0)
    return evaluation.classes[others][np.argmax(shares)], float(shares.max())


def _name(evaluation: Evaluation, rows: Rows | None, row: int) -> str | None:
    if rows is not None and rows.row_names is not None:
        return rows.row_names[row]
    names = evaluation.row_names
    return None if names is None else as_text(names[row])

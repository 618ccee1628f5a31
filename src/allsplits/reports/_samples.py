"""The samples worth looking at: those whose label looks wrong, and the hardest of the others."""

from typing import Any

import numpy as np

from allsplits.model_selection import Evaluation
from allsplits.model_selection._suspects import SUSPICION, best_other, find_suspects
from allsplits.reports._rows import Rows
from allsplits.reports._text import as_number, as_text, cell


def samples_worth_a_look(
    evaluation: Evaluation, judged: Evaluation, rows: Rows | None, n: int
) -> dict[str, Any]:
    """At most n suspected labels, and at most n of the hardest samples that are not among them."""
    suspected = find_suspects(judged)
    hard = _hard(evaluation)
    hard = hard[~np.isin(hard, suspected)][:n]
    suspects = {
        "threshold": SUSPICION,
        "n": len(suspected),
        "law": str(judged.law),
        "n_neighbors": judged.n_neighbors,
        "samples": [_describe(judged, evaluation, rows, row) for row in suspected[:n].tolist()],
    }
    return {
        "hardest": [_describe(evaluation, evaluation, rows, row) for row in hard.tolist()],
        "suspects": None if judged.prediction_proba is None else suspects,
    }


def _hard(evaluation: Evaluation) -> Any:
    """All samples that are not always right, worst first."""
    perfect = 0.0 if evaluation.scoring.startswith("neg_") else 1.0
    ordered = evaluation.hardest(len(evaluation.y))
    return ordered[evaluation.sample_scores[ordered] < perfect - 1e-9]


def _describe(
    judge: Evaluation, evaluation: Evaluation, rows: Rows | None, row: int
) -> dict[str, Any]:
    """One sample: its score in the evaluation, and the other class that the judge sees in it."""
    described: dict[str, Any] = {
        "row": row,
        "name": _name(evaluation, rows, row),
        "label": cell(evaluation.y[row]),
        "score": as_number(evaluation.sample_scores[row]),
        "given": None,
        "share": None,
        "values": rows.values(row) if rows else [],
        "picture": rows.picture(row) if rows else None,
    }
    other = best_other(judge, row)
    if other is not None:
        described["given"], described["share"] = as_text(other[0]), other[1]
    return described


def _name(evaluation: Evaluation, rows: Rows | None, row: int) -> str | None:
    if rows is not None and rows.row_names is not None:
        return rows.row_names[row]
    names = evaluation.row_names
    return None if names is None else as_text(names[row])

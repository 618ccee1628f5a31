"""Scores of `evaluate` that `replay` is asked for: recall@R is replayed, others are pointed to.

A replay walks along each row until k training neighbours are met, k the same for all scores. So
recall@R brings its own number of neighbours, or goes together with scores of as many votes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone
from sklearn.metrics import get_scorer_names

from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._measures import CostMatrix, LogLoss
from allsplits.model_selection._scoring import Scoring
from allsplits.replays.scores import Score, reached


def read_ranked(scoring: Any, *, regression: bool) -> Any:
    """What was asked for, with recall@R read."""
    if isinstance(scoring, Mapping):
        return {name: _read_one(one, regression=regression) for name, one in scoring.items()}
    if isinstance(scoring, (list, tuple, set)):
        return [_read_one(one, regression=regression) for one in scoring]
    return _read_one(scoring, regression=regression)


def _read_one(scoring: Any, *, regression: bool) -> Any:
    ours = isinstance(scoring, (LogLoss, CostMatrix))
    if not ours and (not isinstance(scoring, str) or scoring in get_scorer_names()):
        return scoring
    try:
        found = Scoring.parse(scoring, regression=regression)
    except InvalidInputError:
        if not regression and not str(scoring).startswith("recall@"):
            # Not known here either: read_scores says what is.
            return scoring
        raise
    if found.rank is None:
        raise InvalidInputError(
            f"scoring={found.name!r} is not replayed: evaluate(...) has its exact average over all "
            "splits. replay takes scikit-learn's names, scorers, functions of (y_true, y_pred) and "
            "'recall@R'"
        )
    return reached(found.name, found.rank)


def with_as_many(estimator: Any, scoring: Any) -> Any:
    """The estimator with the number of neighbours that the scores look at."""
    if isinstance(scoring, Mapping):
        scores = list(scoring.values())
    else:
        scores = scoring if isinstance(scoring, list) else [scoring]
    ranks = {score.rank if isinstance(score, Score) else None for score in scores}
    wanted = ranks - {None}
    if not wanted:
        return estimator
    if len(ranks) == 1:
        return clone(estimator).set_params(n_neighbors=wanted.pop(), weights="uniform")
    k, weights = estimator.n_neighbors, estimator.weights
    if wanted != {k} or weights not in ("uniform", None):
        named = ", ".join(f"'recall@{rank}'" for rank in sorted(wanted))  # type: ignore[type-var]
        raise InvalidInputError(
            f"scoring must look at the same neighbours in one replay; got {named} and "
            f"{k} voters with weights={weights!r}: replay them one by one, with the same "
            "random_state for the same splits"
        )
    return estimator

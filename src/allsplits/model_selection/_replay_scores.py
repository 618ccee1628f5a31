"""Scores of `evaluate` that `replay` is asked for: those of votes are called, recall@R is compiled.

A replay walks along each row until k training neighbours are met, k the same for all scores. So
recall@R brings its own number of neighbours, or goes together with scores of as many votes. Other
scores of retrieval look at whole galleries, and are not replayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import get_scorer_names

from allsplits.exact import laws_of
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._measures import CostMatrix, LogLoss, TopK
from allsplits.model_selection._scoring import Scoring
from allsplits.model_selection._task import Task
from allsplits.replays.scores import Score, reached
from allsplits.replays.vote_scores import brier, cost, recall_of, smoothed_log_loss, top
from allsplits.splits import EpisodeLaw


def read_ranked(scoring: Any, *, regression: bool) -> Any:
    """What was asked for, with recall@R read."""
    if isinstance(scoring, Mapping):
        return {name: _read_one(one, regression=regression) for name, one in scoring.items()}
    if isinstance(scoring, (list, tuple, set)):
        return [_read_one(one, regression=regression) for one in scoring]
    return _read_one(scoring, regression=regression)


def _read_one(scoring: Any, *, regression: bool) -> Any:
    """A Score of ranks, a Scoring of votes, or what scikit-learn knows, as it is."""
    ours = isinstance(scoring, (LogLoss, CostMatrix)) or scoring == "neg_brier_score"
    if not ours and (not isinstance(scoring, str) or scoring in get_scorer_names()):
        return scoring
    try:
        found = Scoring.parse(scoring, regression=regression)
    except InvalidInputError:
        if not regression and not str(scoring).startswith("recall@"):
            # Not known here either: read_scores says what is.
            return scoring
        raise
    if found.retrieval is not None:
        raise UnsupportedError(
            f"scoring={found.name!r} is not replayed, whatever cv is: of the scores of retrieval "
            f"only 'recall@R' is. Its exact average is known where cv is {laws_of('retrieval')}"
        )
    if found.name == "neg_log_loss":
        return found.name
    return found if found.rank is None else reached(found.name, found.rank)


def read_votes(scoring: Any, task: Task) -> Any:
    """What was asked for, with the scores of votes made for these classes."""
    if isinstance(scoring, Mapping):
        return {name: read_votes(one, task) for name, one in scoring.items()}
    if isinstance(scoring, list):
        return [read_votes(one, task) for one in scoring]
    if not isinstance(scoring, Scoring):
        return scoring
    fitted = scoring.fitted(task.classes)
    return Score(fitted.name, scorer=_scorer(fitted, task), standard=fitted.name, same=fitted)


def _scorer(scoring: Scoring, task: Task) -> Any:
    """What is called with the votes of one split."""
    measure, law = scoring.measure, task.law
    episodes = isinstance(law, EpisodeLaw)
    n_classes = law.n_way if isinstance(law, EpisodeLaw) else len(np.asarray(task.classes))
    if isinstance(measure, LogLoss) and measure.smoothing is not None:
        if task.settings.weights is not None:
            raise UnsupportedError(
                f"scoring={scoring.name!r} needs equal votes, weights='uniform': what is added to "
                "votes has no scale where they weigh what distances say; 'neg_log_loss' adds none"
            )
        return smoothed_log_loss(measure.smoothing, n_classes)
    if isinstance(measure, TopK):
        if measure.k >= n_classes:
            raise InvalidInputError(
                f"scoring={scoring.name!r} needs more than {measure.k} classes in an episode; got "
                f"n_way={n_classes}, so the score is always 1"
            )
        return top(measure.k, share=task.options.share, tested_only=episodes)
    if isinstance(measure, CostMatrix):
        return cost(measure.costs)
    if scoring.code is not None:
        return recall_of(scoring.code)
    return brier(n_classes)


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
    if not hasattr(estimator, "n_neighbors"):
        raise InvalidInputError(
            f"scoring='recall@{min(wanted)}' looks at neighbours, of which a "  # type: ignore[type-var]
            f"{type(estimator).__name__} has none: pass a KNeighborsClassifier"
        )
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

"""What `replay` asks of a NearestCentroid: points, priors that change nothing, scores of labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError, UnsupportedError
from allsplits.model_selection._asking import is_one_shot
from allsplits.model_selection._measures import CostMatrix
from allsplits.model_selection._task import Task
from allsplits.replays.scores import Score
from allsplits.splits import CountsLaw, EpisodeLaw, Law

#: Compiled sums that come from shares of votes, which a nearest mean has not.
_OF_SHARES = ("areas", "losses", "reached")
#: How scikit-learn's scorers ask for shares.
_METHODS = ("predict_proba", "decision_function")


def as_nearest_sample(task: Task) -> Task:
    """The task of KNeighborsClassifier(1): its runs are the same, of one shot its answers, too."""
    return replace(task, settings=replace(task.settings, class_means=False))


def has_exact_mean(task: Task) -> bool:
    """Whether means are samples, and ties among them drawn, as an exact average counts them."""
    return is_one_shot(task.law) and task.options.average


def check_class_means(estimator: Any, task: Task, law: Law | None, scores: list[Score]) -> None:
    """Raise if these samples, priors or scores have no replay; `law` is None for given splits."""
    if task.points is None:
        raise InvalidTypeError(
            "X must be a dense array of samples for a NearestCentroid, whose means are made of "
            f"them; got {type(task.neighbors.X).__name__}"
        )
    if task.options.label_ties != "first":
        raise UnsupportedError(
            "label_ties must be 'first' for a NearestCentroid, which counts no votes: equally "
            f"distant means are distance_ties; got {task.options.label_ties!r}"
        )
    if estimator.priors != "uniform" and not _is_balanced(law):
        raise UnsupportedError(
            "priors (of NearestCentroid) must be 'uniform' unless every training set has as many "
            "samples of each class (ClassCounts, Episodes): with others scikit-learn weighs "
            f"classes, and the nearest mean does not win; got {shown(estimator.priors)}"
        )
    for score in scores:
        measure = getattr(score.same, "measure", None)
        of_votes = measure is not None and not isinstance(measure, CostMatrix)
        if of_votes or set(score.needs) & set(_OF_SHARES) or _asks_for_shares(score.scorer):
            raise InvalidInputError(
                f"scoring={score.name!r} needs shares of the classes, and a NearestCentroid is "
                "asked for the class alone: replay takes scores of predictions for it, such as "
                "'accuracy', 'balanced_accuracy', 'f1_macro' or a function of (y_true, y_pred)"
            )


def _asks_for_shares(scorer: Any) -> bool:
    methods = getattr(scorer, "_response_method", ())
    names = (methods,) if isinstance(methods, str) else tuple(methods)
    return bool(names) and all(name in _METHODS for name in names)


def _is_balanced(law: Law | None) -> bool:
    """Whether all training sets have as many samples of each of their classes."""
    if isinstance(law, CountsLaw):
        return all(len(set(component.train) - {0}) == 1 for component in law.components)
    return isinstance(law, EpisodeLaw)

"""What a task asks of the engine: samples, vote and columns as one `Question`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from allsplits.exact import Column, Question, RetrievalScore
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._scoring import Scoring
from allsplits.splits import CountsLaw, EpisodeLaw, Law

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from allsplits.model_selection._task import Task

Vote = Literal["majority", "ranked", "mean", "weighted", "weighted mean"]


def question_of(task: Task, columns: list[Column], *, want_samples: bool) -> Question:
    """The question for these columns (k, law)."""
    for column in columns:
        check_neighbors(column.k, column.law, task.scoring)
        if task.settings.class_means:
            _check_one_shot(column.law)
    if task.scoring.rank is not None:
        columns = [_within_reach(column) for column in columns]
    codes, n_classes, targets = _of_all(task)
    retrieval = _retrieval(task)
    return Question(
        codes=np.empty(0, dtype=np.int32) if codes is None else codes,
        n_classes=n_classes,
        targets=targets if task.settings.regression else np.empty(0),
        vote="retrieval" if retrieval is not None else _vote(task),
        columns=columns,
        balanced=task.scoring.name == "balanced_accuracy",
        want_samples=want_samples,
        options=task.options,
        exclusion=task.exclusion,
        weights=task.settings.weights,
        retrieval=retrieval,
    )


def check_neighbors(k: int, law: Law, scoring: Scoring) -> None:
    """Raise if some training set has fewer than k voters (recall@R looks at what is there)."""
    most = law.smallest_training_set
    if scoring.retrieval is not None:
        if scoring.retrieval.has_cut and k > most:
            raise InvalidInputError(
                f"ranks (the k of {scoring.retrieval.name}) must be at most {most}, the size of "
                f"the smallest gallery ({law}); got {k}"
            )
    elif k > most and scoring.rank is None:
        raise InvalidInputError(
            f"n_neighbors must be at most {most}, the size of the smallest training set ({law}); "
            f"got {k}"
        )


def _retrieval(task: Task) -> RetrievalScore | None:
    """The score of a gallery, which recall@R is where galleries hold items that are passed over."""
    passes_over = task.exclusion is not None and not task.exclusion.from_the_rest
    if passes_over and task.scoring.rank is not None:
        return RetrievalScore("recall@k")
    return task.scoring.retrieval


def _vote(task: Task) -> Vote:
    if task.scoring.rank is not None:
        return "ranked"
    if task.settings.weights is None:
        return "mean" if task.settings.regression else "majority"
    return "weighted mean" if task.settings.regression else "weighted"


def _of_all(task: Task) -> tuple[NDArray[np.int32] | None, int, NDArray[np.float64]]:
    """Codes, number of classes and targets of the samples, then of a test set."""
    samples, tests = task.samples, task.test_set
    codes, targets = samples.codes, task.y
    n_classes = 0 if samples.classes is None else len(samples.classes)
    if tests is None:
        return codes, n_classes, targets
    if tests.classes is None:
        if codes is not None:
            # Questions from outside are in no stratum, and are never asked for theirs.
            codes = np.append(codes, np.zeros(len(tests.y), dtype=codes.dtype))
        return codes, n_classes, np.append(targets, tests.y)
    return tests.codes, len(tests.classes), targets


def is_one_shot(law: Law) -> bool:
    """Whether no training set has more than one sample of a class, which then is its mean."""
    if isinstance(law, CountsLaw):
        return all(max(component.train) == 1 for component in law.components)
    return isinstance(law, EpisodeLaw) and law.k_shot == 1


def _check_one_shot(law: Law) -> None:
    """Raise if a training set may have more than one sample of a class: its mean is none."""
    if not is_one_shot(law):
        raise UnsupportedError(
            "cv must draw one training sample of each class for a NearestCentroid, "
            "ClassCounts(1) or Episodes(n_way, 1), where the mean of a class is that sample and "
            "the answer that of KNeighborsClassifier(1); of means of several no closed form is "
            f"known; got {law}. replay(NearestCentroid(), X, y, cv=...) draws such training sets, "
            "and its scores have their errors beside them"
        )


def _within_reach(column: Column) -> Column:
    """The column for a rank that some training set has: beyond that nothing is left to look at."""
    law = column.law
    if law.kind == "independent draws":
        # Here R is a condition on the training set, so a larger one asks something else.
        return column
    copies = law.kind == "draws with replacement"
    return Column(min(column.k, law.n_samples if copies else law.n_candidates), law)

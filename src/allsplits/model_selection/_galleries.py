"""Galleries as users describe them: cut-offs, and what a query must not meet."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.model_selection import GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut

from allsplits._validation import check_choice, check_counts, shown
from allsplits.exact import Exclusion
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._test_set import with_test_groups
from allsplits.splits import ClassCounts

if TYPE_CHECKING:
    from allsplits.model_selection._task import Task

#: What a query must not meet: its own class from its own group, or all of its own group.
Excluded = Literal["identity", "group"]


class Cameras(NamedTuple):
    """What users pass about groups whose items a query must not meet, not checked yet."""

    groups: Any = None
    groups_test: Any = None
    exclude: Any = None


def read_ranks(ranks: Any, gallery: int) -> list[int]:
    """The ranks that are asked for; None means 1 to 50, or to the size of the gallery."""
    if ranks is None:
        return list(range(1, min(50, gallery) + 1))
    found, most = check_counts("ranks", ranks, at_least=1), np.iinfo(np.int64).max
    if max(found) > most:
        raise InvalidInputError(
            f"each value of ranks must be at most {most}; got {shown(max(found))}"
        )
    return found


def without_cameras(task: Task, cv: Any, cameras: Cameras) -> Task:
    """The task in which queries do not meet what `cameras` exclude; the task itself if nothing is.

    Under laws of whole groups the groups are what the law keeps together.
    """
    of_law = _keeps_groups(cv)
    _check_given(task, cameras, of_law)
    if cameras.groups is None or of_law:
        return task
    _check_scores(task)
    if task.law.kind not in ("fixed size", "class counts"):
        raise UnsupportedError(
            f"groups (what a query must not meet) need galleries of class counts, of a fixed size, "
            f"or full ones: pass as cv ClassCounts, FixedSize, folds or LeaveOneOut(); got "
            f"{task.law}"
        )
    return replace(task, exclusion=_exclusion(task, cv, cameras))


def refuse_cameras(cv: Any, cameras: Cameras) -> None:
    """Raise if something is to be excluded for a Pipeline, whose scores are those of votes."""
    of_law = _keeps_groups(cv)
    for name, value in cameras._asdict().items():
        if value is not None and not (of_law and name == "groups"):
            raise InvalidInputError(
                f"{name} must be None for a Pipeline, unless cv keeps groups together: of its "
                "refits nobody is excluded. Fit its steps on X, transform X, and pass the model "
                "alone with a score of retrieval"
            )


def _keeps_groups(cv: Any) -> bool:
    """Whether the groups are those of the law; groups of one sample make it one of sizes."""
    return isinstance(cv, (GroupShuffleSplit, LeaveOneGroupOut, LeavePGroupsOut))


def _check_given(task: Task, cameras: Cameras, of_law: bool) -> None:
    """Raise if a part has no meaning without another, or under the law."""
    groups, groups_test, exclude = cameras
    if exclude is not None:
        check_choice("exclude", exclude, ("identity", "group"))
    if exclude is not None and (groups is None or of_law):
        why = "under a cv that keeps groups together" if of_law else "without groups"
        raise InvalidInputError(f"exclude must be None {why}; got {exclude!r}")
    if groups_test is None:
        return
    if task.test_set is None:
        raise InvalidInputError(
            "groups_test must be None without X_test: they are the groups of its queries"
        )
    if of_law:
        raise InvalidInputError(
            "groups_test must be None under a cv that keeps groups together: test samples are in "
            "none of them"
        )
    if groups is None:
        raise InvalidInputError("groups must be given with groups_test: the groups of X; got None")


def _check_scores(task: Task) -> None:
    """Raise if a score is one of votes, whose voters nobody is excluded from."""
    for score in task.scores:
        if not score.ignores_neighbors:
            raise InvalidInputError(
                f"groups must be None for scoring={score.name!r} under {task.law}: a cv such as "
                "LeaveOneGroupOut() or GroupShuffleSplit() keeps groups together, and scores of "
                "retrieval ('map', 'precision@k', …, 'recall@R') exclude a query's own group"
            )


def _exclusion(task: Task, cv: Any, cameras: Cameras) -> Exclusion:
    """What queries must not meet; some query must have a candidate of its class left."""
    question = task.question()
    numbers, codes = task.samples.groups, question.codes
    if task.test_set is not None:
        n_test = len(task.test_set.y)
        n_samples = task.samples.n_samples
        numbers = with_test_groups(cameras.groups, cameras.groups_test, n_samples, n_test)
    if numbers is None:
        raise AssertionError("groups were given")
    exclude = cameras.exclude or "identity"
    exclusion = Exclusion(numbers, exclude == "identity", isinstance(cv, ClassCounts))
    _, own = exclusion.pools(question.sample_codes, question.n_classes)
    if not np.any(own[numbers, codes][question.asked]):
        raise InvalidInputError(
            f"groups leave no query a candidate of its own class (exclude={exclude!r}): every "
            "class must be seen in at least two groups"
        )
    return exclusion

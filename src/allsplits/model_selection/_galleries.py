"""Galleries, as the curves over ranks read them: cut-offs, and what a query must not meet."""

from typing import Any

import numpy as np

from allsplits._validation import check_choice, check_counts, shown
from allsplits.exact import Exclusion
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection._task import Task
from allsplits.model_selection._test_set import with_test_groups
from allsplits.splits import CountsLaw


def read_ranks(ranks: Any, gallery: int) -> list[int]:
    """The ranks that are asked for; None means 1 to 50, or to the size of the gallery."""
    if ranks is None:
        return list(range(1, min(50, gallery) + 1))
    return check_counts("ranks", ranks, at_least=1, at_most=np.iinfo(np.int64).max)


def read_exclusion(
    task: Task, cv: Any, groups: Any, groups_test: Any, exclude: str
) -> Exclusion | None:
    """What queries must not meet, where groups are given."""
    check_choice("exclude", exclude, ("identity", "group"))
    if groups is None and groups_test is None:
        return None
    if not isinstance(task.law, CountsLaw):
        raise UnsupportedError(
            f"groups need a gallery with fixed class counts, cv=ClassCounts(...); got {shown(cv)}"
        )
    return _exclusion(task, groups, groups_test, exclude)


def _exclusion(task: Task, groups: Any, groups_test: Any, exclude: str) -> Exclusion:
    """What queries must not meet; some query must have a candidate of its class left."""
    question = task.question()
    numbers, codes = task.samples.groups, question.codes
    if task.test_set is not None:
        n_test = len(task.test_set.y)
        numbers = with_test_groups(groups, groups_test, task.samples.n_samples, n_test)
    elif groups_test is not None or numbers is None:
        raise InvalidInputError("groups_test must be None without X_test, and groups be given")
    exclusion = Exclusion(numbers, exclude == "identity")
    _, own = exclusion.pools(question.sample_codes, question.n_classes)
    if not np.any(own[numbers, codes][question.asked]):
        raise InvalidInputError(
            f"groups leave no query a candidate of its own class (exclude={exclude!r}): every "
            "class must be seen in at least two groups"
        )
    return exclusion

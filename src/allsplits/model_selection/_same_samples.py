"""Whether two evaluations are of the same samples, by the same score, under one law."""

from __future__ import annotations

from collections import Counter

import numpy as np

from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._evaluation import Evaluation
from allsplits.splits import BernoulliLaw, GroupLaw, Law


def check_pair(call_a: str, a: Evaluation, call_b: str, b: Evaluation) -> None:
    """Raise unless both are of the same samples, by the same score, under one law."""
    if len(a.y) != len(b.y) or not np.array_equal(a.y, b.y):
        raise InvalidInputError(
            f"{call_a} and {call_b} must be of the same samples in the same order; got "
            f"{len(a.y)} and {len(b.y)} samples"
            + (" with different labels" if len(a.y) == len(b.y) else "")
        )
    if a.row_names is not None and b.row_names is not None:
        moved = np.flatnonzero(a.row_names != b.row_names)
        if len(moved) and Counter(a.row_names.tolist()) == Counter(b.row_names.tolist()):
            raise InvalidInputError(
                f"{call_a} and {call_b} must be of the same samples in the same order; got "
                f"row_names in another order, for example {shown(a.row_names[moved[0]])} and "
                f"{shown(b.row_names[moved[0]])} in row {moved[0]}"
            )
    _check_references(call_a, a, call_b, b)
    if a.scoring != b.scoring:
        raise InvalidInputError(
            f"{call_a} and {call_b} must have the same scoring; got {a.scoring!r} and {b.scoring!r}"
        )
    if not _same_law(a.law, b.law):
        raise InvalidInputError(
            f"{call_a} and {call_b} must be averaged over the same splits: evaluate both with one "
            f"cv (and the same groups); got {a.law} and {b.law}"
        )
    if not _same_exclusion(a, b):
        raise InvalidInputError(
            f"{call_a} and {call_b} must exclude the same: evaluate both with the same groups (and "
            "groups_test, exclude), or none"
        )


def _check_references(call_a: str, a: Evaluation, call_b: str, b: Evaluation) -> None:
    """Raise unless both have a fixed test set, and references with the same labels, or neither."""
    if a.law.outside != b.law.outside:
        raise InvalidInputError(
            f"{call_a} and {call_b} must both have a fixed test set (X_test), or neither; got "
            f"one for {call_a if a.law.outside else call_b} only"
        )
    if not a.law.outside or a.task is None or b.task is None:
        return
    if len(a.task.y) != len(b.task.y) or not np.array_equal(a.task.y, b.task.y):
        raise InvalidInputError(
            f"{call_a} and {call_b} must have the same references in the same order; got "
            f"{len(a.task.y)} and {len(b.task.y)} of them"
            + (" with different labels" if len(a.task.y) == len(b.task.y) else "")
        )


def _same_exclusion(a: Evaluation, b: Evaluation) -> bool:
    """Whether queries of both must not meet the same samples."""
    one, other = (None if each.task is None else each.task.exclusion for each in (a, b))
    if one is None or other is None:
        return one is other
    kinds = one.same_class_only == other.same_class_only
    return kinds and np.array_equal(one.groups, other.groups)


def _same_law(one: Law, other: Law) -> bool:
    if isinstance(one, GroupLaw) and isinstance(other, GroupLaw):
        numbers = (one.n_train, one.n_test, one.outside) == (
            other.n_train, other.n_test, other.outside
        )  # fmt: skip
        return numbers and np.array_equal(one.groups, other.groups)
    if isinstance(one, BernoulliLaw) and isinstance(other, BernoulliLaw):
        # Training sets that are too small for a k are left out for that k alone.
        return one.given(1) == other.given(1)
    return one == other

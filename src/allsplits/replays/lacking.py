"""Splits that lack a class, in training or in test: scores of shares have a rule for them.

They are counted by writing the masks once more, which the compiled loop over drawn runs does not
keep. Where next to no split can lack a class nothing is written.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from allsplits.replays._kernels_lacking import count_lacking
from allsplits.replays.batch import Plan
from allsplits.replays.draw import random_states
from allsplits.replays.kernel_types import Dealt
from allsplits.replays.scores import Score

#: Expected number of splits below which they are not counted.
_NEXT_TO_NONE = 1e-6
#: Runs whose random states are made at a time.
_BLOCK = 4096


def is_of_shares(score: Score) -> bool:
    """Whether a score looks at shares of the votes, or may do so."""
    return bool(set(score.needs) & {"areas", "losses"}) or score.scorer is not None


def splits_that_lack_a_class(plan: Plan, law: Any, n_runs: int) -> int:
    """How many of the splits of the first runs lack a class; `law` is None for given splits."""
    n_classes = plan.question.n_classes
    if plan.classes is None or _expected(plan, law) * n_runs < _NEXT_TO_NONE:
        return 0
    dealt, tally = Dealt.room_for(plan.question.n_samples), np.zeros((2, n_classes), dtype=np.int64)
    n_folds = 1 if plan.source.drawing is None else plan.source.n_folds
    found = 0
    for first in range(0, n_runs, _BLOCK):
        states = random_states(plan.seed, first, min(_BLOCK, n_runs - first))
        for number in range(len(states)):
            for _ in plan.source.masks(first + number, states[number : number + 1], dealt):
                found += count_lacking(
                    plan.question.codes, dealt.folds, dealt.copies, n_folds, tally
                )
    return int(found)


def _expected(plan: Plan, law: Any) -> float:
    """A bound on the splits of a run that lack a class; infinite where it is not known.

    Of n samples a class has m, and a of n are drawn: none of the m with probability at most
    (1 - a/n)^m.
    """
    if law is not None and law.kind == "episodes":
        # The classes of an episode are all there are in it.
        return 0.0
    if law is None or law.kind not in ("fixed size", "class counts"):
        return float("inf")
    if law.kind == "class counts":
        return 0.0 if all(min(*c.train, *c.test) > 0 for c in law.components) else float("inf")
    n = plan.question.n_samples
    sizes = np.bincount(plan.question.codes, minlength=plan.question.n_classes)
    missed = sum(
        float(part.weight) * np.sum((1 - part.train / n) ** sizes + (1 - part.test / n) ** sizes)
        for part in law.components
    )
    return plan.source.n_folds * float(missed)

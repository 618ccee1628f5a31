"""Labels in and out of learners: saved JSON becomes answers, answers become a learner."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.active._learner import ActiveLearner
from allsplits.active._saved import SavedLearner
from allsplits.active._state import State
from allsplits.labelling._store import LabelStore


def read_saved(path: str | Path, X: NDArray[np.float64]) -> Mapping[int, Any]:
    """The labels (None: skipped) of a file of `ActiveLearner.save`, which must be about X."""
    saved = SavedLearner.read(Path(path).resolve())
    saved.check_points(path, X)
    return State.replay(len(X), saved.rounds).labels


def labelled_learner(
    learner: ActiveLearner, X: NDArray[np.float64], store: LabelStore
) -> ActiveLearner:
    """The learner with the labels of a store: those of the start first, the others in one round."""
    current = store.current()
    given = {i for i, a in current.items() if a.reason == "start" and a.label is not None}
    y = np.full(len(X), None, dtype=object)
    for i in given:
        y[i] = current[i].label
    learner.set_params(random_state=store.seed).fit(X, y)
    taught = [i for i, a in sorted(current.items()) if a.decided and i not in given]
    if taught:
        learner.teach(taught, [current[i].label for i in taught])
    return learner

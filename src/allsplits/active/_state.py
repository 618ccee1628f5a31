"""What a learner knows: the rounds of teaching, and the labels that follow from them.

A state never changes. Teaching and undoing make a new one, which takes the place of the old one in
a single step: an interruption leaves the one or the other, never half of each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.active._labels import PartialLabels, plain_labels


@dataclass(frozen=True)
class Round:
    """One call of `teach` (the first: the labels at the start), and the k chosen after it.

    A label of None means that the sample was skipped. `score` is the exact leave-p-out accuracy of
    the chosen k, NaN where k was not chosen among several.
    """

    indices: tuple[int, ...]
    labels: tuple[Any, ...]
    n_neighbors: int
    score: float = float("nan")

    def without(self, rows: set[int]) -> Round:
        """The same call without some samples."""
        pairs = zip(self.indices, self.labels, strict=True)
        kept = [(row, label) for row, label in pairs if row not in rows]
        return replace(
            self, indices=tuple(row for row, _ in kept), labels=tuple(label for _, label in kept)
        )


@dataclass(frozen=True)
class State:
    """All rounds, and the latest label of each sample that was taught."""

    n_samples: int
    rounds: tuple[Round, ...]
    labels: Mapping[int, Any]

    @classmethod
    def replay(cls, n_samples: int, rounds: tuple[Round, ...]) -> State:
        """Teach all rounds again, in their order."""
        labels: dict[int, Any] = {}
        for one in rounds:
            labels.update(zip(one.indices, one.labels, strict=True))
        return cls(n_samples, rounds, labels)

    def taught(self, one: Round) -> State:
        """The state after one more round."""
        together = {**self.labels, **dict(zip(one.indices, one.labels, strict=True))}
        return State(self.n_samples, (*self.rounds, one), together)

    def without(self, rows: set[int]) -> State:
        """The state as if some samples had never been taught; rounds that taught no other go."""
        kept = [one.without(rows) for one in self.rounds]
        rounds = kept[:1] + [one for one in kept[1:] if one.indices]
        return State.replay(self.n_samples, tuple(rounds))

    def tuned(self, n_neighbors: int, score: float) -> State:
        """The same with the choice of k written down in the last round."""
        last = replace(self.rounds[-1], n_neighbors=n_neighbors, score=score)
        return replace(self, rounds=(*self.rounds[:-1], last))

    @property
    def rows(self) -> NDArray[np.intp]:
        """Samples with a label, in row order."""
        known = sorted(i for i, label in self.labels.items() if label is not None)
        return np.array(known, dtype=np.intp)

    @property
    def pool(self) -> NDArray[np.intp]:
        """Samples that were neither labelled nor skipped."""
        free = np.ones(self.n_samples, dtype=bool)
        free[np.fromiter(self.labels, dtype=np.intp, count=len(self.labels))] = False
        return np.flatnonzero(free)

    def partial_labels(self) -> PartialLabels:
        """The labelled rows with their classes; raises if labels are not of one kind."""
        rows = self.rows
        labels = plain_labels([self.labels[i] for i in rows.tolist()])
        return PartialLabels.of(self.n_samples, rows, labels)

    def table(self) -> dict[str, list[Any]]:
        """Columns with one value per sample."""
        status = ["pool"] * self.n_samples
        labels: list[Any] = [None] * self.n_samples
        rounds: list[int | None] = [None] * self.n_samples
        for number, one in enumerate(self.rounds):
            for row, label in zip(one.indices, one.labels, strict=True):
                status[row] = "skipped" if label is None else "labelled"
                labels[row], rounds[row] = label, number
        return {"status": status, "label": labels, "round": rounds}

    def history(self) -> dict[str, list[Any]]:
        """Columns with one value per round."""
        sizes: list[int] = []
        seen: dict[int, Any] = {}
        for one in self.rounds:
            seen.update(zip(one.indices, one.labels, strict=True))
            sizes.append(sum(label is not None for label in seen.values()))
        return {
            "round": list(range(len(self.rounds))),
            "n_taught": [len(one.indices) for one in self.rounds],
            "n_labelled": sizes,
            "n_neighbors": [one.n_neighbors for one in self.rounds],
            "score": [one.score for one in self.rounds],
        }

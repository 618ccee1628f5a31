"""What happened while an incremental learner asked for examples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame
from allsplits.prototypes._learnt import Learnt


@dataclass(frozen=True, eq=False, repr=False)
class IncrementalHistory:
    """The steps of an `IncrementalNNClassifier`, one entry (or row) per step.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        The class labels.
    n_samples : ndarray of shape (n_steps,)
        Examples learnt so far.
    class_counts : ndarray of shape (n_steps, n_classes)
        Examples of each class so far.
    asked : list
        The class asked for to get here; None for the first step, which has some of each.
    n_prototypes : ndarray of shape (n_steps,)
        Prototypes kept.
    batch_error : ndarray of shape (n_steps,)
        Share of the newest batch that was classified wrong before it was learnt (NaN at first).
    test_error : ndarray of shape (n_steps,)
        Error on `eval_set` (NaN if there is none).
    learnt : Learnt
        What facets are counted from.
    """

    classes: NDArray[Any]
    n_samples: NDArray[np.int64]
    class_counts: NDArray[np.int64]
    asked: list[Any]
    n_prototypes: NDArray[np.int64]
    batch_error: NDArray[np.float64]
    test_error: NDArray[np.float64]
    learnt: Learnt

    @classmethod
    def of(cls, learnt: Learnt, classes: NDArray[Any]) -> IncrementalHistory:
        """Put the steps side by side."""
        steps = learnt.steps
        counts = np.array([step.counts for step in steps])
        return cls(
            classes=classes,
            n_samples=counts.sum(axis=1),
            class_counts=counts,
            asked=[None if step.asked is None else classes[step.asked] for step in steps],
            n_prototypes=np.array([len(step.prototypes) for step in steps]),
            batch_error=np.array([step.batch_error for step in steps]),
            test_error=np.array([step.test_error for step in steps]),
            learnt=learnt,
        )

    @cached_property
    def facets(self) -> NDArray[np.int64]:
        """Voronoi facets between each class and the others, shape (n_steps, n_classes).

        Counted when they are first asked for, which takes a while for many prototypes.
        """
        return np.array([self.learnt.facets(i) for i in range(len(self.asked))])

    @cached_property
    def bound(self) -> NDArray[np.float64]:
        """The bound on the error that greedy queries lower, up to a constant, of each step."""
        return np.array([self.learnt.bound(i) for i in range(len(self.asked))])

    @property
    def class_shares(self) -> NDArray[np.float64]:
        """Share of each class among the examples so far, shape (n_steps, n_classes)."""
        shares: NDArray[np.float64] = self.class_counts / self.n_samples[:, None]
        return shares

    def frame(self, backend: str | None = None) -> Any:
        """One row per step, as a pandas or polars data frame."""
        columns: dict[str, Any] = {
            "n_samples": self.n_samples,
            "asked": [None if label is None else str(label) for label in self.asked],
            "n_prototypes": self.n_prototypes,
            "bound": self.bound,
            "batch_error": self.batch_error,
            "test_error": self.test_error,
        }
        for c, label in enumerate(self.classes):
            columns[f"count_{label}"] = self.class_counts[:, c]
            columns[f"facets_{label}"] = self.facets[:, c]
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the learning curve, and behind it the share of each class; returns the Axes.

        The curve is the error on `eval_set`, or without one the mean error of batches so far,
        each before it was learnt.
        """
        from allsplits.plots._prototypes import draw_history

        return draw_history(self, ax)

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{label}: {count}"
            for label, count in zip(self.classes, self.class_counts[-1], strict=True)
        )
        return (
            f"IncrementalHistory({len(self.n_samples)} steps to {self.n_samples[-1]} examples "
            f"({counts}), {self.n_prototypes[-1]} prototypes)"
        )

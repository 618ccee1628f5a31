"""What the score becomes if a sample is taken out, or gets another label: evaluated anew, exactly.

The neighbours do not change with the labels: they are searched once, and every change is one more
vote over the stored order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact import Neighbors, solver_for
from allsplits.exact.effort import warn_if_long
from allsplits.exact.leaving_out import without_samples
from allsplits.model_selection import Evaluation
from allsplits.model_selection._task import Task
from allsplits.orders import NeighborOrder
from allsplits.orders.order import check_room, concatenate
from allsplits.orders.protocol import whole_order
from allsplits.splits import Samples, resolve_cv

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]


class Effect(NamedTuple):
    """What one change does; NaN where it leaves a single class.

    Attributes
    ----------
    score : float
        The score after it, less the score before.
    others : float
        What the sample scores of the others change, as these count after it.
    error_bound : float
        No score is off by more.
    """

    score: float
    others: float
    error_bound: float


@dataclass(frozen=True, eq=False)
class Changes:
    """A task whose samples may leave, or change their labels.

    Attributes
    ----------
    task : Task
        Estimator, samples and score.
    cv : law, splitter, int or None
        Which splits: read for the samples as they are, and for those that are changed.
    """

    task: Task
    cv: Any

    @cached_property
    def before(self) -> Evaluation:
        """The evaluation as things are."""
        return self._as_it_is.evaluate()

    @property
    def _as_it_is(self) -> Task:
        return replace(self.task, law=resolve_cv(self.cv, self.task.samples))

    def effects(self, rows: Sequence[int], labels: Sequence[int]) -> list[tuple[Effect, Effect]]:
        """(removed, given these codes) for each of the rows."""
        n, codes = self.task.samples.n_samples, self.task.samples.codes
        if codes is None:
            raise AssertionError("labels are changed, not targets")
        changed = []
        for row, label in zip(rows, labels, strict=True):
            again = codes.copy()
            again[row] = label
            changed.append((self._of(codes, np.arange(n) != row), self._of(again, None)))
        order = self._order([task for pair in changed for task in pair if task is not None])
        found = []
        what = "removed and relabelled"
        with progress_bar(self.task.options.progress, what, len(changed)) as step:
            for row, (removed, relabelled) in zip(rows, changed, strict=True):
                left = without_samples(order, np.arange(n) != row)
                found.append(
                    (self._effect(removed, left, row, True), self._effect(relabelled, order, row))
                )
                step(1)
        return found

    def _of(self, codes: Codes, keep: NDArray[np.bool_] | None) -> Task | None:
        """The task of changed samples; None where one class is left."""
        samples = self.task.samples
        kept = codes if keep is None else codes[keep]
        present, again = np.unique(kept, return_inverse=True)
        if len(present) < 2 or samples.classes is None:
            return None
        classes = samples.classes[present]
        groups = samples.groups
        if groups is not None and keep is not None:
            groups = np.unique(groups[keep], return_inverse=True)[1].astype(np.int32)
        changed = Samples(len(kept), classes, again.astype(np.int32), groups)
        law = resolve_cv(self.cv, changed)
        return replace(self.task, y=classes[again], samples=changed, law=law, row_names=None)

    def _order(self, tasks: list[Task]) -> NeighborOrder:
        """One order that serves them all, after a word if they take long."""
        neighbors, n = self.task.neighbors, self.task.samples.n_samples
        solvers = [solver_for(task.samples_question()) for task in [self._as_it_is, *tasks]]
        depth = min(max(solver.depth for solver in solvers) + 1, n - 1)
        check_room(n, depth)
        neighbors.expect(depth)
        warn_if_long(
            neighbors.seconds(depth), sum(solver.seconds for solver in solvers),
            thread_count(self.task.options.n_jobs), depth, "fewer suspects (n)",
        )  # fmt: skip
        return concatenate(list(_blocks(neighbors, depth)))

    def _effect(
        self, task: Task | None, order: NeighborOrder, row: int, gone: bool = False
    ) -> Effect:
        if task is None:
            return Effect(np.nan, np.nan, np.nan)
        options = replace(task.options, progress=False)
        neighbors = Neighbors(order, task.neighbors.metric, options)
        after = replace(task, neighbors=neighbors, options=options).evaluate()
        weights, scores = after.sample_weight, after.sample_scores
        if gone:
            weights, scores = (np.insert(each, row, 0.0) for each in (weights, scores))
        weights = np.where(np.arange(len(weights)) == row, 0.0, weights)
        change = np.where(weights > 0, scores - self.before.sample_scores, 0.0)
        others = float(weights @ change / weights.sum())
        bound = self.before.error_bound + after.error_bound
        return Effect(after.score - self.before.score, others, bound)


def _blocks(neighbors: Neighbors, depth: int) -> Iterator[NeighborOrder]:
    for block in neighbors.blocks(depth, whole_order):
        yield from block.parts

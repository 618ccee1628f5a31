"""Many splits from one search: runs are written as masks, answered from stored rows, and scored.

Each tested sample is walked along its row until k training neighbours are met. A row that ends
before is searched again among the training samples of its split. Neither threads nor batches nor
where one stops change a bit of a run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact import Column, Question, solver_for
from allsplits.exact.effort import warn_if_long
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder
from allsplits.orders.order import physical_memory
from allsplits.replays.batch import Batch, Desk, Failed, Plan
from allsplits.replays.kernel_types import Floats
from allsplits.replays.sample import sampling_seconds
from allsplits.splits import SizeLaw

#: Runs of the first batch. The error is looked at after them, and after every tenth more.
BATCH, _LOOK_AGAIN = 128, 1.1
#: Batches become larger until they take so many seconds, or bytes.
_BATCH_SECONDS, _BATCH_BYTES = 0.1, 1 << 25
#: Chance that a row is too short, which costs a search; and bytes that rows may take.
_TOL, _MOST_BYTES, _EACH = 1e-9, 1 << 30, 13


@dataclass(frozen=True)
class Replayed:
    """Scores of shape (n_runs, n_folds, n_scores), and how they came about."""

    scores: Floats
    stopped: bool
    n_drawn: int
    n_answers: int
    failed: tuple[Failed, ...]


def stored_depth(question: Question, smallest_training_set: int) -> int:
    """How deep rows are stored: nearly always deep enough, and not too much for the memory."""
    n, k = question.n_samples, question.columns[0].k
    law = SizeLaw.of_size(n, max(k, min(smallest_training_set, n - 1)))
    usual = replace(
        question,
        columns=[Column(k, law)],
        vote="mean" if question.n_classes == 0 else "majority",
        weights=None,
        options=replace(question.options, exact=False, tol=_TOL),
    )
    return max(1, min(solver_for(usual).depth, _MOST_BYTES // (_EACH * n)))


def replay_runs(
    plan: Plan,
    order: NeighborOrder,
    n_runs: int,
    enough: Callable[[list[Floats]], bool] | None = None,
) -> Replayed:
    """Score so many runs, or until they are enough, from stored rows."""
    n_threads = thread_count(plan.question.options.n_jobs)
    seconds = sampling_seconds(plan.question, n_runs)
    warn_if_long(0.0, seconds, n_threads, order.depth, "a smaller n_splits, or until=...")
    _check_room(plan.question, n_threads)
    return runs_at(Desk.prepared(plan, order, n_threads), n_runs, enough)


def runs_at(
    desk: Desk, n_runs: int, enough: Callable[[list[Floats]], bool] | None = None
) -> Replayed:
    """The same with a desk that is prepared; Ctrl-C keeps the runs that are scored."""
    plan, totals = desk.plan, np.zeros(2, dtype=np.int64)
    kept: list[Floats] = []
    failed: list[Failed] = []
    first, size, look, stopped = 0, BATCH, BATCH, False
    with progress_bar(
        plan.question.options.progress, "replayed splits", n_runs * plan.source.n_folds, "splits"
    ) as step:
        while first < n_runs and not stopped:
            end = min(n_runs, first + size if enough is None else _end(first, size, look))
            batch, began = Batch(plan, first, end - first), perf_counter()
            try:
                batch.score(desk)
                scores = batch.finish()
            except KeyboardInterrupt:
                stopped, scores = True, batch.finish()
            kept.append(scores)
            failed += batch.failed
            totals += batch.scored.totals[batch.scored.done].sum(axis=0)
            step(len(kept[-1]) * plan.source.n_folds)
            if enough is not None and end >= look and not stopped:
                look = int(_LOOK_AGAIN * look) + 1
                if enough(kept):
                    break
            if perf_counter() - began < _BATCH_SECONDS and batch.n_bytes < _BATCH_BYTES:
                size *= 2
            first = end
    scores = np.concatenate(kept)
    if stopped and not len(scores):
        raise KeyboardInterrupt
    return Replayed(scores, stopped, int(totals[0]), int(totals[1]), tuple(failed))


def _end(first: int, size: int, look: int) -> int:
    """Where a batch ends at the latest: at the next look, which comes after whole first batches."""
    return min(first + size, max(first + BATCH, -(-look // BATCH) * BATCH))


def _check_room(question: Question, n_threads: int) -> None:
    room = 8 * question.n_samples * max(1, question.n_classes) * n_threads
    memory = physical_memory()
    if memory is not None and room > memory // 2:
        raise InvalidInputError(
            f"votes of {question.n_samples} samples for {question.n_classes} classes take "
            f"{room / 2**30:.1f} GiB on {n_threads} threads: pass a smaller n_jobs"
        )

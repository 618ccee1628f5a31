"""Many splits from one search: runs are written as masks, answered from stored rows, and scored.

Each tested sample is walked along its row until k training neighbours are met. A row that ends
before is searched again among the training samples of its split. Runs go in batches of a fixed
size, so that neither threads nor where one stops change a bit of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import map_row_ranges, thread_count
from allsplits.exact import Column, GivenSplit, Neighbors, Question, solver_for
from allsplits.exact.effort import warn_if_long
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder
from allsplits.orders.order import physical_memory
from allsplits.replays._kernels_answers import (
    answer_classes,
    answer_means,
    count_plain,
    mark_voters,
)
from allsplits.replays._kernels_draw import list_tested
from allsplits.replays._kernels_scores import (
    areas_of_counts,
    areas_of_shares,
    count_classes,
    log_losses,
    sum_errors,
)
from allsplits.replays.draw import random_state_of
from allsplits.replays.given import order_of_split
from allsplits.replays.kernel_types import Answers, Dealt, Floats, ReplayRows, ReplayRun, ReplayVote
from allsplits.replays.sample import new_work, rows_of, sampling_seconds, vote_of
from allsplits.replays.scores import KnownClasses, KnownMeans, Score
from allsplits.replays.sources import Source
from allsplits.splits import SizeLaw

#: Runs of a batch. The error is looked at after the first, and after every tenth more.
BATCH, _LOOK_AGAIN = 128, 1.1
#: Chance that a row is too short, which costs a search; and bytes that rows may take.
_TOL, _MOST_BYTES, _EACH = 1e-9, 1 << 30, 13
_NO_UNITS = np.empty(0)


class Failed(NamedTuple):
    """A split that could not be scored."""

    run: int
    fold: int
    score: str
    error: Exception | None


@dataclass(frozen=True)
class Replayed:
    """Scores of shape (n_runs, n_folds, n_scores), and how they came about."""

    scores: Floats
    stopped: bool
    n_drawn: int
    n_answers: int
    failed: tuple[Failed, ...]


@dataclass(frozen=True)
class Plan:
    """What is replayed.

    Attributes
    ----------
    neighbors, question : what is asked, one column
    source : where runs come from
    scores : which scores of each split
    X, y : what scorers are given, by sample
    classes : None for regression
    seed : int
    error_score : "raise" or what a split counts that cannot be scored
    """

    neighbors: Neighbors
    question: Question
    source: Source
    scores: list[Score]
    X: Any
    y: NDArray[Any]
    classes: NDArray[Any] | None
    seed: int
    error_score: Any


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
    plan: Plan, order: NeighborOrder, n_runs: int, enough: Callable[[list[Floats]], bool]
) -> Replayed:
    """Score up to so many runs, until they are enough; Ctrl-C keeps those that are scored."""
    n_threads = thread_count(plan.question.options.n_jobs)
    seconds = sampling_seconds(plan.question, n_runs)
    warn_if_long(0.0, seconds, n_threads, order.depth, "a smaller n_splits, or until=...")
    desk, totals = _Desk.prepared(plan, order, n_threads), np.zeros(2, dtype=np.int64)
    kept: list[Floats] = []
    failed: list[Failed] = []
    stopped, look = False, BATCH
    with progress_bar(
        plan.question.options.progress, "replayed splits", n_runs * plan.source.n_folds, "splits"
    ) as step:
        for first in range(0, n_runs, BATCH):
            batch = _Batch(plan, first, min(BATCH, n_runs - first))
            try:
                batch.score(desk, n_threads)
            except KeyboardInterrupt:
                stopped = True
            kept.append(batch.finish())
            failed += batch.failed
            totals += batch.totals.sum(axis=0)
            step(len(kept[-1]) * plan.source.n_folds)
            if stopped:
                break
            if first + batch.size >= look:
                look = int(_LOOK_AGAIN * look) + 1
                if enough(kept):
                    break
    scores = np.concatenate(kept)
    if stopped and not len(scores):
        raise KeyboardInterrupt
    return Replayed(scores, stopped, int(totals[0]), int(totals[1]), tuple(failed))


@dataclass(frozen=True)
class _Desk:
    """What all threads share: rows, how they vote."""

    plan: Plan
    rows: ReplayRows
    vote: ReplayVote

    @classmethod
    def prepared(cls, plan: Plan, order: NeighborOrder, n_threads: int) -> _Desk:
        question = plan.question
        room = 8 * question.n_samples * max(1, question.n_classes) * n_threads
        memory = physical_memory()
        if memory is not None and room > memory // 2:
            raise InvalidInputError(
                f"votes of {question.n_samples} samples for {question.n_classes} classes take "
                f"{room / 2**30:.1f} GiB on {n_threads} threads: pass a smaller n_jobs"
            )
        return cls(plan, rows_of(order, question), vote_of(question))


class _Batch:
    """Runs that are scored together."""

    def __init__(self, plan: Plan, first: int, size: int) -> None:
        self.plan, self.first, self.size = plan, first, size
        self.done = np.zeros(size, dtype=bool)
        self.totals = np.zeros((size, 2), dtype=np.int64)
        self.failed: list[Failed] = []
        shape, n_classes = (size, plan.source.n_folds), plan.question.n_classes
        needed = {name for score in plan.scores for name in score.needs}
        widths = {
            "counts": ((3, n_classes), np.int64),
            "areas": ((n_classes,), np.float64),
            "losses": ((), np.float64),
            "errors": ((5,), np.float64),
            "reached": ((), np.float64),
        }
        self.sums = {name: np.zeros(shape + widths[name][0], widths[name][1]) for name in needed}
        self.called = np.full((*shape, len(plan.scores)), np.nan)

    def score(self, desk: _Desk, n_threads: int) -> None:
        """Score all runs of the batch, in threads."""

        def some(start: int, stop: int) -> None:
            place = _Place(desk)
            for number in range(start, stop):
                self._score_run(place, number)
                self.done[number] = True

        map_row_ranges(some, self.size, n_threads, smallest=8)

    def _score_run(self, place: _Place, number: int) -> None:
        plan, fold = self.plan, 0
        state = random_state_of(plan.seed, self.first + number)
        for n_folds in plan.source.masks(self.first + number, state, place.dealt):
            answers = place.answer(n_folds, state)
            self.totals[number] += place.drawn, answers.starts[-1]
            here = np.s_[number, fold : fold + n_folds]
            place.fill_sums(answers, {name: sums[here] for name, sums in self.sums.items()})
            for s, score in enumerate(plan.scores):
                if score.scorer is not None:
                    for f in range(n_folds):
                        known = place.called_with(answers, f)
                        self.called[number, fold + f, s] = self._call(
                            score, known, (number, fold + f)
                        )
            fold += n_folds

    def _call(self, score: Score, known: tuple[Any, Any, Any], where: tuple[int, int]) -> float:
        try:
            value = float(score.scorer(*known))  # type: ignore[misc]
        except Exception as error:
            self.failed.append(Failed(self.first + where[0], where[1], score.name, error))
            return float("nan")
        return value

    def finish(self) -> Floats:
        """Scores of the runs that were scored; failed ones are what `error_score` says."""
        sums = {name: values[self.done] for name, values in self.sums.items()}
        scores, numbers = self.called[self.done], self.first + np.flatnonzero(self.done)
        for s, score in enumerate(self.plan.scores):
            if score.formula is not None:
                scores[..., s] = score.formula(sums)
        known = {failed[:3] for failed in self.failed}
        broken = np.isnan(scores)
        for run, fold, s in np.argwhere(broken).tolist():
            where = (int(numbers[run]), fold, self.plan.scores[s].name)
            if where not in known:
                self.failed.append(Failed(*where, None))
        self.failed.sort(key=lambda failed: failed[:3])
        if self.failed and isinstance(self.plan.error_score, str):
            self._stop(self.failed[0])
        if broken.any():
            scores[broken] = float(self.plan.error_score)
        return scores

    def _stop(self, one: Failed) -> None:
        """Raise an error that names the split."""
        what = "is NaN" if one.error is None else f"failed: {type(one.error).__name__}: {one.error}"
        raise InvalidInputError(
            f"scoring={one.score!r} {what}. This was split {split_in_words(one, self.plan.source)};"
            " error_score=np.nan goes on without such splits, a number counts instead"
        ) from one.error


def split_in_words(failed: Failed, source: Source) -> str:
    """Which split it was, counted from 0."""
    if source.n_runs is not None or source.n_folds == 1:
        return f"{failed.run}"
    return f"{failed.fold} of run {failed.run}"


class _Place:
    """The work space of one thread."""

    def __init__(self, desk: _Desk) -> None:
        question, source = desk.plan.question, desk.plan.source
        self.desk, n = desk, question.n_samples
        self.dealt = Dealt.room_for(n)
        self.room = Answers.room_for(n, question.n_classes, source.n_folds)
        self.levels = np.zeros((question.n_classes, 2, desk.vote.k + 1), dtype=np.int64)
        self.everybody, self.late = np.arange(n), np.empty(n, dtype=np.int64)
        # As small as can be: they are looked up in any order.
        self.marks = np.empty(n, dtype=np.uint8 if question.n_classes < 255 else np.int32)
        self.drawn = 0

    def answer(self, n_folds: int, state: NDArray[np.uint64]) -> Answers:
        """The answers of the mask that was dealt."""
        desk, room = self.desk, self.room
        answers = room._replace(starts=room.starts[: n_folds + 1])
        list_tested(self.dealt.folds, answers.tested, answers.starts)
        work = new_work(desk.plan.question, state)
        run = ReplayRun(self.dealt.folds, self.dealt.copies, _NO_UNITS)
        kernel = answer_means if desk.vote.mean else answer_classes
        asked = self._asked_one_by_one(run, answers)
        short, self.drawn = kernel(desk.rows, desk.vote, run, asked, work, answers)
        if short:
            tested = int(answers.starts[-1])
            late = answers.votes[:tested, 0] == 0 if desk.vote.mean else answers.given[:tested] < 0
            for fold in range(n_folds):
                start, stop = answers.starts[fold], answers.starts[fold + 1]
                places = start + np.flatnonzero(late[start:stop])
                if len(places):
                    rows = self._searched(fold, answers.tested[places])
                    self.drawn += kernel(rows, desk.vote, run, places, work, answers)[1]
        return answers

    def _asked_one_by_one(self, run: ReplayRun, answers: Answers) -> NDArray[np.int64]:
        """The places that are not answered by plain counting: all, or the few that are tied."""
        vote = self.desk.vote
        everybody = self.everybody[: answers.starts[-1]]
        if vote.mean or vote.weighted or vote.share:
            return everybody
        if mark_voters(vote.labels, run, self.marks):
            return everybody
        n_late = count_plain(self.desk.rows, vote, run, self.marks, answers, self.late)
        return self.late[:n_late]

    def _searched(self, fold: int, samples: NDArray[np.int64]) -> ReplayRows:
        """Rows of these samples among the training samples of a fold."""
        plan = self.desk.plan
        train = np.flatnonzero((self.dealt.copies > 0) & (self.dealt.folds != fold))
        alone = replace(plan.question, options=replace(plan.question.options, n_jobs=1))
        order = order_of_split(plan.neighbors, alone, GivenSplit(train, samples.astype(np.intp)))
        return rows_of(order, alone)

    def fill_sums(self, answers: Answers, sums: dict[str, NDArray[Any]]) -> None:
        """The sums of this run, fold by fold."""
        vote = self.desk.vote
        if "counts" in sums:
            count_classes(vote.labels, answers, sums["counts"])
        if "areas" in sums and vote.weighted:
            areas_of_shares(vote.labels, answers, sums["areas"])
        elif "areas" in sums:
            areas_of_counts(vote.labels, answers, self.levels, sums["areas"])
        if "losses" in sums:
            log_losses(vote.labels, answers, sums["losses"])
        if "errors" in sums:
            sum_errors(vote.targets, answers, sums["errors"])
        if "reached" in sums:
            starts = answers.starts
            tested = answers.tested[: starts[-1]]
            own = answers.votes[np.arange(len(tested)), vote.labels[tested]]
            sums["reached"][:] = np.add.reduceat(own > 0, starts[:-1]) / np.diff(starts)

    def called_with(self, answers: Answers, fold: int) -> tuple[Any, Any, Any]:
        """What a scorer is called with: an estimator that knows the answers, X and y of a fold."""
        plan = self.desk.plan
        here = slice(answers.starts[fold], answers.starts[fold + 1])
        rows, given = answers.tested[here].copy(), answers.given[here]
        X = rows[:, None] if plan.X is None else plan.X[rows]
        if plan.classes is None:
            return KnownMeans(given.copy()), X, plan.y[rows]
        known = KnownClasses(plan.classes, given.astype(np.intp), answers.votes[here].copy())
        return known, X, plan.y[rows]

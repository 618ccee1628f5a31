"""Runs that are scored together: answered from stored rows, in threads, run by run.

Drawn runs with compiled scores are one compiled loop, in which threads do not wait for each other.
What needs Python in between (a scorer that is called, a splitter that is asked, a row that ends
before k training neighbours are met) is scored by the same kernels run by run, to the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact import GivenSplit, Neighbors, Question
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder
from allsplits.replays._kernels_answers import answer_places, answer_run
from allsplits.replays._kernels_runs import score_runs
from allsplits.replays._kernels_scores import areas_of_shares, sum_run
from allsplits.replays.draw import random_states
from allsplits.replays.given import order_of_split
from allsplits.replays.kernel_types import Floats, ReplayRows, ReplayVote, Room, Scored
from allsplits.replays.sample import rows_of, sampling_seconds, vote_of
from allsplits.replays.scores import KnownClasses, KnownMeans, Score
from allsplits.replays.sources import Source

#: Seconds of compiled work as `sampling_seconds` has them, mostly too many: less is not worth the
#: start of a thread; and after so many Ctrl-C is heard.
_RANGE_SECONDS, _CALL_SECONDS = 0.02, 0.1
#: Threads that need Python in between wait for each other: runs of fewer seconds are faster on one.
#: And runs that they take at a time.
_LONG_RUN, _FEW_RUNS = 5e-4, 8


class Failed(NamedTuple):
    """A split that could not be scored."""

    run: int
    fold: int
    score: str
    error: Exception | None


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


@dataclass(frozen=True)
class Desk:
    """What all threads share: rows, and how they vote."""

    plan: Plan
    rows: ReplayRows
    vote: ReplayVote
    n_threads: int

    #: Whether runs can be answered without Python in between.
    compiled = True

    @classmethod
    def prepared(cls, plan: Plan, order: NeighborOrder, n_threads: int) -> Desk:
        """For the runs of a plan."""
        return cls(plan, rows_of(order, plan.question), vote_of(plan.question), n_threads)

    def new_place(self) -> Place:
        """The work space of one more thread."""
        return Place(self)

    def runs_within(self, seconds: float) -> int:
        """Runs that take about so long in compiled code, at least one."""
        return max(1, int(seconds / sampling_seconds(self.plan.question, 1)))


class Batch:
    """Runs that are scored together."""

    def __init__(self, plan: Plan, first: int, size: int) -> None:
        self.plan, self.first, self.size = plan, first, size
        self.failed: list[Failed] = []
        self._needed = {name for score in plan.scores for name in score.needs}
        n_folds, n_classes = plan.source.n_folds, plan.question.n_classes

        def sums(name: str, *shape: int) -> Floats:
            return np.zeros((size if name in self._needed else 0, n_folds, *shape))

        self.scored = Scored(
            states=random_states(plan.seed, first, size),
            counts=sums("counts", 3, n_classes).astype(np.int64),
            areas=sums("areas", n_classes),
            losses=sums("losses"),
            errors=sums("errors", 5),
            reached=sums("reached"),
            totals=np.zeros((size, 2), dtype=np.int64),
            done=np.zeros(size, dtype=bool),
        )
        self.called = np.full((size, n_folds, len(plan.scores)), np.nan)

    @property
    def n_bytes(self) -> int:
        """What is kept of its runs."""
        return self.called.nbytes + sum(array.nbytes for array in self.scored)

    def score(self, desk: Desk) -> None:
        """Score all runs of the batch, in threads."""
        if desk.compiled and self._is_compiled(desk.vote):
            some = partial(self._score_together, desk)
            smallest = desk.runs_within(_RANGE_SECONDS)
            map_row_ranges(some, self.size, desk.n_threads, smallest=smallest)
            return
        began = perf_counter()
        self._score_in_turn(desk, 0, 1)
        n_threads = desk.n_threads if perf_counter() - began > _LONG_RUN else 1
        map_row_ranges(
            lambda start, stop: self._score_in_turn(desk, start + 1, stop + 1),
            self.size - 1,
            n_threads,
            smallest=_FEW_RUNS,
        )

    def _is_compiled(self, vote: ReplayVote) -> bool:
        """Whether runs need no Python, as a rule."""
        called = any(score.scorer is not None for score in self.plan.scores)
        sorts = vote.weighted and "areas" in self._needed
        return self.plan.source.drawing is not None and not called and not sorts

    def _score_together(self, desk: Desk, start: int, stop: int) -> None:
        place, drawing = desk.new_place(), self.plan.source.drawing
        step = desk.runs_within(_CALL_SECONDS)
        while start < stop:
            end = min(start + step, stop)
            start = score_runs(drawing, desk.rows, desk.vote, place.room, self.scored, start, end)
            if start < end:
                self._score_run(place, start)
                start += 1

    def _score_in_turn(self, desk: Desk, start: int, stop: int) -> None:
        place = desk.new_place()
        for number in range(start, stop):
            self._score_run(place, number)

    def _score_run(self, place: Place, number: int) -> None:
        plan, scored, room, fold = self.plan, self.scored, place.room, 0
        room.work.state[0] = scored.states[number]
        for _ in plan.source.masks(self.first + number, room.work.state, room.dealt):
            scored.totals[number] += place.answer(), room.answers.starts[-1]
            place.sum_answers(scored, number, fold)
            for s, score in enumerate(plan.scores):
                if score.scorer is not None:
                    for f in range(room.n_folds):
                        known = place.called_with(f)
                        self.called[number, fold + f, s] = self._call(
                            score, known, (number, fold + f)
                        )
            fold += room.n_folds
        scored.done[number] = True

    def _call(self, score: Score, known: tuple[Any, Any, Any], where: tuple[int, int]) -> float:
        try:
            value = float(score.scorer(*known))  # type: ignore[misc]
        except Exception as error:
            self.failed.append(Failed(self.first + where[0], where[1], score.name, error))
            return float("nan")
        return value

    def finish(self) -> Floats:
        """Scores of the runs that were scored; failed ones are what `error_score` says."""
        done = self.scored.done
        sums = {name: getattr(self.scored, name)[done] for name in self._needed}
        scores, numbers = self.called[done], self.first + np.flatnonzero(done)
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


class Place:
    """The work space of one thread."""

    def __init__(self, desk: Desk) -> None:
        question, source = desk.plan.question, desk.plan.source
        # Masks that are drawn have all folds, others one.
        n_folds = 1 if source.drawing is None else source.n_folds
        self.desk = desk
        self.room = Room.room_for(question.n_samples, question.n_classes, n_folds, desk.vote.k)

    def answer(self) -> int:
        """Answer the mask that was dealt; returns for how many somebody was drawn."""
        desk, room, answers = self.desk, self.room, self.room.answers
        short, drawn = answer_run(desk.rows, desk.vote, room)
        if short:
            tested = int(answers.starts[-1])
            late = answers.votes[:tested, 0] == 0 if desk.vote.mean else answers.given[:tested] < 0
            for fold in range(room.n_folds):
                start, stop = answers.starts[fold], answers.starts[fold + 1]
                places = start + np.flatnonzero(late[start:stop])
                if len(places):
                    rows = self._searched(fold, answers.tested[places])
                    drawn += answer_places(rows, desk.vote, room, places)[1]
        return int(drawn)

    def sum_answers(self, scored: Scored, number: int, fold: int) -> None:
        """Fill the sums of a run, from a fold on."""
        vote, room = self.desk.vote, self.room
        sum_run(vote, room, scored, number, fold)
        if vote.weighted and len(scored.areas):
            areas = scored.areas[number, fold : fold + room.n_folds]
            areas_of_shares(vote.labels, room.answers, areas)

    def _searched(self, fold: int, samples: NDArray[np.int64]) -> ReplayRows:
        """Rows of these samples among the training samples of a fold."""
        plan = self.desk.plan
        train = np.flatnonzero((self.room.dealt.copies > 0) & (self.room.dealt.folds != fold))
        alone = replace(plan.question, options=replace(plan.question.options, n_jobs=1))
        order = order_of_split(plan.neighbors, alone, GivenSplit(train, samples.astype(np.intp)))
        return rows_of(order, alone)

    def called_with(self, fold: int) -> tuple[Any, Any, Any]:
        """What a scorer is called with: an estimator that knows the answers, X and y of a fold."""
        plan, answers = self.desk.plan, self.room.answers
        here = slice(answers.starts[fold], answers.starts[fold + 1])
        rows, given = answers.tested[here].copy(), answers.given[here]
        X = rows[:, None] if plan.X is None else plan.X[rows]
        if plan.classes is None:
            return KnownMeans(given.copy()), X, plan.y[rows]
        known = KnownClasses(plan.classes, given.astype(np.intp), answers.votes[here].copy())
        return known, X, plan.y[rows]

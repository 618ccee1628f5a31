"""Scores when a sample, or a whole group, is gone from the data: the one entry for both ways.

Samples are struck from all rows in one pass (`jackknife`). Where there is no such pass (whole
groups, Fractions) each unit is left out in turn: the orders without it, the smaller law, the same
solver. The search is not repeated.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.answer import Answer, RowChanges, ScoresWithout
from allsplits.exact.effort import warn_of_strikes
from allsplits.exact.jackknife import solve_without_one
from allsplits.exact.masses import Column
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.question import Question
from allsplits.exact.solve import run_solver, solver_for
from allsplits.exact.struck_votes import has_voters
from allsplits.exact.weighted.weights import VoteWeights
from allsplits.orders import NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.splits import CountsLaw, GroupLaw


def scores_without_one(
    neighbors: Neighbors, question: Question, *, keep: bool = False
) -> ScoresWithout | None:
    """Scores of all columns without each unit; None where law and vote have no such answer.

    Units are the samples, or the groups of a law of whole groups. With `keep` what they change in
    each other's rows is kept, if it is not too much.
    """
    law = question.columns[0].law
    if question.outside or question.n_samples < 3:
        # The questions are no samples: nothing is known of other samples from the same source. Of
        # two samples one is left, which nobody can answer.
        return None
    if not question.options.exact and not isinstance(law, GroupLaw):
        solver = solve_without_one(question, keep=keep)
        if solver is None:
            return None
        if not _may_be_weightless(neighbors, question, solver.depth):
            return run_solver(neighbors, question, solver).without
    if law.kind not in _BY_LEAVING_OUT or question.exclusion is not None:
        return None
    return _leave_out_each(neighbors, replace(question, want_samples=False, want_rows=True))


def _may_be_weightless(neighbors: Neighbors, question: Question, depth: int) -> bool:
    """Whether a class may vanish where nobody has any weight: the vanished class would win there.

    Only a function may give no weight to anybody.
    """
    weights, lonely = question.weights, question.n_classes > 0 and 1 in question.class_sizes
    if weights is None or not lonely or not callable(weights.function):
        return False
    blocks = neighbors.blocks(depth, _Lightest(weights))
    return bool(min(lightest for block in blocks for lightest in block.parts) == 0.0)


@dataclass(frozen=True)
class _Lightest:
    """The least weight of a block of rows."""

    weights: VoteWeights

    def __call__(self, order: NeighborOrder, n_threads: int) -> float:
        return float(self.weights.of(order).min(initial=inf))


#: Laws whose units can be left out one by one.
_BY_LEAVING_OUT = (
    "fixed size",
    "independent draws",
    "draws with replacement",
    "class counts",
    "episodes",
    "whole groups",
)


def _leave_out_each(neighbors: Neighbors, question: Question) -> ScoresWithout | None:
    """None where a smaller law has fewer than k voters, or two groups are all there are."""
    law, n = question.columns[0].law, question.n_samples
    grouped = isinstance(law, GroupLaw)
    if isinstance(law, GroupLaw) and len(law.group_sizes) < 3:
        return None
    unit_of: NDArray[Any] = law.groups if isinstance(law, GroupLaw) else np.arange(n)
    questions = [_without(question, unit_of != unit, unit) for unit in range(unit_of.max() + 1)]
    if not all(has_voters(smaller) for smaller in questions):
        return None
    solvers = [solver_for(smaller) for smaller in questions]
    largest = int(np.bincount(unit_of).max())
    depth = min(max(solver.depth for solver in solvers) + largest, n - 1)
    order = concatenate(
        [part for block in neighbors.blocks(depth, whole_order) for part in block.parts]
    )
    n_threads = thread_count(question.options.n_jobs)
    warn_of_strikes(sum(solver.seconds for solver in solvers), n_threads)
    answers = []
    what = "scores without each group" if grouped else "scores without each sample"
    with progress_bar(question.options.progress, what, len(solvers)) as step:
        for unit, solver in enumerate(solvers):
            solver.total.add(solver.part(without_samples(order, unit_of != unit), n_threads))
            answers.append(solver.total.finish())
            step(1)
    fractions = [answer.fractions for answer in answers if answer.fractions is not None]
    return ScoresWithout(
        np.array([answer.scores for answer in answers]),
        np.max([answer.error_bound for answer in answers], axis=0),
        tuple(fractions) if fractions else None,
        _changes(answers, unit_of, _scopes(question, len(answers))),
    )


def _scopes(question: Question, n_units: int) -> NDArray[np.int32]:
    """Units whose changes are set against a common mean: of a class where it matters which."""
    law = question.columns[0].law
    if isinstance(law, CountsLaw) or (question.balanced and not isinstance(law, GroupLaw)):
        return question.codes
    return np.zeros(n_units, dtype=np.int32)


def _changes(answers: list[Answer], unit_of: NDArray[Any], scopes: NDArray[np.int32]) -> RowChanges:
    """What each unit changes in the rows of the others, against the mean of its scope."""
    n_units, n = len(answers), len(unit_of)
    weights, scores = np.zeros((n_units, n)), np.zeros((n_units, n, len(answers[0].scores)))
    for unit, answer in enumerate(answers):
        if answer.sample_scores is None or answer.sample_weight is None:
            raise AssertionError("sample scores were asked for")
        weights[unit, unit_of != unit] = answer.sample_weight
        scores[unit, unit_of != unit] = np.nan_to_num(answer.sample_scores)
    values = np.zeros((n_units, n_units, scores.shape[2]))
    for scope in np.unique(scopes):
        mine = np.flatnonzero(scopes == scope)
        left = mine[:, None] != unit_of
        mean_weight = weights[mine].sum(axis=0) / np.maximum(left.sum(axis=0), 1)
        counted = scores[mine] * mean_weight[:, None]
        rows = np.zeros((len(mine), n_units, scores.shape[2]))
        for sample, unit in enumerate(unit_of):
            rows[:, unit] += counted[:, sample]
        others = (mine[:, None] != np.arange(n_units))[..., None]
        mean = rows.sum(axis=0, where=others) / np.maximum(others.sum(axis=0), 1)
        values[mine] = np.where(others, rows - mean, 0.0)
    units, of_rows = np.indices((n_units, n_units), dtype=np.int32).reshape(2, -1)
    squares = np.einsum("urc,urc->c", values, values)
    return RowChanges(squares, of_rows, units, values.reshape(-1, values.shape[2]), scopes)


def _without(question: Question, keep: NDArray[np.bool_], unit: int) -> Question:
    """The question of the samples that are left."""
    law = question.columns[0].law
    if not isinstance(law, GroupLaw) and question.n_classes:
        unit = int(question.codes[unit])
    columns = []
    for column in question.columns:
        at_least = 1 if question.vote == "ranked" else column.k
        columns.append(Column(column.k, column.law.without_one(unit, at_least)))
    smaller = replace(
        question,
        codes=question.codes[keep] if question.n_classes else question.codes,
        targets=question.targets if question.n_classes else question.targets[keep],
        columns=columns,
    )
    return _without_empty_classes(smaller) if question.weights is not None else smaller


def _without_empty_classes(question: Question) -> Question:
    """Classes that have vanished are none: where nobody has any weight the first class wins."""
    present = question.class_sizes > 0
    law = question.columns[0].law
    if present.all() or law.kind == "episodes":
        return question
    columns = question.columns
    if isinstance(law, CountsLaw):
        columns = [Column(c.k, c.law.of_classes(np.flatnonzero(present).tolist())) for c in columns]
    number = (np.cumsum(present) - 1).astype(np.int32)
    return replace(
        question, codes=number[question.codes], n_classes=int(present.sum()), columns=columns
    )


def without_samples(order: NeighborOrder, keep: NDArray[np.bool_]) -> NeighborOrder:
    """The complete order of the samples that are kept, numbered anew."""
    lengths = np.diff(order.indptr)
    rows = np.repeat(keep, lengths)
    left = order.where(rows & keep[order.flat_indices])
    number = np.cumsum(keep) - 1
    counts = np.diff(left.indptr)[keep]
    return replace(
        left,
        indptr=np.concatenate([[0], np.cumsum(counts)]),
        flat_indices=number[left.flat_indices].astype(np.int32),
        depth=int(counts.min()),
        n_candidates=int(keep.sum()) - 1,
    )

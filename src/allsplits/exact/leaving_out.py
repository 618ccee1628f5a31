"""Scores when a sample, or a whole group, is gone from the data: the one entry for both ways.

Samples are struck from all rows in one pass (`jackknife`). Where there is no such pass (whole
groups, Fractions) each unit is left out in turn: the orders without it, the smaller law, the same
solver. The search is not repeated.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.answer import ScoresWithout
from allsplits.exact.jackknife import solve_without_one
from allsplits.exact.masses import Column
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.question import Question
from allsplits.exact.solve import run_solver, solver_for
from allsplits.exact.struck_votes import has_voters
from allsplits.orders import NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.splits import GroupLaw


def scores_without_one(neighbors: Neighbors, question: Question) -> ScoresWithout | None:
    """Scores of all columns without each unit; None where law and vote have no such answer.

    Units are the samples, or the groups of a law of whole groups.
    """
    law = question.columns[0].law
    if question.outside:
        # The questions are no samples: nothing is known of other samples from the same source.
        return None
    if not question.options.exact and not isinstance(law, GroupLaw):
        solver = solve_without_one(question)
        return None if solver is None else run_solver(neighbors, question, solver).without
    if law.kind not in _BY_LEAVING_OUT or question.exclusion is not None:
        return None
    return _leave_out_each(neighbors, replace(question, want_samples=False))


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
    )


def _without(question: Question, keep: NDArray[np.bool_], unit: int) -> Question:
    """The question of the samples that are left."""
    law = question.columns[0].law
    if not isinstance(law, GroupLaw) and question.n_classes:
        unit = int(question.codes[unit])
    columns = []
    for column in question.columns:
        at_least = 1 if question.vote == "ranked" else column.k
        columns.append(Column(column.k, column.law.without_one(unit, at_least)))
    return replace(
        question,
        codes=question.codes[keep] if question.n_classes else question.codes,
        targets=question.targets if question.n_classes else question.targets[keep],
        columns=columns,
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

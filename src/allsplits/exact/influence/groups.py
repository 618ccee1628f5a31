"""What whole groups do: a patient, a source, an annotator in training, or left out.

Of the other groups, a of M are in training, all choices alike. With P the chance that a question is
answered right and D the same without group G, a of the M - 1 others being drawn, the influence of G
is (P - D) · M/a. Each group is left out in turn; the search is not repeated. All questions count
alike, whatever the size of their groups.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.answer import Answer
from allsplits.exact.leaving_out import without_samples
from allsplits.exact.masses import Column
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.question import Question
from allsplits.exact.solve import solver_for
from allsplits.exceptions import InvalidInputError
from allsplits.orders import NeighborOrder
from allsplits.orders.order import concatenate
from allsplits.orders.protocol import whole_order
from allsplits.splits import GroupLaw


def check_groups_left_out(law: GroupLaw, k: int, ranked: bool) -> None:
    """Raise if no other group is ever left out, or too few voters remain."""
    n_groups = len(law.group_sizes)
    if law.n_train > n_groups - 2:
        raise InvalidInputError(
            "cv must leave out another group beside the one that is tested; got "
            f"{law}. Pass LeavePGroupsOut(2) or GroupShuffleSplit with fewer training groups"
        )
    if not ranked and k > law.smallest_training_set:
        raise InvalidInputError(
            f"n_neighbors must be at most {law.smallest_training_set} ({law}); got {k}"
        )


def group_values(neighbors: Neighbors, question: Question) -> Answer:
    """Values of all groups; columns are the groups."""
    law: GroupLaw = question.columns[0].law
    k, n_groups = question.columns[0].k, len(law.group_sizes)
    question = replace(question, want_samples=True)
    order = _complete(neighbors, question)
    keeps = [np.ones(law.n_samples, dtype=bool)]
    keeps += [law.groups != group for group in range(n_groups)]
    answers = []
    with progress_bar(question.options.progress, "values of groups", len(keeps)) as step:
        for keep in keeps:
            groups = np.unique(law.groups[keep], return_inverse=True)[1].astype(np.int32)
            # Of the test groups only the one that asks matters.
            smaller = replace(
                question,
                codes=question.codes[keep],
                columns=[Column(k, GroupLaw(groups, law.n_train, 1))],
            )
            solver = solver_for(smaller)
            rows = order if keep.all() else without_samples(order, keep)
            solver.total.add(solver.part(rows, thread_count(question.options.n_jobs)))
            answers.append(solver.total.finish())
            step(1)
    share = Fraction(law.n_train, n_groups - 1)
    return _from_answers(answers, keeps, share)


def _complete(neighbors: Neighbors, question: Question) -> NeighborOrder:
    blocks = neighbors.blocks(question.n_samples - 1, whole_order)
    return concatenate([part for block in blocks for part in block.parts])


def _from_answers(answers: list[Answer], keeps: list[np.ndarray], share: Fraction) -> Answer:
    n = len(keeps[0])
    lines = [_of_samples(answer) for answer in answers]
    every = np.array(lines[0], dtype=object)
    exact = answers[0].sample_fractions is not None
    values = []
    for keep, line in zip(keeps[1:], lines[1:], strict=True):
        changes = (every[keep] - np.array(line, dtype=object)).sum()
        values.append(changes / (share if exact else float(share)) / n)
    bound = 2 * max(float(answer.error_bound.max()) for answer in answers) / float(share)
    return Answer(
        np.array([float(value) for value in values]),
        np.full(len(values), bound),
        fractions=tuple(Fraction(value) for value in values) if exact else None,
        search=answers[0].search,
    )


def _of_samples(answer: Answer) -> list[Fraction] | list[float]:
    if answer.sample_fractions is not None:
        return [line[0] for line in answer.sample_fractions]
    if answer.sample_scores is None:
        raise AssertionError("sample values were asked for")
    scores: list[float] = answer.sample_scores[:, 0].tolist()
    return scores

"""Questions answered by all samples that are there: no law, one vote each."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.rows import RowValues
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.masses import Column, Prefixes
from allsplits.exact.question import Question
from allsplits.exact.weighted._kernels_means import QUADRATURE
from allsplits.exact.weighted.means import WeightedMeans
from allsplits.exact.weighted.tables import SizedLaw
from allsplits.exact.weighted.votes import WeightedVote
from allsplits.orders import NeighborOrder
from allsplits.splits import SizeLaw


def values_by_all(
    asked: Asked, numbers: NDArray[np.intp], order: NeighborOrder, n_voters: int, n_threads: int
) -> RowValues:
    """How right the rows of `order` are; `numbers` says which samples and tests its numbers are."""
    k, question = min(asked.k, n_voters), asked.question
    if question.n_classes:
        question = replace(question, codes=question.codes[numbers])
    else:
        question = replace(question, targets=question.targets[numbers])
    if question.weights is not None:
        return _weighted(question, Column(k, SizeLaw.of_size(n_voters, n_voters).without_tests()),
                         order, n_threads)  # fmt: skip
    masses = np.zeros((1, k + 1))
    masses[0, k] = 1.0
    prefixes = Prefixes(np.array([k]), masses, np.zeros(1), k)
    if question.vote == "mean":
        values = -MeanErrors(question.targets, prefixes, question.options.average)(order, n_threads)
    elif question.vote == "ranked":
        values = RankedVote(prefixes, question.options).right(order, question.codes, n_threads)
    else:
        vote = MajorityVote(prefixes, question.n_classes, question.options)
        values = vote.right(order, question.codes, n_threads)
    return RowValues(values[:, 0])


def _weighted(
    question: Question, column: Column, order: NeighborOrder, n_threads: int
) -> RowValues:
    if question.vote == "weighted":
        vote = WeightedVote(question, SizedLaw(column.law, question.n_classes), [column.k])
        low, high = vote.bounds(order, n_threads)[:, :, 0, 0].T
        return RowValues((low + high) / 2, (high - low) / 2)
    losses = WeightedMeans.of(question.with_columns([column])).errors(order, n_threads)[:, 0]
    return RowValues(-losses, QUADRATURE * losses)

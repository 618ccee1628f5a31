"""Questions from outside, answered by all samples that are there: no law, one vote each."""

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.sums import question_weights
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.masses import Prefixes
from allsplits.orders import NeighborOrder


def score_by_all(
    asked: Asked, keep: NDArray[np.intp], order: NeighborOrder, n_threads: int
) -> float:
    """The score of the tests if the samples `keep` answer; `order` has the tests' neighbours.

    They are numbered as in `keep`, the tests after them.
    """
    k = min(asked.k, len(keep))
    masses = np.zeros((1, k + 1))
    masses[0, k] = 1.0
    prefixes = Prefixes(np.array([k]), masses, np.zeros(1), k)
    tests = np.arange(asked.n_samples, len(asked.codes))
    numbers, options = np.concatenate([keep, tests]), asked.question.options
    if asked.question.vote == "mean":
        values = -MeanErrors(asked.targets[numbers], prefixes, options.average)(order, n_threads)
    elif asked.question.vote == "ranked":
        values = RankedVote(prefixes, options).right(order, asked.codes[numbers], n_threads)
    else:
        vote = MajorityVote(prefixes, asked.n_classes, options)
        values = vote.right(order, asked.codes[numbers], n_threads)
    return float(values[:, 0] @ question_weights(asked)[tests])

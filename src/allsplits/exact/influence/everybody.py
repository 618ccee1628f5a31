"""Questions answered by all samples that are there: no law, one vote each."""

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.influence.asked import Asked
from allsplits.exact.laws.fixed_size.majority import MajorityVote
from allsplits.exact.laws.fixed_size.mean import MeanErrors
from allsplits.exact.laws.fixed_size.ranked import RankedVote
from allsplits.exact.masses import Prefixes
from allsplits.orders import NeighborOrder


def values_by_all(
    asked: Asked, numbers: NDArray[np.intp], order: NeighborOrder, n_voters: int, n_threads: int
) -> NDArray[np.float64]:
    """How right the rows of `order` are; `numbers` says which samples and tests its numbers are."""
    k = min(asked.k, n_voters)
    masses = np.zeros((1, k + 1))
    masses[0, k] = 1.0
    prefixes = Prefixes(np.array([k]), masses, np.zeros(1), k)
    options = asked.question.options
    if asked.question.vote == "mean":
        values = -MeanErrors(asked.targets[numbers], prefixes, options.average)(order, n_threads)
    elif asked.question.vote == "ranked":
        values = RankedVote(prefixes, options).right(order, asked.codes[numbers], n_threads)
    else:
        vote = MajorityVote(prefixes, asked.n_classes, options)
        values = vote.right(order, asked.codes[numbers], n_threads)
    found: NDArray[np.float64] = values[:, 0]
    return found

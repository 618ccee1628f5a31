"""Law × vote → the probability of every prediction, in closed form."""

import allsplits._kernel_cache  # noqa: F401 - before any file of kernels
from allsplits.exact.answer import Answer, ScoresWithout
from allsplits.exact.ballots import ONLY_WINNERS, Ballots, log_shares
from allsplits.exact.kernel_types import BallotWants
from allsplits.exact.masses import Column
from allsplits.exact.neighbors import Neighbors
from allsplits.exact.pairs.result import GivenSplit, SplitSpread
from allsplits.exact.question import Exclusion, Options, Question, Within
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.solve import SUPPORTED, laws_of, solve, solve_together, solver_for
from allsplits.exact.voters import Voters
from allsplits.exact.weighted.weights import VoteWeights

__all__ = [
    "ONLY_WINNERS",
    "SUPPORTED",
    "Answer",
    "BallotWants",
    "Ballots",
    "Column",
    "Exclusion",
    "GivenSplit",
    "Neighbors",
    "Options",
    "Question",
    "RetrievalScore",
    "ScoresWithout",
    "SplitSpread",
    "VoteWeights",
    "Voters",
    "Within",
    "laws_of",
    "log_shares",
    "solve",
    "solve_together",
    "solver_for",
]

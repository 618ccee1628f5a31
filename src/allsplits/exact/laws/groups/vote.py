"""Whole groups kept together: leave-group-out and shuffled groups, any k.

The walk branches once for every group that is met before k voters are found, so it costs about
2^(groups met) per sample: cheap for groups of several samples, and for few groups left out.
"""

import numpy as np
from numpy.typing import NDArray

from allsplits._threads import map_row_ranges
from allsplits.exact.answer import Answer, FromRows, Solver, answer_from_rows
from allsplits.exact.effort import group_seconds
from allsplits.exact.kernel_types import Rows
from allsplits.exact.laws.groups._kernels import GroupDraws, Groups, group_scores
from allsplits.exact.laws.groups._kernels_outcomes import Ballot, VoteRule, tie_work
from allsplits.exact.laws.groups.fractions import solve_in_fractions
from allsplits.exact.question import Question, own_rows, sample_weights
from allsplits.exact.ties import legendre_rules
from allsplits.exceptions import UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF, NeighborOrder
from allsplits.splits import GroupLaw

Floats = NDArray[np.float64]

#: Entries of the table that weighs unequal test sets.
_LARGEST_TABLE = 1 << 24
#: What a long run is told.
CHEAPER = "fewer neighbours, and fewer or larger groups left out"


class GroupVote:
    """Values of the rows of a block, and in a last column the share of splits that test the row.

    That share is by the size of their test sets. Questions from outside are a group of their own,
    which is never in training.
    """

    def __init__(self, question: Question, law: GroupLaw) -> None:
        self.question, self.law = question, law
        sizes, n_groups = law.group_sizes, len(law.group_sizes)
        ks = np.array([column.k for column in question.columns])
        self.k_max = int(ks.max())
        self.constant = law.n_test <= 1 or len(set(sizes.tolist())) == 1
        self.three_ways = not self.constant and law.n_train + law.n_test < n_groups
        self.largest_test = int(np.sort(sizes)[-law.n_test :].sum())
        # Whoever is left out, k voters are found this far out.
        left_out = int(np.sort(sizes)[law.n_train - n_groups :].sum())
        self.depth = min(question.n_candidates, self.k_max + left_out)
        if self.k_max > law.smallest_training_set:
            self.depth = question.n_candidates
        self.groups = law.groups
        if question.outside:
            outsiders = np.full(question.n_questions, n_groups, dtype=law.groups.dtype)
            self.groups, sizes = np.append(law.groups, outsiders), np.append(sizes, 1)
        options = question.options
        places = question.places if question.vote == "ballot" else None
        self.width = question.width if places is None else places.width
        self.quadrature = legendre_rules(self.k_max // 2 + 1 if options.share else 0)
        ranked = question.vote == "ranked"
        rule = VoteRule(question.wants_classes, ranked, options.share, places)
        self.ballot = Ballot(rule, ks, self.k_max, question.n_classes)
        self.draws = GroupDraws(
            sizes, law.n_train, max(law.n_test, 1), self.depth, options.average, self.constant,
            self.three_ways, self.largest_test,
        )  # fmt: skip

    def check_size(self) -> None:
        """Raise if test sets of unequal size are too many to weigh."""
        law, n_groups = self.law, len(self.law.group_sizes)
        if self.constant or n_groups * law.n_test * self.largest_test <= _LARGEST_TABLE:
            return
        raise UnsupportedError(
            f"{law.n_test} test groups of unequal size out of {n_groups} groups ({len(law.groups)} "
            "samples) are too many to weigh the splits by the size of their test sets; leave fewer "
            "groups out (LeaveOneGroupOut, LeavePGroupsOut(2)) or use groups of equal size"
        )

    @property
    def rounding(self) -> float:
        """Bound on rounding errors: a factor for each group, the sums over votes."""
        votes = 8 * self.k_max * (self.question.n_classes + self.k_max)
        return (64 * len(self.law.group_sizes) + votes + 64) * UNIT_ROUNDOFF

    def weights(self, values: Floats) -> Floats:
        """What each question counts: splits, or the classes if that is asked for, count equally."""
        if self.question.outside:
            return sample_weights(self.question)
        return class_balance(self.question, values[:, self.width].copy())

    def seconds(self) -> float:
        """What the walks of all rows take on one core, at most."""
        n_others = len(self.draws.sizes) - 1
        n_test = self.law.n_test - 1 if self.three_ways else 0
        return group_seconds(
            self.question.n_questions, n_others, self.law.n_train, n_test, self.k_max
        )

    def __call__(self, order: NeighborOrder, n_threads: int) -> NDArray[np.float64]:
        """Values of the rows of a block."""
        codes, groups = self.question.codes, self.groups
        numbers, neighbors = own_rows(order), order.flat_indices
        rows = Rows(order.indptr, codes[neighbors], order.tied, codes[numbers])
        of_groups = Groups(groups[neighbors], groups[numbers])
        out = np.zeros((order.n_samples, self.width + 1))
        has_ties = self.draws.average and bool(order.tied.any())

        def score(start: int, stop: int) -> None:
            work = None
            if has_ties:
                work = tie_work(
                    self.ballot.n_classes, self.k_max, self.quadrature, self.ballot.rule
                )
            group_scores(rows, of_groups, start, stop, self.draws, self.ballot, work, out)

        map_row_ranges(score, order.n_samples, n_threads, smallest=8)
        return out


def solve_groups(question: Question) -> Solver:
    """Equal votes or recall@R; the columns' k are the voters or the ranks."""
    law: GroupLaw = question.columns[0].law
    if question.options.exact:
        return solve_in_fractions(question, law)
    vote = GroupVote(question, law)
    vote.check_size()

    def finish(values: Floats) -> Answer:
        weight = vote.weights(values)
        right = np.ascontiguousarray(values[:, : vote.width])
        return answer_from_rows(question, right, weight, vote.rounding)

    total = FromRows(question, finish, width=vote.width + 1)
    return Solver(vote.depth, vote, total, vote.seconds(), CHEAPER)


def class_balance(question: Question, weight: Floats) -> Floats:
    """Let classes count equally, if that is asked for."""
    if not question.balanced:
        return weight
    per_class = np.bincount(question.codes, weights=weight, minlength=question.n_classes)
    balanced: Floats = weight / (per_class[question.codes] * question.n_classes)
    return balanced

"""The one table of influences: which method, law and vote have one, and how it is computed."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.effort import majority_seconds, weighted_shapley_seconds
from allsplits.exact.influence.asked import Asked
from allsplits.exact.influence.class_counts import (
    candidate_pools,
    class_counts_influences,
    contrast,
)
from allsplits.exact.influence.groups import check_groups_left_out
from allsplits.exact.influence.rows import InfluencePart, ListByList
from allsplits.exact.influence.sizes import MassPair, law_weights
from allsplits.exact.influence.soft import SoftShapley
from allsplits.exact.influence.vote_masses import (
    MajorityInfluences,
    masses_of,
    mean_influences,
    ranked_influences,
)
from allsplits.exact.influence.weighted import (
    weighted_class_lists,
    weighted_mean_lists,
    weighted_vote_lists,
)
from allsplits.exact.laws.fixed_size.majority import VoteTable
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.orders import UNIT_ROUNDOFF
from allsplits.splits import GroupLaw

Floats = NDArray[np.float64]

#: Votes in which neighbours count by their distance.
WEIGHTED = ("weighted", "weighted mean")
#: Pairs of a question and a candidate for which complete orders are still made.
MOST_PAIRS = 4_000_000_000
#: Seconds that Shapley's values of weighted votes may take.
MOST_SECONDS = 6 * 3600.0


@dataclass(frozen=True, eq=False)
class Influences:
    """How influences are computed.

    Attributes
    ----------
    depth : int
        How deep the orders must be.
    part : InfluencePart
        Rows of a block -> what their candidates do.
    constants : array
        What is added to all influences on each question, at the place of its number.
    bound : float
        No influence is off by more.
    seconds : float
        What all rows take on one core, roughly.
    """

    depth: int
    part: InfluencePart
    constants: Floats
    bound: float
    seconds: float


def check_asked(asked: Asked) -> None:
    """Raise if method, law and vote have no influences, or too many pairs are asked for."""
    vote = asked.question.vote
    if vote in WEIGHTED:
        _check_weighted(asked)
    if asked.method == "influence":
        _check_law(asked)
        return
    if asked.method == "soft_shapley" and vote != "majority":
        raise UnsupportedError(
            "method='soft_shapley' is for the votes of a KNeighborsClassifier: pass one, without "
            "scoring='recall@R', or use method='shapley'"
        )
    if asked.k > asked.n_candidates:
        raise InvalidInputError(
            f"n_neighbors must be at most {asked.n_candidates}, the number of candidates; got "
            f"{asked.k}"
        )
    n_questions = asked.question.n_questions
    if asked.method != "banzhaf" and n_questions * asked.n_candidates > MOST_PAIRS:
        raise InvalidInputError(
            f"method={asked.method!r} needs complete orders, {n_questions:,} questions × "
            f"{asked.n_candidates:,} candidates, and no more than {MOST_PAIRS:,} pairs are taken: "
            f"pass at most {int(MOST_PAIRS**0.5):,} samples, or fewer questions (X_test), or "
            "method='banzhaf' or 'influence', which need the near neighbours only"
        )


def _check_weighted(asked: Asked) -> None:
    """Complete orders of weighted votes, each list valued anew: only of few samples."""
    if asked.method == "soft_shapley":
        raise UnsupportedError(
            "method='soft_shapley' is for votes of equal weight: pass weights='uniform', or use "
            "method='shapley', the value of the weighted vote"
        )
    if isinstance(asked.law, GroupLaw) and asked.method == "influence":
        raise UnsupportedError(
            "weights must be 'uniform' for values of whole groups: weighted votes under groups "
            "have no formula here. totals(groups) adds up the values of samples"
        )
    if asked.method == "shapley" and _shapley_seconds(asked, asked.n_candidates) > MOST_SECONDS:
        fit = asked.n_candidates
        while fit > 1 and _shapley_seconds(asked, fit) > MOST_SECONDS:
            fit -= 1
        raise InvalidInputError(
            "method='shapley' with weighted votes needs complete orders, and values each of them "
            f"without every candidate in turn: that is done for up to {fit:,} candidates with "
            f"n_neighbors={asked.k}; got {asked.n_candidates:,}. Pass fewer samples or neighbours, "
            "or weights='uniform', or method='banzhaf' or 'influence', which need the near "
            "neighbours only"
        )


def _shapley_seconds(asked: Asked, n_candidates: int) -> float:
    """With so many candidates; samples that ask are as many and one more."""
    n_rows = asked.question.n_questions if asked.outside else n_candidates + 1
    means = asked.question.vote == "weighted mean"
    return weighted_shapley_seconds(n_rows, n_candidates, asked.k, means)


def _check_law(asked: Asked) -> None:
    law, vote = asked.law, asked.question.vote
    if isinstance(law, GroupLaw):
        _check_group_law(asked, law)
    elif law.kind == "class counts" and vote in ("majority", "ranked", "weighted"):
        _check_class_counts(asked)
    elif law.kind not in ("fixed size", "independent draws"):
        raise UnsupportedError(
            f"cv ({law}) has no influences: pass KFold, LeavePOut, ShuffleSplit, FixedSize, "
            "Bernoulli, stratified folds, ClassCounts or LeavePGroupsOut, or use method='shapley' "
            "or 'banzhaf', which need no cv"
        )
    elif _leaves_nobody_out(asked):
        raise InvalidInputError(
            f"cv must leave out another sample beside the one that is tested; got {law}, in which "
            "nobody else is ever missing, so that nobody's influence shows. Pass LeavePOut(2), "
            "ShuffleSplit or folds of two samples and more, or use method='shapley' or 'banzhaf'"
        )


def _leaves_nobody_out(asked: Asked) -> bool:
    if asked.law.kind == "independent draws":
        return asked.k >= asked.n_candidates
    return law_weights(asked.law, asked.n_candidates, asked.k) is None


def _check_group_law(asked: Asked, law: GroupLaw) -> None:
    if asked.outside:
        raise UnsupportedError(
            "X_test must be None for values of whole groups: their questions are the samples"
        )
    if asked.question.balanced:
        raise UnsupportedError(
            "scoring='balanced_accuracy' has no values of whole groups: use 'accuracy'"
        )
    check_groups_left_out(law, asked.k, asked.question.vote == "ranked")


def _check_class_counts(asked: Asked) -> None:
    found, pools = contrast(asked, float), candidate_pools(asked)
    tested = np.array([[float(w) for w in line] for line in asked.class_weights]).sum(axis=0) > 0
    there = (pools > 0) & tested[:, None]
    for what, wrong in (
        ("never in training", there & (found.inside == 0)),
        ("always in training", there & (found.less.sum(axis=0) == 0)),
    ):
        if wrong.any():
            own, gone = (int(each[0]) for each in np.nonzero(wrong))
            raise InvalidInputError(
                f"cv must take samples into training and leave them out; got {asked.law}, in which "
                f"samples of class number {gone} are {what} when one of class number {own} is "
                "tested, so that their influence does not show. Pass ShuffleSplit(test_size=0.2) "
                "or fewer folds, or use method='shapley' or 'banzhaf'"
            )


def influences(asked: Asked) -> Influences:
    """How the influences of a question are computed; it has been checked."""
    n, N = asked.n_samples, asked.n_candidates
    if asked.method == "soft_shapley":
        soft = SoftShapley(asked.codes, asked.k, asked.question.options.average)
        nobody = np.zeros(len(asked.codes))
        return Influences(N, soft, nobody, (4 * N + 8) * UNIT_ROUNDOFF, 1e-8 * n * N)
    if asked.question.vote in WEIGHTED:
        return _weighted(asked)
    if asked.by_class:
        part, vote = class_counts_influences(asked)
        depth = min(vote.depth + 1, N)
        each = 1.25 * asked.question.options.tol + vote.rounding
        by_lists = part if isinstance(part, ListByList) else part.by_lists
        bound = 2 * each * float(by_lists.votes.factors.max())
        seconds = vote.seconds() * (3 + (depth // 2 if part is by_lists else 2))
        return Influences(depth, part, np.zeros(len(asked.codes)), bound, seconds)
    masses = masses_of(asked)
    depth = min(masses.depth, N)
    seconds = majority_seconds(n, depth, asked.question.n_classes, asked.k)
    bound, nobody = _bound(asked, masses), _constants(asked, masses.empty)
    if asked.question.vote == "majority":
        every = MajorityInfluences(masses, asked.codes, asked.n_classes, asked.question.options)
        return Influences(depth, every, nobody, bound, 2 * seconds)
    each = 5e-9 * n * depth
    if asked.question.vote == "mean":
        return Influences(depth, mean_influences(asked, masses), nobody, bound, 2 * each)
    ranked = ranked_influences(asked, masses)
    return Influences(depth, ranked, nobody, bound, each * (3 + depth // 2))


def _weighted(asked: Asked) -> Influences:
    """Every list of neighbours is valued anew."""
    nobody = np.zeros(len(asked.codes))
    if asked.question.vote == "weighted mean":
        masses = masses_of(asked)
        lists, nobody = weighted_mean_lists(asked, masses), _constants(asked, masses.empty)
    elif asked.by_class:
        lists = weighted_class_lists(asked)
    else:
        lists = weighted_vote_lists(asked)
    return Influences(lists.depth, lists.part, nobody, lists.bound, lists.seconds)


def _constants(asked: Asked, empty: float) -> Floats:
    """What the score of nobody adds: 0 for classes; for targets the mean of all is predicted."""
    if asked.question.n_classes:
        return np.zeros(len(asked.codes))
    N, y = asked.n_candidates, asked.targets
    total = y[: asked.n_samples].sum()
    means = (total - y) / N if not asked.outside else np.full(len(y), total / N)
    constants: Floats = -empty * (y - means) ** 2
    return constants


def _bound(asked: Asked, masses: MassPair) -> float:
    """What was cut off, and rounding: every value is a sum of positive terms."""
    if asked.question.vote == "mean":
        worst = float(np.ptp(asked.targets)) ** 2
        rounding = (24 * masses.depth + 64) * UNIT_ROUNDOFF
        return (masses.missing + rounding * masses.total) * worst
    rounding = max(
        VoteTable.rounding(each, max(asked.n_classes, 2)) for each in (masses.whole, masses.less)
    )
    # Running sums are taken off and added again.
    return masses.missing + (rounding + 8 * masses.depth * UNIT_ROUNDOFF) * masses.total

"""The one table of supported pairs of law and vote."""

from __future__ import annotations

from collections.abc import Callable

from allsplits.exact.laws.bootstrap.vote import solve_bootstrap
from allsplits.exact.laws.class_counts.vote import solve_class_hits, solve_class_majority
from allsplits.exact.laws.episodes.vote import solve_episodes
from allsplits.exact.laws.fixed_size.mean import solve_mean
from allsplits.exact.laws.fixed_size.vote import solve_majority, solve_ranked
from allsplits.exact.laws.groups.vote import solve_groups
from allsplits.exact.question import Answer, Problem, Solver, run
from allsplits.exact.weighted.means import solve_weighted_mean
from allsplits.exact.weighted.votes import solve_weighted
from allsplits.exceptions import UnsupportedError

__all__ = ["SUPPORTED", "solve"]

#: (kind of law, kind of vote) -> how it is solved.
SUPPORTED: dict[tuple[str, str], Callable[[Problem], Solver]] = {
    ("fixed size", "majority"): solve_majority,
    ("fixed size", "ranked"): solve_ranked,
    ("fixed size", "mean"): solve_mean,
    ("fixed size", "weighted"): solve_weighted,
    ("fixed size", "weighted mean"): solve_weighted_mean,
    ("independent draws", "majority"): solve_majority,
    ("independent draws", "ranked"): solve_ranked,
    ("independent draws", "mean"): solve_mean,
    ("draws with replacement", "majority"): solve_bootstrap,
    ("draws with replacement", "ranked"): solve_bootstrap,
    ("class counts", "majority"): solve_class_majority,
    ("class counts", "ranked"): solve_class_hits,
    ("class counts", "weighted"): solve_weighted,
    ("episodes", "majority"): solve_episodes,
    ("whole groups", "majority"): solve_groups,
    ("whole groups", "ranked"): solve_groups,
}


#: What users call the kinds of laws, and the kinds of votes.
_AS_CV = {
    "fixed size": "KFold, LeavePOut, ShuffleSplit or FixedSize",
    "independent draws": "Bernoulli",
    "draws with replacement": "Bootstrap",
    "class counts": "stratified folds or ClassCounts",
    "episodes": "Episodes",
    "whole groups": "LeavePGroupsOut or GroupShuffleSplit",
}
_AS_VOTE = {
    "majority": "a KNeighborsClassifier with weights='uniform'",
    "ranked": "scoring='recall@R'",
    "mean": "a KNeighborsRegressor with weights='uniform'",
    "weighted": "a KNeighborsClassifier with weights='distance' or a function",
    "weighted mean": "a KNeighborsRegressor with weights='distance' or a function",
}


def solve(problem: Problem) -> Answer:
    """Answer a problem, or say what could be asked instead."""
    law, vote = problem.columns[0].law.kind, problem.vote
    if (law, vote) not in SUPPORTED:
        other_cv = [_AS_CV[kind] for kind, known in SUPPORTED if known == vote]
        other_votes = [_AS_VOTE[known] for kind, known in SUPPORTED if kind == law]
        raise UnsupportedError(
            f"cv ({_AS_CV[law]}) has no exact average for {_AS_VOTE[vote]}. Pass as cv "
            f"{', '.join(other_cv)}; or keep cv for {', '.join(other_votes)}"
        )
    return run(problem, SUPPORTED[law, vote](problem.without_data()))

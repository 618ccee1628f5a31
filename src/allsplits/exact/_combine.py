"""The one table of supported pairs of law and vote."""

from __future__ import annotations

from collections.abc import Callable

from allsplits.exact.bootstrap import solve_bootstrap
from allsplits.exact.classwise import solve_class_hits, solve_class_majority
from allsplits.exact.episodes import solve_episodes
from allsplits.exact.fixed_size import solve_majority, solve_ranked
from allsplits.exact.groups import solve_groups
from allsplits.exact.problem import Answer, Problem, Solver, run
from allsplits.exact.regression import solve_mean
from allsplits.exact.weighted import solve_weighted
from allsplits.exact.weighted_mean import solve_weighted_mean
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
    ("episodes", "majority"): solve_episodes,
    ("whole groups", "majority"): solve_groups,
    ("whole groups", "ranked"): solve_groups,
}


def solve(problem: Problem) -> Answer:
    """Answer a problem, or list what can be answered."""
    pair = (problem.columns[0].law.kind, problem.vote)
    if pair not in SUPPORTED:
        known = "; ".join(f"{law} with {vote}" for law, vote in SUPPORTED)
        instead = ""
        if problem.weights is not None:
            instead = ". Use weights='uniform', or a law of fixed size such as cv=KFold(5)"
        raise UnsupportedError(
            f"a law of {pair[0]} with a {pair[1]} vote has no exact formula here; "
            f"supported: {known}{instead}"
        )
    return run(problem, SUPPORTED[pair](problem.without_data()))

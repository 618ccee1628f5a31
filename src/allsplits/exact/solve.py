"""The one table of supported pairs of law and vote, and the one way to an answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._progress import progress_bar
from allsplits._threads import thread_count
from allsplits.exact.answer import Answer, Part, Solver, Total
from allsplits.exact.effort import warn_if_long
from allsplits.exact.neighbors import Neighbors, cut_rows
from allsplits.exact.question import Exclusion, Question
from allsplits.exceptions import REPLAY_INSTEAD, UnsupportedError
from allsplits.orders import NeighborOrder, SearchReport

#: (kind of law, kind of vote) -> who solves it, below `allsplits.exact`. Loaded when it is asked
#: for: importing the kernels of all of them takes longer than a small evaluation.
SUPPORTED = {
    ("fixed size", "majority"): "laws.fixed_size.vote:solve_majority",
    ("fixed size", "ranked"): "laws.fixed_size.vote:solve_ranked",
    ("fixed size", "retrieval"): "retrieval.solve:solve_sized_galleries",
    ("fixed size", "mean"): "laws.fixed_size.mean:solve_mean",
    ("fixed size", "weighted"): "weighted.votes:solve_weighted",
    ("fixed size", "weighted mean"): "weighted.means:solve_weighted_mean",
    ("independent draws", "majority"): "laws.fixed_size.vote:solve_majority",
    ("independent draws", "ranked"): "laws.fixed_size.vote:solve_ranked",
    ("independent draws", "mean"): "laws.fixed_size.mean:solve_mean",
    ("independent draws", "weighted"): "weighted.votes:solve_weighted",
    ("independent draws", "weighted mean"): "weighted.means:solve_weighted_mean",
    ("draws with replacement", "majority"): "laws.bootstrap.vote:solve_bootstrap",
    ("draws with replacement", "ranked"): "laws.bootstrap.vote:solve_bootstrap",
    ("draws with replacement", "mean"): "laws.bootstrap.mean:solve_bootstrap_mean",
    ("class counts", "majority"): "laws.class_counts.vote:solve_class_majority",
    ("class counts", "ranked"): "laws.class_counts.vote:solve_class_ranked",
    ("class counts", "retrieval"): "retrieval.solve:solve_counted_galleries",
    ("class counts", "mean"): "laws.class_counts.mean:solve_stratified_mean",
    ("class counts", "weighted"): "weighted.votes:solve_weighted",
    ("episodes", "majority"): "laws.episodes.vote:solve_episodes",
    ("episodes", "weighted"): "laws.episodes.weighted:solve_weighted_episodes",
    ("episodes", "ranked"): "laws.episodes.vote:solve_episodes",
    ("whole groups", "majority"): "laws.groups.vote:solve_groups",
    ("whole groups", "ranked"): "laws.groups.vote:solve_groups",
    ("whole groups", "mean"): "laws.groups.vote:solve_groups",
    ("whole groups", "weighted"): "laws.groups.weighted:solve_weighted_groups",
    ("whole groups", "weighted mean"): "laws.groups.weighted:solve_weighted_mean_groups",
    ("fixed size", "bias"): "laws.fixed_size.bias:solve_bias",
    ("independent draws", "bias"): "laws.fixed_size.bias:solve_bias",
    ("fixed size", "ballot"): "laws.fixed_size.ballots:solve_ballots",
    ("independent draws", "ballot"): "laws.fixed_size.ballots:solve_ballots",
    ("draws with replacement", "ballot"): "laws.bootstrap.ballots:solve_ballots",
    ("class counts", "ballot"): "laws.class_counts.ballots:solve_ballots",
    ("episodes", "ballot"): "laws.episodes.ballots:solve_ballots",
    ("whole groups", "ballot"): "laws.groups.ballots:solve_ballots",
    ("fixed size", "within"): "within.votes:solve_within",
    ("independent draws", "within"): "within.votes:solve_within",
    ("draws with replacement", "within"): "within.votes:solve_within",
    ("class counts", "within"): "within.votes:solve_within",
    ("episodes", "within"): "within.votes:solve_within",
    ("whole groups", "within"): "within.groups:solve_within_groups",
    ("whole groups", "mean within"): "within.groups:solve_mean_within_groups",
    ("fixed size", "mean within"): "within.means:solve_mean_within",
    ("independent draws", "mean within"): "within.means:solve_mean_within",
    ("draws with replacement", "mean within"): "within.means:solve_mean_within",
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
    "ballot": "scores of its votes (log-loss, Brier, …)",
    "ranked": "scoring='recall@R'",
    "retrieval": "a score of retrieval such as scoring='map@r'",
    "mean": "a KNeighborsRegressor with weights='uniform'",
    "bias": "the bias of a KNeighborsRegressor with weights='uniform'",
    "weighted": "a KNeighborsClassifier with weights='distance' or a function",
    "weighted mean": "a KNeighborsRegressor with weights='distance' or a function",
    "within": "a RadiusNeighborsClassifier",
    "mean within": "a RadiusNeighborsRegressor",
}
#: What is asked of a vote beside who wins, and other estimators: errors do not offer it instead.
_OF_VOTES = ("ballot", "bias", "within", "mean within")
#: What regressors predict: of classes they have none.
_MEANS = ("mean", "weighted mean", "bias", "mean within")


def laws_of(vote: str) -> str:
    """What `cv` may be for a vote, in words."""
    return ", ".join(_AS_CV[kind] for kind, known in SUPPORTED if known == vote)


def solver_for(question: Question) -> Solver:
    """How a question is solved, or what could be asked instead."""
    law, vote = question.columns[0].law.kind, question.vote
    if (law, vote) not in SUPPORTED:
        other_votes = [
            _AS_VOTE[known]
            for kind, known in SUPPORTED
            if kind == law and known not in _OF_VOTES and (known in _MEANS) == (vote in _MEANS)
        ]
        alone = vote == "bias"  # one more look at an evaluation, which has its cv
        keep = f"; or keep cv for {', '.join(other_votes)}" if other_votes and not alone else ""
        refused = question.within or alone or vote == "retrieval"
        replay = "" if refused else f" {REPLAY_INSTEAD}"
        raise UnsupportedError(
            f"cv ({_AS_CV[law]}) has no exact average for {_AS_VOTE[vote]}. Pass as cv "
            f"{laws_of(vote)}{keep}.{replay}"
        )
    module, _, name = SUPPORTED[law, vote].partition(":")
    solver: Solver = getattr(import_module(f"allsplits.exact.{module}"), name)(question)
    return solver


def solve(neighbors: Neighbors, *questions: Question) -> list[Answer]:
    """Answer questions about the same samples; several share one search where it can be kept."""
    solvers = [solver_for(question) for question in questions]
    if len(solvers) > 1:
        neighbors.expect(max(solver.depth for solver in solvers))
    return [run_solver(neighbors, *pair) for pair in zip(questions, solvers, strict=True)]


def solve_together(neighbors: Neighbors, questions: list[Question]) -> list[Answer]:
    """Answer a few questions in one pass: each block of rows is found once, and asked them all.

    What each contributes is held until the end, so long curves go one after the other (`solve`).
    """
    if len(questions) == 1:
        return solve(neighbors, *questions)
    solvers = [solver_for(question) for question in questions]
    answers: list[Answer] = []

    def finish() -> Answer:
        answers.extend(solver.total.finish() for solver in solvers)
        scores = np.concatenate([answer.scores for answer in answers])
        return Answer(scores, np.zeros_like(scores))

    both = Solver(
        max(solver.depth for solver in solvers),
        _Together([solver.part for solver in solvers], [solver.depth for solver in solvers]),
        _AllTotals([solver.total for solver in solvers], finish),
        sum(solver.seconds for solver in solvers),
        max(solvers, key=lambda solver: solver.seconds).cheaper,
    )
    search = run_solver(neighbors, questions[0], both).search
    return [replace(answer, search=search) for answer in answers]


@dataclass(frozen=True, eq=False)
class _Together:
    """Parts of several solvers, each with rows as deep as it needs them."""

    parts: list[Part[Any]]
    depths: list[int]

    def __call__(self, order: NeighborOrder, n_threads: int) -> list[Any]:
        pairs = zip(self.parts, self.depths, strict=True)
        return [part(cut_rows(order, depth), n_threads) for part, depth in pairs]


class _AllTotals(NamedTuple):
    """Totals of several solvers."""

    totals: list[Total[Any]]
    finish: Callable[[], Answer]

    def add(self, found: list[Any]) -> None:
        """Add to each total what its part found."""
        for total, one in zip(self.totals, found, strict=True):
            total.add(one)


def run_solver(neighbors: Neighbors, question: Question, solver: Solver) -> Answer:
    """Sum up what the blocks of rows contribute."""
    options, part = question.options, solver.part
    warn_if_long(
        neighbors.seconds(solver.depth),
        0.0 if neighbors.counts_on_gpu(part) else solver.seconds,
        thread_count(options.n_jobs),
        solver.depth,
        solver.cheaper,
    )
    if question.exclusion is not None:
        part = _OfAllowed(part, question.exclusion, question.codes)
    reports: list[SearchReport] = []
    with progress_bar(
        options.progress, "exact average over all splits", question.n_questions
    ) as step:
        for block in neighbors.blocks(solver.depth, part):
            reports.append(block.search)
            for found in block.parts:
                solver.total.add(found)
            step(block.n_rows)
    answer = solver.total.finish()
    if not np.all(np.isfinite(answer.scores)):
        raise FloatingPointError(
            "a score came out as NaN or infinite: a number in between was too large or too small "
            "for floating point. This is a defect of allsplits, please report it; exact=True "
            "computes in integers"
        )
    return replace(answer, search=neighbors.report(reports))


@dataclass(frozen=True, eq=False)
class _OfAllowed:
    """The part of an order from which excluded candidates are taken first."""

    part: Part[Any]
    exclusion: Exclusion
    codes: NDArray[np.int32]

    def __call__(self, order: NeighborOrder, n_threads: int) -> Any:
        return self.part(self.exclusion.apply(order, self.codes), n_threads)

"""How far a task's score may be from another: without a sample, in one run, on one split.

What these need is loaded when they are asked: a first evaluation does without.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from allsplits.exceptions import UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.exact import GivenSplit, ScoresWithout, SplitSpread
    from allsplits.exact.halves import UnbiasedVariance
    from allsplits.model_selection._task import Task
    from allsplits.replays.given import SplitScore
    from allsplits.replays.spread import SpreadAndRuns


def without_one(task: Task, *, keep: bool = False) -> ScoresWithout | None:
    """The score of the estimator's k without each sample (or group) in turn.

    None where law, vote or score have no such pass. With `keep` what these change in each other's
    rows is kept, for comparisons.
    """
    if not task.is_plain:
        return None
    from allsplits.exact.leaving_out import scores_without_one

    return scores_without_one(task.neighbors, task.question(), keep=keep)


def unbiased_variance(task: Task, *, n_cuts: int, seed: int) -> UnbiasedVariance:
    """The unbiased variance of the score, where there is one."""
    _check_plain(task, "unbiased_variance")
    from allsplits.exact import halves

    return halves.unbiased_variance(task.neighbors, task.question(), n_cuts=n_cuts, seed=seed)


def split_spread(task: Task, *, method: str, n_runs: int, seed: int) -> SplitSpread:
    """How much the score of one run differs from the average over all."""
    _check_plain(task, "split_spread")
    from allsplits.replays import spread

    question = task.samples_question()
    return spread.split_spread(task.neighbors, question, method=method, n_runs=n_runs, seed=seed)


def spread_in_passing(task: Task) -> SplitSpread | None:
    """The same in a few seconds, for a sentence beside the score; None if it takes longer."""
    if not task.is_plain:
        return None
    from allsplits.replays import spread

    return spread.spread_in_passing(task.neighbors, task.samples_question())


def runs_in_passing(task: Task, n_runs: int) -> NDArray[np.float64] | None:
    """Scores of a few drawn runs, for a picture; None if that takes longer."""
    from allsplits.replays import spread

    return spread.runs_in_passing(task.neighbors, task.samples_question(), n_runs)


def split_beside_runs(
    task: Task, split: GivenSplit, *, n_runs: int, seed: int
) -> tuple[SplitScore, SpreadAndRuns]:
    """The score of one split, and of drawn ones with their spread."""
    from allsplits.replays import given, spread

    question = task.samples_question()
    found = given.score_split(task.neighbors, question, split)
    return found, spread.spread_and_runs(task.neighbors, question, n_runs=n_runs, seed=seed)


def _check_plain(task: Task, what: str) -> None:
    """Raise if the score is one of votes, or the number of voters random."""
    if task.settings.radius is not None:
        raise UnsupportedError(f"{what} is not known of votes within a radius")
    if task.exclusion is not None:
        raise UnsupportedError(f"{what} is not known where groups are excluded (exclude)")
    if not task.scoring.is_plain:
        raise UnsupportedError(
            f"{what} is known for 'accuracy', 'balanced_accuracy', 'recall@R' and "
            f"'neg_mean_squared_error'; got the score {task.scoring.name!r}"
        )

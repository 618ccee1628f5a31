"""`allsplits audit`: whether the split that somebody made was a lucky one."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source, load
from allsplits.cli._model import Model, count_in_words
from allsplits.cli._prepare import count_of
from allsplits.cli._screen import LOADING, Screen
from allsplits.cli._target import TargetKind
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.model_selection import Audit

_MOST_VALUES = 6
#: How tables write 1 and 0.
_NUMBERS = {"1", "0", "1.0", "0.0"}


class Like(StrEnum):
    """Which splits are like this one."""

    AUTO = "auto"
    STRATIFIED = "stratified"
    PLAIN = "plain"


class _Draws(NamedTuple):
    """Which splits to draw, and how many."""

    like: Like
    runs: int
    seed: int


@reads_table("row_names")
def audit(
    screen: Screen,
    source: Source,
    *,
    split: Annotated[
        str,
        typer.Option(
            metavar="COLUMN",
            help="The column that says who trains and who tests: train and test, true and false, "
            "or 1 and 0 (true and 1 train, unless the column is called after the test). Rows "
            "without a value are left out.",
        ),
    ],
    k: options.KNeighbors = 5,
    scoring: options.Scoring = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    metric: options.Metric = "minkowski",
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    like: Annotated[
        Like,
        typer.Option(
            metavar="|".join(Like),
            help="Splits to compare with: as many training rows of each class, or in all; auto "
            "reads it off the split.",
        ),
    ] = Like.AUTO,
    groups: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="Groups that stay together: as many groups for training."
        ),
    ] = None,
    runs: Annotated[int, typer.Option(metavar="N", min=100, help="Splits to draw.")] = 4000,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of these.")] = 0,
    json: options.Json = False,
) -> None:
    """Tell whether a split was lucky.

    The score of the split is set beside all splits like it: their average, exactly, how far single
    ones are from it, and how many of them score as high, or as low.

    \b
    Examples:
      allsplits audit flowers.csv --target species --split fold
      allsplits audit scans.parquet -t finding --split is_train --groups patient -k 1
      allsplits audit prices.csv -t price --split part --standardize --json
    """
    model = Model(metric, weights, p, scoring)
    labelled = load(screen, replace(source, split=split), task, metric=metric, groups=groups)
    train, test = read_split_column(labelled, split)
    found = _audited(screen, labelled, model.estimator(k, labelled.regression), (train, test),
                     _Draws(like, runs, seed), scoring)  # fmt: skip
    screen.note(*labelled.data.notes)
    if json:
        screen.json(_document(labelled, found))
    else:
        _show(screen, labelled, found, f"{model.metric}, k = {k}, {model.weights} weights")


def _audited(
    screen: Screen,
    labelled: Labelled,
    estimator: Any,
    split: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    draws: _Draws,
    scoring: str | None,
) -> Audit:
    with screen.waiting(LOADING), screen.noting(labelled.data.notes):
        from allsplits import audit_split

        return audit_split(
            estimator, labelled.data.X, labelled.y, *split, groups=labelled.data.groups,
            stratify=None if draws.like == Like.AUTO else draws.like == Like.STRATIFIED,
            scoring=scoring, n_runs=draws.runs, random_state=draws.seed, progress=screen.progress,
        )  # fmt: skip


def read_split_column(
    labelled: Labelled, column: str
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Who trains and who tests; says how true was read, and how many are in neither."""
    import numpy as np

    given = labelled.data.frame[column].to_list()
    words = np.array(["" if value is None else str(value).strip().lower() for value in given])
    kinds = Counter(words.tolist())
    kinds.pop("", None)
    if kinds and set(kinds) <= {"train", "test"}:
        train, test = words == "train", words == "test"
    elif kinds and (set(kinds) <= {"true", "false"} or set(kinds) <= _NUMBERS):
        of_test = "test" in column.lower() and "train" not in column.lower()
        chosen = np.isin(words, ["true", "1", "1.0"])
        train = ((words != "") & ~chosen) if of_test else chosen
        test = (words != "") & ~train
        what = "1" if set(kinds) <= _NUMBERS else "true"
        labelled.data.notes.append(f"{column}: {what} is read as {'test' if of_test else 'train'}")
    else:
        raise InvalidInputError(
            f"--split {column} must hold train and test, true and false, or 1 and 0, and nothing "
            f"for rows that are left out; got {_found(kinds)}"
        )
    if not train.any() or not test.any():
        raise InvalidInputError(
            f"--split {column} must have rows to train and rows to test; got {_found(kinds)}"
        )
    left_out = int(np.sum(words == ""))
    if left_out:
        labelled.data.notes.append(f"{count_of(left_out, 'row')} in neither part left out")
    return train, test


def _found(kinds: Counter[str]) -> str:
    shown = [f"{value} ({count_of(n, 'row')})" for value, n in kinds.most_common(_MOST_VALUES)]
    more = [f"{len(kinds) - _MOST_VALUES:,} more"] if len(kinds) > _MOST_VALUES else []
    return ", ".join([*shown, *more]) or "no value at all"


def _document(labelled: Labelled, found: Audit) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "scoring": found.scoring,
        "score": found.score,
        "mean": found.mean,
        "error_bound": found.evaluation.error_bound,
        "split_std": found.split_std,
        "split_std_sampled": found.spread.sampled,
        "z": found.z,
        "luck": found.luck,
        "luck_error": found.luck_error,
        "luck_sampled": found.sampled,
        "n_runs": len(found.run_scores),
        "test_mean": found.test_mean,
        "verdict": found.verdict,
        "n_train": found.n_train,
        "n_test": found.n_test,
        "law": str(found.law),
        "notes": labelled.data.notes,
    }


def _show(screen: Screen, labelled: Labelled, found: Audit, model: str) -> None:
    side, tail = ("above", "high") if found.z >= 0 else ("below", "low")
    far = f"{abs(found.z):.1f} standard deviations {side} the average" if found.z else "on it"
    sampled = f" (sampled from {found.spread.n_runs:,} splits)" if found.spread.sampled else ""
    screen.line(labelled.sentence())
    screen.print()
    screen.print(
        f"{found.scoring} {found.score:.4f} on this split: {count_of(found.n_train, 'row')} train, "
        f"{count_of(found.n_test, 'row')} test; {model}.\n"
        f"{found.mean:.4f} on average over all splits like it "
        f"({count_in_words(found.evaluation.n_splits)}), exactly: {found.law}.\n"
        f"Single splits differ by a standard deviation of {found.split_std:.4f}{sampled}: this one "
        f"is {far}.\n"
        f"{found.share_in_words.capitalize()} score as {tail}: {_VERDICTS[found.verdict]}.\n"
        f"Its test rows score {found.test_mean:.4f} on average over all training sets: "
        f"{found.test_mean - found.mean:+.4f} comes from which rows are tested, "
        f"{found.score - found.test_mean:+.4f} from which rows train."
    )


_VERDICTS = {
    "lucky": "a lucky split, the average is what to expect",
    "ordinary": "an ordinary split",
    "unlucky": "an unlucky split, the average is what to expect",
}

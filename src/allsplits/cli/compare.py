"""`allsplits compare`: which model is better on this data: of two, or of many files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source
from allsplits.cli._model import Model
from allsplits.cli._parse import Cv, parse_cv
from allsplits.cli._prepare import prepare
from allsplits.cli._read import STDIN, read_table
from allsplits.cli._screen import Screen, Table
from allsplits.cli._target import TargetKind
from allsplits.cli._test_file import TestFile, load_with_test, on_one_scale
from allsplits.cli.evaluate import evaluation_document
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.model_selection import Comparison, Evaluation, Interval, Standings


class _Contender(NamedTuple):
    """A model on a file, with its number of neighbours and what it is called."""

    model: Model
    labelled: Labelled
    k: int
    name: str


@reads_table("row_names")
def compare(
    screen: Screen,
    source: Source,
    *,
    others: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OTHERS]...",
            help="Other files of the same rows, in order: features of other models (embeddings).",
            show_default=False,
        ),
    ] = None,
    k: options.KNeighbors = 5,
    other_k: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Number of neighbours of the other model."),
    ] = None,
    metric: options.Metric = "minkowski",
    other_metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="Distance of the other model.")
    ] = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    other_weights: Annotated[
        options.Weighting | None,
        typer.Option(metavar="|".join(options.Weighting), help="Weights of the other model."),
    ] = None,
    other_features: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Features of the other model: the same rows, in order."),
    ] = None,
    cv: options.Cv = None,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A fixed test set, as in evaluate; with OTHERS one for each file, in their order.",
        ),
    ] = None,
    test_labels: options.TestLabels = None,
    scoring: options.Scoring = None,
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    confidence: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Confidence of the interval, between 0 and 1: 0.95 is 95 %."
        ),
    ] = 0.95,
    json: options.Json = False,
) -> None:
    """Compare models on the same rows: two, or many files.

    Two: the other model has what --other-… says, or the features of OTHERS, and is the same as the
    first in all else. The interval is the sampling noise of the paired difference.

    Many: each file in OTHERS is a model of its own. Those that could be best are tied for first;
    the intervals hold for all of them at once. All models are averaged over all splits.

    \b
    Examples:
      allsplits compare flowers.csv --target species --k 1 --other-k 15
      allsplits compare flowers.csv -t species --other-metric manhattan
      allsplits compare resnet.npy clip.npy dino.npy --labels labels.csv
    """
    from allsplits._validation import check_fraction

    check_fraction("--confidence", confidence)
    first = Model(metric, weights, p, scoring)
    second = Model(other_metric or metric, other_weights or weights, p, scoring)
    way = parse_cv(cv)
    files = [*(others or ()), *(() if other_features is None else (other_features,))]
    differs = (k, first) != (other_k or k, second)
    _check_files(source.file, files, differs)
    tests = _test_files(test or [], files)
    tested = TestFile.given(source, tests[0], test_labels)
    groups = way.column if way else None
    labelled = load_with_test(screen, source, task, tested, metric=metric, groups=groups)
    found = [_Contender(first, labelled, k, source.file)]
    for i, file in enumerate(files or [source.file]):
        features = labelled
        if files:
            features = _other_rows(screen, source, labelled, (file, tests[i + 1]), second.metric)
        found.append(_Contender(second, features, other_k or k, file))
    evaluations = _evaluated(screen, way, found)
    notes = list(dict.fromkeys(note for one in found for note in one.labelled.data.notes))
    screen.note(*notes)
    if len(found) > 2:
        _answer_many(screen, found, evaluations, confidence, notes if json else None)
    else:
        _answer_two(screen, found, evaluations, confidence, notes if json else None)


def _test_files(given: Sequence[str], files: Sequence[str]) -> list[str | None]:
    """The test file of each model."""
    n_models = 1 + len(files)
    if len(given) not in (0, n_models):
        raise InvalidInputError(
            f"--test must be given once for each of the {n_models} files, in their order; got "
            f"{len(given)}"
        )
    return list(given) or [None] * n_models


def _check_files(first: str, files: Sequence[str], differs: bool) -> None:
    """Raise unless the models differ, each of several files being one."""
    if not files and not differs:
        raise InvalidInputError(
            "give other files of the same rows to compare with, or the other model one of "
            "--other-k, --other-metric, --other-weights or --other-features that differs from the "
            "first"
        )
    if len(files) > 1 and differs:
        raise InvalidInputError(
            "--other-k, --other-metric and --other-weights are for two models; got "
            f"{1 + len(files)} files"
        )
    named = [first, *files]
    twice = next((file for file in files if named.count(file) > 1), None)
    if twice is not None and not (len(files) == 1 and differs):
        raise InvalidInputError(f"each file must be named once; got {twice} more than once")
    if STDIN in files:
        raise InvalidInputError("only the first file may be standard input (-)")


def _evaluated(
    screen: Screen, way: Cv | None, contenders: Sequence[_Contender]
) -> list[Evaluation]:
    found = []
    for one in contenders:
        task = one.model.task(screen, one.labelled, way, one.k)
        with screen.noting(one.labelled.data.notes):
            found.append(task.evaluate())
    return found


def _answer_two(
    screen: Screen,
    contenders: Sequence[_Contender],
    evaluations: Sequence[Evaluation],
    confidence: float,
    notes: list[str] | None,
) -> None:
    """The difference of two, as JSON where there are notes for it."""
    from allsplits import compare as compare_evaluations

    first, second = evaluations
    found = compare_evaluations(first, second, confidence=confidence)
    labelled = contenders[0].labelled
    names = [f"{one.name}, k = {one.k}, {_in_words(one.model)}" for one in contenders]
    if notes is None:
        _show(screen, labelled, found, names)
    else:
        screen.json(_document(labelled, found, names, notes))


def _answer_many(
    screen: Screen,
    contenders: Sequence[_Contender],
    evaluations: Sequence[Evaluation],
    confidence: float,
    notes: list[str] | None,
) -> None:
    """Who of many is first, as JSON where there are notes for it."""
    from allsplits import compare as compare_evaluations

    names = [one.name for one in contenders]
    first, second, third, *more = evaluations
    found = compare_evaluations(first, second, third, *more, names=names, confidence=confidence)
    labelled = contenders[0].labelled
    if notes is None:
        screen.line(labelled.sentence())
        screen.print()
        _show_standings(screen, found, f"k = {contenders[0].k}, {_in_words(contenders[0].model)}")
    else:
        screen.json(_standings_document(labelled, found, notes))


def _other_features(
    screen: Screen, source: Source, labelled: Labelled, file: str, metric: str
) -> Labelled:
    """The same rows and target with the features of another file."""
    with screen.waiting(f"reading {file}"):
        frame = read_table(file, None, source.header)
    if len(frame) != labelled.data.n_rows:
        raise InvalidInputError(
            f"{file} must have the rows of {source.file}, in order; got {len(frame):,} "
            f"rows for {labelled.data.n_rows:,}"
        )
    _check_same_target(frame, labelled, file, source.file)
    choices = source.choices(metric)
    # the second file may repeat the target; as a feature it would give everything away
    dropped = (labelled.target, *choices.drop)
    choices = replace(choices, drop=dropped, drop_missing=False, lenient=True)
    rows = labelled.data.rows
    data = prepare(frame[rows.tolist()], None, choices)
    return replace(labelled, data=replace(data, groups=labelled.data.groups, rows=rows))


def _other_rows(
    screen: Screen, source: Source, labelled: Labelled, files: tuple[str, str | None], metric: str
) -> Labelled:
    """The same rows, and the same test rows, with the features of other files."""
    file, test_file = files
    if test_file is None or labelled.test is None:
        return _other_features(screen, source, labelled, file, metric)
    plain = replace(source, standardize=False)
    features = _other_features(screen, plain, labelled, file, metric)
    of_test = replace(plain, file=labelled.test.name)
    test = _other_features(screen, of_test, labelled.test, test_file, metric)
    if test.data.features != features.data.features:
        raise InvalidInputError(
            f"--test {test_file} must have the features of {file}, in order; got "
            f"{test.data.X.shape[1]} for {features.data.X.shape[1]}"
        )
    return on_one_scale(features, test, source.standardize)


def _check_same_target(frame: Any, labelled: Labelled, file: str, first: str) -> None:
    """Raise if the other file has the target, too, and it says that rows are in another order."""
    if labelled.target not in frame.columns:
        return
    rows = labelled.data.rows.tolist()
    theirs, ours = frame[rows][labelled.target], labelled.data.frame[labelled.target]
    for row, a, b in zip(rows, ours.to_list(), theirs.to_list(), strict=True):
        if b is not None and str(a) != str(b):
            raise InvalidInputError(
                f"{file} must have the rows of {first}, in order; got another {labelled.target} in "
                f"row {row} (counted from 0): {b} instead of {a}"
            )


def _in_words(model: Model) -> str:
    return f"{model.metric}, {model.weights} weights"


def _ends(interval: Interval) -> dict[str, Any]:
    return {
        "low": interval.low, "high": interval.high, "confidence": interval.confidence,
        "method": interval.method,
    }  # fmt: skip


def _document(
    labelled: Labelled, found: Comparison, names: Sequence[str], notes: list[str]
) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "difference": found.difference,
        "error_bound": found.error_bound,
        "interval": _ends(found.interval),
        "decided": found.decided,
        "first": {"model": names[0], **evaluation_document(found.first)},
        "second": {"model": names[1], **evaluation_document(found.second)},
        "notes": notes,
    }


def _standings_document(labelled: Labelled, found: Standings, notes: list[str]) -> dict[str, Any]:
    return {
        "data": labelled.document(),
        "best": found.best,
        "tied_for_first": list(found.tied_for_first),
        "decided": found.decided,
        "models": [
            {
                "model": found.names[i],
                "difference": found.differences[i].estimate,
                "difference_interval": _ends(found.differences[i]),
                "tied_for_first": bool(found.is_tied[i]),
                **evaluation_document(found.evaluations[i]),
            }
            for i in found.best_first.tolist()
        ],
        "notes": notes,
    }


def _show_standings(screen: Screen, found: Standings, model: str) -> None:
    columns = (found.scoring, "to the best other", "interval of that", "", "features")
    table = Table(f"The same rows, the same splits: {model}", columns, right=(0, 1, 2))
    for i in found.best_first.tolist():
        one = found.differences[i]
        place = ("tied" if not found.decided else "first") if found.is_tied[i] else "behind"
        ends = f"{one.low:+.4f} to {one.high:+.4f}"
        table.add(
            f"{found.scores[i]:.6f}", f"{one.estimate:+.6f}", ends, place, found.names[i],
            best=bool(found.is_tied[i]),
        )  # fmt: skip
    screen.print(table)
    tied = found.tied_for_first
    verdict = (
        f"First alone: {tied[0]}."
        if found.decided
        else f"Tied for first, these rows do not part them: {', '.join(tied)}."
    )
    screen.print(
        f"{verdict}\nIntervals are the sampling noise of this data set and hold all at once "
        f"({found.confidence:.4g} confidence{found.differences[0].note})."
    )


def _show(screen: Screen, labelled: Labelled, found: Comparison, names: Sequence[str]) -> None:
    screen.line(labelled.sentence())
    screen.print()
    columns = ("", found.first.scoring, "model")
    table = Table("The same rows, the same splits", columns, right=(1,))
    table.add("first", f"{found.first.score:.6f}", names[0])
    table.add("other", f"{found.second.score:.6f}", names[1])
    screen.print(table)
    interval = found.interval
    better = "first" if found.difference > 0 else "other"
    verdict = (
        f"The {better} model is better: zero is outside."
        if found.decided
        else "These rows do not decide which is better: zero is inside."
    )
    screen.print(
        f"Difference, first less other: {found.difference:+.6f}; sampling noise of this data set: "
        f"{interval.low:+.4f} to {interval.high:+.4f} ({interval.confidence:.4g} interval"
        f"{interval.note}).\n"
        f"{verdict}\n"
        f"The first is better on {found.n_better:,} rows, the other on {found.n_worse:,}."
    )

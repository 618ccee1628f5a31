"""`allsplits evaluate`: the score of every k over all splits, and which rows are hard."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source
from allsplits.cli._model import Model, count_in_words
from allsplits.cli._parse import Cv, parse_costs, parse_cv, parse_distances, parse_numbers
from allsplits.cli._read import STDIN
from allsplits.cli._report import expect_report, parse_image_shape, write_report
from allsplits.cli._screen import Screen, Table, bar
from allsplits.cli._target import TargetKind
from allsplits.cli._test_file import TestFile, load_with_test
from allsplits.cli._write import check_output
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from allsplits.model_selection import Curve, Evaluation
    from allsplits.model_selection._nested import NestedScore
    from allsplits.model_selection._task import Task

#: The largest k that is tried when none is named.
_DEFAULT_LARGEST = 30
_MOST_LINES = 30


@dataclass(frozen=True)
class Wanted:
    """What is to be computed and shown, as users write it."""

    k: str | None = None
    cv: str | None = None
    kind: TargetKind = TargetKind.AUTO
    hardest: int = 5
    report: str | None = None
    image: str | None = None
    json: bool = False
    test: TestFile | None = None
    radius: str | None = None


@reads_table()
def evaluate(
    screen: Screen,
    source: Source,
    *,
    k: Annotated[
        str | None,
        typer.Option(
            "--k",
            "-k",
            metavar="NUMBERS",
            help="Numbers of neighbours: 5, 1,3,5, 1-30 or 1-99:2. Default: 1-30.",
        ),
    ] = None,
    radius: options.Radius = None,
    outlier: options.Outlier = None,
    cv: options.Cv = None,
    strata: options.Strata = None,
    test: options.Test = None,
    test_labels: options.TestLabels = None,
    scoring: options.Scores = None,
    camera: options.Camera = None,
    exclude: options.Exclude = None,
    costs: options.Costs = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    metric: options.Metric = "minkowski",
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    hardest: Annotated[
        int, typer.Option(metavar="N", min=0, help="How many of the rows most often wrong to list.")
    ] = 5,
    report: Annotated[
        str | None, typer.Option(metavar="PATH", help="Also write a report, one HTML file.")
    ] = None,
    image: Annotated[
        str | None,
        typer.Option(metavar="SHAPE", help="Rows are images, 28x28: show them in the report."),
    ] = None,
    json: options.Json = False,
) -> None:
    """Score nearest neighbours over every possible split.

    Every k at once. The score is the average over all splits, not a sample of them: no seed can
    change it. The interval beside it is the sampling noise of this data set, which no way of
    splitting removes.

    \b
    Examples:
      allsplits evaluate flowers.csv --target species
      allsplits evaluate flowers.csv -t species --k 1-15 --cv lpo:10
      allsplits evaluate scans.parquet -t finding --cv groups:patient --standardize
      allsplits evaluate faces.npz -t y --scoring recall@5 --cv shots:1
      allsplits evaluate faces.npz -t y --scoring map@r --cv shots:5
      allsplits evaluate people.npz -t who --scoring map,recall@1 --cv loo --camera seen_by
      allsplits evaluate flowers.csv -t species --scoring neg_log_loss+1,accuracy,top_2_accuracy
      allsplits evaluate scans.csv -t finding --costs "sick>well=10,well>sick=1"
      allsplits evaluate flowers.csv -t species --radius 0.5,1,2 --outlier most_frequent
      allsplits evaluate flowers.csv -t species --radius 0.8 --outlier setosa --report page.html
      allsplits evaluate prices.csv -t price --one-hot district --report prices.html
      allsplits evaluate prices.csv -t price --strata district --cv stratified:5
      allsplits evaluate train.npz -t y --test test.npz --cv shots:8
      zcat big.csv.gz | allsplits evaluate - -t y --json | jq .score
    """
    tested = TestFile.given(source, test, test_labels)
    wanted = Wanted(k, cv, task, hardest, report, image, json, tested, radius)
    model = Model(
        metric, weights, p, scoring, parse_costs(costs), outlier=outlier, camera=camera,
        exclude=None if exclude is None else exclude.value,
    )  # fmt: skip
    run_evaluate(screen, replace(source, strata=strata, camera=camera), model, wanted)


def run_evaluate(screen: Screen, source: Source, model: Model, wanted: Wanted) -> None:
    """Everything after the options are read."""
    ks = None if wanted.k is None else parse_numbers("--k", wanted.k)
    radii = _read_radii(wanted, model)
    if radii:
        model = replace(model, radius=radii[0])
    way = parse_cv(wanted.cv)
    model.check_camera(way)
    image_shape = parse_image_shape(wanted.image)
    if wanted.report == STDIN:
        raise InvalidInputError(
            "--report must name a file: standard output is for the result (./- is a file called -)"
        )
    if wanted.report is not None and model.camera is not None:
        raise InvalidInputError("--report must not be given with --camera: it is of all candidates")
    check_output("--report", wanted.report, source.file, source.labels)
    labelled = load_with_test(
        screen, source, wanted.kind, wanted.test, metric=model.metric,
        groups=way.column if way else None,
    )  # fmt: skip
    task = model.task(screen, labelled, way, every_score=True)
    if wanted.report is not None and not (task.scoring.is_plain and not task.others):
        raise InvalidInputError(
            "--report needs one score that counts how often rows are right: accuracy, "
            f"balanced_accuracy or recall@R; got --scoring {model.scoring}"
        )
    with screen.noting(labelled.data.notes):
        if wanted.report is not None:
            expect_report(task)
        task, curve, nested = _choose(task, radii or ks, model, labelled, way)
        best = task.evaluate()
    if wanted.report is not None:
        write_report(
            screen, labelled, task, best, curve, path=wanted.report, image_shape=image_shape
        )  # fmt: skip
    screen.note(*labelled.data.notes)
    if wanted.json:
        screen.json(_document(labelled, best, curve, nested, wanted.hardest))
    else:
        _show(screen, labelled, best, curve, wanted.hardest)
    if wanted.report is not None:
        screen.note(f"report written to {wanted.report}")


def _read_radii(wanted: Wanted, model: Model) -> list[float]:
    """The radii to try, none where the number of neighbours is asked for."""
    if wanted.radius is None:
        if model.outlier is not None:
            raise InvalidInputError("--outlier goes with --radius: k neighbours are always there")
        return []
    if wanted.k is not None:
        raise InvalidInputError(f"--k must not be given with --radius; got {wanted.k!r}")
    return parse_distances("--radius", wanted.radius)


def _choose(
    task: Task, ks: Sequence[Any] | None, model: Model, labelled: Labelled, way: Cv | None
) -> tuple[Task, Curve | None, NestedScore | None]:
    """The task with the best k, or radius.

    And the curve it was chosen by if there was a choice, with what choosing scores if that is
    known soon.
    """
    from allsplits.model_selection._optimism import choice_in_passing, choice_in_words

    within = task.settings.radius is not None
    if ks is None:
        ks = list(range(1, min(_DEFAULT_LARGEST, task.law.smallest_training_set) + 1))
        if task.law.kind == "episodes":
            ks = [1]  # as most benchmarks have it; more go through every set of classes
    chosen = task.with_radius if within else task.with_neighbors
    if len(ks) == 1 or task.scoring.ignores_neighbors:
        return chosen(ks[0]), None, None
    task.neighbors.expect()
    one = task.with_score(task.scoring)
    curve = one.over_radii(list(ks)) if within else one.over_neighbors(list(ks))
    nested = None
    if not within and not task.others:
        estimator = model.estimator(1, labelled.regression)
        nested = choice_in_passing(one, estimator, model.given(labelled, way), ks)
    what = "radius" if within else "k"
    labelled.data.notes.append(choice_in_words(curve.best, len(ks), nested, what))
    return chosen(curve.best), curve, nested


def _show(
    screen: Screen, labelled: Labelled, best: Evaluation, curve: Curve | None, hardest: int
) -> None:
    screen.line(labelled.sentence())
    screen.print()
    screen.print(_answer(best))
    if best.others:
        screen.print()
        screen.print(_score_table(best))
    if curve is not None:
        screen.print()
        screen.print(_curve_table(curve))
    if hardest > 0:
        screen.print()
        screen.print(_hardest_table(labelled, best, hardest))


def _answer(best: Evaluation) -> str:
    from allsplits.model_selection._scoring import ignores_neighbors

    k = "" if ignores_neighbors(best.scoring) else f" with k = {best.n_neighbors}"
    k = k if best.radius is None else f" within radius {best.radius:g}"
    interval = best.interval()
    weighted = best.task is not None and best.task.settings.weights is not None
    wide = weighted and best.error_bound >= 1e-9
    bound = "Weighted votes are enclosed, not counted" if wide else "Rounding"
    sets, noise = "splits", "this data set"
    if best.law.outside:
        sets, noise = "training sets", "the test rows"
    return (
        f"{_score_name(best.scoring)} {_number(best.score)}{k}, averaged over all {sets} "
        f"({count_in_words(best.n_splits)}): {best.law}{_excluded(best)}.\n"
        f"{bound}: ± {best.error_bound:.0e}. Sampling noise of {noise}: "
        f"{_number(interval.low)} to {_number(interval.high)} "
        f"({interval.confidence:.0%} interval, {interval.n_units:,} {interval.unit}"
        f"{interval.note}).{_spread(best)}"
    )


def _excluded(best: Evaluation) -> str:
    """What queries did not meet, and how many queries there are then."""
    if best.task is None or best.task.exclusion is None:
        return ""
    number = int((best.sample_weight > 0).sum())
    return f", {best.task.exclusion}, for {number:,} queries"


def _score_table(best: Evaluation) -> Table:
    """All scores, each with its interval."""
    table = Table("All scores", ("", "score", "interval", "by"), right=(1,))
    for name in best.names:
        interval = best[name].interval()
        ends = f"{_number(interval.low)} to {_number(interval.high)}"
        table.add(name, f"{best[name].score:.6f}", ends, interval.method)
    return table


def _spread(best: Evaluation) -> str:
    """What a single run would have shown, or why that is not told, as a line of its own."""
    from allsplits.model_selection._spread_words import spread_in_words

    return f"\n{spread_in_words(best)}"


def _score_name(scoring: str) -> str:
    if scoring in ("map", "map@r", "mrr", "ndcg"):
        return scoring.upper()
    start, name = ("Negative ", scoring[4:]) if scoring.startswith("neg_") else ("", scoring)
    name = name if name.startswith("recall_of:") else name.replace("_", " ")
    return f"{start}{name}" if start else name[:1].upper() + name[1:]


def _number(value: float) -> str:
    return f"{value:.4f}" if abs(value) < 1000 else f"{value:,.1f}"


def _curve_table(curve: Curve) -> Table:
    """All k if they fit on a screen, else the best ones and a few around."""
    pairs = list(zip(curve.x.tolist(), curve.scores.tolist(), strict=True))
    what = "radius" if curve.parameter == "radius" else "k"
    title = f"{_score_name(curve.scoring)} for every {what}"
    if len(pairs) > _MOST_LINES:
        best = sorted(pairs, key=lambda pair: -pair[1])[:_MOST_LINES]
        pairs = [pair for pair in pairs if pair in best]
        title = f"The best {_MOST_LINES} of {len(curve.x)} values of {what}"
    low = min(score for _, score in pairs)
    table = Table(title, (what, "score", ""), right=(0, 1))
    for k, score in pairs:
        line = bar(score, low, curve.best_score)
        marked = k == curve.best
        table.add(k, f"{score:.6f}", f"{line} best" if marked else line, best=marked)
    return table


def _hardest_table(labelled: Labelled, best: Evaluation, number: int) -> Table:
    wrong = best.prediction_proba is not None
    title = "Rows most often wrong (counted from 0)" if wrong else "Hardest rows"
    shown_if = {"name": labelled.asked.data.names is not None, "given": wrong}
    keys = [key for key in ("row", "name", "target", "given") if shown_if.get(key, True)]
    words = {"given": "given most often"}
    right = best.task is None or (best.task.scoring.is_plain and not labelled.regression)
    last = "squared error" if labelled.regression else "right in" if right else best.scoring
    columns = [*(words.get(key, key) for key in keys), last]
    table = Table(title, columns, right=(0, len(keys)))
    for row in _hardest_rows(labelled, best, number):
        score = row["score"]
        value = -score if labelled.regression else score
        shown = f"{score:.2%}" if right else f"{value:.4g}"
        table.add(*(row[key] for key in keys), shown)
    return table


def _hardest_rows(labelled: Labelled, best: Evaluation, number: int) -> list[dict[str, Any]]:
    rows = []
    for i in best.hardest(number).tolist():
        row = {
            "row": int(labelled.asked.data.rows[i]),
            "target": best.y[i].item(),
            "score": float(best.sample_scores[i]),
        }
        if best.prediction_proba is not None and best.classes is not None:
            row["given"] = best.classes[int(best.prediction_proba[i].argmax())].item()
        if labelled.asked.data.names is not None:
            row["name"] = labelled.asked.data.names[i]
        rows.append(row)
    return rows


def evaluation_document(best: Evaluation) -> dict[str, Any]:
    """What a JSON document says of one evaluation."""
    interval, power = best.interval(), math.log10(best.n_splits)
    return {
        "scoring": best.scoring,
        "score": best.score,
        "error_bound": best.error_bound,
        **(
            {"n_neighbors": best.n_neighbors} if best.radius is None else {"radius": best.radius}
        ),
        "interval": {
            "low": interval.low, "high": interval.high, "confidence": interval.confidence,
            "method": interval.method,
        },
        # digits as text: other readers' numbers cannot hold them; Python writes 4,300 at most
        "n_splits": str(best.n_splits) if power < 4000 else None,
        "log10_n_splits": power,
        "law": str(best.law) + _excluded(best),
    }  # fmt: skip


def _document(
    labelled: Labelled, best: Evaluation, curve: Curve | None, nested: NestedScore | None,
    hardest: int,
) -> dict[str, Any]:  # fmt: skip
    document = {"data": labelled.document(), **evaluation_document(best)}
    if nested is not None:
        document["optimism"] = nested.optimism._asdict()
    if best.others:
        document["scores"] = {
            name: {key: of[key] for key in ("score", "error_bound", "interval")}
            for name, of in ((name, evaluation_document(best[name])) for name in best.names)
        }
    if curve is not None:
        document["curve"] = [
            {curve.parameter: k, "score": score}
            for k, score in zip(curve.x.tolist(), curve.scores.tolist(), strict=True)
        ]
    document["hardest"] = _hardest_rows(labelled, best, hardest)
    if best.confusion is not None and best.classes is not None:
        document["classes"] = best.classes.tolist()
        document["confusion"] = best.confusion.tolist()
    document["notes"] = labelled.data.notes
    return document

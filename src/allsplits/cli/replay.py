"""`allsplits replay`: where single cross-validations land, with any score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from allsplits.cli import _options as options
from allsplits.cli._command import reads_table
from allsplits.cli._load import Labelled, Source, load
from allsplits.cli._model import Model
from allsplits.cli._parse import parse_cv
from allsplits.cli._screen import LOADING, Screen
from allsplits.cli._target import TargetKind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.replays import Replay

#: Columns of the strip, and how full a column looks.
_WIDTH, _SHADES = 72, " .:oO@"
_QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@reads_table()
def replay(
    screen: Screen,
    source: Source,
    *,
    k: options.KNeighbors = 5,
    cv: options.Cv = None,
    scoring: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Any score that scikit-learn knows by name: accuracy, f1_macro, roc_auc_ovr, "
            "matthews_corrcoef, neg_log_loss, r2, …",
        ),
    ] = None,
    weights: options.Weights = options.Weighting.UNIFORM,
    metric: options.Metric = "minkowski",
    p: options.Power = 2.0,
    task: options.Kind = TargetKind.AUTO,
    splits: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Splits to draw (1000); with --until at most so many."
        ),
    ] = None,
    until: Annotated[
        float | None,
        typer.Option(metavar="ERROR", help="Draw until the standard error of the mean is this."),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", min=0, help="Seed of the draws.")] = 0,
    json: options.Json = False,
) -> None:
    """Show where single cross-validations land.

    Splits are drawn and scored from one neighbour search, with any score. Every number is sampled
    and has its standard error; the mean is exact where it has a closed form.

    \b
    Examples:
      allsplits replay flowers.csv --target species --scoring f1_macro
      allsplits replay scans.parquet -t finding --cv groups:patient --until 0.001
      allsplits replay prices.csv -t price --scoring r2 --splits 10000 --json
    """
    way = parse_cv(cv)
    model = Model(metric, weights, p, scoring)
    groups = way.column if way else None
    labelled = load(screen, source, task, metric=metric, groups=groups)
    with screen.waiting(LOADING), screen.noting(labelled.data.notes):
        from allsplits import replay as replayed

        found: Replay = replayed(
            model.estimator(k, labelled.regression), labelled.data.X, labelled.y,
            cv=None if way is None else way.build(), scoring=scoring, groups=labelled.data.groups,
            n_splits=splits, until=until, random_state=seed, progress=screen.progress,
        )  # fmt: skip
    screen.note(*labelled.data.notes)
    if json:
        screen.json(_document(labelled, found))
    else:
        _show(screen, labelled, found)


def _document(labelled: Labelled, found: Replay) -> dict[str, Any]:
    std = found.std
    return {
        "data": labelled.document(),
        "scoring": found.scoring,
        "n_neighbors": found.n_neighbors,
        "mean": found.mean,
        "standard_error": found.standard_error,
        "exact": found.exact_mean is not None or not found.sampled,
        "sampled_mean": found.sampled_mean.value,
        "sampled_error": found.sampled_mean.standard_error,
        "std": std.value,
        "std_error": std.standard_error,
        "quantiles": {str(q): found.quantile(q)._asdict() for q in _QUANTILES},
        "n_runs": found.n_runs,
        "n_folds": found.n_folds,
        "stopped": found.stopped,
        "reached": found.reached,
        "law": found.cv,
        "notes": labelled.data.notes,
    }


def _show(screen: Screen, labelled: Labelled, found: Replay) -> None:
    from allsplits.replays.result import Sampled, with_error

    screen.line(labelled.sentence())
    screen.print()
    if found.exact_mean is not None:
        how = f"{found.mean:.4f} on average over all splits, exactly"
    elif found.sampled:
        how = f"{with_error(Sampled(found.mean, found.standard_error))} on average, sampled"
    else:
        how = f"{found.mean:.4f} on average over all {found.n_splits:,} splits"
    what = f"runs of {found.n_folds} folds" if found.n_folds > 1 else "splits"
    screen.print(f"{found.scoring} {how}, with k = {found.n_neighbors}: {found.cv}.")
    if found.sampled and found.n_runs > 1:
        low, high = (with_error(found.quantile(q)) for q in (0.05, 0.95))
        screen.print(
            f"{found.n_runs:,} drawn {what} differ by a standard deviation of "
            f"{with_error(found.std)}; nine of ten lie between {low} and {high}."
        )
    screen.print()
    runs = found.run_scores[~(found.run_scores != found.run_scores)]
    if runs.min() < runs.max():
        screen.line(strip_of_dots(runs, found.mean))
        ends = f"{runs.min():.4f}", f"{runs.max():.4f}"
        screen.line(f"{ends[0]}{ends[1].rjust(_WIDTH - len(ends[0]))}")
        screen.print(f"Where single {what} land; | is the mean.")
    if found.stopped:
        screen.note("stopped by Ctrl-C")


def strip_of_dots(runs: NDArray[np.float64], mean: float) -> str:
    """Scores on a line, darker where there are more of them, with the mean."""
    import numpy as np

    counts, edges = np.histogram(runs, _WIDTH)
    shades = np.ceil(counts / counts.max() * (len(_SHADES) - 1)).astype(int)
    letters = [_SHADES[shade] for shade in shades]
    at = int(np.clip(np.searchsorted(edges, mean, side="right") - 1, 0, _WIDTH - 1))
    letters[at] = "|"
    return "".join(letters)

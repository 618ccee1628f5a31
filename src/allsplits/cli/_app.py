"""The application: its commands and the options that need none."""

from typing import Annotated

import typer

from allsplits import __version__
from allsplits.cli.audit import audit
from allsplits.cli.compare import compare
from allsplits.cli.condense import condense
from allsplits.cli.curve import curve
from allsplits.cli.demo import demo
from allsplits.cli.evaluate import evaluate
from allsplits.cli.label import label
from allsplits.cli.merge import merge
from allsplits.cli.query import query
from allsplits.cli.replay import replay
from allsplits.cli.suspects import suspects
from allsplits.cli.values import values

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help: quick, the same in every terminal and in the docs
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
for command in (
    evaluate, curve, compare, audit, replay, values, suspects, query, label, merge, condense, demo,
):  # fmt: skip
    app.command()(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"allsplits {__version__}")
        raise typer.Exit


@app.callback()
def allsplits(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Nearest neighbours, evaluated exactly: the average over every possible split.

    FILE is CSV, TSV, Parquet, Feather, NPZ or NPY; - is standard input.

    \b
    allsplits evaluate flowers.csv --target species
    allsplits evaluate --help
    """

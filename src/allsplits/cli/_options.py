"""Options that several commands share, with the words that explain them."""

from enum import StrEnum
from typing import Annotated

import typer

from allsplits.cli._target import TargetKind


class FileFormat(StrEnum):
    """Formats of files."""

    CSV = "csv"
    TSV = "tsv"
    PARQUET = "parquet"
    FEATHER = "feather"
    NPZ = "npz"
    NPY = "npy"


class Exclusion(StrEnum):
    """What a query must not meet."""

    IDENTITY = "identity"
    GROUP = "group"


class Weighting(StrEnum):
    """How neighbours' votes are weighted."""

    UNIFORM = "uniform"
    DISTANCE = "distance"


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, Feather, NPZ or NPY; - is standard input.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", "-t", metavar="COLUMN", help="The column to predict.")
]
Labels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A second file with the target, row by row, if it is not in FILE."
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMNS", help="Columns to leave out: a,b (may be repeated)."),
]
RowNames = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="The column that names the rows (barcodes, file names): shown beside row numbers, "
        "and no feature.",
    ),
]
OneHot = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMNS", help="Text columns to turn into a column of 0 and 1 for each value."
    ),
]
Standardize = Annotated[
    bool,
    typer.Option("--standardize", help="Scale features to mean 0 and deviation 1, on all rows."),
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")
]
Format = Annotated[
    FileFormat | None,
    typer.Option(
        "--format",
        metavar="|".join(FileFormat),
        help="What FILE is, if its ending does not say it.",
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option("--no-header", help="The first line is data; columns are column_1, column_2, …"),
]
Cv = Annotated[
    str | None,
    typer.Option(
        metavar="WAY",
        help="The splits to average over: 10 (folds, stratified for classes), stratified:5, "
        "kfold:5, lpo:10 (leave 10 out), loo, holdout:0.2, stratified-holdout:0.2, "
        "size:100 (training rows), shots:5 (of each class), "
        "episodes:5x1 (ways x shots), bootstrap, groups:COLUMN or "
        "groups:COLUMN:2 (leave groups out). Default: stratified:5, or kfold:5 for regression.",
    ),
]
Test = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A fixed test set, with the columns of FILE: its rows are asked, those of FILE "
        "answer. --cv then says which of them are in training; default: all.",
    ),
]
TestLabels = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="A file with the target of the rows of --test, as --labels is."
    ),
]
Weights = Annotated[
    Weighting,
    typer.Option(
        metavar="|".join(Weighting),
        help="Equal votes, or by 1/distance (not for bootstrap).",
    ),
]
Metric = Annotated[str, typer.Option(metavar="NAME", help="scikit-learn's name of a distance.")]
Power = Annotated[float, typer.Option("--p", metavar="X", help="Power of the minkowski metric.")]
Scoring = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="accuracy, balanced_accuracy, or recall@R: right if one of the R nearest has the "
        "class. evaluate and curve also know scores of retrieval: map@r, map, mrr, ndcg, "
        "r_precision, precision@k, item_recall@k, …",
    ),
]
Scores = Annotated[
    str | None,
    typer.Option(
        metavar="NAMES",
        help="accuracy, balanced_accuracy, recall_of:CLASS, recall@R (right if one of the R "
        "nearest has the class), neg_log_loss (neg_log_loss+1: 1 added to all votes), "
        "neg_brier_score, top_K_accuracy; several with commas, the first one chooses.",
    ),
]
Costs = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TRUE>PREDICTED=COST",
        help="What mistakes cost, sick>well=10,well>sick=1 (may be repeated); the rest costs 0. "
        "The score is neg_cost, minus the expected cost of a row.",
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Regression: the column that stratified folds and shots draw from (sites, years).",
    ),
]
Camera = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Scores of retrieval: the column that says who saw a row. What a query must not meet "
        "(--exclude) is left out of its galleries; rows that can then find nobody are no queries.",
    ),
]
Exclude = Annotated[
    Exclusion | None,
    typer.Option(
        metavar="|".join(Exclusion),
        help="With --camera, what a query must not meet: its own class from its own camera (the "
        "default), or all of its own camera.",
    ),
]
Radius = Annotated[
    str | None,
    typer.Option(
        metavar="DISTANCES",
        help="Everybody within this distance votes, in place of --k: 0.5, or 0.5,1,2 to choose.",
    ),
]
Outlier = Annotated[
    str | None,
    typer.Option(
        metavar="LABEL",
        help="With --radius: what is predicted for a row that has nobody there, a class, "
        "most_frequent, or a number for regression.",
    ),
]
KNeighbors = Annotated[
    int, typer.Option("--k", "-k", metavar="N", min=1, help="Number of neighbours.")
]
Kind = Annotated[
    TargetKind,
    typer.Option(
        "--task",
        metavar="|".join(TargetKind),
        help="What the target is; auto: fractions are numbers, everything else a class.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no notes: the result alone.")
]

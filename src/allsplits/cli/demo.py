"""`allsplits demo`: the digits, as someone at a terminal would look at them."""

from pathlib import Path
from typing import Annotated

import typer

from allsplits.cli import _options as options
from allsplits.cli import curve, evaluate
from allsplits.cli._load import Source
from allsplits.cli._model import Model
from allsplits.cli._screen import LOADING, Screen
from allsplits.cli._write import write_table
from allsplits.exceptions import InvalidInputError


def demo(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Where to write the data and the report.")
    ] = "allsplits-demo",
    quiet: options.Quiet = False,
) -> None:
    """Show it on the digits, and write a report.

    The digits (1,797 images of 8 x 8 pixels) are written to FOLDER as a CSV file, so that every
    command shown can be tried again. No network is needed.

    \b
    Examples:
      allsplits demo
      allsplits demo digits-demo
    """
    screen = Screen(quiet)
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidInputError(f"cannot write to folder {folder}: {error.strerror}") from error
    data, page = str(place / "digits.csv"), str(place / "report.html")
    with screen.waiting(LOADING):
        _write_digits(data)
    model = Model("minkowski", options.Weighting.UNIFORM, 2.0, None)
    source = Source(data, "digit")
    screen.line(
        f"$ allsplits evaluate {data} --target digit --k 1-20 --image 8x8 --report {page}\n"
    )
    evaluate.run_evaluate(
        screen, source, model, evaluate.Wanted(k="1-20", report=page, image="8x8")
    )
    screen.line(f"\n$ allsplits curve {data} --target digit\n")
    curve.run_curve(screen, source, model, curve.Wanted())
    screen.print(
        "Exactness removes the noise of splitting, not the noise of sampling: other images would "
        "give other values."
    )
    screen.line(f"\nThe report is in {Path(page).resolve()}")


def _write_digits(path: str) -> None:
    import narwhals as nw
    from sklearn.datasets import load_digits

    from allsplits.cli._read import frame_library

    digits = load_digits()
    columns = dict(zip(digits.feature_names, digits.data.astype(int).T, strict=True))
    frame = nw.from_dict({**columns, "digit": digits.target}, backend=frame_library())  # type: ignore[arg-type]
    write_table("FOLDER", path, frame)

"""The report of `allsplits evaluate --report`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.cli._load import Labelled
    from allsplits.cli._screen import Screen
    from allsplits.model_selection import Curve, Evaluation
    from allsplits.model_selection._task import Task


def parse_image_shape(text: str | None) -> tuple[int, ...] | None:
    """Read ``28x28`` or ``32x32x3``."""
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*(x3)?", text):
        raise InvalidInputError(
            f"--image must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28; got {text!r}"
        )
    return tuple(int(side) for side in text.split("x"))


def expect_report(task: Task) -> None:
    """Say before the first question what the report will ask."""
    from allsplits.reports._run import expect, has_sizes

    expect(task, [task.settings.n_neighbors], sizes=has_sizes(task))


def write_report(
    screen: Screen, labelled: Labelled, task: Task, best: Evaluation, chosen_by: Curve | None,
    *, path: str, image_shape: tuple[int, ...] | None,
) -> None:  # fmt: skip
    """Write the page, with the learning curve of the chosen model where there is one."""
    import numpy as np

    from allsplits.reports._report import Report
    from allsplits.reports._rows import Rows
    from allsplits.reports._run import has_sizes, judge
    from allsplits.reports._summary import summarize

    data, notes = labelled.asked.data, labelled.data.notes
    if data.names is not None:
        best = replace(best, row_names=np.array(data.names))
    curves = [] if chosen_by is None else [chosen_by]
    if has_sizes(task):
        with screen.noting(notes):
            curves.append(task.over_sizes())
    with screen.waiting("writing the report"):
        rows = Rows.read(data.X, len(data.X), image_shape, data.features, data.X)
        title = f"{Path(labelled.name).name}: {labelled.target}"
        done = judge(task, best, curves)
        Report(summarize(done, rows=rows, title=title, notes=notes), best).save(path)

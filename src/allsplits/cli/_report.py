"""The report of `allsplits evaluate --report`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from allsplits.cli._load import Labelled
    from allsplits.cli._model import Model
    from allsplits.cli._screen import Screen
    from allsplits.model_selection import Curve, Evaluation

__all__ = ["parse_image_shape", "write_report"]


def parse_image_shape(text: str | None) -> tuple[int, ...] | None:
    """Read ``28x28`` or ``32x32x3``."""
    if text is None:
        return None
    if not re.fullmatch(r"[1-9]\d*x[1-9]\d*(x3)?", text):
        raise InvalidInputError(
            f"--image must be HEIGHTxWIDTH or HEIGHTxWIDTHx3, such as 28x28; got {text!r}"
        )
    return tuple(int(side) for side in text.split("x"))


def write_report(
    screen: Screen, labelled: Labelled, model: Model, best: Evaluation, over_k: Curve | None,
    *, path: str, image_shape: tuple[int, ...] | None,
) -> None:  # fmt: skip
    """Write the page, with the learning curve of the chosen model unless groups are kept whole."""
    import numpy as np

    from allsplits import learning_curve, report

    names = labelled.data.names
    if names is not None:
        best = replace(best, row_names=np.array(names))
    curves = [] if over_k is None else [over_k]
    estimator = model.estimator(best.n_neighbors, labelled.regression)
    if labelled.data.groups is None:
        with screen.noting(labelled.data.notes):
            sizes = learning_curve(
                estimator, labelled.data.X, labelled.y, scoring=model.scoring,
                progress=screen.progress,
            )  # fmt: skip
        curves.append(sizes)
    with screen.waiting("writing the report"):
        report(
            best, X=labelled.data.X, estimator=estimator, curves=curves,
            feature_names=labelled.data.features, image_shape=image_shape,
            title=f"{Path(labelled.name).name}: {labelled.target}",
            notes=labelled.data.notes, path=path,
        )  # fmt: skip

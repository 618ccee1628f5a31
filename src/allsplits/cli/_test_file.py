"""The rows of ``--test``: questions to the rows of the first file, with the same features.

Columns are found by their names, in any order; further ones are left out. Whatever is learnt from
the data (the values of ``--one-hot``, mean and deviation of ``--standardize``) is learnt from the
rows of the first file.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from allsplits.cli._load import Labelled, Source, load, read_source
from allsplits.cli._prepare import Data, listed, prepare, some_of, standardized
from allsplits.cli._read import STDIN
from allsplits.cli._target import TargetKind, read_target
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from allsplits.cli._screen import Screen


def load_with_test(
    screen: Screen, source: Source, kind: TargetKind, test: TestFile | None, *, metric: str,
    groups: str | None = None,
) -> Labelled:  # fmt: skip
    """Read the file(s), and the rows to test where there are any."""
    if test is None:
        return load(screen, source, kind, metric=metric, groups=groups)
    references = load(
        screen, replace(source, standardize=False), kind, metric=metric, groups=groups
    )
    asked = test.read(screen, source, references, metric, groups)
    return on_one_scale(references, asked, source.standardize)


def on_one_scale(references: Labelled, asked: Labelled, standardize: bool) -> Labelled:
    """Both together, scaled by the references if that is wanted."""
    if not standardize:
        return replace(references, test=asked)
    X, X_test = standardized(references.data.X, asked.data.X)
    references.data.notes.append(
        f"features standardized with mean and deviation of all rows of {references.name}, before "
        "any split"
    )
    asked = replace(asked, data=replace(asked.data, X=X_test))
    return replace(references, data=replace(references.data, X=X), test=asked)


class TestFile:
    """``--test`` and ``--test-labels``, checked before any file is read."""

    __test__ = False  # not a test, whatever its name says to pytest

    def __init__(self, file: str, labels: str | None) -> None:
        self.file, self.labels = file, labels

    @classmethod
    def given(cls, source: Source, file: str | None, labels: str | None) -> TestFile | None:
        """What was given, or None."""
        if file is None:
            if labels is not None:
                raise InvalidInputError("--test-labels needs --test, the rows they belong to")
            return None
        if STDIN in (file, labels):
            raise InvalidInputError("--test and --test-labels must be files; got standard input")
        if source.labels is not None and labels is None and source.target is None:
            raise InvalidInputError(
                "--test-labels must be given with --labels: the target of the rows of --test"
            )
        return cls(file, labels)

    def read(
        self, screen: Screen, source: Source, references: Labelled, metric: str,
        groups: str | None,
    ) -> Labelled:  # fmt: skip
        """The rows, with the features of the references."""
        theirs = replace(
            source, file=self.file, labels=self.labels, file_format=None, standardize=False,
            strata=None, target=references.target if self.labels is None else source.target,
        )  # fmt: skip
        frame, target = read_source(screen, theirs)
        if target is None or target not in frame.columns:
            raise InvalidInputError(
                f"--test {self.file} must have the target {references.target!r}, or --test-labels "
                f"be given; columns are {some_of(frame.columns)}"
            )
        known = {*references.data.frame.columns, target}
        more = [column for column in frame.columns if column not in known]
        if more:
            frame = frame.drop(*more)
            references.data.notes.append(
                f"{self.file}: columns that {references.name} lacks are left out: {some_of(more)}"
            )
        if source.camera is not None and source.camera not in frame.columns:
            raise InvalidInputError(
                f"--test {self.file} must have the column of --camera, {source.camera!r}; columns "
                f"are {some_of(frame.columns)}"
            )
        choices = replace(theirs.choices(metric), lenient=True)
        dropped = [name for name in (groups, source.strata) if name in frame.columns]
        choices = replace(choices, drop=(*choices.drop, *dropped))
        data = prepare(frame, target, choices)
        kinds = listed(frame, "--one-hot", choices.one_hot, lenient=True)
        X = _aligned(data, references.data.features, kinds, self.file)
        kind = TargetKind.REGRESSION if references.regression else TargetKind.CLASSIFICATION
        y, regression, _ = read_target(_required(data.target), kind)
        notes = references.data.notes
        notes.extend(f"{self.file}: {note}" for note in data.notes if "one column" not in note)
        data = replace(data, X=X, features=references.data.features)
        return Labelled(data, y, regression, self.file, target)


def _required(target: Any) -> Any:
    if target is None:
        raise InvalidInputError("--target must name the column to predict")
    return target


def _aligned(data: Data, features: list[str], kinds: list[str], file: str) -> NDArray[np.float64]:
    """The columns of the references, in their order; a value that they lack counts as none."""
    import numpy as np

    place = {name: i for i, name in enumerate(data.features)}
    columns, lacking = [], []
    for name in features:
        if name in place:
            columns.append(data.X[:, place[name]])
        elif name.partition("=")[0] in kinds:
            columns.append(np.zeros(len(data.X)))
        else:
            lacking.append(name)
    if lacking:
        raise InvalidInputError(
            f"--test {file} must have the features of the first file; it lacks {some_of(lacking)}"
        )
    return np.column_stack(columns)

"""Where the data of published experiments are."""

import os
from pathlib import Path

import pytest


def data_file(name: str) -> Path:
    """The path of a data file; the test is skipped where there is none."""
    folder = os.environ.get("ALLSPLITS_DATA")
    if not folder:
        pytest.skip("the published data are not here: ALLSPLITS_DATA is not set")
    path = Path(folder) / name
    if not path.is_file():
        pytest.skip(f"the published data are not here: no {name} in ALLSPLITS_DATA")
    return path


def percent(evaluation) -> float:
    """A score to the digit that papers print."""
    return round(100 * evaluation.score, 1)

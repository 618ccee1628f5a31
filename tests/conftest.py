"""Shared set-up: helpers are importable, random examples repeatable, surroundings the same."""

import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

import allsplits

TESTS = Path(__file__).parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))

os.environ.setdefault("MPLBACKEND", "Agg")
# What is printed must not depend on the terminal from which the tests are started.
for name in ("COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "PYTHONIOENCODING"):
    os.environ.pop(name, None)
os.environ["PYTHONUTF8"] = "1"  # of the processes that tests start

# The default profile draws the same examples in every run; "explore" looks for new ones.
settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_report_header() -> str:
    """Which package is tested: this source, or the wheel that is installed."""
    return f"allsplits {allsplits.__version__}, {Path(allsplits.__file__).parent}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples with torch are run where it is installed, and skip elsewhere."""
    if find_spec("torchmetrics") is not None:
        return
    for item in items:
        examples = item.dtest.examples if isinstance(item, pytest.DoctestItem) else ()
        if any("import torch" in example.source for example in examples):
            item.add_marker(pytest.mark.skip(reason="needs torch and torchmetrics"))


@pytest.fixture
def ctrl_c_is_heard() -> Iterator[None]:
    """Ctrl-C interrupts this process and those it starts, in a background job as well.

    Who starts tests in the background may have SIGINT ignored, and children inherit that.
    """
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)

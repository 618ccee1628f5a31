"""Clocks and tables of the benchmarks.

A machine that does other things as well slows down by spells. So rivals are timed in turns within
one process, each keeps its fastest turn, and what is judged is the ratio.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from scipy.special import gammaln

__all__ = [
    "Result",
    "Rows",
    "goal_table",
    "interleaved",
    "needed_depth",
    "print_environment",
    "print_results",
    "print_table",
    "seconds",
    "summary",
]


@dataclass(frozen=True)
class Result:
    """One line of the table: a ratio to a peer, or a value on its own, and what it must not pass.

    `peer` None means that `ours` itself is held against the goal; `goal` None that the line is for
    information.
    """

    what: str
    ours: float
    peer: float | None = None
    goal: float | None = None
    unit: str = "s"

    @property
    def judged(self) -> float:
        """The number that the goal is about."""
        return self.ours if self.peer is None else self.ours / self.peer

    @property
    def verdict(self) -> str:
        """PASS or OVER; nothing where there is no goal."""
        if self.goal is None:
            return ""
        return "PASS" if self.judged <= self.goal else "OVER"

    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        against = "x" if self.peer is not None else f" {self.unit}"
        return (
            self.what,
            f"{self.ours:.3g} {self.unit}",
            "" if self.peer is None else f"{self.peer:.3g} {self.unit}",
            "" if self.peer is None else f"{_short(self.judged)}x",
            "" if self.goal is None else f"≤ {self.goal:.3g}{against}",
            self.verdict,
        )


@dataclass(frozen=True)
class Rows:
    """A table of text."""

    title: str
    headings: Sequence[str]
    cells: Sequence[Sequence[str]]


def _short(ratio: float) -> str:
    """Two decimals, or two digits of what is smaller than a tenth."""
    return f"{ratio:.2f}" if ratio >= 0.1 else f"{ratio:.2g}"


def seconds(work: Callable[[], Any]) -> float:
    """Time of one call."""
    start = perf_counter()
    work()
    return perf_counter() - start


def interleaved(rivals: Sequence[Callable[[], Any]], repeats: int = 5) -> list[float]:
    """Fastest of `repeats` turns of each rival; all take turns, after one call of the first.

    The first is called once before, so that its compiled code is loaded.
    """
    rivals[0]()
    turns = [[seconds(rival) for rival in rivals] for _ in range(repeats)]
    return [min(times) for times in zip(*turns, strict=True)]


def needed_depth(n_samples: int, train_size: int, k: int, tol: float = 1e-15) -> int:
    """How many neighbours hold all but `tol` of the law of the (k+1)-th training neighbour.

    Its rank less one, j, has the mass C(j, k) C(N-1-j, a-k-1) / C(N, a) among N = n - 1 candidates
    of which a are in the training set. A few ranks are added for the rounding of the logarithms.
    """
    n, a = n_samples - 1, train_size
    j = np.arange(k, n - a + k + 1)
    masses = np.exp(_log_binomial(j, k) + _log_binomial(n - 1 - j, a - k - 1) - _log_binomial(n, a))
    tail = np.cumsum(masses[::-1])[::-1]
    return min(int(j[tail > tol / 2].max()) + 4, n)


def _log_binomial(n: Any, k: Any) -> Any:
    return gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)


def print_environment() -> None:
    names = ("allsplits", "scikit-learn", "numpy", "scipy", "numba")
    packages = ", ".join(f"{name} {version(name)}" for name in names)
    busy = f"{os.getloadavg()[0]:.1f} processes running or waiting"
    print(f"Python {platform.python_version()}, {packages}; {os.cpu_count()} cores, {busy}")


def goal_table(results: Sequence[Result]) -> Rows:
    """What was held against a goal, line by line."""
    headings = ("what", "ours", "peer", "ratio", "goal", "verdict")
    return Rows("", headings, [result.cells() for result in results])


def summary(results: Sequence[Result]) -> str:
    """Which goals were missed, in a sentence."""
    over = [result.what for result in results if result.verdict == "OVER"]
    return f"{len(over)} over the goal: {'; '.join(over)}" if over else "all goals reached"


def print_results(results: Sequence[Result]) -> None:
    """The table of goals."""
    print_table(goal_table(results))
    print(summary(results))


def print_table(rows: Rows) -> None:
    """A table, the first column to the left, numbers to the right."""
    table = Table(title=rows.title or None, title_justify="left")
    for i, heading in enumerate(rows.headings):
        table.add_column(heading, justify="left" if i == 0 else "right", no_wrap=i > 0)
    for row in rows.cells:
        table.add_row(*row)
    console = Console(highlight=False)
    # Redirected output is 80 columns wide by default, too narrow for the table.
    console.width = max(console.width, 118)
    console.print(table)

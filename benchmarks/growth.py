"""How the cost grows with the number of samples, neighbours, their depth, classes and ties.

One quantity moves, the others stay: n = 5000, d = 10, two classes, all k ≤ 15, 20 % held out. The
search is what the law and the largest k need; the evaluation starts from the finished order. The
exponent e beside a time says that it grew as quantity^e since the line above: 1 is proportional.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log

import numpy as np
from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import order_neighbors, validation_curve
from benchmarks._data import gaussian_classes
from benchmarks._timing import Rows, interleaved, needed_depth, print_table, seconds


@dataclass(frozen=True)
class Case:
    """One setting."""

    n: int = 5000
    k_max: int = 15
    share_held_out: float = 0.2
    n_classes: int = 2
    copies: int = 1

    @property
    def p(self) -> int:
        """Number of samples held out."""
        return max(1, round(self.n * self.share_held_out))

    @property
    def depth(self) -> int:
        """Neighbours that the law and the largest k need."""
        return needed_depth(self.n, self.n - self.p, self.k_max)


BASE = Case()
SIZES = (1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000)
#: Larger ones are measured once.
ONCE_ABOVE = 20_000
#: Titles, the quantity that moves, and the settings.
GROWTH = (
    ("n", "n", [replace(BASE, n=n) for n in SIZES]),
    ("n, 26 classes", "n", [replace(BASE, n=n, n_classes=26) for n in SIZES]),
    ("depth, as the share held out grows", "depth",
     [replace(BASE, share_held_out=share) for share in (0.0002, 0.2, 0.5, 0.8, 0.95, 0.99)]),
    ("depth, the same with 10 classes", "depth",
     [replace(BASE, share_held_out=share, n_classes=10) for share in (0.0002, 0.2, 0.5, 0.8)]),
    ("largest k", "k_max", [replace(BASE, k_max=k) for k in (1, 5, 15, 51, 101)]),
    ("largest k, 10 classes", "k_max",
     [replace(BASE, k_max=k, n_classes=10) for k in (1, 5, 15, 51, 101)]),
    ("classes", "n_classes", [replace(BASE, n_classes=c) for c in (2, 3, 5, 10, 26, 100)]),
    ("copies of every sample, 5 classes, a fifth of the labels random", "copies",
     [replace(BASE, n_classes=5, copies=c) for c in (1, 2, 4, 8, 16)]),
)  # fmt: skip
HEADINGS = (
    "n", "k ≤", "p", "classes", "copies", "depth",
    "search, s", "exponent", "evaluation, s", "exponent",
)  # fmt: skip


def times(case: Case) -> tuple[float, float]:
    """Seconds of the search, and of the evaluation after it."""
    X, y = gaussian_classes(case.n // case.copies, 10, case.n_classes)
    if case.copies > 1:
        X, y = np.repeat(X, case.copies, axis=0), np.repeat(y, case.copies)
        y[::5] = np.random.default_rng(0).integers(0, case.n_classes, len(y[::5]))
    depth, ks = case.depth, range(1, case.k_max + 1)
    orders = []

    def search():
        orders[:] = [order_neighbors(X, depth=depth)]

    def evaluation():
        return validation_curve(
            KNeighborsClassifier(), orders[0], y, n_neighbors=ks, cv=LeavePOut(case.p)
        )

    # Long ones are disturbed less, and smaller ones before have loaded the compiled code.
    if case.n > ONCE_ABOVE:
        return seconds(search), seconds(evaluation)
    first, after = interleaved([search, evaluation], repeats=3)
    return first, after


def exponent(before: tuple[float, float], now: tuple[float, float]) -> str:
    """The e of y = c x^e through two points (x, y)."""
    (x0, y0), (x1, y1) = before, now
    return f"{log(y1 / y0) / log(x1 / x0):.2f}"


def growth(quantity: str, cases: list[Case]) -> Iterator[list[str]]:
    """Lines of a table: the settings, both times, and how they grew since the line above."""
    previous: list[tuple[float, float]] = []
    for case in cases:
        counts = (case.n, case.k_max, case.p, case.n_classes, case.copies, case.depth)
        points = [(getattr(case, quantity), time) for time in times(case)]
        cells = [f"{count:,}" for count in counts]
        for i, (_, time) in enumerate(points):
            cells += [f"{time:.3f}", exponent(previous[i], points[i]) if previous else ""]
        yield cells
        previous = points


def measure() -> Iterator[Rows]:
    """The tables, one after the other."""
    for what, quantity, cases in GROWTH:
        print(f"  with {what} …", file=sys.stderr, flush=True)
        yield Rows(f"growth with {what}", HEADINGS, list(growth(quantity, cases)))


if __name__ == "__main__":
    for table in measure():
        print_table(table)

"""How often intervals cover, for nearest neighbours, and how wide they are.

Many data sets from sources with known truth. For each one the exact score over all training sets of
a share of the samples, its interval by each method, and the difference to another k. The truth is
the mean score over the data sets of a cell; the ideal width is that of a normal interval with the
true spread of the scores.

``python studies/interval_coverage.py`` writes interval_coverage.md and interval_coverage.png.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import matplotlib

from allsplits.plots._style import BLUE, GREEN, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page
from joblib import Parallel, delayed
from scipy.stats import norm
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import FixedSize, compare, evaluate

NS, KS, SHARES, RUNS = (60, 200), (1, 5, 15), (0.5, 0.8, 0.95), 200
OTHER = {1: 3, 5: 1, 15: 5}
CONFIDENCE = 0.95
METHODS = ("combined", "jackknife", "sample scores")
Data = tuple[np.ndarray, np.ndarray]
IDEAL = 2 * norm.ppf(0.5 + CONFIDENCE / 2)


def normals(n: int, rng: np.random.Generator, apart: float, d: int, n_classes: int = 2) -> Data:
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    X = rng.normal(size=(n, d))
    X[:, 0] += apart * y
    return X, y


def rare(n: int, rng: np.random.Generator) -> Data:
    X, y = normals(n, rng, 2.0, 3)
    few = (y == 1) & (rng.random(n) < 0.8) & (np.arange(n) > 1)
    X[few, 0] -= 2.0
    return X, np.where(few, 0, y)


def noisy(n: int, rng: np.random.Generator) -> Data:
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, ((X[:, 0] * X[:, 1] > 0) ^ (rng.random(n) < 0.2)).astype(int)


def moons(n: int, rng: np.random.Generator) -> Data:
    return make_moons(n, noise=0.3, random_state=int(rng.integers(2**31)))


def sine(n: int, rng: np.random.Generator) -> Data:
    X = rng.normal(size=(n, 3))
    return X, np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=n)


KINDS: dict[str, Callable[[int, np.random.Generator], Data]] = {
    "two classes": lambda n, rng: normals(n, rng, 1.5, 5),
    "40 dimensions": lambda n, rng: normals(n, rng, 2.0, 40),
    "five classes": lambda n, rng: normals(n, rng, 1.5, 3, 5),
    "rare class (10 %)": rare,
    "checkers, 20 % noise": noisy,
    "moons": moons,
    "99 % right": lambda n, rng: normals(n, rng, 5.0, 2),
    "regression": sine,
}


@dataclass(frozen=True)
class Cell:
    """Shares of intervals that cover, and mean widths over the ideal width, by method."""

    kind: str
    n: int
    k: int
    share: float
    covers: dict[str, float]
    widths: dict[str, float]
    difference: float


def measure(kind: str, n: int, k: int, share: float) -> Cell:
    rng = np.random.default_rng([list(KINDS).index(kind), n, k, round(100 * share)])
    model = KNeighborsRegressor if kind == "regression" else KNeighborsClassifier
    found, pairs = [], []
    for _ in range(RUNS):
        X, y = KINDS[kind](n, rng)
        cv = FixedSize(share)
        found.append(evaluate(model(k), X, y, cv=cv, n_jobs=1))
        other = evaluate(model(OTHER[k]), X, y, cv=cv, n_jobs=1)
        pairs.append(compare(found[-1], other, confidence=CONFIDENCE))
    scores = np.array([one.score for one in found])
    truth, gap = scores.mean(), np.mean([pair.difference for pair in pairs])
    covers, widths = {}, {}
    for method in METHODS:
        intervals = [one.interval(CONFIDENCE, method=method) for one in found]
        covers[method] = float(np.mean([truth in i for i in intervals]))
        widths[method] = float(np.mean([i.high - i.low for i in intervals]))
        widths[method] /= IDEAL * scores.std()
    covered = float(np.mean([gap in pair.interval for pair in pairs]))
    return Cell(kind, n, k, share, covers, widths, covered)


def is_ordinary(cell: Cell) -> bool:
    """Not a vote of nearly the whole training set, and not a score at the end of its scale."""
    return cell.k < cell.share * cell.n / 2 and cell.kind != "99 % right"


def span(values: list[float]) -> str:
    return f"{min(values):.2f} to {max(values):.2f}"


def page(cells: list[Cell]) -> str:
    rows = [
        [
            f"{c.kind}, n = {c.n}, k = {c.k}, {c.share:.0%}",
            *(f"{c.covers[m]:.3f}" for m in METHODS),
            *(f"{c.widths[m]:.2f}" for m in METHODS),
            f"{c.difference:.3f}",
        ]
        for c in cells
    ]
    header = ["", *METHODS, *(f"width, {m}" for m in METHODS), "difference to another k, combined"]
    ordinary = [c for c in cells if is_ordinary(c)]
    sure = [c for c in cells if c.kind == "99 % right"]
    lines = "\n".join(
        f"- **{m}**: covers {span([c.covers[m] for c in ordinary])}, on average "
        f"{np.mean([c.covers[m] for c in ordinary]):.3f}; width "
        f"{span([c.widths[m] for c in ordinary])} of the ideal, on average "
        f"{np.mean([c.widths[m] for c in ordinary]):.2f}."
        for m in METHODS
    )
    below = [c for c in ordinary if c.covers["combined"] < 0.93]
    above = [c for c in ordinary if c.covers["combined"] > 0.99]
    noise = 2 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / RUNS)
    shares = ", ".join(f"{share:.0%}" for share in SHARES)
    cover_sure = span([c.covers["combined"] for c in sure])
    width_sure = span([c.widths["combined"] for c in sure])
    return f"""# How often the interval covers

`python studies/interval_coverage.py` · {environment()}

{RUNS} data sets in each cell, confidence {CONFIDENCE}; all training sets of {shares} of n samples.
A share that covers has a noise of about ± {noise:.3f} of its own, and the truth is the mean of the
same {RUNS} scores. The ideal width is ± {IDEAL / 2:.2f} true standard deviations of the score.

## What we find
Over the {len(ordinary)} cells that are neither a vote of half of the training set or more, nor
at the end of the scale:

{lines}

- The combined interval covers less than 0.93 in {len(below)} of {len(ordinary)} cells
  {named(below)}, and more than 0.99 in {len(above)}.
- The difference between k = 1 and 3, 5 and 1, 15 and 5 is covered
  {span([c.difference for c in ordinary])}, on average
  {np.mean([c.difference for c in ordinary]):.3f}: mostly more often than it says. It has at least
  the variance of one sample for either side, which matters where two nearly always agree; many at
  once are in [how often `compare` of many is right](compare_coverage.md).
- **99 % right**: scores are at the end of their scale, and most data sets have a handful of
  errors. The combined interval covers {cover_sure} and is {width_sure} times as wide as the ideal
  one, which is not a normal one there; the difference is covered
  {span([c.difference for c in sure])}.

## How it was chosen
The share of two thirds, Student's quantile and Wilson's form were chosen on two, five and rare
classes and 40 dimensions, with other draws; checkers, moons and regression had no part in it. The
jackknife counts what samples do together once for each of them, and is safe; the sample scores
(Bayle, Bayle, Janson & Mackey 2020, arXiv 2007.12671) do not see a sample's part as a neighbour,
and are too narrow whatever n is: their theorem asks for a learner that one training sample changes
by less than order 1/n.

![Coverage and width](interval_coverage.png)

## All cells
{markdown_table(header, rows)}
"""


def named(cells: list[Cell]) -> str:
    if not cells:
        return ""
    return "(" + "; ".join(f"{c.kind}, n = {c.n}, k = {c.k}, {c.share:.0%}" for c in cells) + ")"


def draw_figure(cells: list[Cell]) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(7, 4), constrained_layout=True)
    ordinary = [c for c in cells if is_ordinary(c)]
    for method, color, mark in zip(METHODS, (BLUE, GREEN, VERMILION), "os^", strict=True):
        ax.plot(
            [c.widths[method] for c in ordinary], [c.covers[method] for c in ordinary], mark,
            color=color, label=method, alpha=0.7,
        )  # fmt: skip
    ax.axhline(CONFIDENCE, color="black", linewidth=0.8)
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set(xlabel="mean width / ideal width", ylabel="share of intervals that cover")
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")
    return figure


def main() -> None:
    cells = Parallel(n_jobs=-1)(
        delayed(measure)(*cell)
        for cell in product(KINDS, NS, KS, SHARES)
        # Fifteen votes for five classes take minutes.
        if not (cell[0] == "five classes" and cell[2] > 5)
    )
    save_figure(draw_figure(cells), "interval_coverage")
    write_page("interval_coverage", page(cells))


if __name__ == "__main__":
    main()

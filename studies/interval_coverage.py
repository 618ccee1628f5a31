"""How often intervals cover, for nearest neighbours, and how wide they are.

Many data sets from sources with known truth (`_interval_data`, drawn by `_interval_draws`). For
each one the exact score over all training sets of a share of the samples, for every k, its interval
by each method, and the difference to the next k. The truth is the mean score over all data sets of
a cell; the ideal width is that of a normal interval with the true spread of the scores. What a
first look finds at the edge of what should be kept to is judged by a second look, of others.

``python studies/interval_coverage.py folder`` draws what the folder does not have and writes
interval_coverage.md and interval_coverage.png. ``--jobs 14`` draws by as many processes,
``--minutes 8`` begins nothing new after that time, ``--n 60 200`` looks at data sets of these sizes
alone (lines of others stay as they are on the page), ``--estimate`` only says how long a first look
takes. It needs ALLSPLITS_DATA, the folder of mnist_70000.npz.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import matplotlib

from allsplits.plots._style import BLUE, GREEN, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _interval_data import KINDS, MOONS
from _interval_draws import (
    RUNS,
    SHARES,
    Drawn,
    draw_parts,
    first_look,
    read,
    say_how_long,
    second_look,
)
from _interval_judge import CONFIDENCE, IDEAL, RULES, Column, at_the_edge, by
from _interval_page import (
    CUTS,
    SMALL_RUNS,
    SMALL_SHARE,
    Cell,
    Small,
    Tried,
    cells_on_page,
    page,
)
from _report import save_figure, write_page
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate
from allsplits.model_selection._variance import METHODS

PAGE = Path(__file__).with_suffix(".md")
#: Kinds, numbers of samples and k for the unbiased variance.
SMALL = (("two classes", "40 dimensions"), (60, 100), (1, 5))


def measure(kind: str, n: int, share: float, drawn: Drawn) -> list[Cell]:
    """The cells of all k, by the second look where there is one."""
    again = drawn.runs >= RUNS[n]
    runs = np.flatnonzero(again if again.any() else ~again)
    cells = []
    for c, k in enumerate(drawn.ks.tolist()):
        score, gap = (
            Column.of(kind, n, share, drawn, c, of_gap=of_gap) for of_gap in (False, True)
        )
        judged = {method: score.judge(by(method), runs) for method in METHODS}
        cells.append(
            Cell(kind, n, k, share, judged, gap.judge(by("combined"), runs), bool(again.any()))
        )
    return cells


def try_out(kind: str, n: int, share: float, drawn: Drawn) -> list[dict[str, Tried]]:
    """All rules, on the first look at independent draws."""
    if kind == MOONS:
        return []
    runs = np.flatnonzero(drawn.runs < RUNS[n])
    found = []
    for c in range(len(drawn.ks)):
        both = [Column.of(kind, n, share, drawn, c, of_gap=of_gap) for of_gap in (False, True)]
        found.append(
            {name: Tried(*(one.judge(rule, runs) for one in both)) for name, rule in RULES.items()}
        )
    return found


def measure_small(kind: str, n: int, k: int) -> Small:
    """The unbiased variance beside the combined one."""
    rng = np.random.default_rng([list(KINDS).index(kind), n, k])
    scores, variances, combined, ends = [], [], [], []
    for _ in range(SMALL_RUNS):
        X, y = KINDS[kind](n, rng)
        found = evaluate(KNeighborsClassifier(k), X, y, cv=FixedSize(SMALL_SHARE), n_jobs=1)
        interval = found.interval(CONFIDENCE)
        scores.append(found.score)
        variances.append(found.unbiased_variance(n_cuts=CUTS).variance)
        combined.append(interval.standard_error**2)
        ends.append(tuple(interval))
    truth, variance = np.mean(scores), np.var(scores)
    reach = IDEAL / 2 * np.sqrt(np.maximum(variances, 0))
    low, high = np.array(ends).T
    return Small(
        kind, n, k, np.mean(variances) / variance, np.std(variances) / variance,
        np.mean(combined) / variance, np.std(combined) / variance,
        float(np.mean(np.abs(scores - truth) <= reach)),
        float(np.mean((low <= truth) & (truth <= high))),
    )  # fmt: skip


def draw_figure(cells: list[Cell]) -> plt.Figure:
    figure, ax = plt.subplots(figsize=(7, 4), constrained_layout=True)
    for method, color, mark in zip(METHODS, (BLUE, GREEN, VERMILION), "os^", strict=True):
        judged = [c.judged[method] for c in cells if c.is_ordinary]
        ax.plot(
            [one.width for one in judged], [one.covers for one in judged], mark, color=color,
            label=method, alpha=0.6, markersize=4,
        )  # fmt: skip
    ax.axhline(CONFIDENCE, color="black", linewidth=0.8)
    ax.axvline(1.0, color="black", linewidth=0.8)
    ax.set(xlabel="mean width / ideal width", ylabel="share of intervals that cover")
    ax.grid(alpha=0.3)
    ax.legend(loc="lower right")
    return figure


def draw_all(given: argparse.Namespace) -> bool:
    """Both looks, or what there is time for; tells whether nothing is missing."""
    first = [part for n in given.n for part in first_look(n)]
    say_how_long(first, given.folder)
    if given.estimate:
        return False
    if not draw_parts(first, given.folder, given.jobs, given.minutes):
        return False
    again = [more for part in at_the_edge(given.folder, given.n) for more in second_look(part)]
    return draw_parts(again, given.folder, given.jobs, given.minutes)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=np.inf)
    parser.add_argument("--n", type=int, nargs="+", default=list(RUNS), choices=list(RUNS))
    parser.add_argument("--estimate", action="store_true")
    given = parser.parse_args()
    if not draw_all(given):
        return
    tried: list[dict[str, Tried]] = []
    cells = [cell for n in RUNS if n not in given.n for cell in cells_on_page(PAGE.read_text(), n)]
    for where in product(KINDS, given.n, SHARES):
        drawn = read(*where, given.folder)
        cells += measure(*where, drawn)
        tried += try_out(*where, drawn)
    cells.sort(key=lambda c: (list(KINDS).index(c.kind), c.n, c.k, c.share))
    small = [measure_small(*one) for one in product(*SMALL)]
    save_figure(draw_figure(cells), "interval_coverage")
    write_page("interval_coverage", page(cells, given.n, tried, small))


if __name__ == "__main__":
    main()

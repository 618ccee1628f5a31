"""How often intervals cover, for nearest neighbours, and how wide they are.

Many data sets from sources with known truth (`_interval_data`, drawn by `_interval_draws`). For
each one the exact score over all training sets of a share of the samples, for every k, its interval
by each method, and the difference to the next k. The truth is the mean score over all data sets of
a cell; the ideal width is that of a normal interval with the true spread of the scores. The rule
was chosen on some of the data sets, and is judged by the others.

``python studies/interval_coverage.py folder`` writes interval_coverage.md and
interval_coverage.png from what `_interval_draws` has put into the folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import matplotlib

from allsplits.plots._style import BLUE, GREEN, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _interval_data import KINDS, is_regression
from _interval_draws import CHOSEN_ON, JUDGED_FROM, RUNS, SHARES, Drawn, read
from _interval_page import (
    CONFIDENCE,
    CUTS,
    INDEPENDENT_MOONS,
    MOONS,
    SMALL_RUNS,
    SMALL_SHARE,
    Cell,
    Judged,
    Small,
    Tried,
    page,
)  # fmt: skip
from _report import save_figure, write_page
from scipy.stats import norm
from sklearn.neighbors import KNeighborsClassifier

from allsplits import FixedSize, evaluate
from allsplits.model_selection._interval import interval_ends
from allsplits.model_selection._variance import METHODS, Squares, Variance, variance_by

IDEAL = 2 * norm.ppf(0.5 + CONFIDENCE / 2)
#: Kinds, numbers of samples and k for the unbiased variance.
SMALL = (("two classes", "40 dimensions"), (60, 100), (1, 5))


#: An interval's variance, from both kinds of squares, what is counted twice, and neighbourhoods.
Rule = Callable[[Squares, Squares, float, float], Variance]
#: Degrees of freedom, from the variance and the same.
Freedom = Callable[[float, Squares, Squares, float], float]


def by(method: str) -> Rule:
    return lambda safe, tight, twice, places: variance_by(method, safe, tight, twice, places)


def of_jackknife(value: float, safe: Squares, tight: Squares, places: float) -> float:
    return safe.freedom


def of_fewer(value: float, safe: Squares, tight: Squares, places: float) -> float:
    return min(safe.freedom, tight.freedom)


def of_places(value: float, safe: Squares, tight: Squares, places: float) -> float:
    """Those of the jackknife, and four for each neighbourhood."""
    return max(2.0, 1 / (1 / safe.freedom + 1 / (4 * places)))


def of_parts(value: float, safe: Squares, tight: Squares, places: float) -> float:
    """Sample scores have theirs, the rest has one for each neighbourhood."""
    part = tight.squares / value if value else 1.0
    return max(2.0, 1 / (part / tight.freedom + (1 - part) / places))


def taken_off(share: float, freedom: Freedom, floor: float = 1.0) -> Rule:
    """A share of what is counted twice, and a lower end in units of the sample scores."""

    def variance(safe: Squares, tight: Squares, twice: float, places: float) -> Variance:
        value = max(safe.squares - share * twice, floor * tight.squares)
        return Variance(value, freedom(value, safe, tight, places))

    return variance


#: What was tried, in words.
RULES = {
    "nothing: the jackknife": taken_off(0.0, of_jackknife, 0.0),
    "half": taken_off(0.5, of_jackknife),
    "eight tenths": taken_off(0.8, of_jackknife),
    "nine tenths": taken_off(0.9, of_jackknife),
    "all of it": taken_off(1.0, of_jackknife),
    "nine tenths; fewer of both degrees": taken_off(0.9, of_fewer),
    "nine tenths; jackknife's and 4 m/k": taken_off(0.9, of_places),
    "eight tenths; parts and m/k": taken_off(0.8, of_parts),
    "nine tenths; parts and m/k": taken_off(0.9, of_parts),
    "all of it; parts and m/k": taken_off(1.0, of_parts),
}


class Column(NamedTuple):
    """One k of what was drawn: values and what their variances are made of, by data set."""

    kind: str
    n: int
    values: np.ndarray
    places: float
    safe: list[Squares]
    tight: list[Squares]
    twice: np.ndarray
    of_gap: bool

    @classmethod
    def of(cls, kind: str, n: int, share: float, drawn: Drawn, c: int, *, of_gap: bool) -> Column:
        """The c-th k, or its difference to the next one."""
        end = "_of_gap" if of_gap else ""
        k, next_k = drawn.ks[c], drawn.ks[(c + 1) % len(drawn.ks)]
        train = FixedSize(share).resolve(n).smallest_training_set
        places = train / max(k, next_k) if of_gap else train / k
        part = {
            name: getattr(drawn, name + end)[:, c].astype(float)
            for name in ("jackknife", "jackknife4", "sample_scores", "sample_scores4")
        }
        following = drawn.scores[:, (c + 1) % len(drawn.ks)] if of_gap else 0.0
        safe, tight = (
            [Squares(n, *pair) for pair in zip(part[name], part[name + "4"], strict=True)]
            for name in ("jackknife", "sample_scores")
        )
        twice = getattr(drawn, "counted_twice" + end)[:, c].astype(float)
        values = drawn.scores[:, c] - following
        return cls(kind, n, values, places, safe, tight, twice, of_gap)

    def judge(self, rule: Rule, runs: np.ndarray) -> Judged:
        """The share of intervals that hold the truth, and their mean width over the ideal."""
        truth, ideal = self.values.mean(), IDEAL * self.values.std()
        ends = np.array([self._ends(rule, run) for run in runs])
        covers = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        return Judged(float(covers), float(np.mean(ends[:, 1] - ends[:, 0]) / ideal), len(runs))

    def _ends(self, rule: Rule, run: int) -> tuple[float, float]:
        variance = rule(self.safe[run], self.tight[run], self.twice[run], self.places)
        one_unit = 0.0 if is_regression(self.kind) else 1 / self.n**2
        scoring = "neg_mean_squared_error" if one_unit == 0 else "accuracy"
        if self.of_gap:
            # Not less than one sample for either side.
            variance = variance._replace(value=max(variance.value, 2 * one_unit))
            scoring = ""
        return interval_ends(
            self.values[run], variance, CONFIDENCE, scoring=scoring, n_units=self.n,
            one_unit=one_unit,
        )  # fmt: skip


def read_all(folder: Path) -> dict[tuple[str, int, float], Drawn]:
    """By kind, n and share; all of one n have the same number of data sets to be judged by."""
    found = {where: read(*where, folder) for where in product(KINDS, RUNS, SHARES)}
    ends = {n: min(_end(drawn, n) for where, drawn in found.items() if where[1] == n) for n in RUNS}
    return {where: drawn.before(ends[where[1]]) for where, drawn in found.items()}


def _end(drawn: Drawn, n: int) -> int:
    """The first number of a data set that is missing."""
    missing = np.setdiff1d(np.arange(JUDGED_FROM[n], RUNS[n]), drawn.runs)
    return int(missing[0]) if len(missing) else RUNS[n]


def measure(kind: str, n: int, share: float, drawn: Drawn) -> list[Cell]:
    """The cells of all k, from the data sets that judge."""
    runs = np.flatnonzero(drawn.runs >= JUDGED_FROM[n])
    cells = []
    for c, k in enumerate(drawn.ks.tolist()):
        score, gap = (
            Column.of(kind, n, share, drawn, c, of_gap=of_gap) for of_gap in (False, True)
        )
        judged = {method: score.judge(by(method), runs) for method in METHODS}
        cells.append(Cell(kind, n, k, share, judged, gap.judge(by("combined"), runs)))
    return cells


def try_out(kind: str, n: int, share: float, drawn: Drawn) -> list[dict[str, Tried]]:
    """All rules, on the data sets of the choice, in which moons of either kind have no part."""
    if kind in (MOONS, INDEPENDENT_MOONS):
        return []
    runs = np.flatnonzero(drawn.runs < CHOSEN_ON[n])
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


def main() -> None:
    cells, tried = [], []
    for (kind, n, share), drawn in read_all(Path(sys.argv[1])).items():
        cells += measure(kind, n, share, drawn)
        tried += try_out(kind, n, share, drawn)
    cells.sort(key=lambda c: (list(KINDS).index(c.kind), c.n, c.k, c.share))
    small = [measure_small(*one) for one in product(*SMALL)]
    save_figure(draw_figure(cells), "interval_coverage")
    write_page("interval_coverage", page(cells, tried, small))


if __name__ == "__main__":
    main()

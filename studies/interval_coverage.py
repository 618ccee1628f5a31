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
from _interval_draws import RUNS, SHARES, Drawn, read
from _interval_page import (
    CHOSEN_ON,
    CONFIDENCE,
    CUTS,
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


class Rule(NamedTuple):
    """How an interval is made of its variances."""

    variance: Callable[[Squares, Squares, float], Variance]
    #: Whether a score of errors has the interval of a scale with one end.
    one_end: bool = True


def by(method: str) -> Rule:
    return Rule(lambda safe, tight, twice: variance_by(method, safe, tight, twice))


def taken_off(share: float, floor: float = 1.0, *, one_end: bool = True) -> Rule:
    """Another share of what is counted twice, another lower end in units of the sample scores."""

    def variance(safe: Squares, tight: Squares, twice: float) -> Variance:
        return Variance(max(safe.squares - share * twice, floor * tight.squares), safe.freedom)

    return Rule(variance, one_end)


def fewer_degrees(safe: Squares, tight: Squares, twice: float) -> Variance:
    """All taken off, and as many degrees of freedom less."""
    variance = max(safe.squares - twice, tight.squares)
    left = min(1.0, variance / safe.squares) if safe.squares else 1.0
    return Variance(variance, max(2.0, safe.freedom * left))


#: What was tried, in words.
RULES = {
    "all of it, errors ± a reach": taken_off(1.0, one_end=False),
    "all of it": taken_off(1.0),
    "all of it, no less than half of the sample scores": taken_off(1.0, 0.5),
    "all of it, fewer degrees of freedom": Rule(fewer_degrees),
    "nine tenths": taken_off(0.9),
    "nine tenths, no less than half of the sample scores": taken_off(0.9, 0.5),
    "eight tenths": taken_off(0.8),
    "seven tenths": taken_off(0.7),
    "half": taken_off(0.5),
    "nothing: the jackknife": taken_off(0.0, 0.0),
}


class Column(NamedTuple):
    """One k of what was drawn: values and what their variances are made of, by data set."""

    kind: str
    n: int
    values: np.ndarray
    safe: list[Squares]
    tight: list[Squares]
    twice: np.ndarray
    of_gap: bool

    @classmethod
    def of(cls, kind: str, n: int, drawn: Drawn, c: int, *, of_gap: bool) -> Column:
        """The c-th k, or its difference to the next one."""
        end = "_of_gap" if of_gap else ""
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
        return cls(kind, n, drawn.scores[:, c] - following, safe, tight, twice, of_gap)

    def judge(self, rule: Rule, runs: np.ndarray) -> Judged:
        """The share of intervals that hold the truth, and their mean width over the ideal."""
        truth, ideal = self.values.mean(), IDEAL * self.values.std()
        ends = np.array([self._ends(rule, run) for run in runs])
        covers = np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1]))
        return Judged(float(covers), float(np.mean(ends[:, 1] - ends[:, 0]) / ideal), len(runs))

    def _ends(self, rule: Rule, run: int) -> tuple[float, float]:
        variance = rule.variance(self.safe[run], self.tight[run], self.twice[run])
        one_unit = 0.0 if is_regression(self.kind) else 1 / self.n**2
        scoring = "neg_mean_squared_error" if one_unit == 0 else "accuracy"
        if self.of_gap:
            # Not less than one sample for either side.
            variance = variance._replace(value=max(variance.value, 2 * one_unit))
            scoring = ""
        elif one_unit == 0 and not rule.one_end:
            scoring = ""
        return interval_ends(
            self.values[run], variance, CONFIDENCE, scoring=scoring, n_units=self.n,
            one_unit=one_unit,
        )  # fmt: skip


def measure(kind: str, n: int, share: float, drawn: Drawn) -> list[Cell]:
    """The cells of all k, from the data sets that had no part in the choice."""
    runs = np.flatnonzero(drawn.runs >= CHOSEN_ON.get(n, 0))
    cells = []
    for c, k in enumerate(drawn.ks.tolist()):
        score, gap = (Column.of(kind, n, drawn, c, of_gap=of_gap) for of_gap in (False, True))
        judged = {method: score.judge(by(method), runs) for method in METHODS}
        cells.append(Cell(kind, n, k, share, judged, gap.judge(by("combined"), runs)))
    return cells


def try_out(kind: str, n: int, drawn: Drawn) -> list[dict[str, Tried]]:
    """All rules, on the data sets of the choice."""
    runs = np.flatnonzero(drawn.runs < CHOSEN_ON.get(n, 0))
    if not len(runs):
        return []
    found = []
    for c in range(len(drawn.ks)):
        both = [Column.of(kind, n, drawn, c, of_gap=of_gap) for of_gap in (False, True)]
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
    folder = Path(sys.argv[1])
    cells, tried, missing = [], [], []
    for kind, n, share in product(KINDS, RUNS, SHARES):
        drawn = read(kind, n, share, folder)
        if drawn is None or drawn.runs[-1] < CHOSEN_ON.get(n, 0):
            missing.append((kind, n, share))
            continue
        cells += measure(kind, n, share, drawn)
        tried += try_out(kind, n, drawn)
    cells.sort(key=lambda c: (list(KINDS).index(c.kind), c.n, c.k, c.share))
    small = [measure_small(*one) for one in product(*SMALL)]
    save_figure(draw_figure(cells), "interval_coverage")
    write_page("interval_coverage", page(cells, tried, small, missing))


if __name__ == "__main__":
    main()

"""Rules for intervals, and how often they cover: from what was drawn of a cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from _interval_data import INDEPENDENT, is_regression
from _interval_draws import RUNS, SHARES, Drawn, Part, read
from scipy.stats import norm

from allsplits import FixedSize
from allsplits.model_selection._interval import interval_ends
from allsplits.model_selection._variance import Squares, Variance, variance_by

CONFIDENCE = 0.95
IDEAL = 2 * norm.ppf(0.5 + CONFIDENCE / 2)
#: What the combined interval should keep to; what a first look finds outside of the edges, or near
#: them, is looked at again.
LEAST, MOST = 0.93, 0.99
EDGES = 0.935, 0.985
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


class Judged(NamedTuple):
    """The share of intervals that cover, their mean width over the ideal, and their number."""

    covers: float
    width: float
    n_runs: int

    @property
    def is_below(self) -> bool:
        return self.covers < LEAST

    @property
    def is_above(self) -> bool:
        return self.covers > MOST


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


def at_the_edge(folder: Path, sizes: Iterable[int]) -> list[Part]:
    """What has a cell that the first look puts outside of the edges, or near them."""
    found = []
    for kind, n, share in product(INDEPENDENT, sizes, SHARES):
        drawn = read(kind, n, share, folder).before(RUNS[n])
        every = np.arange(len(drawn.runs))
        for c in range(len(drawn.ks)):
            covers = Column.of(kind, n, share, drawn, c, of_gap=False).judge(
                by("combined"), every
            ).covers  # fmt: skip
            if not EDGES[0] <= covers <= EDGES[1]:
                found.append(Part(kind, n, share))
                break
    return found

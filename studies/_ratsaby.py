"""Problems and runs of the studies of Ratsaby (1997).

Four equally likely classes in the plane without overlap: two plain ones, and two that are wound
around each other as waves, a chequered board or spirals. The plain classes are *apart* from the
rest, or they *touch* the intricate ones all along.

All learners of a run get the same examples: each class has one list of them, and who asks for ten
of a class gets the next ten of its list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binomtest

__all__ = [
    "SHAPES", "Rule", "Run", "apart", "chance", "drawer", "run_of_rule", "touching", "with_error",
]  # fmt: skip

N_TEST = 2000

#: The classes of points (x, y), numbered from 0; -1 where no class is.
Rule = Callable[[np.ndarray, np.ndarray], np.ndarray]


def waves(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """0 and 1 on the two sides of a steep wave."""
    return (x > 0.5 + 0.18 * np.sin(8 * np.pi * y)).astype(int)


def board(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """0 and 1 on the fields of a board, 8 by 8."""
    return (np.floor(8 * x) + np.floor(8 * y)).astype(int) % 2


def spirals(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """0 and 1 on two arms around each other."""
    u, v = x - 0.5, y - 0.5
    turns = (np.arctan2(v, u) + 12 * np.pi * np.hypot(u, v)) / np.pi
    return np.floor(turns).astype(int) % 2


def apart(inside: Rule) -> Rule:
    """The intricate classes 2 and 3 in a rectangle, 0 and 1 in discs to its left; -1 elsewhere."""

    def label(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = (x - 0.35) / 0.65, y
        classes = np.where(u >= 0, 2 + inside(u, v), -1)
        classes[np.hypot(x - 0.1, y - 0.2) < 0.1] = 0
        classes[np.hypot(x - 0.1, y - 0.8) < 0.1] = 1
        return classes

    return label


def touching(inside: Rule) -> Rule:
    """The intricate classes 2 and 3 in a square, 0 and 1 below and above the middle around it."""

    def label(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        u, v = (x - 0.15) / 0.7, (y - 0.15) / 0.7
        within = (u >= 0) & (u <= 1) & (v >= 0) & (v <= 1)
        return np.where(within, 2 + inside(u, v), np.where(y < 0.5, 0, 1))

    return label


SHAPES: dict[str, Rule] = {"waves": waves, "board": board, "spirals": spirals}


@dataclass(frozen=True)
class Run:
    """What all learners of a run share.

    `examples` has the list of each class, `tests` points and classes, `seed` decides what is left
    to chance in learning.
    """

    examples: Sequence[np.ndarray]
    tests: tuple[np.ndarray, np.ndarray]
    priors: np.ndarray
    seed: int

    @property
    def classes(self) -> np.ndarray:
        """The class numbers."""
        return np.arange(len(self.examples))

    def giver(self) -> Callable[[int, int], np.ndarray]:
        """Return a function that gives out the next examples of a class."""
        given = np.zeros(len(self.examples), dtype=int)

        def draw(label: int, count: int) -> np.ndarray:
            start = given[label]
            given[label] += count
            return self.examples[label][start : start + count]

        return draw


def drawer(rule: Rule, rng: np.random.Generator) -> Callable[[int, int], np.ndarray]:
    """Return a function that draws evenly from the region of a class."""

    def draw(label: int, count: int) -> np.ndarray:
        rows: list[np.ndarray] = []
        while sum(map(len, rows)) < count:
            points = rng.random((8 * count + 16, 2))
            rows.append(points[rule(*points.T) == label])
        return np.concatenate(rows)[:count]

    return draw


def run_of_rule(
    rule: Rule, budget: int, seed: int, test_rng: np.random.Generator, priors: Sequence[float]
) -> Run:
    """Draw a run of a problem in the plane; `test_rng` draws the tests."""
    shares = np.array(priors) / np.sum(priors)
    counts = np.rint(N_TEST * shares).astype(int)
    tests = [drawer(rule, test_rng)(c, n) for c, n in enumerate(counts)]
    draw = drawer(rule, np.random.default_rng([1, seed]))
    examples = [draw(c, budget) for c in range(len(counts))]
    truth = np.repeat(np.arange(len(counts)), counts)
    return Run(examples, (np.concatenate(tests), truth), shares, seed)


def chance(successes: int, trials: int) -> float:
    """How likely so many successes are, or more, if both are as good (sign test)."""
    return float(binomtest(successes, trials, 0.5, alternative="greater").pvalue)


def with_error(values: np.ndarray, sign: bool = False) -> str:
    """Mean of the runs in percent, and its standard error."""
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{100 * values.mean():{'+' if sign else ''}.2f} ± {100 * error:.2f}"

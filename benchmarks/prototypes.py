"""Prototypes: condensing beside R's ``class`` package, and Voronoi facets.

R (Debian: r-base-core, r-cran-class) is run where it is installed, on the same data. Where it is
not, its recorded time and size on pendigits stand in for it, and the line says so; for the
stand-in data there is nothing recorded, so only our own time is shown.
"""

from __future__ import annotations

import numpy as np

from allsplits import CondensedReduced, FastCondensed, ShareClassQuery, voronoi_complexity
from benchmarks._data import letters, pendigits
from benchmarks._r import answer_of_r
from benchmarks._timing import Result, interleaved, print_results, seconds

#: R 4.2.2, class 7.3-21 on pendigits: 12.5 s + 22 s on an idle machine, 363 prototypes at best of
#: four seeds (363 to 372).
RECORDED_SECONDS, RECORDED_PROTOTYPES = 34.5, 363

R_PROGRAM = """
library(class)
set.seed(1)
time <- system.time({
  kept <- condense(X, y, trace = FALSE)
  kept <- reduce.nn(X, kept, y)
})
cat(time["elapsed"], length(kept))
"""


def against_r() -> list[Result]:
    name, X, y = pendigits()
    model = CondensedReduced()
    (ours,) = interleaved([lambda: model.fit(X, y)], repeats=3)
    kept = len(model.sample_indices_)
    what = f"{name}: condense + consistent reduce"
    measured = answer_of_r(R_PROGRAM, X, y)
    beside = "R's condense + reduce.nn"
    if measured is None and name == "pendigits":
        measured = [RECORDED_SECONDS, RECORDED_PROTOTYPES]
        beside += " (recorded elsewhere)"
    if measured is None:
        return [Result(f"{what} (no R here)", ours), Result(f"{what}: prototypes", kept, unit="")]
    return [
        Result(f"{what} / {beside}", ours, measured[0], 1 / 20),
        Result(f"{what}: prototypes / {beside}", kept, measured[1], 1.0, unit=""),
    ]


def on_letters() -> list[Result]:
    name, X, y = letters()
    plain, fast = CondensedReduced(), FastCondensed(reduce="consistent")
    times = interleaved([lambda: plain.fit(X, y), lambda: fast.fit(X, y)], repeats=2)
    sizes = [len(model.sample_indices_) for model in (plain, fast)]
    return [
        Result(f"{name}: condense + consistent reduce", times[0], None, 10.0),
        Result(f"{name}: FCNN + consistent reduce / condense + reduce", times[1], times[0]),
        Result(f"{name}: prototypes of FCNN / condense, both reduced", sizes[1], sizes[0], unit=""),
    ]


def facets() -> list[Result]:
    rng = np.random.default_rng(0)
    plane, labels = rng.standard_normal((1000, 2)), rng.integers(0, 4, 1000)
    (in_plane,) = interleaved([lambda: voronoi_complexity(plane, labels)], repeats=7)
    name, X, y = pendigits()
    rows = rng.choice(len(X), 200, replace=False)
    few, of_few = X[rows], y[rows]
    bound = voronoi_complexity(few, of_few, method="bound")
    exact = seconds(lambda: voronoi_complexity(few, of_few))
    quick = seconds(lambda: voronoi_complexity(few, of_few, method="bound"))
    left = bound.undecided.sum() / (bound.undecided + bound.facets).sum()
    return [
        Result("voronoi_complexity, 1000 prototypes in the plane", in_plane, None, 0.1),
        Result(f"voronoi_complexity, 200 of {name}, 16 dimensions", exact, None, 60.0),
        Result(f"the same, bounds ({100 * left:.1f} % undecided) / exact", quick, exact),
    ]


def class_query() -> list[Result]:
    name, X, y = pendigits()
    few, of_few = X[:2000], y[:2000]
    rule = ShareClassQuery()
    (taken,) = interleaved([lambda: rule.query(few, of_few)], repeats=5)
    return [Result(f"ShareClassQuery, 2000 examples of {name}", taken, None, 1.0)]


def measure() -> list[Result]:
    return against_r() + on_letters() + facets() + class_query()


if __name__ == "__main__":
    print_results(measure())

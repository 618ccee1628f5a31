"""How often the prediction intervals of `LazyRegressor` hold the target, on nine data sets.

Random halves: one trains and calibrates, the other is predicted. The floor of the intervals is
chosen on four data sets and reported on the other five. Beside them: ± 1.96 std, which is not
calibrated, and intervals of one width for all queries from the same leave-one-out residuals.

``python studies/lazy_intervals.py`` writes lazy_intervals.md and lazy_intervals.png.
"""

from __future__ import annotations

from typing import NamedTuple

import matplotlib

from allsplits.plots._style import BLUE, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _regression_data import CHOSEN_ON, REPORTED_ON, Half, halves, shapes
from _report import environment, markdown_table, save_figure, write_page

from allsplits import LazyRegressor
from allsplits.lazy._calibration import FLOOR, Calibration, leave_one_out, score_rank

REPEATS = 40
CONFIDENCE = 0.95
#: Shares of the mean residual; the last one stands for one width for everybody.
FLOORS = (0.0, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 1e9)
#: Confidences that the chosen floor is tried with.
CONFIDENCES = (0.5, 0.8, 0.9, 0.95, 0.98)


class Outcome(NamedTuple):
    """Of one half and one way to make intervals: shares held, widths, and the interval score."""

    coverage: float
    #: Among the third of the queries with the smallest std, and with the largest.
    sure: float
    unsure: float
    #: Mean width in standard deviations of the target.
    width: float
    #: Width plus 2/(1 - confidence) times what a target lies outside, on average, as above.
    score: float


class HalfResult(NamedTuple):
    """Everything about one half."""

    floors: list[Outcome]
    uncalibrated: Outcome
    #: Share held for each of CONFIDENCES.
    confidences: list[float]
    #: Share of queries with std 0, and which of them the intervals hold.
    n_zero: int
    n_zero_held: int


def main() -> None:
    results = {
        combine: {name: measure(name, combine) for name in (*CHOSEN_ON, *REPORTED_ON)}
        for combine in (LazyRegressor().combine, "best")
    }
    default = results[LazyRegressor().combine]
    save_figure(draw(default), "lazy_intervals")
    write_page("lazy_intervals", page(default, results["best"]))


def measure(name: str, combine: int | str) -> list[HalfResult]:
    check_public(next(halves(name, 1)), combine)
    found = [measure_half(half, combine) for half in halves(name, REPEATS)]
    print(f"{name}, combine={combine} done", flush=True)
    return found


def check_public(half: Half, combine: int | str) -> None:
    """What is measured below from residuals and stds is what `predict_interval` gives."""
    model = LazyRegressor(combine=combine, n_jobs=1).fit(half.X_train, half.y_train)
    predictions, ends = model.predict_interval(half.X_test, CONFIDENCE)
    std = model.predict(half.X_test, return_std=True)[1]
    calibration = Calibration.of(*leave_one_out(model._data, model._plan, model._search))
    reach = calibration.half_width(std[:, None], score_rank(CONFIDENCE, len(half.y_train)))
    np.testing.assert_array_equal(ends[:, 1], predictions + reach[:, 0])


def measure_half(half: Half, combine: int | str) -> HalfResult:
    model = LazyRegressor(combine=combine, n_jobs=1).fit(half.X_train, half.y_train)
    residuals, left_out = leave_one_out(model._data, model._plan, model._search)
    predictions, std = model.predict(half.X_test, return_std=True)
    off = np.abs(half.y_test - predictions)
    rank = score_rank(CONFIDENCE, len(half.y_train))
    spread = half.y_train.std()

    def outcome(reach: np.ndarray) -> Outcome:
        held = off <= reach
        order = np.argsort(std, kind="stable")
        third = len(order) // 3
        outside = np.maximum(off - reach, 0)
        return Outcome(
            held.mean(), held[order[:third]].mean(), held[order[-third:]].mean(),
            2 * reach.mean() / spread,
            np.mean(2 * reach + 2 / (1 - CONFIDENCE) * outside) / spread,
        )  # fmt: skip

    floors = [
        outcome(Calibration.of(residuals, left_out, share).half_width(std[:, None], rank)[:, 0])
        for share in FLOORS
    ]
    calibration = Calibration.of(residuals, left_out)
    held = {}
    for confidence in CONFIDENCES:
        own_rank = score_rank(confidence, len(half.y_train))
        held[confidence] = off <= calibration.half_width(std[:, None], own_rank)[:, 0]
    zero = std == 0
    return HalfResult(
        floors, outcome(1.96 * std), [float(inside.mean()) for inside in held.values()],
        int(zero.sum()), int(held[CONFIDENCE][zero].sum()),
    )  # fmt: skip


Results = dict[str, list[HalfResult]]


def of_floor(results: Results, name: str, i: int) -> np.ndarray:
    """Outcomes of one floor, array (half, field)."""
    return np.array([one.floors[i] for one in results[name]])


def relative_scores(results: Results, names: tuple[str, ...]) -> np.ndarray:
    """Interval score of each floor beside one width for everybody, geometric mean."""
    logs = []
    for name in names:
        scores = np.array([[floor.score for floor in one.floors] for one in results[name]])
        logs.append(np.log(scores / scores[:, -1:]).mean(axis=0))
    return np.exp(np.mean(logs, axis=0))


def in_words(share: float) -> str:
    return "one width" if share == FLOORS[-1] else f"{share:g}"


def draw(results: Results) -> plt.Figure:
    figure, axes = plt.subplots(1, len(results), figsize=(13, 2.8), sharey=True)
    for ax, (name, found) in zip(axes, results.items(), strict=True):
        ours = np.array([one.confidences for one in found])
        ax.plot([0.4, 1], [0.4, 1], color="#999999", linewidth=1)
        ax.plot(CONFIDENCES, ours.mean(axis=0), "o-", color=BLUE, label="calibrated")
        ax.fill_between(
            CONFIDENCES, ours.min(axis=0), ours.max(axis=0), color=BLUE, alpha=0.2, linewidth=0
        )
        plain = np.mean([one.uncalibrated.coverage for one in found])
        ax.plot([CONFIDENCE], [plain], "s", color=VERMILION, label="± 1.96 std")
        ax.set(title=name, xlabel="confidence")
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("share of targets held")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def coverage_table(results: Results) -> str:
    rows = []
    i, last = FLOORS.index(FLOOR), len(FLOORS) - 1
    for name, found in results.items():
        ours, one_width = of_floor(results, name, i), of_floor(results, name, last)
        plain = np.array([one.uncalibrated for one in found])
        use = "chosen on" if name in CHOSEN_ON else "reported on"
        rows.append((
            f"{name} ({use})",
            f"**{ours[:, 0].mean():.3f}** ± {ours[:, 0].std(ddof=1):.3f}",
            f"{ours[:, 1].mean():.3f} / {ours[:, 2].mean():.3f}", f"{ours[:, 3].mean():.2f}",
            f"{one_width[:, 0].mean():.3f}",
            f"{one_width[:, 1].mean():.3f} / {one_width[:, 2].mean():.3f}",
            f"{one_width[:, 3].mean():.2f}",
            f"{plain[:, 0].mean():.3f}", f"{plain[:, 3].mean():.2f}",
        ))  # fmt: skip
    return markdown_table(
        ["data", "held", "surest / least sure third", "width", "one width: held",
         "surest / least sure third", "width", "± 1.96 std: held", "width"], rows,
    )  # fmt: skip


def floor_table(results: Results) -> str:
    rows = []
    for use, names in (("chosen on", CHOSEN_ON), ("reported on", REPORTED_ON)):
        cells = [f"{value:.3f}" for value in relative_scores(results, names)]
        rows.append((f"interval score, {use}", *cells))
    for field, words in ((1, "surest third held"), (2, "least sure third held")):
        for use, names in (("chosen on", CHOSEN_ON), ("reported on", REPORTED_ON)):
            cells = [
                f"{np.mean([of_floor(results, name, i)[:, field].mean() for name in names]):.3f}"
                for i in range(len(FLOORS))
            ]
            rows.append((f"{words}, {use}", *cells))
    return markdown_table(["floor in mean residuals", *map(in_words, FLOORS)], rows)


def confidence_table(results: Results) -> str:
    rows = [
        (name, *(f"{v:.3f}" for v in np.mean([one.confidences for one in found], axis=0)))
        for name, found in results.items()
    ]
    return markdown_table(["confidence", *map(str, CONFIDENCES)], rows)


def zero_cells(name: str, found: list[HalfResult]) -> tuple[str, str]:
    """Share of the queries with std 0, and the share of these whose target is held."""
    n = sum(len(half.y_test) for half in halves(name, 1)) * REPEATS
    zero, held = sum(f.n_zero for f in found), sum(f.n_zero_held for f in found)
    return f"{zero / n:.2%}", f"{held / zero:.3f} of {zero}" if zero else "–"


def zero_table(results: Results, best: Results) -> str:
    rows = []
    for name, found in best.items():
        plain = np.mean([one.uncalibrated.coverage for one in found])
        ours = np.mean([one.floors[FLOORS.index(FLOOR)].coverage for one in found])
        cells = *zero_cells(name, results[name]), f"{plain:.3f}", f"{ours:.3f}"
        rows.append((name, *cells, *zero_cells(name, found)))
    return markdown_table(
        ["data", "std 0", "held of these", "best model alone: ± 1.96 std", "calibrated", "std 0",
         "held of these"], rows,
    )  # fmt: skip


def page(results: Results, best: Results) -> str:
    i = FLOORS.index(FLOOR)
    means = [of_floor(results, name, i)[:, 0].mean() for name in results]
    plain, alone = (
        [np.mean([one.uncalibrated.coverage for one in found]) for found in some.values()]
        for some in (results, best)
    )
    scores = relative_scores(results, CHOSEN_ON), relative_scores(results, REPORTED_ON)
    lowest = int(np.argmin(scores[0]))
    return f"""# Intervals that hold what they say

`python studies/lazy_intervals.py` · {environment()}

## Setting
`LazyRegressor.predict_interval` at its defaults, confidence {CONFIDENCE}. {REPEATS} random halves
of each data set ({shapes()}): one half trains
and calibrates, the other is predicted, features standardised on the training half. Means over the
halves; ± is the standard deviation between them (they share samples, so it is no standard error).
Widths are in standard deviations of the target. *Surest* and *least sure* are the thirds of the
queries with the smallest and the largest `std`. *One width* is the same without `std`: the
{CONFIDENCE} quantile of the residuals of the samples left out.

## How many targets the intervals hold
{coverage_table(results)}

At other confidences:

{confidence_table(results)}

![share held against confidence](lazy_intervals.png)

## The floor
The half width is q (std + floor), the floor a share of the mean leave-one-out residual; where `std`
is 0 the mean `std` takes its place. (Without that, in a first run, 0.72 of such targets were held
on abalone and 0.79 on auto_mpg.) Interval score (width plus {2 / (1 - CONFIDENCE):.0f} times what a
target lies outside; smaller is better) beside that of one width for everybody, and how evenly the
targets are held:

{floor_table(results)}

The smallest score on {", ".join(CHOSEN_ON)} is that of {in_words(FLOORS[lowest])}; the library has
{FLOOR:g}. (What was seen before: 0.5 was taken at first; the rule for a `std` of 0 came out of a
run on these data and of a look at abalone, concrete, boston_housing and auto_mpg.)

## Where std is 0, and the best model alone
{zero_table(results, best)}

## What it says
- *The intervals hold {min(means):.3f} to {max(means):.3f}* of the targets on these data sets, where
  {CONFIDENCE} is asked for. ± 1.96 std hold {min(plain):.2f} to {max(plain):.2f}, and
  {min(alone):.2f} to {max(alone):.2f} where the best model alone predicts (`combine="best"`).
- *They are narrower than intervals of one width* where the noise differs from place to place:
  the interval score is {1 - scores[0][i]:.0%} and {1 - scores[1][i]:.0%} smaller, and the share
  that is held varies less between sure and unsure queries.
- *It is an average.* On cpu, a hundred samples with a steep target, the least sure third is held
  less often than it should be; on friedman2 the surest third.
- *A `std` of 0 is luck more often than certainty.* With the mean `std` in its place such queries
  are held about as often as others on abalone and auto_mpg, where most of them occur, but less
  often on concrete and boston_housing, where they are few.
"""


if __name__ == "__main__":
    main()

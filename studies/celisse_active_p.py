"""Celisse & Mary-Huard (2011), section 4.4: what p does to points and to k.

Choosing points: k is fixed at 7, p = 1, 2, 5, 10, 20 and half of the labelled samples, noise 0.2
and 0.4. Choosing k: p = 10 for both steps, noise 0.1, 0.2 and 0.3; the chosen k beside the
conditional oracle, the best k for the same labels. Data as in section 4.3, with the covariance
(I/16) that reproduces its error rates. Errors, and the oracle's choice, are those on new samples,
not, as in the paper, on what is left of the pool.

``python studies/celisse_active_p.py`` writes celisse_active_p.md and celisse_active_p.png.
"""

from __future__ import annotations

import matplotlib

from allsplits.plots._style import GREEN, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page
from celisse_active import KS, N_TEST, ROUNDS, SCALES, P, percent, run_simulated

from allsplits import ActiveLearner, Simulation

K = 7
PS: tuple[int | str, ...] = (1, 2, 5, 10, 20, "n/2")
POINT_NOISE, TUNE_NOISE = (0.2, 0.4), (0.1, 0.2, 0.3)
REPETITIONS, TUNE_REPETITIONS = 5, 5
SCALE = SCALES["I/16"]
COLORS = {0.1: "black", 0.2: VERMILION, 0.3: GREEN}


class HalfLeftOut(ActiveLearner):
    """p is half of the labelled samples, however many there are."""

    def ask(self, batch_size: int = 1) -> np.ndarray:
        """The same question with the p of the moment."""
        self.leave_out = len(self.labelled_) // 2
        return super().ask(batch_size)


def learner(p: int | str) -> ActiveLearner:
    return HalfLeftOut(K, n_jobs=1) if p == "n/2" else ActiveLearner(K, leave_out=p, n_jobs=1)


def main() -> None:
    points = {
        (q, p): run_simulated(learner(p), q, SCALE, REPETITIONS) for q in POINT_NOISE for p in PS
    }
    tuned = {
        q: run_simulated(
            ActiveLearner(KS, leave_out=P, tune_leave_out=P, n_jobs=1),
            q,
            SCALE,
            TUNE_REPETITIONS,
            oracle=True,
        )
        for q in TUNE_NOISE
    }
    save_figure(draw(points, tuned), "celisse_active_p")
    write_page("celisse_active_p", page(points, tuned))


def draw(points, tuned) -> plt.Figure:
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
    for ax, q in zip(axes, POINT_NOISE, strict=False):
        for p in PS:
            result = points[q, p]
            ax.plot(result.n_labels, 100 * result.errors["active"].mean(axis=0), label=f"p = {p}")
        passive = points[q, PS[0]]
        ax.plot(
            passive.n_labels, 100 * passive.errors["passive"].mean(axis=0), color="black",
            linestyle=":", label="passive",
        )  # fmt: skip
        ax.set(xlabel="labels", ylabel="error (%)", title=f"k = {K}, q = {q}")
    for q, result in tuned.items():
        chosen, best = smooth(result.n_neighbors), smooth(result.oracle_neighbors)
        axes[2].plot(result.n_labels, chosen, color=COLORS[q], label=f"chosen, q = {q}")
        axes[2].plot(result.n_labels, best, color=COLORS[q], linestyle="--", label="best")
    axes[2].set(xlabel="labels", ylabel="k", title="chosen k and the oracle's")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    figure.tight_layout()
    return figure


def smooth(tables, width: int = 5) -> np.ndarray:
    """Mean over repetitions, then over neighbouring rounds: single oracles jump."""
    mean = tables["active"].mean(axis=0)
    padded = np.pad(mean, width // 2, mode="edge")
    return np.convolve(padded, np.ones(width) / width, mode="valid")


def paired(result: Simulation, base: Simulation) -> tuple[float, float]:
    """Difference to p = 1 on the same data, and its standard error."""
    difference = 100 * (result.errors["active"] - base.errors["active"])[:, -1]
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def with_error(mean: float, error: float) -> str:
    return f"{mean:+.1f} ± {error:.1f}"


def verdict(mean: float, error: float) -> str:
    """Two standard errors decide."""
    if abs(mean) <= 2 * error:
        return "not clear"
    return "yes" if mean > 0 else "no, it is better here"


def thirds(table: np.ndarray) -> list[str]:
    """Mean k in the first, second and last 20 rounds."""
    return [f"{part.mean():.1f}" for part in np.array_split(table[:, 1:], 3, axis=1)]


def point_table(points, q: float) -> str:
    base = points[q, PS[0]]
    rows = [
        (
            f"p = {p}",
            percent(points[q, p].errors["active"]),
            with_error(*paired(points[q, p], base)),
        )
        for p in PS
    ]
    rows.append(("passive", percent(base.errors["passive"]), ""))
    return markdown_table(("", "error", "minus that of p = 1"), rows)


def tune_table(tuned) -> str:
    rows = []
    for q, result in tuned.items():
        rows.append((f"q = {q}, chosen", *thirds(result.n_neighbors["active"])))
        rows.append((f"q = {q}, best", *thirds(result.oracle_neighbors["active"])))
        rows.append((f"q = {q}, chosen, passive", *thirds(result.n_neighbors["passive"])))
    return markdown_table(("mean k in rounds", "1-20", "21-40", "41-60"), rows)


def below(result: Simulation) -> float:
    """In how many rounds the chosen k, on average over repetitions, is below the oracle's."""
    return float(np.mean(smooth(result.n_neighbors) < smooth(result.oracle_neighbors)))


def cost(result: Simulation) -> float:
    """What the choice of k costs in the last 20 rounds, in points of error."""
    errors, best = result.errors["active"], result.oracle_errors["active"]
    return float(100 * (errors - best)[:, -20:].mean())


def page(points, tuned) -> str:
    lower = "; ".join(f"q = {q}: {below(result):.0%}" for q, result in tuned.items())
    costs = "; ".join(f"q = {q}: {cost(result):.1f}" for q, result in tuned.items())
    return f"""\
# Celisse & Mary-Huard (2011), section 4.4: what p does to points and to k

`python studies/celisse_active_p.py` · {environment()} · data of section 4.3 with covariance
I/16, {REPETITIONS} repetitions of each setting

## What the paper says
- Choosing points (k = {K}): "the smallest committee (p = 1) performs as well as larger ones (p = 2,
  5, 10 or 20), whatever the level of noise. However, when the size is raised to p = n/2, the
  performance strongly deteriorates."
- Choosing k (p = {P}): the chosen k "remains constant or decreases" as labels come in; the
  conditional oracle's first increases, then decreases; and "values smaller than k_oracle are always
  selected".

## What we measured

Errors after {ROUNDS} rounds in per cent, means ± one standard error over the repetitions, on
{N_TEST:,} new samples for each repetition (the paper: on what is left of the pool, from which the
active learner has taken the hard samples); "best" is the k with the smallest error there.
q = {POINT_NOISE[0]}:

{point_table(points, POINT_NOISE[0])}

q = {POINT_NOISE[1]}:

{point_table(points, POINT_NOISE[1])}

{tune_table(tuned)}

Rounds in which the chosen k is below the best one (means over repetitions, smoothed over five
rounds): {lower}. What the choice costs in the last 20 rounds, in points of error:
{costs}.

![influence of p, chosen k and oracle](celisse_active_p.png)

## Agreement
{agreement(points, tuned)}
"""


def agreement(points, tuned) -> str:
    lines = []
    for q in POINT_NOISE:
        finals = [100 * points[q, p].final_errors["active"] for p in PS[:-1]]
        half = paired(points[q, "n/2"], points[q, PS[0]])
        lines += [
            f"- **p from 1 to 20 makes little difference**, q = {q}: the five committees lie "
            f"within {max(finals) - min(finals):.1f} points of each other.",
            f"- **p = n/2 is worse**, q = {q}: {verdict(*half)}; {with_error(*half)} points "
            "beside p = 1.",
        ]
    for level, result in tuned.items():
        first, _, last = (float(v) for v in thirds(result.n_neighbors["active"]))
        best_first, best_middle, best_last = (
            float(v) for v in thirds(result.oracle_neighbors["active"])
        )
        moves = "decreases" if last < first - 0.5 else "grows" if last > first + 0.5 else "stays"
        lines.append(
            f"- **Chosen k**, q = {level}: {moves} ({first:.1f} in the first 20 rounds, {last:.1f} "
            f"in the last); the oracle's is {best_first:.1f}, {best_middle:.1f}, {best_last:.1f}; "
            f"the choice is {'smaller' if below(result) > 0.5 else 'larger'} than the oracle's in "
            f"{max(below(result), 1 - below(result)):.0%} of the rounds."
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()

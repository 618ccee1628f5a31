"""Celisse & Mary-Huard (2011), section 4.4 and Figure 5: what p does to points and to k.

Choosing points: k is fixed at 7, p = 1, 2, 5, 10, 20 and half of the labelled samples, noise 0.2
and 0.4. Choosing k: p = 10 for both steps, noise 0.1, 0.2 and 0.3; the chosen k beside the
conditional oracle, the best k for the same labels. Data as in section 4.3, with covariance I/16.
Errors, and the oracle's choice, are those on new samples, not, as in the paper, on what is left of
the pool. Settings are compared on the same samples with the same start.

``python studies/celisse_active_p.py`` writes celisse_active_p.md and celisse_active_p.png.
"""

from __future__ import annotations

import matplotlib

from allsplits.plots._style import GREEN, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page
from celisse_active import (
    BATCH,
    KS,
    MEASURED,
    N_START,
    N_TEST,
    ROUNDS,
    SCALES,
    P,
    Sample,
    learn_actively,
    learn_passively,
    learner,
    mean_and_error,
    simulated,
    with_error,
)
from sklearn.neighbors import NearestNeighbors

from allsplits import ActiveLearner

K = 7
PS: tuple[int | str, ...] = (1, 2, 5, 10, 20, "n/2")
POINT_NOISE, TUNE_NOISE = (0.2, 0.4), (0.1, 0.2, 0.3)
REPETITIONS = 20
#: More samples, for the one claim that twenty do not settle: p = n/2 beside p = 1 at noise 0.2.
MORE = range(20, 60)
SCALE = SCALES["I/16"]
COLORS = {0.1: "black", 0.2: VERMILION, 0.3: GREEN}
N_LABELS = N_START + BATCH * np.array(MEASURED)


class HalfLeftOut(ActiveLearner):
    """p is half of the labelled samples, however many there are."""

    def ask(self, batch_size: int = 1) -> np.ndarray:
        """The same question with the p of the moment."""
        self.leave_out = len(self.labelled_) // 2
        return super().ask(batch_size)


def committee(p: int | str, seed: int) -> ActiveLearner:
    """A learner with k fixed: p is for choosing points alone."""
    kind = HalfLeftOut if p == "n/2" else ActiveLearner
    leave_out = 1 if p == "n/2" else p
    return kind(K, leave_out=leave_out, start="random", random_state=seed, n_jobs=1)


def errors_of_all_k(model: ActiveLearner, sample: Sample) -> np.ndarray:
    """Errors on new samples with the model's labels and each k of KS; equal votes are class 0."""
    labelled = model.labelled_
    search = NearestNeighbors(n_neighbors=KS[-1]).fit(sample.X[labelled])
    nearest = search.kneighbors(sample.X_new, return_distance=False)
    votes = np.cumsum(sample.y[labelled][nearest], axis=1)
    guesses = 2 * votes > np.array(KS)
    return np.mean(guesses != sample.y_new[:, None], axis=0)


def final_error(p: int | str, sample: Sample, seed: int) -> float:
    def error(model: ActiveLearner) -> tuple[float, ...]:
        return (np.mean(model.predict(sample.X_new) != sample.y_new),)

    return float(learn_actively(committee(p, seed), sample, error)[-1, 0])


def run_more(q: float) -> np.ndarray:
    """The final error with p = n/2 minus that with p = 1, on samples that were not used before."""
    differences = []
    for seed in MORE:
        sample = simulated(q, SCALE, seed)
        differences.append(final_error("n/2", sample, seed) - final_error(1, sample, seed))
    return np.array(differences)


def run_points(q: float) -> dict[int | str, np.ndarray]:
    """Errors by p, and of random labels: one row for each repetition, a column for each round."""
    tables: dict[int | str, list[np.ndarray]] = {p: [] for p in (*PS, "passive")}
    for seed in range(REPETITIONS):
        sample = simulated(q, SCALE, seed)

        def error(model: ActiveLearner, sample=sample) -> tuple[float, ...]:
            return (np.mean(model.predict(sample.X_new) != sample.y_new),)

        for p in PS:
            tables[p].append(learn_actively(committee(p, seed), sample, error))
        tables["passive"].append(learn_passively(committee(1, seed), sample, error))
    return {name: np.array(table)[:, :, 0] for name, table in tables.items()}


def run_tuning(q: float) -> dict[str, np.ndarray]:
    """The chosen k and the oracle's, with their errors; and the k chosen for random labels."""
    active, passive = [], []
    for seed in range(REPETITIONS):
        sample = simulated(q, SCALE, seed)

        def choice(model: ActiveLearner, sample=sample) -> tuple[float, ...]:
            errors = errors_of_all_k(model, sample)
            best = int(errors.argmin())
            return model.n_neighbors_, KS[best], errors[model.n_neighbors_ - 1], errors[best]

        def chosen(model: ActiveLearner) -> tuple[float, ...]:
            return (model.n_neighbors_,)

        active.append(learn_actively(learner(seed), sample, choice))
        passive.append(learn_passively(learner(seed), sample, chosen))
    names = ("chosen", "best", "error", "best error")
    found = dict(zip(names, np.moveaxis(np.array(active), 2, 0), strict=True))
    return found | {"passive": np.array(passive)[:, :, 0]}


def main() -> None:
    points = {q: run_points(q) for q in POINT_NOISE}
    tuned = {q: run_tuning(q) for q in TUNE_NOISE}
    more = run_more(POINT_NOISE[0])
    save_figure(draw(points, tuned), "celisse_active_p")
    write_page("celisse_active_p", page(points, tuned, more))


def draw(points, tuned) -> plt.Figure:
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
    for ax, (q, tables) in zip(axes, points.items(), strict=False):
        for name, table in tables.items():
            look = {"color": "black", "linestyle": ":"} if name == "passive" else {}
            label = name if name == "passive" else f"p = {name}"
            ax.plot(N_LABELS, 100 * table.mean(axis=0), label=label, **look)
        ax.set(xlabel="labels", ylabel="error (%)", title=f"k = {K}, q = {q}")
    for q, tables in tuned.items():
        chosen, best = (tables[name].mean(axis=0) for name in ("chosen", "best"))
        axes[2].plot(N_LABELS, chosen, color=COLORS[q], label=f"chosen, q = {q}")
        axes[2].plot(N_LABELS, best, color=COLORS[q], linestyle="--", label="best")
    axes[2].set(xlabel="labels", ylabel="k", title="chosen k and the oracle's")
    for ax in axes:
        ax.grid(alpha=0.3)
        ax.legend(fontsize=7)
    figure.tight_layout()
    return figure


def beside_one(tables, p: int | str) -> np.ndarray:
    """The final error with p minus that with p = 1, on the same samples."""
    return (tables[p] - tables[1])[:, -1]


def point_table(tables) -> str:
    rows = [
        (f"p = {p}", with_error(tables[p][:, -1]), with_error(beside_one(tables, p), "+"))
        for p in PS
    ]
    rows.append(
        (
            "passive",
            with_error(tables["passive"][:, -1]),
            with_error(beside_one(tables, "passive"), "+"),
        )
    )
    return markdown_table(("", "error", "minus that of p = 1"), rows)


def tune_table(tuned) -> str:
    rows = []
    for q, tables in tuned.items():
        for name, label in (("chosen", ""), ("best", ""), ("passive", ", random labels")):
            means = tables[name].mean(axis=0)
            kind = "best" if name == "best" else f"chosen{label}"
            rows.append((f"q = {q}, {kind}", *(f"{k:.1f}" for k in means)))
    return markdown_table(("mean k after labels", *(str(n) for n in N_LABELS)), rows)


def page(points, tuned, more) -> str:
    first, second = POINT_NOISE
    return f"""\
# Celisse & Mary-Huard (2011), section 4.4 and Figure 5: what p does to points and to k

`python studies/celisse_active_p.py` · {environment()} · data of section 4.3 with covariance
I/16; {REPETITIONS} repetitions of each setting

## What the paper says
- Choosing points (k = {K}; Figure 5, left and center, whose caption says k where p is meant): "the
  smallest committee (p = 1) performs as well as larger ones (p = 2, 5, 10 or 20), whatever the
  level of noise. However, when the size is raised to p = n/2, the performance strongly
  deteriorates."
- Choosing k (p = {P}; Figure 5, right): the chosen k "remains constant or decreases" as labels come
  in; the conditional oracle's first increases, then decreases; and "values smaller than k_oracle
  are always selected".

## What we measured

Errors after {ROUNDS} rounds in per cent, means ± one standard error over the repetitions, on
{N_TEST:,} new samples for each repetition (the paper: on what is left of the pool, from which the
active learner has taken the hard samples). Differences are taken sample by sample, all learners
with the same {N_START} random labels at the start. q = {first}:

{point_table(points[first])}

q = {second}:

{point_table(points[second])}

Choosing k; "best" is the k up to {KS[-1]} with the smallest error on the new samples:

{tune_table(tuned)}

![influence of p, chosen k and oracle](celisse_active_p.png)

## Agreement, figure by figure
{agreement(points, tuned)}
{more_words(more)}
{tuning_verdict(tuned)}
"""


def verdict(values: np.ndarray) -> str:
    """Two standard errors decide whether something is worse."""
    mean, error = mean_and_error(values)
    if abs(mean) <= 2 * error:
        return "no difference can be told from chance"
    return "worse" if mean > 0 else "better"


def agreement(points, tuned) -> str:
    lines = []
    for place, (q, tables) in zip(("left", "center"), points.items(), strict=True):
        finals = [100 * tables[p][:, -1].mean() for p in PS[:-1]]
        half = beside_one(tables, "n/2")
        apart = [p for p in PS[1:-1] if "no" not in verdict(beside_one(tables, p))]
        lines += [
            f"- **Figure 5, {place}** (q = {q}), p from 1 to 20 alike: the five committees lie "
            f"within {max(finals) - min(finals):.1f} points of each other; beyond two standard "
            f"errors from p = 1: {', '.join(str(p) for p in apart) or 'none'}.",
            f"- **Figure 5, {place}** (q = {q}), p = n/2 worse: {verdict(half)}, "
            f"{with_error(half, '+')} points beside p = 1; random labels "
            f"{with_error(beside_one(tables, 'passive'), '+')}.",
        ]
    lines += [f"- **Figure 5, right**, q = {q}: {path(tables)}" for q, tables in tuned.items()]
    return "\n".join(lines)


def more_words(more: np.ndarray) -> str:
    return (
        f"- **Figure 5, left**, p = n/2 once more: on {len(more)} other samples, run because "
        f"{REPETITIONS} left it open, it is {with_error(more, '+')} points beside p = 1: "
        f"{verdict(more)}."
    )


def tuning_verdict(tuned) -> str:
    below = [f"{np.mean(tables['chosen'] < tables['best']):.0%}" for tables in tuned.values()]
    return (
        "- **Figure 5, right**, together: that the chosen k does not grow holds where the lines "
        "above say that it stays or decreases. That it is always below the oracle's does not hold: "
        f"it is in {', '.join(below)} of the single cases."
    )


def path(tables) -> str:
    """How the chosen k and the oracle's move, in words; the start is left out."""
    chosen, best = tables["chosen"], tables["best"]
    means, bests = chosen.mean(axis=0), best.mean(axis=0)
    peak = int(bests[1:].argmax()) + 1
    change, error = mean_and_error(chosen[:, -1] - chosen[:, 1])
    moves = "stays" if abs(change) <= 2 * error else "grows" if change > 0 else "decreases"
    below = float(np.mean(chosen < best))
    cost = 100 * (tables["error"] - tables["best error"])[:, 1:]
    return (
        f"the chosen k {moves} ({means[1]:.1f} after {N_LABELS[1]} labels, {means[-1]:.1f} after "
        f"{N_LABELS[-1]}; the change is {change:+.1f} ± {error:.1f}); the oracle's mean is "
        f"largest after {N_LABELS[peak]} labels ({bests[peak]:.1f}) and ends at {bests[-1]:.1f}. "
        f"The choice is below the oracle's on average after {np.mean(means < bests):.0%} of the "
        f"measured rounds, in single runs in {below:.0%} of the cases. It costs "
        f"{cost.mean():.1f} points of error; {np.mean(best == KS[-1]):.0%} of the oracles are at "
        "the largest k offered."
    )


if __name__ == "__main__":
    main()

"""Celisse & Mary-Huard (2011), section 4.3: leave-p-out query by committee against passive kNN.

Their setting: 50 labels at the start, 60 rounds of 5, p = 10 for choosing points and for choosing
k. Simulated data in two dimensions with noise q, and spam. They measure errors on what is left of
the pool, from which the active learner has taken the hard samples. We measure on samples held out
before anything is asked, and their way beside it where they print numbers.

Two things are uncertain. The common covariance of the three Gaussians is printed as I; that does
not give the paper's errors, so I/16 (standard deviation 1/4, in keeping with means and corners
between 0.2 and 0.8) is tried as well. The 16 variables of the spam data are not named; the page
says which were used, and how they were scaled.

``python studies/celisse_active.py`` writes celisse_active.md and two figures.
"""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib

from allsplits.plots._style import VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page

from allsplits import ActiveLearner, Simulation, simulate

NOISE = (0.0, 0.1, 0.2, 0.3, 0.4)
SCALES = {"I": 1.0, "I/16": 0.25}
N_START, N_POOL, N_TEST, ROUNDS, BATCH, P = 50, 10_000, 10_000, 60, 5, 10
PAPERS_WAY = {"test_size": "pool_remainder"}
KS = range(1, 51)
#: The noise that the paper gives numbers for is repeated more often.
REPETITIONS = {q: 10 if q == 0.2 else 4 for q in NOISE}
SPAM_REPETITIONS = 4

#: Significant predictors of the additive model in table 9.2 of the book that the paper cites.
SPAM_COLUMNS = (
    "word_freq_our", "word_freq_over", "word_freq_remove", "word_freq_internet", "word_freq_free",
    "word_freq_business", "word_freq_hpl", "char_freq_!", "char_freq_$",
    "capital_run_length_longest", "capital_run_length_total", "word_freq_hp", "word_freq_george",
    "word_freq_1999", "word_freq_re", "word_freq_edu",
)  # fmt: skip


def simulated(q: float, scale: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """The paper's mixture of three Gaussians; class 1 has probability q in two corners."""
    rng = np.random.default_rng([seed, int(1000 * q)])
    n = N_START + N_POOL + N_TEST
    means = np.array([[0.25, 0.25], [0.5, 0.75], [0.75, 0.75]])
    X = means[rng.choice(3, n, p=[0.2, 0.2, 0.6])] + scale * rng.standard_normal((n, 2))
    corner = np.all(X < 0.2, axis=1) | np.all(X > 0.8, axis=1)
    return X, (rng.random(n) < np.where(corner, q, 1 - q)).astype(int)


def together(parts: list[Simulation]) -> Simulation:
    """Repetitions on different data as one result."""

    def stack(name):
        tables = [getattr(part, name) for part in parts]
        if tables[0] is None:
            return None
        return {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}

    names = ("errors", "n_neighbors", "oracle_errors", "oracle_neighbors")
    errors, ks, best_errors, best_ks = (stack(name) for name in names)
    return Simulation(
        parts[0].n_labels, errors, ks, parts[0].measured_on, best_errors, best_ks
    )  # fmt: skip


def run_simulated(
    learner, q: float, scale: float, repetitions: int, *, papers_way: bool = False, **options
) -> Simulation:
    """New data for every repetition, to learn from and to measure errors on."""
    parts = []
    for seed in range(repetitions):
        X, y = simulated(q, scale, seed)
        pool, test = slice(N_START + N_POOL), slice(N_START + N_POOL, None)
        judges = PAPERS_WAY if papers_way else {"X_test": X[test], "y_test": y[test]}
        parts.append(
            simulate(
                learner, X[pool], y[pool], ROUNDS, batch_size=BATCH, n_start=N_START,
                repetitions=1, random_state=seed, **judges, **options,
            )
        )  # fmt: skip
    return together(parts)


def learner() -> ActiveLearner:
    return ActiveLearner(KS, leave_out=P, tune_leave_out=P, n_jobs=1)


def spam_variants() -> tuple[dict[str, np.ndarray], np.ndarray]:
    path = Path(os.environ["ALLSPLITS_DATA"]) / "spambase.csv"
    with path.open() as file:
        names = file.readline().strip().split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    X = table[:, [names.index(name) for name in SPAM_COLUMNS]]
    frequencies = [i for i, name in enumerate(SPAM_COLUMNS) if "freq" in name]

    def standard(values):
        return (values - values.mean(axis=0)) / values.std(axis=0)

    variants = {
        "16 variables as they are": X,
        "the 14 frequencies among them": X[:, frequencies],
        "16 variables, standardised": standard(X),
        "16 variables, log(x + 0.1)": np.log(X + 0.1),
    }
    return variants, table[:, -1].astype(int)


def run_spam(X: np.ndarray, y: np.ndarray, **options) -> Simulation:
    return simulate(
        learner(), X, y, ROUNDS, batch_size=BATCH, n_start=N_START, repetitions=SPAM_REPETITIONS,
        random_state=0, **options,
    )  # fmt: skip


def main() -> None:
    found = {
        (name, q): run_simulated(learner(), q, scale, REPETITIONS[q])
        for name, scale in SCALES.items()
        for q in NOISE
    }
    variants, y = spam_variants()
    spam = {name: run_spam(X, y) for name, X in variants.items()}
    theirs = {
        f"q = 0.2, covariance {name}": run_simulated(
            learner(), 0.2, scale, REPETITIONS[0.2], papers_way=True
        )
        for name, scale in SCALES.items()
    }
    theirs |= {f"spam, {name}": run_spam(X, y, **PAPERS_WAY) for name, X in variants.items()}
    save_figure(draw_errors(found, spam), "celisse_active")
    share = where_it_asks()
    write_page("celisse_active", page(found, spam, theirs, share))


def where_it_asks() -> dict[str, float]:
    """Draw the paper's Figure 3; return shares of points near the border of the classes."""
    X, y = (part[: N_START + N_POOL] for part in simulated(0.2, SCALES["I/16"], 0))
    rng = np.random.RandomState(0)
    start = rng.permutation(len(X))[:N_START]
    labels = np.full(len(X), np.nan)
    labels[start] = y[start]
    model = ActiveLearner(KS, leave_out=P, tune_leave_out=P, random_state=0, n_jobs=1).fit(
        X, labels
    )
    for _ in range(ROUNDS):
        asked = model.ask(BATCH)
        model.teach(asked, y[asked])
    chosen = np.setdiff1d(model.labelled_, start)
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.7), sharex=True, sharey=True)
    parts = {
        "pool": np.arange(len(X)),
        "start, 50 labels": start,
        "after 60 rounds": model.labelled_,
    }
    for ax, (title, rows) in zip(axes, parts.items(), strict=True):
        ax.scatter(
            *X[rows].T, c=np.where(y[rows], VERMILION, "black"), s=3 if len(rows) > 400 else 9
        )
        ax.set(title=title, xlabel="X¹", ylabel="X²")
    figure.tight_layout()
    save_figure(figure, "celisse_active_points")
    near = near_border(X)
    lower = near & np.all(X < 0.5, axis=1)
    return {
        "pool": float(near.mean()),
        "asked": float(near[chosen].mean()),
        "pool, lower": float(lower.mean()),
        "asked, lower": float(lower[chosen].mean()),
    }


def near_border(X: np.ndarray, width: float = 0.1) -> np.ndarray:
    """Whether moving a point by `width` (along an axis) changes the corner it is in."""

    def corner(points):
        return np.all(points < 0.2, axis=1) | np.all(points > 0.8, axis=1)

    here = corner(X)
    steps = width * np.array([[1, 0], [-1, 0], [0, 1], [0, -1], [1, 1], [-1, -1]])
    return np.any([corner(X + step) != here for step in steps], axis=0)


def draw_errors(found, spam) -> plt.Figure:
    shown = {
        "simulated, q = 0.2, covariance I": found["I", 0.2],
        "simulated, q = 0.2, covariance I/16": found["I/16", 0.2],
        "spam, 16 variables, standardised": spam["16 variables, standardised"],
    }
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.4))
    for pair, (title, result) in zip(axes.T, shown.items(), strict=True):
        result.plot(ax=pair)
        pair[0].set_title(title)
    figure.tight_layout()
    return figure


def percent(table: np.ndarray) -> str:
    """Mean and standard error of the last column."""
    last = 100 * table[:, -1]
    return f"{last.mean():.1f} ± {last.std(ddof=1) / np.sqrt(len(last)):.1f}"


def gap(result: Simulation) -> tuple[float, float]:
    """How far the active learner is ahead in the end, and the standard error of that."""
    difference = 100 * (result.errors["passive"][:, -1] - result.errors["active"][:, -1])
    return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def lead(result: Simulation) -> float:
    """By how many standard errors the active learner is ahead."""
    mean, error = gap(result)
    return mean / error


def row(name: str, result: Simulation) -> tuple[str, ...]:
    ahead, error = gap(result)
    active, passive = (percent(result.errors[name]) for name in ("active", "passive"))
    return name, active, passive, f"{ahead:+.1f} ± {error:.1f}", f"{len(result.errors['active'])}"


def page(found, spam, theirs, share) -> str:
    headings = ("", "active", "passive", "passive - active", "repetitions")
    tables = {
        name: markdown_table(headings, [row(f"q = {q}", found[name, q]) for q in NOISE])
        for name in SCALES
    }
    spam_table = markdown_table(headings, [row(name, result) for name, result in spam.items()])
    papers_table = markdown_table(headings, [row(name, result) for name, result in theirs.items()])
    printed, narrow = (theirs[f"q = 0.2, covariance {name}"].final_errors for name in SCALES)
    fair = found["I/16", 0.2].final_errors
    clear, behind = (
        {
            name: ", ".join(f"{q}" for q in NOISE if sign * lead(found[name, q]) > 2) or "none"
            for name in SCALES
        }
        for sign in (1, -1)
    )
    ahead = sum(gap(result)[0] > 0 for result in spam.values())
    words = ", ".join(name.split("_")[-1] for name in SPAM_COLUMNS)
    return f"""\
# Celisse & Mary-Huard (2011), section 4.3: active against passive learning

`python studies/celisse_active.py` · {environment()}

## What the paper says
{N_START} labels at the start, {ROUNDS} rounds of {BATCH}, p = {P} for choosing points and for
choosing k, the error **on what is left of the pool**, 100 repetitions. After {ROUNDS} rounds:
simulated data **21.5 % active, 23 % passive** (its Figure 4; q = 0.2); spam **16.2 % active,
20.2 % passive** (the two are swapped in its sentence). The active learner asks mainly at the border
of the classes.

## What we measured
Errors after {ROUNDS} rounds ({N_START + ROUNDS * BATCH} labels) in per cent, means ± one standard
error over the repetitions; k from {KS[0]} to {KS[-1]}; fewer repetitions than the paper. Errors are
measured on samples that neither learner could ask for: {N_TEST:,} new ones for every repetition
of the simulated data (whose pool is new, too), a quarter of spam, drawn anew for every repetition
(whose repetitions share the 4,601 samples). The paper's way is in a table of its own.

### Simulated data, covariance I, as printed

{tables["I"]}

### Simulated data, covariance I/16 (standard deviation 1/4)

{tables["I/16"]}

### Spam (4601 samples)

{spam_table}

### The paper's way: what is left of the pool
Errors on the pool that each learner has left: the active one has taken the samples it found hard
out of its own, the passive one has not. Simulated data and learners as above; of spam nothing is
held out, so all of it is the pool.

{papers_table}

![error against labels and chosen k](celisse_active.png)

Where it asks (q = 0.2, covariance I/16): {share["asked"]:.0%} of the {ROUNDS * BATCH} points asked
for are within 0.1 of the border of the two classes, against {share["pool"]:.0%} of the pool. At the
lower left corner alone it is {share["asked, lower"]:.0%} against {share["pool, lower"]:.0%}.

![pool, start and final training set](celisse_active_points.png)

## Agreement
- **Active beats passive**, by more than two standard errors: with covariance I for
  q = {clear["I"]}; with I/16 for q = {clear["I/16"]}. It is behind by as much: with covariance I
  for q = {behind["I"]}; with I/16 for q = {behind["I/16"]}. For the other q no difference can be
  told from chance with this many repetitions, and standard errors of four are rough themselves.
  On spam the mean is ahead in {ahead} of {len(spam)} scalings, by more than two standard errors
  in {sum(lead(result) > 2 for result in spam.values())}.
- **21.5 % and 23 %**: measured their way we find {100 * narrow["active"]:.1f} % and
  {100 * narrow["passive"]:.1f} % with covariance I/16, {100 * printed["active"]:.1f} %
  and {100 * printed["passive"]:.1f} % with the covariance as printed. On new samples, I/16:
  {100 * fair["active"]:.1f} % and {100 * fair["passive"]:.1f} %. The corners that make the
  classes are cut at 0.2 and 0.8 and the means lie between 0.25 and 0.75, which fits a standard
  deviation of about 1/4; we take the I of the text to have lost its factor. That is a guess that
  fits the numbers, not something the paper says.
- **16.2 % and 20.2 % on spam**: not reproduced. The paper points to page 264 of Hastie, Tibshirani
  & Friedman (2001) for its 16 variables. We used the sixteen significant predictors of the
  additive model in that book's table 9.2:
  {words}.
  The book is not at hand here, so whether this is the list was not checked, and the paper does not
  say how variables were scaled. The scalings above lie on both sides of the paper's values.
- **It asks at the border**: yes, see the figure, but in this run only at the upper corner's: an
  area that no label has shown to be doubtful is not explored.
"""


if __name__ == "__main__":
    main()

"""The first labels: what to ask for before the committee of Celisse & Mary-Huard (2011) can judge.

The paper starts from 50 labels drawn at random. Here three ways to get the first labels are
compared: at random; samples that cover the pool (`start="cover"`); and typical samples of as many
clusters, after TypiClust (Hacohen, Dekel & Weinshall 2022). Then the moment at which the committee
takes over is varied. All of that on four data sets. What was chosen there is reported on five
others, which had no part in it.

``python studies/celisse_start.py`` writes celisse_start.md and celisse_start.png. The data are read
from the folder ALLSPLITS_DATA.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page
from celisse_active import PAPERS_NOISE, SCALES, mean_and_error, simulated, with_error
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from allsplits import ActiveLearner, Simulation, simulate
from allsplits.active import _start

CHOSEN_ON = ("digits", "pendigits", "isolet", "spambase")
REPORTED_ON = ("mnist", "usps", "letters", "wdbc", "simulated")
MOST_ROWS = 3000
N_FIRST, ROUNDS, BATCH = 50, 25, 10
CHOOSING_REPETITIONS, REPETITIONS = 6, 20
#: Labels for each class seen, on average, after which the committee asks.
RULES = (1, 5, 10, 20, 1000)
SHOWN = (50, 100, 150, 200, 300)
STARTS = ("cover", "random")
#: Neighbours that say how typical a sample is of its cluster.
TYPICAL_NEIGHBORS = 20


def folder() -> Path:
    if not os.environ.get("ALLSPLITS_DATA"):
        sys.exit("celisse_start reads its data from the folder in ALLSPLITS_DATA, which is not set")
    return Path(os.environ["ALLSPLITS_DATA"])


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """All rows of a data set."""
    if name == "digits":
        return load_digits(return_X_y=True)
    if name == "simulated":
        sample = simulated(PAPERS_NOISE, SCALES["I/16"], 0)
        return sample.X, sample.y
    images = {"mnist": "mnist_70000", "usps": "usps_16x16", "isolet": "isolet_1560"}
    if name in images:
        with np.load(folder() / f"{images[name]}.npz") as held:
            return held["X"].reshape(len(held["X"]), -1), held["y"]
    file = {"letters": "letter_recognition"}.get(name, name)
    cells = np.loadtxt(folder() / f"{file}.csv", delimiter=",", skiprows=1, dtype=str)
    X = cells[:, : -2 if name == "pendigits" else -1].astype(float)
    if name == "spambase":
        X = np.log(X + 0.1)
    return StandardScaler().fit_transform(X) if name == "wdbc" else X, cells[:, -1]


def rows_of(name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most MOST_ROWS rows, drawn once."""
    X, y = read(name)
    rows = np.random.default_rng(0).permutation(len(X))[:MOST_ROWS]
    return X[rows].astype(float), y[rows]


def run(distances: np.ndarray, y: np.ndarray, start: str, repetitions: int) -> Simulation:
    """The learner as it comes, on distances, which are the same in every repetition."""
    learner = ActiveLearner(metric="precomputed", start=start, n_jobs=1)
    return simulate(
        learner, distances, y, ROUNDS, batch_size=BATCH, n_start=N_FIRST, repetitions=repetitions,
        random_state=0,
    )  # fmt: skip


def run_rules(distances: np.ndarray, y: np.ndarray) -> dict[int, Simulation]:
    """The same with each rule for when the committee takes over."""
    found = {}
    usual = _start.LABELS_PER_CLASS
    for labels_per_class in RULES:
        _start.LABELS_PER_CLASS = labels_per_class
        found[labels_per_class] = run(distances, y, "cover", CHOOSING_REPETITIONS)
    _start.LABELS_PER_CLASS = usual
    return found


def run_first(X: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
    """Errors after the first labels, by how they were found."""
    errors: dict[str, list[float]] = {"at random": [], "cover": [], "clusters": []}
    for seed in range(CHOOSING_REPETITIONS):
        pool, new, y_pool, y_new = train_test_split(
            X, y, test_size=0.25, stratify=y, random_state=seed
        )
        model = ActiveLearner(random_state=seed, n_jobs=1).fit(pool)
        asked = {
            "at random": np.arange(N_FIRST),  # the pool is in random order
            "cover": model.ask(N_FIRST),
            "clusters": typical_of_clusters(pool, seed),
        }
        for name, rows in asked.items():
            model.fit(pool).teach(rows, y_pool[rows])
            errors[name].append(np.mean(model.predict(new) != y_new))
    return {name: np.array(values) for name, values in errors.items()}


def typical_of_clusters(X: np.ndarray, seed: int) -> np.ndarray:
    """The sample of each cluster that is nearest, on average, to its neighbours there."""
    clusters = KMeans(N_FIRST, n_init=1, random_state=seed).fit_predict(X)
    chosen = []
    for number in range(N_FIRST):
        rows = np.flatnonzero(clusters == number)
        nearest = np.sort(pairwise_distances(X[rows]), axis=1)[:, : TYPICAL_NEIGHBORS + 1]
        chosen.append(rows[nearest.mean(axis=1).argmin()])
    return np.array(chosen)


def main() -> None:
    first, rules, chance = {}, {}, {}
    for name in CHOSEN_ON:
        X, y = rows_of(name)
        first[name] = run_first(X, y)
        distances = pairwise_distances(X)
        rules[name] = run_rules(distances, y)
        chance[name] = run(distances, y, "random", CHOOSING_REPETITIONS)
    reported = {}
    for name in REPORTED_ON:
        X, y = rows_of(name)
        distances = pairwise_distances(X)
        reported[name] = {start: run(distances, y, start, REPETITIONS) for start in STARTS}
    save_figure(draw(reported), "celisse_start")
    write_page("celisse_start", page(first, rules, chance, reported))


def draw(reported) -> plt.Figure:
    figure, axes = plt.subplots(1, len(reported), figsize=(3.1 * len(reported), 3.3))
    for ax, (name, pair) in zip(axes, reported.items(), strict=True):
        for label, table in curves(pair).items():
            ax.plot(pair["cover"].n_labels, 100 * table.mean(axis=0), label=label)
        ax.set(title=name, xlabel="labels", ylim=(0, None))
        ax.grid(alpha=0.3)
    axes[0].set_ylabel("error (%)")
    axes[0].legend(fontsize=8)
    figure.tight_layout()
    return figure


def curves(pair) -> dict[str, np.ndarray]:
    """Errors of the three learners: repetitions in rows, rounds in columns."""
    return {
        "random labels": pair["random"].errors["passive"],
        "committee after a random start": pair["random"].errors["active"],
        "cover, then committee": pair["cover"].errors["active"],
    }


def at_labels(table: np.ndarray, n: int) -> np.ndarray:
    return table[:, (n - N_FIRST) // BATCH]


def page(first, rules, chance, reported) -> str:
    return f"""\
# The first labels: what to ask before a committee can judge

`python studies/celisse_start.py` · {environment()}

Celisse & Mary-Huard (2011) start from {N_FIRST} labels drawn at random. A learner that may ask for
those, too, can do better: `start="cover"` asks for the samples that bring the pool nearest to its
labels, and leaves the rest to the committee. Errors are in per cent, means over repetitions, on the
quarter of the samples that each repetition holds out before anything is asked (`simulate` as it
comes; learners with their default parameters). At most {MOST_ROWS:,} rows of each data set are
used, the same in all repetitions. Fashion images, on which a committee from a random start is known
to be no better than chance with 200 labels, are not among the data.

## Chosen on {", ".join(CHOSEN_ON)}
{CHOOSING_REPETITIONS} repetitions, too few for a ±. The first {N_FIRST} labels, asked for at once:

{first_table(first)}

A cover is chosen rather than clusters: {first_words(first)}, and it needs distances only, so that
it works with every metric. When the committee should take over: after so many labels for each class
seen so far, on average. Mean error over all rounds from {SHOWN[1]} to {SHOWN[-1]} labels, and at
the end:

{rules_table(rules, chance)}

{_start.LABELS_PER_CLASS} is what the library has: {rule_words(rules)}.
The rules differ little, and six repetitions do not rank neighbours among them.

## Reported on {", ".join(REPORTED_ON)}
{REPETITIONS} repetitions. Random labels; the committee after {N_FIRST} random labels; the cover,
then the committee. ± is one standard error over the repetitions, of other splits and starts, not of
other rows. The last two columns are paired: the same held-out samples.

{reported_table(reported)}

![error against labels](celisse_start.png)

## What it says
{reported_words(reported)}
"""


def first_table(first) -> str:
    names = next(iter(first.values()))
    rows = [
        (name, *(f"{100 * errors[kind].mean():.1f}" for kind in names))
        for name, errors in first.items()
    ]
    return markdown_table((f"error after {N_FIRST} labels", *names), rows)


def first_words(first) -> str:
    better = sum(e["cover"].mean() < e["clusters"].mean() for e in first.values())
    return f"its mean error is the smaller one on {better} of {len(first)} sets"


def over_rounds(result: Simulation) -> float:
    return 100 * float(result.errors["active"][:, (SHOWN[1] - N_FIRST) // BATCH :].mean())


def rules_table(rules, chance) -> str:
    rows = []
    for name, found in rules.items():
        everything = {"random start": chance[name], **found}
        rows.append(
            (f"{name}, all rounds", *(f"{over_rounds(r):.2f}" for r in everything.values()))
        )
        finals = (f"{100 * r.final_errors['active']:.2f}" for r in everything.values())
        rows.append((f"{name}, {SHOWN[-1]} labels", *finals))
    return markdown_table(("", "random start", *(rule_name(n) for n in RULES)), rows)


def rule_name(rule: int) -> str:
    """The first labels are asked for at once, whatever the rule."""
    if rule == RULES[0]:
        return f"{N_FIRST} in all"
    return "cover only" if rule == RULES[-1] else f"{rule} a class"


def relative(rules, rule: int) -> float:
    """Mean over the data sets of the error over all rounds, beside the best rule of each set."""
    ratios = [
        over_rounds(found[rule]) / min(over_rounds(one) for one in found.values())
        for found in rules.values()
    ]
    return float(np.mean(ratios))


def rule_words(rules) -> str:
    means = ", ".join(f"{rule_name(n)} {relative(rules, n):.2f}" for n in RULES)
    return (
        "the mean over the sets of the error over all rounds, divided by that of the best rule of "
        f"the set, is: {means}"
    )


def reported_table(reported) -> str:
    rows = []
    for name, pair in reported.items():
        tables = curves(pair)
        for n in SHOWN:
            random, committee, cover = (at_labels(table, n) for table in tables.values())
            rows.append(
                (
                    f"{name}, {n} labels",
                    *(with_error(one) for one in (random, committee, cover)),
                    with_error(random - cover, "+"),
                    with_error(committee - cover, "+"),
                )
            )
    heads = ("random", "committee", "cover", "random - cover", "committee - cover")
    return markdown_table(("", *heads), rows)


def ahead(reported, n: int, other: int, sign: int) -> list[str]:
    """Sets on which the cover is ahead (behind) of another by more than two standard errors."""
    names = []
    for name, pair in reported.items():
        tables = list(curves(pair).values())
        mean, error = mean_and_error(at_labels(tables[other], n) - at_labels(tables[2], n))
        if sign * mean > 2 * error:
            names.append(name)
    return names


def reported_words(reported) -> str:
    lines = []
    for n in SHOWN:
        words = []
        for other, label in ((1, "the committee after a random start"), (0, "random labels")):
            won, lost = (ahead(reported, n, other, sign) for sign in (1, -1))
            words.append(
                f"better than {label} on {', '.join(won) or 'none'}"
                + (f", worse on {', '.join(lost)}" if lost else "")
            )
        lines.append(f"- **{n} labels**: the cover is {'; '.join(words)}.")
    lines.append("- Better and worse mean by more than two standard errors of the difference.")
    return "\n".join(lines)


if __name__ == "__main__":
    main()

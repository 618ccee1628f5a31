"""A simulated person at the labelling page: what its questions are worth, and whether its numbers hold.

The person knows every label. The page asks as it does (four questions of the learner, one drawn at
random), and is compared with labels drawn at random, on a quarter of the samples that was held out
before. Then its own numbers are held to the truth: how often the interval of the accuracy holds the
accuracy over all samples of the file, and how often the band of the forecast holds what the next 50
labels bring.

``python studies/labelling_page.py`` writes labelling_page.md and labelling_page.png. Digits come with
scikit-learn, the other data are read from the folder ALLSPLITS_DATA.
"""  # noqa: E501 - the first line says it

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _report import environment, markdown_table, save_figure, write_page
from celisse_start import rows_of
from sklearn.model_selection import train_test_split

from allsplits import ActiveLearner
from allsplits.labelling._accuracy import judge_labels
from allsplits.labelling._checks import Checks
from allsplits.labelling._forecast import MORE, SMALL_GAIN
from allsplits.labelling._measure import Measure, measure

SETS = ("digits", "pendigits", "letters", "spambase")
REPETITIONS = 12
SHARE = 0.2
#: Questions between two visits to the learner.
ROUND = 5
LABELS = 350
LOOKS = tuple(range(50, LABELS + 1, 50))
#: The accuracy to be reached, digits.
GOAL = 0.95


@dataclass
class Run:
    """What was seen at each look."""

    held_out: list[float] = field(default_factory=list)
    truth: list[float] = field(default_factory=list)
    said: list[Measure] = field(default_factory=list)


def person(X, y, X_new, y_new, seed: int, *, page: bool) -> Run:
    """Label as the page asks, or at random."""
    learner = ActiveLearner(diversity=4, random_state=seed, n_jobs=1).fit(X)
    order = Checks.of(len(X), SHARE, seed)
    chance = np.random.RandomState(seed + 1000).permutation(len(X)).tolist()
    known: set[int] = set()
    hidden: set[int] = set()  # checks that the learner does not know of
    run = Run()
    while len(known) < LABELS:
        queue = questions(learner, hidden) if page else chance
        asked = []
        while len(asked) < ROUND:
            due = order.drawn(len(known)).tolist() if page else []
            row = next(i for i in [*due, *queue] if i not in known)
            known.add(row)
            asked.append(row)
            if row in due:
                hidden.add(row)
        learner.teach(asked, y[asked])
        if len(known) in LOOKS:
            run.held_out.append(float((learner.predict(X_new) == y_new).mean()))
            if page:
                run.truth.append(over_all(learner, X, y))
                # One check may be due and not yet asked: then it is the next question.
                checks = [i for i in order.drawn(len(known)).tolist() if i in known]
                run.said.append(measure(learner, checks))
    return run


def questions(learner, hidden: set[int]) -> list[int]:
    """What the learner asks, as on the page: a check that it asks for is known from then on."""
    while True:
        queue = learner.ask(ROUND, ignore=sorted(hidden)).tolist()
        named = hidden & set(queue)
        if not named:
            return queue
        hidden -= named


def over_all(learner, X, y) -> float:
    """The accuracy over all samples of the file, each predicted from the other labels."""
    rest = learner.pool_
    right = float((learner.predict(X[rest]) == y[rest]).sum())
    return (right + float(judge_labels(learner).sample_scores.sum())) / len(X)


def main() -> None:
    names = SETS if len(sys.argv) == 1 else sys.argv[1:]
    found = {}
    for name in names:
        X, y = rows_of(name)
        runs = []
        for seed in range(REPETITIONS):
            parts = train_test_split(X, y, test_size=0.25, random_state=seed, stratify=y)
            X_old, X_new, y_old, y_new = parts
            pair = [person(X_old, y_old, X_new, y_new, seed, page=page) for page in (True, False)]
            runs.append(pair)
        found[name] = runs
        print(name, flush=True)
    draw(found)
    write_page("labelling_page", page_of(found))


def held_out(runs, kind: int) -> np.ndarray:
    return np.array([pair[kind].held_out for pair in runs])


def draw(found) -> None:
    figure, axes = plt.subplots(1, len(found), figsize=(3.6 * len(found), 3.2))
    for ax, (name, runs) in zip(np.atleast_1d(axes), found.items(), strict=True):
        for kind, label, color in ((0, "the page asks", "#0072b2"), (1, "at random", "#777777")):
            table = 100 * held_out(runs, kind)
            mean, error = table.mean(axis=0), table.std(axis=0, ddof=1) / np.sqrt(len(table))
            ax.plot(LOOKS, mean, color=color, label=label)
            ax.fill_between(LOOKS, mean - 2 * error, mean + 2 * error, color=color, alpha=0.2, lw=0)
        ax.set(title=name, xlabel="labels")
    axes = np.atleast_1d(axes)
    axes[0].set_ylabel("accuracy on held-out samples, %")
    axes[0].legend(frameon=False, loc="lower right")
    figure.tight_layout()
    save_figure(figure, "labelling_page")


def reached(runs, kind: int) -> str:
    """Labels after which the mean accuracy is at the goal, between two looks on a straight line."""
    mean = held_out(runs, kind).mean(axis=0)
    above = np.flatnonzero(mean >= GOAL)
    if not len(above):
        return f"more than {LABELS}"
    i = int(above[0])
    if i == 0:
        return f"at most {LOOKS[0]}"
    share = (GOAL - mean[i - 1]) / (mean[i] - mean[i - 1])
    return f"{LOOKS[i - 1] + share * (LOOKS[i] - LOOKS[i - 1]):.0f}"


def accuracy_table(found) -> str:
    rows = []
    for name, runs in found.items():
        for n in (50, 100, 200, LABELS):
            place = LOOKS.index(n)
            page, chance = (100 * held_out(runs, kind)[:, place] for kind in (0, 1))
            gap = page - chance
            rows.append(
                (
                    f"{name}, {n} labels", f"{page.mean():.1f}", f"{chance.mean():.1f}",
                    f"{gap.mean():+.1f} ± {gap.std(ddof=1) / np.sqrt(len(gap)):.1f}",
                )
            )  # fmt: skip
    return markdown_table(("", "the page asks", "at random", "difference"), rows)


def looks_of(found, name: str):
    for page, _ in found[name]:
        yield from zip(LOOKS, page.truth, page.said, strict=True)


def coverage_table(found) -> str:
    rows = []
    for name in found:
        errors, inside, own, width = [], [], [], []
        for _, truth, said in looks_of(found, name):
            if said.accuracy is None:
                continue
            errors.append(said.accuracy.score - truth)
            inside.append(said.accuracy.low <= truth <= said.accuracy.high)
            width.append(said.accuracy.high - said.accuracy.low)
            if not np.isnan(said.tuned):
                own.append(said.tuned - truth)
        rows.append(
            (
                name, f"{100 * np.mean(inside):.1f} %", f"{100 * np.mean(width):.1f}",
                f"{100 * np.mean(errors):+.1f}", f"{100 * np.mean(own):+.1f}",
            )
        )  # fmt: skip
    heads = ("", "interval holds the truth", "its width, points", "checks - truth, points",
             "own labels - truth, points")  # fmt: skip
    return markdown_table(heads, rows)


def forecasts(found, name: str):
    """Forecast and what happened: gain, low, high, realised, verdict."""
    for page, _ in found[name]:
        for place, said in enumerate(page.said[:-1]):
            if said.forecast is not None:
                gained = page.truth[place + 1] - page.truth[place]
                yield said.forecast, gained


def forecast_table(found) -> str:
    rows = []
    for name in found:
        pairs = list(forecasts(found, name))
        above = np.mean([gained > one.high for one, gained in pairs])
        highs = [one.high for one, _ in pairs]
        gains = [one.gain for one, _ in pairs]
        happened = [gained for _, gained in pairs]
        stops = [gained for one, gained in pairs if one.verdict == "stop"]
        rows.append(
            (
                name, len(pairs), f"{100 * np.mean(gains):.1f}", f"{100 * np.mean(happened):.1f}",
                f"{100 * np.mean(highs):.1f}", f"{100 * above:.0f} %",
                f"{len(stops)}" + (f" ({100 * np.mean(stops):+.1f})" if stops else ""),
            )
        )  # fmt: skip
    heads = ("", "forecasts", "expected gain, points", "what happened", "at most, as said",
             "more than that",
             "“you could stop” (and then gained)")  # fmt: skip
    return markdown_table(heads, rows)


def page_of(found) -> str:
    goal = ""
    if "digits" in found:
        goal = (
            f"Digits to {100 * GOAL:.0f} % on average: {reached(found['digits'], 0)} labels where "
            f"the page asks, {reached(found['digits'], 1)} at random."
        )
    return f"""\
# The labelling page: what its questions are worth, and whether its numbers hold

`python studies/labelling_page.py` · {environment()}

A simulated person who knows every label sits at the page ({REPETITIONS} repetitions for each data
set, at most 3,000 rows of it). A quarter of the samples is held out before anything is asked; both
ways to label are judged there. One question in {round(1 / SHARE)} is drawn at random, as on the
page: those labels are part of its cost.

![accuracy against labels](labelling_page.png)

{accuracy_table(found)}

± is one standard error over the repetitions. {goal}

## Is the accuracy on the page honest?
At every look, {LOOKS[0]} to {LABELS} labels, beside the truth: the accuracy over all samples of
the file, each predicted from the other labels. “Own labels” is what the learner chooses k by, exact
leave-10-out on its own labels: it is off, because they were chosen to be hard. The learner chooses
as if checks had no label; when it knew them it asked little beside them, and they were too low by
1 to 6 points.

{coverage_table(found)}

## Is the forecast?
What {MORE} more labels are said to bring, and what the next {MORE} brought, over all samples of
the file. It is said with a band, from nothing to a most: what the checks and the curve allow, and
no more than the share of predictions that the last {MORE} labels, or the {MORE} before, have
changed. “You could stop” is said where the whole band is below {100 * SMALL_GAIN:.0f} point. The
exact curve learns from random sets of the labels, while the next ones are chosen: where much is
left to learn (letters) more happens than it says.

{forecast_table(found)}
"""


if __name__ == "__main__":
    main()

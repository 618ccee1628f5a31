"""Does the error of `nested_score` cover? Thousands of outer splits, cut into repetitions.

`KNeighborsClassifierCV(range(1, 31)).nested_score(X, y)` draws 20 outer splits. Here it draws
thousands of them; any 20 that follow one another are a repetition, and the truth is the exact part
plus the mean of all plain differences. Features are divided by their standard deviation. One set is
pure noise: 60 samples with labels without meaning, where the best of thirty is far too good.

``python studies/nested_score.py`` writes nested_score.md. It needs ALLSPLITS_DATA, as
replay_pipelines.py does.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator

import numpy as np
from _report import environment, markdown_table, write_page
from replay_pipelines import covers, data_sets, off, repetitions

from allsplits import KNeighborsClassifierCV

SPLITS = 1000
SIZES = (10, 20, 100)


def all_sets() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    for name, X, y in data_sets():
        if name in ("sonar", "wine"):
            yield name, X / X.std(axis=0), y
    rng = np.random.default_rng(4)
    yield "noise, 60 × 3", rng.normal(size=(60, 3)), rng.permutation(np.arange(60) % 2)


def line(name: str, X: np.ndarray, y: np.ndarray) -> list[str]:
    model = KNeighborsClassifierCV(range(1, 31), n_jobs=1)
    found = model.nested_score(X, y, n_splits=SPLITS)
    differences = found.differences
    truth = differences.plain.mean()
    twenty = repetitions(differences, 20)
    real = np.sqrt(np.mean([(one.mean.value - truth) ** 2 for one in twenty]))
    stated = np.sqrt(np.mean([one.mean.standard_error**2 for one in twenty]))
    plain = np.std([one.plain.mean() for one in twenty], ddof=1)
    best = found.frame("pandas").iloc[0]
    return [
        name, f"{100 * found.evaluation.score:.2f}",
        f"{100 * (found.evaluation.score + truth):.2f}",
        f"{best['n_neighbors']} ({best['share']:.0%})",
        f"{100 * plain:.2f}", f"{100 * real:.2f}", f"{100 * stated:.2f}",
        *(f"{covers(differences, size):.3f}" for size in SIZES), off(differences),
    ]  # fmt: skip


HEADINGS = (
    "data", "best score, %", "nested, %", "k chosen most often", "error, plain differences",
    "error, 20 splits", "stated", "covers, 10", "covers, 20", "covers, 100", "off by",
)  # fmt: skip


def main() -> None:
    warnings.simplefilter("ignore")
    start = time.process_time()
    rows = []
    for name, X, y in all_sets():
        rows.append(line(name, X, y))
        print(*rows[-1], flush=True)
    page = f"""# Tuning, judged: does the error cover?

`KNeighborsClassifierCV(range(1, 31)).nested_score(X, y)`: k chosen on the training samples of each
outer split by exact averages, tested on the others; stratified 5-fold. Points of accuracy (per
cent). {SPLITS:,} outer splits, cut into repetitions of 10, 20 (the default) and 100. *Nested*: the
mean over all of them, the truth here. *Plain differences*: the error after 20 splits of the
difference of the two scores of each split; *20 splits*: of what `nested_score` says; *stated*: its
`standard_error`. *Covers*: how often the 95 % interval of Student's t holds the truth. *Off by*:
what smoothing moves the mean by, in what the standard error allows for.

{markdown_table(HEADINGS, rows)}

Where the same k is chosen on nearly every split (sonar), few of the splits show any difference, and
the spread between these knows little of those to come. Without what is added to the error for
that, intervals of 20 splits covered 0.56 there.

{environment()}; {time.process_time() - start:.0f} s of processor time.
"""
    write_page("nested_score", page)


if __name__ == "__main__":
    main()

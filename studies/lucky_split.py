"""Your split was lucky: one split, 29 published resamples, and all of them.

The 38 small data sets of the UCR archive come with a training and a test set, and most papers on
time series report one number for each: the accuracy of that split. For one nearest neighbour, by
Euclidean distance and by dynamic time warping (DTW, full window), the mean and the spread over
*all* splits with the same class counts are exact. Published accuracies of 1-NN DTW on 29 random
resamples (tsml-eval) stand beside them.

``python studies/lucky_split.py`` writes lucky_split.md and the page in docs/demos. It needs
ALLSPLITS_DATA, the folder of ucr_38.npz and ucr_1nn_dtw_resamples.csv, and for DTW the package aeon
(``pip install aeon``). Matrices of DTW distances take a quarter of an hour of one core; they are
kept in the folder DTW_FOLDER (default: one below the folder for temporary files).
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from _report import DEMOS, environment, markdown_table, save_figure, write_demo, write_page
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, evaluate, replay

#: Random splits on which the two distances are compared, one at a time.
DRAWN = 1000
#: Up to so many samples the spread is counted over all pairs of them; beyond, those splits show it.
MOST_PAIRED = 300
Splits = list[tuple[np.ndarray, np.ndarray]]
NEAREST = KNeighborsClassifier(1, metric="precomputed")


def folder() -> Path:
    return Path(os.environ["ALLSPLITS_DATA"])


def cells(X: np.ndarray) -> float:
    """Cells of the tables that all DTW distances take."""
    return X.size**2 / 2


def archive() -> Iterator[tuple[str, np.ndarray, np.ndarray, int]]:
    """Name, series, classes and number of training series of each set, the smallest first."""
    file = np.load(folder() / "ucr_38.npz")
    names = [key[:-2] for key in file.files if key.endswith("_X")]
    for name in sorted(names, key=lambda name: cells(file[f"{name}_X"])):
        yield (
            name, file[f"{name}_X"].astype(float), file[f"{name}_y"], int(file[f"{name}_n_train"])
        )  # fmt: skip


def published() -> dict[str, np.ndarray]:
    """Accuracies of 1-NN DTW: the archive's split first, then 29 resamples."""
    frame = pl.read_csv(folder() / "ucr_1nn_dtw_resamples.csv")
    return {row[0]: np.array(row[1:], dtype=float) for row in frame.iter_rows()}


def dtw_distances(name: str, X: np.ndarray) -> np.ndarray:
    """All DTW distances without a window, from the folder if they are there."""
    kept = Path(os.environ.get("DTW_FOLDER", Path(tempfile.gettempdir()) / "dtw_distances"))
    file = kept / f"{name}.npy"
    if not file.exists():
        from aeon.distances import dtw_pairwise_distance

        kept.mkdir(parents=True, exist_ok=True)
        np.save(file, dtw_pairwise_distance(X[:, None, :]))
    return np.load(file)


@dataclass
class Measured:
    """One distance on one data set."""

    archive: float
    mean: float
    std: float
    sampled: bool
    drawn: np.ndarray

    @property
    def z(self) -> float:
        """How many standard deviations the archive's split is above its mean."""
        return (self.archive - self.mean) / self.std if self.std else 0.0


def drawn_splits(y: np.ndarray, n_train: int) -> Splits:
    """Random splits with the class counts of the first n_train rows as training set."""
    rng = np.random.default_rng(0)
    members = {c: np.flatnonzero(y == c) for c in np.unique(y)}
    counts = {c: int(np.sum(y[:n_train] == c)) for c in members}
    splits = []
    for _ in range(DRAWN):
        train = np.concatenate([rng.choice(members[c], counts[c], replace=False) for c in members])
        splits.append((train, np.setdiff1d(np.arange(len(y)), train)))
    return splits


def measure(distances: np.ndarray, y: np.ndarray, n_train: int, splits: Splits) -> Measured:
    nearest = distances[n_train:, :n_train].argmin(axis=1)
    counts = {int(c): int(np.sum(y[:n_train] == c)) for c in np.unique(y)}
    found = evaluate(NEAREST, distances, y, cv=ClassCounts(counts), n_jobs=1)
    drawn = replay(NEAREST, distances, y, cv=splits, control=False, n_jobs=1, random_state=0)
    sampled = len(y) > MOST_PAIRED
    return Measured(
        float(np.mean(y[:n_train][nearest] == y[n_train:])),
        found.score, drawn.std.value if sampled else found.split_std, sampled,
        np.asarray(drawn.run_scores),
    )  # fmt: skip


@dataclass
class Case:
    """Both distances on one data set, and what was published."""

    name: str
    n_train: int
    n_test: int
    n_classes: int
    euclidean: Measured
    dtw: Measured
    published: np.ndarray

    @property
    def archive(self) -> float:
        """The lead of DTW on the archive's split."""
        return self.dtw.archive - self.euclidean.archive

    @property
    def exact(self) -> float:
        """The lead of DTW over all splits."""
        return self.dtw.mean - self.euclidean.mean

    @property
    def other_way(self) -> float:
        """How often one random split names the other winner than the exact means (ties: half)."""
        signs = np.sign(np.round(self.dtw.drawn - self.euclidean.drawn, 12)) * np.sign(self.exact)
        return float(np.mean((1 - signs) / 2))

    @property
    def resamples_z(self) -> float:
        """How far the mean of the 29 resamples is from the exact one, in its own deviations."""
        off = self.published[1:].mean() - self.dtw.mean
        return off / (self.dtw.std / np.sqrt(len(self.published) - 1)) if self.dtw.std else 0.0

    @property
    def turned(self) -> bool:
        """Whether the archive's split names the winner that the exact means do not."""
        return self.archive * self.exact < -1e-12


def cases() -> list[Case]:
    known = published()
    found = []
    for name, X, y, n_train in archive():
        start, splits = time.process_time(), drawn_splits(y, n_train)
        found.append(Case(
            name, n_train, len(y) - n_train, len(np.unique(y)),
            measure(pairwise_distances(X), y, n_train, splits),
            measure(dtw_distances(name, X), y, n_train, splits), known[name],
        ))  # fmt: skip
        print(f"{name}: {time.process_time() - start:.0f} s", flush=True)
    return sorted(found, key=lambda case: case.name.lower())


# ------------------------------------------------------------ picture and pages


def draw(found: list[Case]) -> None:
    found = sorted(found, key=lambda case: case.dtw.mean)
    places = np.arange(len(found))
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(11, 8.6), sharey=True, width_ratios=(3, 2), layout="constrained"
    )
    for place, case in zip(places, found, strict=True):
        mean, std = case.dtw.mean, case.dtw.std
        left.plot([mean - 2 * std, mean + 2 * std], [place] * 2, color="#b9d0e4", lw=7, zorder=1)
        left.plot(case.published[1:], [place] * 29, "|", color="#7a7a7a", ms=6, mew=0.8, zorder=2)
        right.plot([case.exact, case.archive], [place] * 2, zorder=1, lw=1.2,
                   color="#c43c39" if case.turned else "#c8c8c8")  # fmt: skip
    left.plot([case.dtw.mean for case in found], places, "o", color="#1f5a93", ms=5, zorder=3)
    far = np.array([abs(case.dtw.z) > 2 for case in found])
    scores = np.array([case.dtw.archive for case in found])
    left.plot(scores[~far], places[~far], "D", mfc="none", color="#222222", ms=5, zorder=4)
    left.plot(scores[far], places[far], "D", color="#c43c39", ms=6, zorder=4)
    left.set_yticks(places, [case.name for case in found], fontsize=8)
    left.set(xlabel="accuracy of 1-NN with DTW", ylim=(-0.7, len(found) - 0.3))
    handles = [
        left.plot([], [], "o", color="#1f5a93", label="exact mean over all splits")[0],
        left.plot([], [], color="#b9d0e4", lw=7, label="± 2 standard deviations, one split")[0],
        left.plot([], [], "|", color="#7a7a7a", label="29 published resamples")[0],
        left.plot([], [], "D", mfc="none", color="#222222", label="the archive's split")[0],
        left.plot([], [], "D", color="#c43c39", label="the same, beyond 2 deviations")[0],
    ]
    left.legend(handles=handles, loc="upper left", fontsize=8)
    right.axvline(0, color="#222222", lw=0.8)
    right.plot([case.exact for case in found], places, "o", color="#1f5a93", ms=5)
    right.plot([case.archive for case in found], places, "D", mfc="none", color="#222222", ms=5)
    right.set(xlabel="DTW less Euclidean (red: another winner)")
    for axes in (left, right):
        axes.grid(axis="x", color="#eeeeee")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    DEMOS.mkdir(exist_ok=True)
    save_figure(figure, "lucky_split", DEMOS)


def record(differences: list[float]) -> str:
    """Wins, ties and losses of DTW."""
    signs = [int(np.sign(round(each, 12))) for each in differences]
    return f"{signs.count(1)} wins, {signs.count(0)} ties, {signs.count(-1)} losses"


def summary(found: list[Case]) -> dict[str, str]:
    """The figures that both pages speak of."""
    n = len(found)
    turned = [case for case in found if case.turned]
    tied = [case for case in found if abs(case.archive) < 1e-12]
    off = [abs(case.dtw.archive - case.dtw.mean) for case in found]
    far = {
        kind: [f"{case.name} {z:+.1f}" for case in found if abs(z := getattr(case, kind).z) > 2]
        for kind in ("dtw", "euclidean")
    }
    expected = sum(case.other_way for case in found)
    error = np.sqrt(sum(case.other_way * (1 - case.other_way) / DRAWN for case in found))
    z = np.array([case.resamples_z for case in found])
    resamples_off = [abs(case.published[1:].mean() - case.dtw.mean) for case in found]
    not_found = [case for case in found if abs(case.dtw.archive - case.published[0]) > 5.1e-5]
    close = [case for case in found if case.other_way > 0.2]
    return {
        "n": str(n),
        "turned": str(len(turned)),
        "turned_names": ", ".join(case.name for case in turned),
        "tied": str(len(tied)),
        "tied_names": ", ".join(case.name for case in tied) or "none",
        "archive_record": record([case.archive for case in found]),
        "exact_record": record([case.exact for case in found]),
        "off": f"{100 * np.mean(off):.1f}",
        "most_off": f"{100 * max(off):.1f}",
        "most_off_name": found[int(np.argmax(off))].name,
        "far_dtw": str(len(far["dtw"])),
        "far_dtw_names": ", ".join(far["dtw"]),
        "far_euclidean": str(len(far["euclidean"])),
        "far_euclidean_names": ", ".join(far["euclidean"]),
        "expected": f"{expected:.1f} ± {error:.1f}",
        "close": str(len(close)),
        "archive_lead": f"{100 * np.mean([case.archive for case in found]):+.2f}",
        "exact_lead": f"{100 * np.mean([case.exact for case in found]):+.2f}",
        "resamples_z": f"{np.sqrt(np.mean(z**2)):.2f}",
        "resamples_far": str(int(np.sum(np.abs(z) > 2))),
        "resamples_off": f"{100 * np.mean(resamples_off):.2f}",
        "not_found": "; ".join(
            f"{case.name} ({case.dtw.archive:.4f}, published {case.published[0]:.4f})"
            for case in not_found
        ) or "none",
        "n_found": str(n - len(not_found)),
        "n_sampled": str(sum(case.dtw.sampled or case.euclidean.sampled for case in found)),
    }  # fmt: skip


def table(found: list[Case]) -> str:
    rows = []
    for case in found:
        cells = [f"{case.name}{' **turned**' if case.turned else ''}",
                 f"{case.n_train} + {case.n_test}, {case.n_classes}"]  # fmt: skip
        for kind in (case.euclidean, case.dtw):
            sampled = "*" if kind.sampled else ""
            cells += [f"{kind.archive:.4f}", f"{kind.mean:.4f} ± {kind.std:.4f}{sampled}",
                      f"{kind.z:+.1f}"]  # fmt: skip
        cells += [f"{case.published[1:].mean():.4f}", f"{100 * case.archive:+.1f}",
                  f"{100 * case.exact:+.1f}", f"{100 * case.other_way:.0f} %"]  # fmt: skip
        rows.append(cells)
    header = ["", "train + test, classes", "Euclid: archive", "exact ± one split", "z",
              "DTW: archive", "exact ± one split", "z", "29 resamples",
              "DTW − Euclid: archive", "exact", "one split says otherwise"]  # fmt: skip
    return markdown_table(header, rows)


def page(found: list[Case], s: dict[str, str], seconds: float) -> str:
    return f"""# Your split was lucky

`python studies/lucky_split.py` · {environment()} · {seconds:.0f} seconds of one core beside the
DTW distances

![Exact means and spreads, published resamples, the archive's split](../docs/demos/lucky_split.png)

One nearest neighbour on the {s["n"]} data sets of `ucr_38.npz` (small sets of the UCR archive
that a public repository holds), series as they come. *Exact*: mean and standard
deviation of one split, over all splits whose
training set has as many of each class as the archive's (`ClassCounts`).
*z*: how many such
deviations the archive's split is off.
A star marks standard deviations that were sampled ({DRAWN:,} splits), because pairs of more than
{MOST_PAIRED} samples are costly ({s["n_sampled"]} sets); means are never sampled.

## What we find
- **The published numbers are ours.** On the archive's split our DTW (aeon, no window) gives the
  published accuracy on {s["n_found"]} of
  {s["n"]} sets to four digits; others: {s["not_found"]}.
- **Rankings.** On {s["turned"]} of {s["n"]} data sets the archive's split names another winner
  between Euclid and DTW than the mean over all splits
  ({s["turned_names"]}); it is undecided on {s["tied"]} ({s["tied_names"]}). DTW's record:
  {s["archive_record"]} on the archive's splits, {s["exact_record"]}
  on all splits; its mean lead {s["archive_lead"]} points, exactly {s["exact_lead"]}.
- If each data set is decided by one random split, {s["expected"]} of the {s["n"]} come out the
  wrong way (sampled, {DRAWN:,} splits of each, ties
  count half); on {s["close"]} sets one split in five or more does.
- **The archive's split** is beyond two standard deviations on {s["far_dtw"]} sets with DTW
  ({s["far_dtw_names"]}) and on {s["far_euclidean"]}
  with Euclid ({s["far_euclidean_names"]}); about two of {s["n"]} would be, had they been drawn at
  random. On average it is {s["off"]} points from its
  mean, at most {s["most_off"]} ({s["most_off_name"]}).
- **29 resamples** have a mean that is {s["resamples_off"]} points from the exact one on average.
  In units of what 29 splits of this spread
  should be off, the root mean square is {s["resamples_z"]} (1 if they were drawn as the law says)
  and {s["resamples_far"]} of {s["n"]} are beyond two.

## What this does not say
Exact is over splits of these series, not over series to come: with a few dozen samples the data
set itself is luck, too.
Winners are those of the means, however close. Two distances are compared with nothing tuned; DTW
with a tuned window is another method.

## All data sets
{table(found)}
"""


def demo(s: dict[str, str]) -> str:
    return f"""# Your split was lucky

**The split that everybody uses is {s["off"]} points of accuracy from the mean over all splits like
it on average, {s["most_off"]} on {s["most_off_name"]}; on {s["turned"]} of {s["n"]} famous data
sets it names another winner between Euclidean distance and dynamic time warping
than that mean does, and
on {s["tied"]} none.**

![All data sets: exact means and spreads, published resamples, the archive's split](lucky_split.png)

The data sets of the UCR archive come with a training and a test set, and papers report the
accuracy of that one split. For one nearest
neighbour nobody needs to choose a split. The blue dot is the mean over *every* split whose
training set has as many of each class, the bar what a
single split may show, the grey ticks 29 resamples that were published for this very classifier,
the diamond the archive's split:

- it is beyond two standard deviations on {s["far_dtw"]} sets ({s["far_dtw_names"]}), where about
  two would be by chance, and hardly one beyond three;
- DTW against Euclid: {s["archive_record"]} on the archive's splits, {s["exact_record"]} on all
  splits;
- were each data set decided by one random split, {s["expected"]} of {s["n"]} winners would be the
  wrong ones;
- the mean of 29 resamples is still {s["resamples_off"]} points off on average: as much as 29
  draws of this spread must be
  ({s["resamples_z"]} of it, in root mean square). The published resamples agree with the exact
  means.

The exact number takes the matrix of distances, and little beyond it:

```python
from aeon.distances import dtw_pairwise_distance
from sklearn.neighbors import KNeighborsClassifier
from allsplits import ClassCounts, evaluate

distances = dtw_pairwise_distance(series)  # n × n; any distance will do
counts = {{c: sum(y_train == c) for c in set(y_train)}}  # as in the training set
nearest = KNeighborsClassifier(1, metric="precomputed")
found = evaluate(nearest, distances, y, cv=ClassCounts(counts))
found.score, found.split_std  # over all splits; what one split is off by
```

`audit_split` does the same for a split of yours ([guide](../report.md#was-this-split-lucky)).

*Protocol.* All {s["n"]} data sets of the file; our DTW (aeon, no
window) gives the published accuracy on the archive's split
for {s["n_found"]} of {s["n"]}. What exact does not remove: other series would give other means.
Every number:
[studies/lucky_split](../../studies/lucky_split.md).
"""


def main() -> None:
    start = time.process_time()
    found = cases()
    seconds = time.process_time() - start
    draw(found)
    figures = summary(found)
    write_demo("lucky_split", demo(figures))
    write_page("lucky_split", page(found, figures, seconds))


if __name__ == "__main__":
    main()

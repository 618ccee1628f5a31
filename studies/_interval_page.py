"""The page of the study of intervals: what was found, in words and tables."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from _interval_data import INDEPENDENT_MOONS, KINDS, MOONS
from _interval_draws import KS, MORE, RUNS, SHARES
from _interval_judge import CONFIDENCE, EDGES, LEAST, MOST, Judged
from _report import environment, markdown_table
from scipy.stats import binom

from allsplits.model_selection._variance import METHODS

#: What the mean width should keep to.
WIDEST = 1.35
#: Still on the safe side, and well within.
SAFE = 0.98
#: A line names so many cells.
MOST_NAMED = 12
#: The unbiased variance, which exists for small training sets.
SMALL_SHARE, SMALL_RUNS, CUTS = 0.45, 400, 50


class Tried(NamedTuple):
    """What a rule gives in one cell: for the score, and for the difference to the next k."""

    score: Judged
    gap: Judged


@dataclass(frozen=True)
class Cell:
    """One kind, n, k and share in training: by method, and the difference to the next k.

    `again` are those that a second look judges.
    """

    kind: str
    n: int
    k: int
    share: float
    judged: dict[str, Judged]
    gap: Judged
    again: bool

    @property
    def name(self) -> str:
        """For tables."""
        return f"{self.kind}, n = {self.n}, k = {self.k}, {self.share:.0%}"

    @property
    def is_ordinary(self) -> bool:
        """Not a score at the end of its scale."""
        return self.kind != "99 % right"

    @property
    def is_independent(self) -> bool:
        """Of samples that were drawn independently."""
        return self.kind != MOONS

    @property
    def combined(self) -> Judged:
        return self.judged["combined"]


@dataclass(frozen=True)
class Small:
    """The unbiased variance and the combined one: mean and noise, each over the true variance."""

    kind: str
    n: int
    k: int
    mean: float
    noise: float
    combined_mean: float
    combined_noise: float
    covers: float
    combined_covers: float


def span(values: list[float], digits: int = 3) -> str:
    return f"{min(values):.{digits}f} to {max(values):.{digits}f}"


def one_line(what: str, judged: list[Judged]) -> str:
    covers, widths = [one.covers for one in judged], [one.width for one in judged]
    return (
        f"- **{what}**: covers {span(covers)}, on average {np.mean(covers):.3f}; width "
        f"{span(widths, 2)} of the ideal, on average {np.mean(widths):.2f}."
    )


def summary(cells: list[Cell]) -> str:
    lines = [one_line(method, [c.judged[method] for c in cells]) for method in METHODS]
    return "\n".join([*lines, one_line("difference to the next k", [c.gap for c in cells])])


def misses(what: str, cells: list[Cell], of: Callable[[Cell], Judged]) -> str:
    """Which cells are outside of what they should keep to, and how many noise alone puts there."""
    below = [c for c in cells if of(c).is_below]
    above = [c for c in cells if of(c).is_above]
    low = sum(binom.cdf(np.ceil(LEAST * n) - 1, n, CONFIDENCE) for n in runs(cells, of))
    high = sum(binom.sf(np.floor(MOST * n), n, SAFE) for n in runs(cells, of))
    # One in twenty such pages would have a cell this far off by noise alone.
    surely = 0.05 / len(cells)
    lows = [c for c in below if binom.cdf(held(of(c)), of(c).n_runs, LEAST) < surely]
    highs = [c for c in above if binom.sf(held(of(c)) - 1, of(c).n_runs, MOST) < surely]
    return f"""- **{what}**, {len(cells)} cells: less than {LEAST} in {len(below)} (noise alone puts
  {low:.1f} there if all truly cover {CONFIDENCE}), more than {MOST} in {len(above)}
  ({high:.1f} if all truly cover {SAFE}). So far off that noise hardly does it in any of so many
  cells: {len(lows)} below, {len(highs)} above.
  Below: {named(below, of)}. Above: {named(above, of)}."""


def runs(cells: list[Cell], of: Callable[[Cell], Judged]) -> list[int]:
    return [of(c).n_runs for c in cells]


def held(judged: Judged) -> int:
    return round(judged.covers * judged.n_runs)


def named(cells: list[Cell], of: Callable[[Cell], Judged]) -> str:
    """Some of them, with their values; the table has all."""
    some = "; ".join(f"{c.name}: {of(c).covers:.3f}" for c in cells[:MOST_NAMED]) or "none"
    return f"{some}; and {len(cells) - MOST_NAMED} more" if len(cells) > MOST_NAMED else some


def page_of_choice(tried: list[dict[str, Tried]]) -> str:
    rows = []
    for name in tried[0]:
        cells = [one[name] for one in tried]
        scores, gaps = [one.score for one in cells], [one.gap for one in cells]
        rows.append([name, *row_of(scores), *row_of(gaps)])
    header = ["taken off", "covers", "below", "above", "width", "differences", "below", "above",
              "width"]  # fmt: skip
    return markdown_table(header, rows)


def row_of(judged: list[Judged]) -> list[str]:
    """Least and mean coverage, cells outside, mean width."""
    covers = [one.covers for one in judged]
    return [
        f"{min(covers):.3f}, {np.mean(covers):.3f}",
        f"{sum(one.is_below for one in judged)}",
        f"{sum(one.is_above for one in judged)}",
        f"{np.mean([one.width for one in judged]):.2f}",
    ]


def page_of_small(small: list[Small]) -> str:
    rows = [
        [f"{c.kind}, n = {c.n}, k = {c.k}", f"{c.mean:.2f} ± {c.noise:.2f}", f"{c.covers:.3f}",
         f"{c.combined_mean:.2f} ± {c.combined_noise:.2f}", f"{c.combined_covers:.3f}"]
        for c in small
    ]  # fmt: skip
    header = ["", "unbiased / true variance", "covers", "combined / true variance", "covers"]
    return markdown_table(header, rows)


def table_of_cells(cells: list[Cell]) -> str:
    rows = [
        [
            c.name, c.combined.n_runs, *(f"{c.judged[m].covers:.3f}" for m in METHODS),
            *(f"{c.judged[m].width:.2f}" for m in METHODS), f"{c.gap.covers:.3f}",
            f"{c.gap.width:.2f}",
        ]
        for c in cells
    ]  # fmt: skip
    header = ["", "data sets", *METHODS, *(f"width, {m}" for m in METHODS),
              "difference to the next k", "its width"]  # fmt: skip
    return markdown_table(header, rows)


def cells_on_page(text: str, n: int) -> list[Cell]:
    """The cells of a size, as `table_of_cells` has written them."""
    found = []
    line = rf"\| (.+), n = {n}, k = (\d+), (\d+)% \| (\d+) \|((?: [0-9.]+ \|){{8}})"
    for kind, k, share, n_runs, rest in re.findall(line, text):
        values = [float(value) for value in rest.replace("|", "").split()]
        covers, widths, gap = values[:3], values[3:6], values[6:]
        judged = {
            method: Judged(*pair, int(n_runs))
            for method, *pair in zip(METHODS, covers, widths, strict=True)
        }
        of_gap = Judged(*gap, int(n_runs))
        found.append(Cell(kind, n, int(k), int(share) / 100, judged, of_gap, False))
    return found


def page(
    cells: list[Cell], drawn: list[int], tried: list[dict[str, Tried]], small: list[Small]
) -> str:
    return f"""{opening(cells, drawn)}

{findings(cells)}

{choice(tried)}

![Coverage and width](interval_coverage.png)

{small_training_sets(small)}

## All cells
{table_of_cells(cells)}
"""


def opening(cells: list[Cell], drawn: list[int]) -> str:
    again = [c for c in cells if c.again]
    parts = len({(c.kind, c.n, c.share) for c in again})
    runs, more = ({n: counts[n] for n in drawn} for counts in (RUNS, MORE))
    return f"""# How often the interval covers

`python studies/interval_coverage.py folder` ·
{environment()}

{len(KINDS)} kinds of data; all training sets of {", ".join(f"{s:.0%}" for s in SHARES)} of
n = {", ".join(map(str, RUNS))} samples; k = {", ".join(map(str, KS))}; confidence {CONFIDENCE}.
**Cells** are the k that are less than half of the training set: a larger vote is little more than a
count of the classes. This was settled before anything was drawn, and no cell was left out since.
The truth and the true spread are those of all data sets of a cell; the ideal width is ± 1.96 true
standard deviations of the score.

**Two looks.** The rule of the interval was chosen on an earlier drawing; data sets of
{" and ".join(f"n = {n}" for n in drawn)} are of a second one, which had no part in it. A first look
has {listed(runs)}. What it finds outside of {EDGES[0]} to {EDGES[1]} may be so by
noise (two standard errors are
{", ".join(f"± {2 * noise(count):.3f} of n = {n}" for n, count in runs.items())}) or in truth:
{parts} of {len(KINDS) * len(drawn) * len(SHARES)} kinds, n and shares have such a cell. They are
looked at again, and their {len(again)} cells are judged by the second look alone:
{listed(more)}, with two standard errors of
{", ".join(f"± {2 * noise(count):.3f}" for count in more.values())}.{_earlier(cells, drawn)}

**Moons** are scikit-learn's `make_moons`, which spaces its samples evenly along two arcs. They are
no independent draws, as every interval takes samples to be: evenly spaced ones vary less from data
set to data set, which a single data set does not show. They were in the study before this was
noticed, and stay, outside of what is judged; **independent moons** have the same arcs and noise and
each sample drawn on its own. For the same reason sources draw the classes of all samples
independently, and once more in the rare case that a class has none; in the earlier drawing one
sample of each class was put there, which took up to an eighth off the true variance."""


def _earlier(cells: list[Cell], drawn: list[int]) -> str:
    """What is said of sizes that were not drawn again."""
    others = sorted({c.n for c in cells} - set(drawn))
    if not others:
        return ""
    counts = {n: next(c.combined.n_runs for c in cells if c.n == n) for n in others}
    return f"""
Cells of {" and ".join(f"n = {n}" for n in others)} are of the earlier drawing
({listed(counts)}, ± {2 * noise(min(counts.values())):.3f}), which takes long and was not
drawn again: its data sets had a part in the choice (without them the same rule would have been
chosen)."""


def listed(by_size: dict[int, int]) -> str:
    return ", ".join(f"{count} of n = {n}" for n, count in by_size.items())


def findings(cells: list[Cell]) -> str:
    ordinary = [c for c in cells if c.is_ordinary]
    sure = [c for c in cells if not c.is_ordinary]
    independent = [c for c in cells if c.is_independent]
    moons = [c for c in cells if not c.is_independent]
    wide = [c for c in ordinary if c.combined.width > WIDEST]
    widths = [c.combined.width for c in ordinary]
    return f"""## What we find
{summary(ordinary)}

By number of samples, combined:

{by_size(ordinary)}

What should be kept to is a coverage of {LEAST} to {MOST} in every cell, and a mean width of
{WIDEST} at most. The mean width is {np.mean(widths):.2f}
({np.mean([c.combined.width for c in cells]):.2f} with the scores at the end of their scale).

{misses("scores, independent draws", independent, lambda c: c.combined)}
{misses("scores, moons", moons, lambda c: c.combined)}
{misses("differences", cells, lambda c: c.gap)}

The interval of a score is wider than {WIDEST} times the ideal in {len(wide)} cells:
{"; ".join(f"{c.name}: {c.combined.width:.2f}" for c in wide) or "none"}.

Where it misses:

- Moons cover {span([c.combined.covers for c in moons])}, independent moons
  {span([c.combined.covers for c in cells if c.kind == INDEPENDENT_MOONS])}: what is too much there
  is what even spacing takes off the true spread.
- Other cells that cover often are of a rare class, or of votes of a large part of a small training
  set: most votes are for the same class, and even the sample scores alone are too wide.
- Cells that cover too seldom, or nearly, are of squared errors with heavy tails and few samples,
  most of which have not met the largest errors, and of 39 neighbours of 200 samples of MNIST: the
  variance itself is known badly there.
- Two close numbers of neighbours often differ by less than one sample. The difference is not taken
  to be known better than that, which is wide where both nearly always agree.
- **99 % right**: scores are at the end of their scale, and most data sets have a handful of
  errors. The interval covers {span([c.combined.covers for c in sure])} and is
  {span([c.combined.width for c in sure], 2)} times as wide as the ideal one, which is not a normal
  one there; of differences {span([c.gap.covers for c in sure])}."""


def choice(tried: list[dict[str, Tried]]) -> str:
    return f"""## How it was chosen
The jackknife counts what samples do together once for each of them, and is safe; the sample scores
(Bayle, Bayle, Janson & Mackey 2020, arXiv 2007.12671) do not see a sample's part as a neighbour,
and are too narrow whatever n is: their theorem asks for a learner that one training sample changes
by less than order 1/n. What pairs of a question and a neighbour add to the jackknife a second time
is known: the squares of what samples change in each other's rows. Taken off, they leave a variance
that is right on average, give or take a few tenths, for scores and differences alike; for n = 60 it
is noisy, and the sample scores are its lower end.

How well that variance is known matters as much. A variance that is now too large, now too small
needs a wider interval, and the jackknife's moves do not show it: votes of 39 among 160 samples move
whole neighbourhoods at once, and the variance of 200 such samples is no better known than that of a
few (it varies by half of itself from data set to data set of MNIST). So the part of the variance
that the sample scores have keeps their degrees of freedom, and the rest has as many as a training
set of m samples has sets of k neighbours, m/k.

What was tried, here on the first look at {len(tried)} cells of independent draws (the choice was
made on the earlier drawing): how much is taken off, and after a semicolon what degrees of freedom
there are (where nothing is said, those of the jackknife). For each rule the least and the mean
coverage of the cells, how many of them are below {LEAST} and above {MOST}, and the mean width; then
the same for differences:

{page_of_choice(tried)}

**Nine tenths; parts and m/k** was taken, with the sample scores as its lower end: it has no number
of its own to be tuned, and no other rule of this width has fewer cells outside. Its variants differ
little, and were not taken: n/k or n/(k + 1) neighbourhoods, the squares of the parts, a lower end
that is less where the sample scores exceed the jackknife, a logarithmic scale of errors.
Differences follow the same rule.

What was tried before on other draws, and given up: a fixed mixture of both variances (2/5 of the
jackknife: differences 1.49 times as wide as the ideal), and to take off as well what two samples
change in each other's rows at once (right for moons and checkers, 0.6 of the true variance for
MNIST)."""


def small_training_sets(small: list[Small]) -> str:
    return f"""## Small training sets: the unbiased variance
`Evaluation.unbiased_variance` exists where two training sets and two questions fit into the data.
Here {SMALL_SHARE:.0%} of the samples are in training, and {CUTS} cuts in two halves are drawn for
each of {SMALL_RUNS} data sets. It is right on average and noisier than the combined one (given are
mean ± standard deviation over data sets, both over the true variance), and its interval (normal
quantile; none where the estimate is negative) covers less often, so it is not the default.

{page_of_small(small)}"""


def noise(n_runs: int) -> float:
    return float(np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / n_runs))


def by_size(cells: list[Cell]) -> str:
    sizes = sorted({c.n for c in cells})
    return "\n".join(one_line(f"n = {n}", [c.combined for c in cells if c.n == n]) for n in sizes)

"""Ratsaby (1997), Figure 1: asking for the hard classes against equal shares of all.

Four equally likely classes in the plane without overlap (the Bayes error is zero), three problems
of different shape. The paper's pictures are not in the text we have, so the problems are drawn
here, so that classes differ in difficulty: two classes are plain and two are wound around each
other as waves, a chequered board or spirals. Each problem comes in two kinds: with the plain
classes *apart* from the rest, and with plain classes that *touch* the intricate ones all along.

15 runs with sample sizes from 20 to 800 in steps of 10, in each run the same examples for all:
incremental learners that ask for batches of 10 of one class (INN, by the paper's greedy rule; the
same without shuffling before it condenses; shares, our own rule; and priors, equal shares) against
batch learning with equal shares. All condense and reduce in the same way. Beside them are batch
learners with other draws, to see what differs by chance, and fixed shares of the plain classes, to
see what could be won.

``python studies/ratsaby_figure1.py`` writes ratsaby_figure1.md and ratsaby_figure1.png.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter, process_time

import matplotlib

from allsplits.plots._style import BLUE, VERMILION

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from _ratsaby import N_TEST, SHAPES, Rule, Run, apart, chance, run_of_rule, touching, with_error
from _report import environment, load, markdown_table, save_figure, write_page

from allsplits import CondensedReduced, IncrementalNNClassifier

SIZES = np.arange(20, 801, 10)
RUNS = 15
AT = np.searchsorted(SIZES, (100, 400, 800))
KINDS = (apart, touching)
REDUCTIONS = ("paper", "consistent")
#: Learners that ask for classes: what they are called, and how they are made.
LEARNERS = {
    "INN in order": {"query": "greedy", "shuffle": False},
    "INN": {"query": "greedy"},
    "shares": {"query": "shares"},
    "priors": {"query": "priors"},
}
#: Not rivals, for they would have to know which classes are plain: shares of each plain class.
FIXED = {f"{100 * plain:.0f} %": plain for plain in (0.1, 0.15, 0.2, 0.3)}
#: Added to the number of a run: other draws.
OTHER_DRAWS = 1000


@dataclass(frozen=True)
class Outcome:
    """Errors of each learner by (run, size), and the shares of the classes it asked for."""

    errors: dict[str, np.ndarray]
    shares: dict[str, np.ndarray]

    def difference(self, name: str, other: str = "batch") -> np.ndarray:
        """Difference of the mean errors over sizes, by run."""
        return (self.errors[name] - self.errors[other]).mean(axis=1)

    def runs_won(self, name: str, other: str = "batch") -> int:
        """Runs in which it has the lower error on average over sizes."""
        return int((self.difference(name, other) < 0).sum())

    def experiments(self, name: str) -> tuple[int, int]:
        """Experiments (a run and a size) in which its error is lower than batch's, and higher."""
        batch = self.errors["batch"]
        return int((self.errors[name] < batch).sum()), int((self.errors[name] > batch).sum())


def main() -> None:
    start, start_work = perf_counter(), process_time()
    outcomes = {
        (kind.__name__, reduce, name): experiment(
            kind(shape), reduce, with_fixed=kind is touching and reduce == "consistent"
        )
        for kind in KINDS
        for reduce in REDUCTIONS
        for name, shape in SHAPES.items()
    }
    save_figure(draw_figure(outcomes), "ratsaby_figure1")
    taken = f"{perf_counter() - start:.0f} s ({process_time() - start_work:.0f} s of one core)"
    write_page("ratsaby_figure1", page(outcomes, taken))


def experiment(rule: Rule, reduce: str, with_fixed: bool) -> Outcome:
    learners = LEARNERS | (fixed_shares() if with_fixed else {})
    errors: dict[str, list] = {name: [] for name in (*learners, "batch", "other draws")}
    shares: dict[str, list] = {name: [] for name in learners}
    for number in range(RUNS):
        run = draw_run(rule, number)
        for name, options in learners.items():
            model = IncrementalNNClassifier(
                run.giver(), classes=run.classes, budget=int(SIZES[-1]), reduce=reduce,
                random_state=number, **options,
            ).fit(eval_set=run.tests)  # fmt: skip
            errors[name].append(model.history_.test_error)
            shares[name].append(model.history_.class_shares[-1])
        errors["batch"].append(batch_errors(run, reduce))
        errors["other draws"].append(batch_errors(draw_run(rule, OTHER_DRAWS + number), reduce))
    return Outcome(
        {name: np.array(values) for name, values in errors.items()},
        {name: np.mean(values, axis=0) for name, values in shares.items()},
    )


def draw_run(rule: Rule, number: int) -> Run:
    return run_of_rule(rule, int(SIZES[-1]), number, np.random.default_rng(0), (1, 1, 1, 1))


def fixed_shares() -> dict[str, dict]:
    """Learners that ask for shares as if they were priors."""
    return {
        name: {"query": "priors", "priors": (plain, plain, 0.5 - plain, 0.5 - plain)}
        for name, plain in FIXED.items()
    }


def batch_errors(run: Run, reduce: str) -> list[float]:
    """Equal shares of each size; what is left over goes to classes drawn by lot."""
    rng = np.random.default_rng([5, run.seed])
    errors = []
    for size in SIZES:
        counts = size // 4 + (rng.permutation(4) < size % 4)
        X = np.concatenate([run.examples[c][:n] for c, n in enumerate(counts)])
        model = CondensedReduced(
            reduce=reduce, shuffle=True, random_state=int(rng.integers(1 << 30))
        ).fit(X, np.repeat(run.classes, counts))
        errors.append(1 - model.score(*run.tests))
    return errors


def draw_figure(outcomes: dict) -> plt.Figure:
    """As in the paper: the classes, and beside them the learning curves; both kinds."""
    figure, axes = plt.subplots(3, 4, figsize=(15, 10))
    for row, (name, shape) in zip(axes, SHAPES.items(), strict=True):
        for (classes, curves), kind in zip((row[:2], row[2:]), KINDS, strict=True):
            draw_classes(classes, kind(shape), f"{name}, {kind.__name__}")
            draw_curves(curves, outcomes[kind.__name__, "paper", name])
    figure.tight_layout()
    return figure


def draw_classes(ax, rule: Rule, title: str) -> None:
    axis = (np.arange(300) + 0.5) / 300
    classes = rule(*np.meshgrid(axis, axis)).astype(float)
    classes[classes < 0] = np.nan
    ax.imshow(classes, origin="lower", extent=(0, 1, 0, 1), cmap="cividis", vmin=0, vmax=3)
    ax.set(title=title, xticks=[], yticks=[])


def draw_curves(ax, outcome: Outcome) -> None:
    for name, color in (("INN", "black"), ("shares", BLUE), ("batch", VERMILION)):
        mean = outcome.errors[name].mean(axis=0)
        ax.plot(SIZES, mean, color=color, linewidth=1.3, label=name)
    ax.set(xlabel="examples", ylabel="error", ylim=(0, None))
    ax.grid(alpha=0.3)
    ax.legend()


def won(outcome: Outcome, name: str, other: str = "batch") -> str:
    runs = outcome.runs_won(name, other)
    return f"{runs} ({chance(runs, RUNS):.1g})"


def means_table(outcomes: dict, kind: str, reduce: str) -> str:
    """Mean errors over sizes beside those of batch."""
    rows = []
    for shape in SHAPES:
        result = outcomes[kind, reduce, shape]
        cells = [f"{100 * result.errors['batch'].mean():.2f}"]
        for name in LEARNERS:
            cells += [with_error(result.difference(name), sign=True), won(result, name)]
        rows.append((shape, *cells))
    names = [heading for name in LEARNERS for heading in (f"{name} − batch", "runs lower (level)")]
    return markdown_table(("problem", "batch", *names), rows)


def sizes_table(outcomes: dict, kind: str, reduce: str) -> str:
    """Errors at three sizes, experiments as the paper counts them, and what was asked for."""
    rows = []
    for shape in SHAPES:
        result = outcomes[kind, reduce, shape]
        errors = [
            " / ".join(
                f"{100 * result.errors[name][:, i].mean():.1f}"
                for name in ("INN", "shares", "batch")
            )
            for i in AT
        ]
        lower, higher = result.experiments("INN")
        counted = f"{lower} of {lower + higher}", f"{chance(lower, lower + higher):.1g}"
        shares = [
            " ".join(f"{100 * share:.0f}" for share in result.shares[name])
            for name in ("INN", "shares")
        ]
        rows.append((shape, *errors, *counted, *shares))
    headings = (
        "problem", "at 100", "at 400", "at 800", "INN lower than batch", "level",
        "shares asked, INN", "shares asked, shares",
    )  # fmt: skip
    return markdown_table(headings, rows)


def ends_table(outcomes: dict) -> str:
    """Mean errors over the last quarter of the sizes beside those of batch."""
    rows = []
    for (kind, reduce, shape), result in outcomes.items():
        ends = {
            name: errors[:, -(len(SIZES) // 4) :].mean(axis=1)
            for name, errors in result.errors.items()
        }
        cells = [with_error(ends[name] - ends["batch"], sign=True) for name in LEARNERS]
        rows.append((f"{shape}, {kind}, {reduce}", f"{100 * ends['batch'].mean():.2f}", *cells))
    return markdown_table(("problem", "batch", *(f"{name} − batch" for name in LEARNERS)), rows)


def chance_table(outcomes: dict) -> str:
    """Batch with other draws beside batch."""
    rows = [
        (shape, *(
            with_error(outcomes[kind.__name__, reduce, shape].difference("other draws"), sign=True)
            for kind in KINDS
            for reduce in REDUCTIONS
        ))
        for shape in SHAPES
    ]  # fmt: skip
    kinds = [f"{kind.__name__}, {reduce}" for kind in KINDS for reduce in REDUCTIONS]
    return markdown_table(("problem", *kinds), rows)


def fixed_table(outcomes: dict) -> str:
    """What fixed shares of the plain classes bring where they touch the others."""
    names = ("10 %", "15 %", "20 %", "priors", "30 %", "shares")
    rows = []
    for shape in SHAPES:
        result = outcomes["touching", "consistent", shape]
        rows.append((shape, *(with_error(result.difference(name), sign=True) for name in names)))
    return markdown_table(("problem", *(n.replace("priors", "25 % (priors)") for n in names)), rows)


def won_by_fixed(outcomes: dict) -> str:
    """Fixed shares that are better than batch by more than two standard errors."""
    won = []
    for shape in SHAPES:
        for name in FIXED:
            values = outcomes["touching", "consistent", shape].difference(name)
            if values.mean() < -2 * values.std(ddof=1) / np.sqrt(RUNS):
                won.append(f"{name} on {shape}")
    return ", ".join(won) if won else "none"


def beside_batch(outcomes: dict, kind: str) -> str:
    """Differences of our rule from batch in a kind of problems."""
    return "; ".join(
        f'with reduce="{reduce}", '
        + ", ".join(
            f"{shape} {with_error(outcomes[kind, reduce, shape].difference('shares'), sign=True)}"
            for shape in SHAPES
        )
        for reduce in REDUCTIONS
    )


def not_lost(outcomes: dict, kind: str, name: str) -> str:
    """Problems, with both reductions, whose difference from batch is within an error of 0."""
    differences = [
        outcomes[kind, reduce, shape].difference(name) for reduce in REDUCTIONS for shape in SHAPES
    ]
    count = sum(d.mean() <= d.std(ddof=1) / np.sqrt(RUNS) for d in differences)
    return f"{count} of {len(differences)}"


def kept_win(outcomes: dict) -> str:
    """The win of our rule with plain classes apart, as a share of the paper's rule's."""
    wins = [
        outcomes["apart", reduce, shape].difference("shares").mean()
        / outcomes["apart", reduce, shape].difference("INN").mean()
        for reduce in REDUCTIONS
        for shape in SHAPES
    ]
    return f"{100 * min(wins):.0f} to {100 * max(wins):.0f} %"


def verdict(outcomes: dict, kind: str, reduce: str, name: str, other: str = "batch") -> str:
    """In how many problems a learner is better or worse by the sign test over runs."""
    runs = [outcomes[kind, reduce, shape].runs_won(name, other) for shape in SHAPES]
    better = sum(chance(count, RUNS) < 0.01 for count in runs)
    worse = sum(chance(RUNS - count, RUNS) < 0.01 for count in runs)
    return f"better in {better}, worse in {worse} of {len(SHAPES)}"


def verdicts(outcomes: dict) -> str:
    pairs = [("INN", "batch"), ("shares", "batch"), ("shares", "INN"), ("INN", "INN in order")]
    rows = [
        (
            f"{kind.__name__}, {reduce}",
            *(verdict(outcomes, kind.__name__, reduce, *pair) for pair in pairs),
        )
        for kind in KINDS
        for reduce in REDUCTIONS
    ]
    return markdown_table(("problems, reduction", *(f"{a} against {b}" for a, b in pairs)), rows)


def tables(outcomes: dict, kind: str, reduce: str) -> str:
    return f"{means_table(outcomes, kind, reduce)}\n\n{sizes_table(outcomes, kind, reduce)}"


def means(outcomes: dict, kind: str, reduce: str) -> str:
    """Mean errors of all learners over sizes and the three problems."""
    values = {
        name: np.mean([outcomes[kind, reduce, shape].errors[name].mean() for shape in SHAPES])
        for name in (*LEARNERS, "batch")
    }
    return ", ".join(f"{name} {100 * value:.1f} %" for name, value in values.items())


def counted_wins(outcomes: dict, kind: str) -> int:
    """Problems in which INN is better at 1 % over experiments, as the paper counts."""
    pairs = [outcomes[kind, "paper", shape].experiments("INN") for shape in SHAPES]
    return sum(chance(lower, lower + higher) < 0.01 for lower, higher in pairs)


def page(outcomes: dict, taken: str) -> str:
    return f"""\
# Ratsaby (1997), Figure 1: incremental learning with class queries against batch learning

`python studies/ratsaby_figure1.py` · {environment()} · {taken},
{load()}

## What the paper says
Three problems in the plane, four equally likely classes, Bayes error zero; 15 runs, sample sizes to
800 in steps of 10, averages of the error on a fixed test set. "Algorithm INN outperformed the
simple Batch approach with a reject level of less than 1%" (sign test, page 617). The pictures of
the problems and the curves are not in the text we have, so no number can be compared; the claim
can be tested.

The paper condenses a sample that is "stored in an array" and does not say in which order. Two
readings: the order in which examples come, batch after batch of one class (*INN in order*), or a
new random order at every step (*INN*). Batch learning condenses in random order.

## What we measured
{RUNS} runs, sizes {SIZES[0]} to {SIZES[-1]} in steps of 10 ({len(SIZES)} of them),
{N_TEST} test points that are the same in all runs. Each run has one list of examples of each class,
and every learner takes from these lists: runs are paired. Incremental learners start with 5
examples of each class and ask for 10 at a time. *Shares* is `query="shares"`, our own rule; it was
chosen on other problems ([class queries](ratsaby_queries.md)). *Priors* asks for equal shares, 10
of a class at a time; batch has them at every size.

Errors are in percent. The first table of each pair has the mean error over sizes: that of batch,
and the differences from it with their standard errors over runs; then the runs in which the learner
is lower, with the level of a one-sided sign test. The second has mean errors at three sizes (INN /
shares / batch), the experiments (a run and a size) in which INN is lower, as the paper counts,
and the shares of the classes that were asked for at the end, in percent; the plain classes come
first.

The first problems we drew had touching classes, and there INN did not win; the kind with plain
classes apart was drawn afterwards, knowing that. Both are shown.

**Plain classes apart from the intricate ones**, condensed and reduced as printed:

{tables(outcomes, "apart", "paper")}

The same, reduced so that the training error stays zero (`reduce="consistent"`, the default):

{tables(outcomes, "apart", "consistent")}

**Plain classes that touch the intricate ones all along**, as printed:

{tables(outcomes, "touching", "paper")}

The same with `reduce="consistent"`:

{tables(outcomes, "touching", "consistent")}

**The end**: mean errors over the last quarter of the sizes, and differences from batch:

{ends_table(outcomes)}

**What is chance**: batch learning from other examples, less batch learning; mean errors over sizes.

{chance_table(outcomes)}

**What can be won** where classes touch, `reduce="consistent"`: a fixed share of each of the two
plain classes, whatever is learnt, less batch; mean errors over sizes. A learner cannot know which
share is best.

{fixed_table(outcomes)}

![classes and learning curves](ratsaby_figure1.png)

## Agreement
Problems in which the first is better or worse at 1 %, by a sign test over runs:

{verdicts(outcomes)}

- **The claim**: as the paper counts, over all experiments, INN with the printed reduction is better
  at 1 % in {counted_wins(outcomes, "apart")} of 3 problems with plain classes apart and in
  {counted_wins(outcomes, "touching")} of 3 with touching ones. So the claim depends on the problem.
- **Our rule**, where classes touch: in {not_lost(outcomes, "touching", "shares")} problems and
  reductions its difference from batch is at most one standard error above 0, that of INN in
  {not_lost(outcomes, "touching", "INN")}. Shares − batch is, {beside_batch(outcomes, "touching")}.
  With plain classes apart it has {kept_win(outcomes)} of what INN wins.
- **What can be won**: where classes touch, none of the fixed shares is better than batch by more
  than two standard errors; exceptions: {won_by_fixed(outcomes)}.
- **The order**: mean errors over sizes and problems, touching classes:
  {means(outcomes, "touching", "paper")} as printed,
  {means(outcomes, "touching", "consistent")} with the consistent reduction.
  No order is better in any problem at 1 %, over runs.
- **The test**: the paper's experiments are independent. Here one learner passes through all
  sizes of a run (fresh learners for every size would take 40 times as long), so experiments of a
  run are not, and their level is smaller than it should be. Runs are independent; their levels are
  the safe ones.
- **Reduce**: the printed reduction may leave training samples wrong. Plain classes apart:
  {means(outcomes, "apart", "paper")} as printed,
  {means(outcomes, "apart", "consistent")} with the consistent one, which is the default.
"""


if __name__ == "__main__":
    main()

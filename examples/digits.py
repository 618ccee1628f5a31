"""Digits over all splits: what a sampled cross-validation only estimates, computed.

scikit-learn's digits (1797 images of 8 x 8 pixels) are evaluated over every possible 5-fold split:
the accuracy of every number of neighbours, the learning curve of the nearest neighbour, and the
images that are most often wrong. Then GridSearchCV draws five 5-fold repeats of the same question,
for its time and its spread.

Run it with ``python examples/digits.py``; it needs no network and no files.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console, Group
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Curve, Evaluation, evaluate, learning_curve, validation_curve
from allsplits.model_selection._evaluation import count_in_words

FOLDS, REPEATS = 5, 5
NEIGHBORS = range(1, 21)
SIZES_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 400, 800, 1400, 1796)
BAR_WIDTH = 36


class Sampled(NamedTuple):
    """What repeated k-fold says: one row per repeat, one column per number of neighbours."""

    accuracy: np.ndarray
    seconds: float


def main() -> None:
    console = Console(highlight=False)
    digits = load_digits()
    X, y = digits.data, digits.target

    curve, first_seconds = timed(lambda: exact_curve(X, y))
    curve, seconds = timed(lambda: exact_curve(X, y))
    best = evaluate(KNeighborsClassifier(curve.best), X, y, cv=KFold(FOLDS))
    sizes = learning_curve(KNeighborsClassifier(1), X, y)

    console.print(f"\n[bold]digits[/]: {len(X)} images, {X.shape[1]} pixels, 10 classes\n")
    show_neighbors(console, curve)
    show_splits(console, best)
    show_sizes(console, sizes)
    show_hardest(console, best, digits.images)
    console.print(f"Drawing {REPEATS} repeats of {FOLDS} folds with scikit-learn …")
    show_sampled(console, curve, sample(X, y), seconds, first_seconds)


def exact_curve(X: np.ndarray, y: np.ndarray) -> Curve:
    """Every number of neighbours, averaged over every 5-fold split."""
    return validation_curve(
        KNeighborsClassifier(), X, y, n_neighbors=NEIGHBORS, cv=KFold(FOLDS)
    )  # fmt: skip


def sample(X: np.ndarray, y: np.ndarray) -> Sampled:
    """The same question put to scikit-learn: five shuffled 5-fold repeats for each k."""
    search = GridSearchCV(
        KNeighborsClassifier(),
        {"n_neighbors": list(NEIGHBORS)},
        cv=RepeatedKFold(n_splits=FOLDS, n_repeats=REPEATS, random_state=0),
        refit=False,
    )
    _, seconds = timed(lambda: search.fit(X, y))
    folds = np.array(
        [search.cv_results_[f"split{fold}_test_score"] for fold in range(FOLDS * REPEATS)]
    )
    return Sampled(folds.reshape(REPEATS, FOLDS, len(NEIGHBORS)).mean(axis=1), seconds)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result of `work` and how long it took."""
    start = perf_counter()
    result = work()
    return result, perf_counter() - start


def bar(value: float, low: float, high: float) -> str:
    """A bar from `low` (empty) to `high` (full)."""
    return "━" * max(1, round(BAR_WIDTH * (value - low) / (high - low)))


def show_neighbors(console: Console, curve: Curve) -> None:
    low = curve.scores.min() - 0.001
    table = Table(title="Accuracy for every number of neighbours", title_justify="left")
    table.add_column("k", justify="right")
    table.add_column("accuracy", justify="right")
    table.add_column(f"from {low:.3f} to {curve.best_score:.3f}")
    for k, score in zip(curve.x, curve.scores, strict=True):
        line = bar(score, low, curve.best_score)
        if k == curve.best:
            table.add_row(str(k), f"{score:.6f}", f"{line} best", style="bold green")
        else:
            table.add_row(str(k), f"{score:.6f}", line)
    console.print(table)


def show_splits(console: Console, evaluation: Evaluation) -> None:
    number = evaluation.n_splits
    console.print(
        f"Each value averages {count_in_words(number)} splits (a number of {len(str(number))} "
        f"digits): {evaluation.law}.\n"
        f"No other seed can change it; rounding may, by {evaluation.error_bound:.0e} at most.\n"
    )


def show_sizes(console: Console, curve: Curve) -> None:
    scores = dict(zip(curve.x.tolist(), curve.scores, strict=True))
    table = Table(title="Learning curve of the nearest neighbour", title_justify="left")
    table.add_column("training size", justify="right")
    table.add_column("accuracy", justify="right")
    table.add_column("from 0 to 1")
    for size in SIZES_SHOWN:
        table.add_row(str(size), f"{scores[size]:.4f}", bar(scores[size], 0.0, 1.0))
    console.print(table)
    enough = curve.x[np.argmax(curve.scores >= 0.95)]
    console.print(
        f"{len(SIZES_SHOWN)} of the {len(curve.x)} sizes that were computed; 95 % is reached with "
        f"{enough} training images.\n"
    )


def show_hardest(console: Console, evaluation: Evaluation, images: np.ndarray) -> None:
    table = Table(title=f"Most often wrong at k = {evaluation.n_neighbors}", title_justify="left")
    for name in ("image", "true class", "given most often", "in", "right in"):
        table.add_column(name, justify="right")
    hardest = evaluation.hardest(8)
    for i in hardest:
        shares = evaluation.prediction_proba[i]
        given = int(np.argmax(shares))
        table.add_row(
            str(i),
            str(evaluation.y[i]),
            str(evaluation.classes[given]),
            f"{shares[given]:.2%}",
            f"{evaluation.sample_scores[i]:.2%}",
        )
    pictures = Table.grid(padding=(0, 2))
    pictures.add_row(*(f"{i}: a {evaluation.y[i]}\n{picture(images[i])}" for i in hardest[:4]))
    console.print(Group(table, pictures))
    console.print()


def picture(image: np.ndarray) -> str:
    """An 8 x 8 image in shades, two characters a pixel."""
    levels = np.minimum(image.astype(int) * 5 // 16, 4)
    return "\n".join("".join(" ░▒▓█"[level] * 2 for level in row) for row in levels)


def show_sampled(
    console: Console, curve: Curve, sampled: Sampled, seconds: float, first_seconds: float
) -> None:
    at_best = sampled.accuracy[:, list(curve.x).index(curve.best)]
    chosen, times = np.unique(curve.x[sampled.accuracy.argmax(axis=1)], return_counts=True)
    votes = ", ".join(f"k = {k} ({n} x)" for k, n in zip(chosen, times, strict=True))
    table = Table(title=f"Beside scikit-learn, k = 1 to {max(NEIGHBORS)}", title_justify="left")
    table.add_column("")
    table.add_column("all splits")
    table.add_column(f"GridSearchCV, {REPEATS} x {FOLDS} folds")
    table.add_row(
        f"accuracy at k = {curve.best}",
        f"{curve.best_score:.6f}",
        f"{at_best.mean():.6f}; repeats from {at_best.min():.4f} to {at_best.max():.4f}",
    )
    table.add_row("best k", f"{curve.best}", f"by repeat: {votes}")
    table.add_row("seconds", f"{seconds:.2f}", f"{sampled.seconds:.2f}")
    console.print(table)
    console.print(
        f"All splits take 1/{sampled.seconds / seconds:.0f} of the time of {REPEATS} repeats, and "
        f"1/{sampled.seconds / REPEATS / seconds:.1f} of one repeat.\n"
        f"(The first call took {first_seconds:.2f} s: on a fresh installation it compiles.)\n\n"
        "Exactness removes the noise of splitting, not the noise of sampling: "
        "other images would give other values."
    )


if __name__ == "__main__":
    main()

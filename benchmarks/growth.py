"""How the cost grows with the number of samples, neighbours, held-out samples and classes.

One quantity moves, the others stay: n = 5000, d = 10, two classes, all k ≤ 15, 20 % held out. The
search is what the law and the largest k need; the evaluation starts from the finished order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sklearn.model_selection import LeavePOut
from sklearn.neighbors import KNeighborsClassifier

from allsplits import order_neighbors, validation_curve
from benchmarks._data import gaussian_classes
from benchmarks._timing import interleaved, needed_depth, print_table


@dataclass(frozen=True)
class Case:
    """One setting."""

    n: int = 5000
    k_max: int = 15
    share_held_out: float = 0.2
    n_classes: int = 2


BASE = Case()
CASES = {
    "n": [replace(BASE, n=n) for n in (1000, 2000, 5000, 10_000, 20_000)],
    "n, 26 classes": [
        replace(BASE, n=n, n_classes=26) for n in (1000, 2000, 5000, 10_000, 20_000)
    ],
    "largest k": [replace(BASE, k_max=k) for k in (1, 5, 15, 51, 101)],
    "largest k, 10 classes": [
        replace(BASE, k_max=k, n_classes=10) for k in (1, 5, 15, 51, 101)
    ],
    "p": [replace(BASE, share_held_out=share) for share in (0.0002, 0.01, 0.1, 0.5, 0.9)],
    "classes": [replace(BASE, n_classes=c) for c in (2, 3, 5, 10, 26, 100)],
}  # fmt: skip


def measure(case: Case) -> tuple[str, ...]:
    """n, k, p, classes, depth, seconds of the search and of the evaluation after it."""
    X, y = gaussian_classes(case.n, 10, case.n_classes)
    p = max(1, round(case.n * case.share_held_out))
    depth = needed_depth(case.n, case.n - p, case.k_max)
    order = order_neighbors(X, depth=depth)
    ks = range(1, case.k_max + 1)
    after, search = interleaved(
        [
            lambda: validation_curve(
                KNeighborsClassifier(), order, y, n_neighbors=ks, cv=LeavePOut(p)
            ),
            lambda: order_neighbors(X, depth=depth),
        ],
        repeats=3,
    )
    counts = (case.n, case.k_max, p, case.n_classes, depth)
    return (*(f"{count:,}" for count in counts), f"{search:.3f}", f"{after:.3f}")


def main() -> None:
    headings = ("n", "k ≤", "p", "classes", "depth", "search, s", "evaluation, s")
    for what, cases in CASES.items():
        print_table(f"growth with {what}", headings, [measure(case) for case in cases])


if __name__ == "__main__":
    main()

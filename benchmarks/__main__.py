"""Run every benchmark and print one table of goals: ``python -m benchmarks``.

Each topic also runs alone, for example ``python -m benchmarks.many_classes``.
"""

from __future__ import annotations

import sys
from time import perf_counter

from benchmarks import (
    active,
    boosting,
    growth,
    lazy,
    learning_curve,
    many_classes,
    memory,
    prototypes,
    regression,
    scale,
    startup,
    structured,
    two_classes,
    weighted,
)
from benchmarks._timing import Result, print_environment, print_results

TOPICS = (
    two_classes,
    many_classes,
    learning_curve,
    structured,
    regression,
    weighted,
    active,
    prototypes,
    boosting,
    lazy,
    scale,
    memory,
    startup,
)


def main() -> None:
    start = perf_counter()
    print_environment()
    results: list[Result] = []
    for topic in TOPICS:
        print(f"{topic.__name__} …", file=sys.stderr, flush=True)
        results += topic.measure()
    print_results(results)
    growth.main()
    print(f"total: {perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()

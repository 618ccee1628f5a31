"""Run the benchmarks and print one table of goals: ``python -m benchmarks``.

A complete run also writes ``benchmarks/RESULTS.md``. A part of the topics (``--only``) writes
nothing unless ``--output`` says where. When a run is stopped or a topic fails, what was measured is
printed and written to a file of its own beside it, ``RESULTS.incomplete.md``; RESULTS.md itself
stays as it was. Each topic also runs alone, for example ``python -m benchmarks.many_classes``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from benchmarks import (
    active,
    boosting,
    few_shot,
    fixed_test,
    growth,
    intervals,
    labelling,
    lazy,
    learning_curve,
    many_classes,
    memory,
    peers,
    probes,
    prototypes,
    radius,
    regression,
    replay,
    retrieval,
    scale,
    scores,
    search,
    spread,
    startup,
    structured,
    ties,
    two_classes,
    values,
    weighted,
)
from benchmarks._report import Measured, write_page
from benchmarks._timing import print_environment, print_results, print_table

TOPICS = {
    module.__name__.rpartition(".")[2]: module.measure
    for module in (
        two_classes,
        many_classes,
        learning_curve,
        structured,
        ties,
        few_shot,
        retrieval,
        fixed_test,
        regression,
        radius,
        weighted,
        spread,
        scores,
        intervals,
        replay,
        active,
        labelling,
        prototypes,
        boosting,
        lazy,
        values,
        probes,
        peers,
        search,
        scale,
        memory,
        startup,
        growth,
    )
}
RESULTS = Path(__file__).with_name("RESULTS.md")


def read_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "--only",
        nargs="+",
        choices=TOPICS,
        metavar="TOPIC",
        help=f"some of: {', '.join(TOPICS)}; writes nothing without --output",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="where to write the page (default: benchmarks/RESULTS.md)",
    )
    place.add_argument("--no-write", action="store_true", help="print only")  # fmt: skip
    return parser.parse_args(arguments)


def run_topics(names: Sequence[str], measured: Measured) -> None:
    """Measure topic after topic; what is done is in `measured` at every moment."""
    start = perf_counter()
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        try:
            if name == "growth":
                for table in TOPICS[name]():
                    measured.tables.append(table)
            else:
                measured.results += TOPICS[name]()
        finally:
            measured.seconds = perf_counter() - start


def save(measured: Measured, output: Path | None, unfinished: str = "") -> None:
    """Print everything, and write the page if it has a place."""
    if measured.results:
        print_results(measured.results)
    for table in measured.tables:
        print_table(table)
    print(f"total: {measured.seconds:.0f} s")
    if output is not None:
        write_page(output, measured, unfinished=unfinished)
        print(f"written: {output.name}")


def main(arguments: Sequence[str] | None = None) -> int:
    chosen = read_arguments(arguments)
    names = chosen.only or list(TOPICS)
    output = chosen.output or (None if chosen.only or chosen.no_write else RESULTS)
    print_environment()
    measured = Measured()
    try:
        run_topics(names, measured)
    except BaseException as error:
        beside = output and output.with_name(f"{output.stem}.incomplete{output.suffix}")
        save(measured, beside, f"the run ended early with {type(error).__name__}")
        if isinstance(error, KeyboardInterrupt):
            return 130
        raise
    save(measured, output, f"only {', '.join(chosen.only)}" if chosen.only else "")
    return 0


if __name__ == "__main__":
    sys.exit(main())

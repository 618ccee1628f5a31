"""Start: ``import allsplits``, and the first call on a fresh installation, compilation included.

A fresh installation is what `pip install .` makes, in an empty folder: a wheel is built and
installed, once with compiled kernels, as is usual, and once without (`ALLSPLITS_COMPILE=0`). What
it depends on is what runs this benchmark; kernels are compiled with the newest numba, so that must
be it. Every call is the first: its cache of compiled code is empty, and it includes its imports.
Goals are for the clock on the wall. The processor's own time stands beside it: on a machine that
does other things as well it says what an idle one would take (nearly all of this is one thread).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks._timing import Result, print_results

CLOCKS = """
import json, time
clocks = lambda: (time.perf_counter(), time.process_time())
"""

IMPORT = f"""{CLOCKS}
start = clocks()
{{statement}}
print(json.dumps([b - a for a, b in zip(start, clocks())]))
"""

FIRST_CALL = f"""{CLOCKS}
start = clocks()
import allsplits
from sklearn.datasets import load_digits
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier
X, y = load_digits(return_X_y=True)
{{call}}
print(json.dumps([*(b - a for a, b in zip(start, clocks())), allsplits.__file__]))
"""

CLI_CALL = """
import os, sys
from sklearn.datasets import load_iris
file = os.environ["NUMBA_CACHE_DIR"] + ".csv"
load_iris(as_frame=True).frame.to_csv(file, index=False)
sys.argv = ["allsplits", "evaluate", file, "--target", "target"]
sys.stdout = sys.stderr
from allsplits.cli import main
try:
    main()
except SystemExit as end:
    assert not end.code, end.code
sys.stdout = sys.__stdout__
"""

CALLS = {
    "evaluate": "allsplits.evaluate(KNeighborsClassifier(5), X, y)",
    "evaluate, cv=KFold(5)": "allsplits.evaluate(KNeighborsClassifier(5), X, y, cv=KFold(5))",
    "validation_curve": "allsplits.validation_curve(KNeighborsClassifier(), X, y)",
    "KNeighborsClassifierCV.fit": "allsplits.KNeighborsClassifierCV().fit(X, y)",
    "UNNClassifier.fit": "allsplits.UNNClassifier().fit(X, y)",
    "allsplits evaluate iris.csv": CLI_CALL,
    "learning_curve": "allsplits.learning_curve(KNeighborsClassifier(1), X, y)",
}


def run(program: str, **environment: str):
    """What a program prints as JSON, in a process of its own."""
    finished = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    return json.loads(finished.stdout)


def install(folder: Path, *, compiled: bool) -> None:
    """What pip makes of this source, in the folder."""
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run(
        [*pip, "--no-deps", "--target", str(folder), str(Path(__file__).parents[1])],
        check=True,
        env={**os.environ, "ALLSPLITS_COMPILE": str(int(compiled))},
    )
    if compiled != (folder / "allsplits" / "_compiled").exists():
        raise RuntimeError(f"the installation with compiled={compiled} is not what it should be")


def first_call(call: str, site: Path) -> tuple[float, float]:
    """Wall and processor seconds of one call in an installation whose cache is empty."""
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder, "numba"))
        program = FIRST_CALL.format(call=call)
        wall, processor, file = run(program, PYTHONPATH=str(site), NUMBA_CACHE_DIR=cache)
        if not Path(file).is_relative_to(site):
            raise RuntimeError(f"the installation in {site} was not the one imported: {file}")
        return wall, processor


def measure_import() -> list[Result]:
    # Public names load on first use, so the package alone says little of what a user waits for.
    statements = (
        "import allsplits",
        "from allsplits import evaluate",
        "from sklearn.neighbors import KNeighborsClassifier",
    )
    programs = [IMPORT.format(statement=statement) for statement in statements]
    # Once before, so that all files are in the page cache and byte-compiled.
    for program in programs:
        run(program)
    turns = [[run(program) for program in programs] for _ in range(5)]
    package, function, peer = (
        [min(clock) for clock in zip(*times, strict=True)] for times in zip(*turns, strict=True)
    )
    return [
        Result("import allsplits, warm", package[0], None, 1.0),
        Result("from allsplits import evaluate, warm", function[0]),
        Result("from allsplits import evaluate, warm: processor time", function[1]),
        Result("from allsplits import evaluate / scikit-learn's neighbors", function[0], peer[0]),
    ]


def measure_first_calls(*, compiled: bool) -> list[Result]:
    results = []
    goal = 5.0 if compiled else None
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder).resolve()
        install(site, compiled=compiled)
        for name, call in CALLS.items():
            turns = [first_call(call, site) for _ in range(2)]
            wall, processor = (min(times) for times in zip(*turns, strict=True))
            kind = "a fresh installation" if compiled else "one without compiled kernels"
            what = f"first {name} on {kind}"
            results += [
                Result(what, wall, None, goal),
                Result(f"{what}: processor time", processor),
            ]
    return results


def measure() -> list[Result]:
    first_calls = (measure_first_calls(compiled=compiled) for compiled in (True, False))
    return measure_import() + [result for results in first_calls for result in results]


if __name__ == "__main__":
    print_results(measure())

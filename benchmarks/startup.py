"""Start: ``import allsplits``, and the first call on a fresh installation, compilation included.

The fresh installation is a copy of the package without caches, and an empty folder for numba's; its
first calls include their imports.
Goals are for the clock on the wall. The processor's own time stands beside it: on a machine that
does other things as well it says what an idle one would take (nearly all of this is one thread).
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import allsplits
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
table = load_iris(as_frame=True).frame
table.to_csv(os.environ["NUMBA_CACHE_DIR"] + ".csv", index=False)
sys.argv, sys.stdout = ["allsplits", "evaluate", os.environ["NUMBA_CACHE_DIR"] + ".csv"], sys.stderr
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


def first_call(call: str) -> tuple[float, float]:
    """Wall and processor seconds of one call in a copy of the package that has never run."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(allsplits.__file__).parent
        no_caches = shutil.ignore_patterns("__pycache__")
        copy = shutil.copytree(source, Path(folder, "site", "allsplits"), ignore=no_caches)
        wall, processor, file = run(
            FIRST_CALL.format(call=call),
            PYTHONPATH=str(copy.parent),
            NUMBA_CACHE_DIR=str(Path(folder, "numba")),
        )
        if not Path(file).is_relative_to(copy):
            raise RuntimeError(f"the copy in {copy} was not the one imported: {file}")
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


def measure_first_calls() -> list[Result]:
    results = []
    for name, call in CALLS.items():
        turns = [first_call(call) for _ in range(2)]
        wall, processor = (min(times) for times in zip(*turns, strict=True))
        what = f"first {name} on a fresh installation"
        results += [Result(what, wall, None, 5.0), Result(f"{what}: processor time", processor)]
    return results


def measure() -> list[Result]:
    return measure_import() + measure_first_calls()


if __name__ == "__main__":
    print_results(measure())

"""The usual first calls, made when a wheel is built, so that their kernels come with it compiled.

    python compiling/first_calls.py FOLDER

writes the compiled code into the folder. Two processes share the calls. Which kernels a call needs,
and for which types, depends on the data (ties, two classes or more, their number), so each is made
with several; values do not matter. A call that is missing here is compiled by its user's first.
"""

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from sklearn.datasets import load_iris
from sklearn.model_selection import KFold, LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

# This source, whatever is installed: where it is installed itself (editable), pip hides its folder.
sys.path.insert(0, str(Path(__file__).parents[1] / "src"))

import allsplits
from allsplits._kernel_cache import ship_kernels
from allsplits._kernel_files import shipped_target

if TYPE_CHECKING:
    from allsplits import Evaluation

#: Rows, features and classes of samples without ties, and of samples on a grid.
_UNTIED = ((300, 8, 2), (1100, 16, 7), (4000, 10, 3))
_TIED = ((150, 3, 3), (600, 4, 10), (300, 3, 2))

Data = tuple[np.ndarray, np.ndarray]


def samples() -> Iterator[Data]:
    """Data of all kinds, the smallest first."""
    random = np.random.default_rng(0)
    yield load_iris(return_X_y=True)
    for n, features, classes in _TIED:
        yield random.integers(0, 17, (n, features)).astype(float), np.arange(n) % classes
    for n, features, classes in _UNTIED:
        yield random.normal(size=(n, features)), np.arange(n) % classes


def look_at(result: "Evaluation") -> None:
    """What the command says of it, and what is counted when somebody looks at it."""
    # not above: only kernels that are imported after that was asked for are shipped
    from allsplits.model_selection._spread_words import spread_in_words

    result.interval()
    spread_in_words(result)
    result.confusion  # noqa: B018


def stratified(X: np.ndarray, y: np.ndarray) -> None:
    """What classifiers get where no cv is named: every class keeps its share."""
    curve = allsplits.validation_curve(KNeighborsClassifier(), X, y)
    results = [allsplits.evaluate(KNeighborsClassifier(k), X, y) for k in (5, 1, curve.best)]
    for result in results:
        look_at(result)
    allsplits.compare(*results[:2])
    allsplits.KNeighborsClassifierCV().fit(X, y).predict(X[:10])
    # the command tells what its choice of k flatters by
    allsplits.KNeighborsClassifierCV(range(1, 31)).nested_score(X, y, n_splits=2)


def by_size(X: np.ndarray, y: np.ndarray) -> None:
    """Training sets that have a size only, and what has no classes to stratify."""
    for cv in (KFold(5), LeaveOneOut()):
        curve = allsplits.validation_curve(KNeighborsClassifier(), X, y, cv=cv)
        for k in (5, 1, curve.best):
            look_at(allsplits.evaluate(KNeighborsClassifier(k), X, y, cv=cv))
    allsplits.learning_curve(KNeighborsClassifier(1), X, y)
    allsplits.KNeighborsRegressorCV().fit(X, X[:, 0]).predict(X[:10])
    allsplits.UNNClassifier().fit(X, y).predict(X[:10])
    allsplits.replay(KNeighborsClassifier(), X, y, cv=KFold(5), n_splits=5, error_score=0.0)
    allsplits.replay(NearestCentroid(), X, y, cv=allsplits.ClassCounts(2), n_splits=5)


#: What each of the processes calls: they take about as long, and have little in common.
SHARES = (stratified, by_size)


def make_calls(share: int, folder: Path) -> None:
    """Make the calls; what is compiled for them is written."""
    ship_kernels(folder)
    warnings.simplefilter("ignore")
    for X, y in samples():
        SHARES[share](X, y)


def main(folder: Path) -> None:
    """Start the processes and wait for them; raise if one of them fails."""
    # checks or a debugger that somebody wants for their own kernels are not for all
    others = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    environment = {**others, **shipped_target()}
    command = [sys.executable, __file__, str(folder)]
    processes = [
        subprocess.Popen([*command, str(share)], env=environment) for share in range(len(SHARES))
    ]
    codes = [process.wait() for process in processes]
    if any(codes):
        raise SystemExit("the first calls failed")


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(Path(sys.argv[1]))
    else:
        make_calls(int(sys.argv[2]), Path(sys.argv[1]))

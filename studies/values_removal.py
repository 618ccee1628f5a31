"""Finding wrong labels and leaving samples out: values, suspects and peers, with their times.

One label in ten is made wrong, to any other class. Every method ranks the training samples, once;
then the worst leave, and fresh test samples with right labels are scored by 5 neighbours.

``python studies/values_removal.py`` writes values_removal.md. The data are read from the folder
ALLSPLITS_DATA; cleanlab must be installed, and ``PYDVL_PYTHON`` may name a Python that has pyDVL
0.9.2 (it needs NumPy 1.26).
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from _report import environment, load, markdown_table, write_page
from cleanlab.rank import get_label_quality_scores
from sklearn.metrics import average_precision_score
from sklearn.model_selection import ShuffleSplit, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from suspects import arrays, table

from allsplits import find_label_errors, sample_values

KNN = KNeighborsClassifier(5)
RATE, SHARES = 0.1, (0, 0.05, 0.1, 0.2, 0.4)
TRAIN, CHECK, TEST = 3000, 500, 1500
SOURCES = {
    "letters": lambda: table("letter_recognition"),
    "MNIST": lambda: arrays("mnist_70000", test_only=True),
    "spambase": lambda: table("spambase", scaled=True),
}
PYDVL_PROGRAM = """
import sys, time
import numpy as np
from pydvl.utils import Dataset, Utility
from pydvl.value.shapley.knn import knn_shapley
from sklearn.neighbors import KNeighborsClassifier
held = np.load(sys.argv[1])
data = Dataset(held["X"], held["y"], held["X_test"], held["y_test"])
start = time.process_time()
values = knn_shapley(Utility(KNeighborsClassifier(5), data), progress=False).values
np.savez(sys.argv[2], values=values, seconds=time.process_time() - start)
"""


class Problem:
    """Training samples with wrong labels, some to check with, others to test with."""

    def __init__(self, name: str) -> None:
        X, y = SOURCES[name]()
        codes = np.unique(y, return_inverse=True)[1]
        rng = np.random.default_rng(0)
        rows = rng.permutation(len(codes))
        n_test = min(TEST, len(codes) - TRAIN - CHECK)
        train, check, test = np.split(rows[: TRAIN + CHECK + n_test], [TRAIN, TRAIN + CHECK])
        self.X, self.y = X[train], codes[train].copy()
        self.wrong = np.zeros(TRAIN, dtype=bool)
        self.wrong[rng.choice(TRAIN, round(RATE * TRAIN), replace=False)] = True
        n_classes = codes.max() + 1
        moved = rng.integers(1, n_classes, self.wrong.sum())
        self.y[self.wrong] = (self.y[self.wrong] + moved) % n_classes
        self.check, self.test = (X[check], codes[check]), (X[test], codes[test])

    def score(self, gone: np.ndarray) -> float:
        """Accuracy of the test samples without some of the training samples."""
        keep = np.setdiff1d(np.arange(TRAIN), gone)
        return KNN.fit(self.X[keep], self.y[keep]).score(*self.test)


def values(method: str, checked: bool = False) -> Callable[[Problem], np.ndarray]:
    def ranking(data: Problem) -> np.ndarray:
        options = {"cv": ShuffleSplit(test_size=0.2)} if method == "influence" else {}
        if checked:
            options |= {"X_test": data.check[0], "y_test": data.check[1]}
        return sample_values(KNN, data.X, data.y, method=method, n_jobs=1, **options).values

    return ranking


def doubted(data: Problem) -> np.ndarray:
    return -find_label_errors(data.X, data.y, n_jobs=1).doubt


def quality(data: Problem) -> np.ndarray:
    shares = cross_val_predict(
        KNeighborsClassifier(10), data.X, data.y, cv=5, method="predict_proba"
    )
    return get_label_quality_scores(data.y, shares, method="normalized_margin")


METHODS = {
    "`find_label_errors`": doubted,
    "influence, 20 % held out": values("influence"),
    "Banzhaf": values("banzhaf"),
    f"Banzhaf for {CHECK} clean samples": values("banzhaf", checked=True),
    "soft-label KNN-Shapley": values("soft_shapley"),
    f"soft-label KNN-Shapley for {CHECK} clean samples": values("soft_shapley", checked=True),
    "cleanlab, 10 neighbours in 5 folds, normalized margin": quality,
}
PYDVL = f"pyDVL 0.9.2 `knn_shapley` for {CHECK} clean samples"


def pydvl(data: Problem) -> tuple[np.ndarray, float] | None:
    """Values by pyDVL and the seconds they took, from its own environment."""
    python = os.environ.get("PYDVL_PYTHON")
    if python is None:
        return None
    with tempfile.TemporaryDirectory() as place:
        given, made = Path(place) / "given.npz", Path(place) / "made.npz"
        X_test, y_test = data.check
        np.savez(given, X=data.X, y=data.y, X_test=X_test, y_test=y_test)
        command = [python, "-W", "ignore", "-c", PYDVL_PROGRAM, str(given), str(made)]
        subprocess.run(command, check=True)
        with np.load(made) as held:
            return held["values"], float(held["seconds"])


def row(data: Problem, label: str, found: np.ndarray, seconds: float) -> list[str]:
    order = np.argsort(found, kind="stable")
    worst = [data.score(order[: int(share * TRAIN)]) for share in SHARES]
    best = data.score(order[::-1][: int(0.2 * TRAIN)])
    print(label, seconds, worst, flush=True)
    return [
        label, f"{seconds:.2f} s", f"{average_precision_score(data.wrong, -found):.3f}",
        *(f"{100 * score:.1f}" for score in worst[1:]), f"{100 * best:.1f}",
    ]  # fmt: skip


def section(name: str) -> str:
    data = Problem(name)
    rows = []
    for label, ranking in METHODS.items():
        ranking(data)  # compiled before it is timed
        start = time.process_time()
        found = ranking(data)
        rows.append(row(data, label, found, time.process_time() - start))
    peer = pydvl(data)
    if peer is not None:
        rows.append(row(data, PYDVL, *peer))
    leave = [f"worst {100 * share:.0f} % leave" for share in SHARES[1:]]
    made = markdown_table(
        ["ranked by", "time", "average precision", *leave, "best 20 % leave"], rows
    )
    now, clean = data.score(np.empty(0, dtype=int)), data.score(np.flatnonzero(data.wrong))
    return f"""## {name}
{TRAIN:,} training samples, {data.X.shape[1]} features, {len(data.test[1]):,} test samples. Accuracy
{100 * now:.1f} % as it is, {100 * clean:.1f} % when exactly the wrong labels leave.

{made}
"""


def page() -> str:
    sections = "\n".join(section(name) for name in SOURCES)
    return f"""# Leaving samples out

`python studies/values_removal.py` · {environment()}

One label in ten is wrong. Each method ranks the training samples once, the worst leave, and test
samples with right labels are scored by 5 neighbours (accuracy in %). Methods with "clean samples"
have {CHECK} samples with right labels that the others do without; no test sample is seen by any.
Times are processor seconds of one thread, the search included, {load()}.

{sections}
## What it says
- Wrong labels are found best by `find_label_errors`, in all three, in less time than most.
- Five neighbours forgive one wrong label in ten on letters and MNIST: even leaving out exactly the
  wrong ones changes nothing there, and leaving out more costs, most of all by rankings that take
  hard samples for wrong ones. Finding wrong labels and improving a vote are two things.
- On spambase wrong labels cost 1.7 points. Leaving out the worst 5 % by Banzhaf's value brings back
  nearly all of that, and 20 % more than that; suspects bring it back when 20 % leave.
- Values of the vote itself (influence, Banzhaf) say what a sample does to answers. A wrong label
  among many right ones does nothing, so they find few of them; their worst can leave at little
  cost, and their best carry the answers: without these the score falls by 4 to 12 points.
"""


if __name__ == "__main__":
    write_page("values_removal", page())

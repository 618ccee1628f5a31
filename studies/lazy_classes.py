"""Does a local choice pay for classes? Prototypes of a lazy classifier beside one exact k.

Class labels become indicator columns, and local models predict them: constant ones (a local vote),
each class with its own k or all classes with the same, and linear ones. The class with the largest
prediction wins. Beside them `KNeighborsClassifierCV`, one k for everybody. Random halves of ten
data sets, the same for all.

``python studies/lazy_classes.py`` writes lazy_classes.md.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from _report import environment, markdown_table, write_page
from sklearn.model_selection import train_test_split
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

from allsplits import KNeighborsClassifierCV, LazyRegressor, local_constant_path

DATA = (
    "balance_scale", "breast_cancer_wisconsin_683", "glass", "ionosphere", "iris", "liver_bupa",
    "pima_diabetes", "ripley_synth_train", "wdbc", "wine",
)  # fmt: skip
REPEATS = 20
K_MIN, K_MAX, COMBINED = 3, 30, 30
ONE_K = "one exact k"


def one_k(X, codes, queries):
    with warnings.catch_warnings():
        # The smallest class of glass has fewer than five samples in a half.
        warnings.filterwarnings("ignore", message="The least populated class")
        return KNeighborsClassifierCV(n_jobs=1).fit(X, codes).predict(queries)


def shared_vote(X, codes, queries):
    """Means of indicators; one choice for all classes, by the sum of their errors."""
    near = NearestNeighbors(n_neighbors=K_MAX).fit(X).kneighbors(queries, return_distance=False)
    paths = [local_constant_path(column[near], n_jobs=1) for column in indicators(codes).T]
    shares = np.array([share[:, K_MIN - 1 :] for share, _ in paths])
    errors = sum(error[:, K_MIN - 1 :] for _, error in paths)
    best = np.argsort(errors, axis=1, kind="stable")[:, :COMBINED]
    weights = 1 / np.maximum(np.take_along_axis(errors, best, axis=1), 1e-12)
    combined = (np.take_along_axis(shares, best[None], axis=2) * weights).sum(axis=2)
    return combined.argmax(axis=0)


def own_models(degrees, combine) -> Callable:
    def predict(X, codes, queries):
        model = LazyRegressor(degrees, combine=combine, n_jobs=1).fit(X, indicators(codes))
        return model.predict(queries).argmax(axis=1)

    return predict


PROTOTYPES: dict[str, Callable] = {
    ONE_K: one_k,
    "local vote, one choice": shared_vote,
    "constant, each class": own_models(0, COMBINED),
    "constant and linear, each class": own_models((0, 1), COMBINED),
}


def indicators(codes: np.ndarray) -> np.ndarray:
    return (codes[:, None] == np.arange(codes.max() + 1)).astype(float)


def main() -> None:
    folder = os.environ.get("ALLSPLITS_DATA")
    if not folder:
        sys.exit("the data are not here: ALLSPLITS_DATA is not set")
    write_page("lazy_classes", page({name: measure(Path(folder), name) for name in DATA}))


def measure(folder: Path, name: str) -> np.ndarray:
    """Errors, array (half, prototype)."""
    table = pd.read_csv(folder / f"{name}.csv")
    codes = np.unique(table.pop("label"), return_inverse=True)[1]
    X = table.to_numpy(dtype=float)
    found = np.empty((REPEATS, len(PROTOTYPES)))
    for repeat in range(REPEATS):
        train, test = train_test_split(
            np.arange(len(X)), train_size=0.5, random_state=repeat, stratify=codes
        )
        scaler = StandardScaler().fit(X[train])
        points, queries = scaler.transform(X[train]), scaler.transform(X[test])
        for i, predict in enumerate(PROTOTYPES.values()):
            found[repeat, i] = np.mean(predict(points, codes[train], queries) != codes[test])
    print(f"{name} done", flush=True)
    return found


def verdict(errors: np.ndarray, i: int) -> str:
    """Ahead or behind: by more than two standard errors of the paired differences."""
    difference = errors[:, i] - errors[:, 0]
    limit = 2 * difference.std(ddof=1) / np.sqrt(REPEATS)
    return "+" if difference.mean() < -limit else "−" if difference.mean() > limit else "="


def named(errors: dict[str, np.ndarray], mark: str) -> str:
    """Data sets on which linear models have this verdict."""
    last = len(PROTOTYPES) - 1
    return ", ".join(name for name, found in errors.items() if verdict(found, last) == mark)


def page(errors: dict[str, np.ndarray]) -> str:
    names = list(PROTOTYPES)
    rows = []
    for name, found in errors.items():
        cells = [f"{found[:, 0].mean():.1%}"]
        cells += [f"{found[:, i].mean():.1%} {verdict(found, i)}" for i in range(1, len(names))]
        rows.append((name, *cells))
    tallies = "\n".join(
        f"- *{names[i]}*: ahead on {marks.count('+')}, level on {marks.count('=')}, behind on "
        f"{marks.count('−')}; mean error {np.mean([f[:, i].mean() for f in errors.values()]):.2%} "
        f"beside {np.mean([f[:, 0].mean() for f in errors.values()]):.2%}."
        for i in range(1, len(names))
        for marks in ["".join(verdict(found, i) for found in errors.values())]
    )
    return f"""# A lazy classifier?

`python studies/lazy_classes.py` · {environment()}

## Setting
{REPEATS} random stratified halves of {len(DATA)} data sets, the same for everybody, features
standardised on the training half. *{ONE_K}* is `KNeighborsClassifierCV` at its defaults. The
prototypes predict indicator columns of the classes, and the largest prediction wins: constant
models of {K_MIN} to {K_MAX} neighbours with one choice for all classes, the same with a choice
for each class, and constant and linear models; {COMBINED} are combined, or all.

## Share of wrong classes
A + is ahead of {ONE_K} by more than two standard errors of the paired differences over the
halves, − behind, = neither. (Halves share samples, so that the true errors are somewhat larger.)

{markdown_table(["data", *names], rows)}

{tallies}

## What it says
- *A local vote does not pay.* Choosing k anew for every query, by the errors of a few neighbours,
  is no better than one k that all samples have chosen together.
- *Slopes pay on some data and cost on others.* Linear models of the indicators are ahead on
  {named(errors, "+")}, and behind on {named(errors, "−")}.
  `LazyRegressor` on indicator columns does it in one line where it is wanted:
  ``LazyRegressor().fit(X, indicators).predict(queries).argmax(axis=1)``.
- There is no `LazyClassifier` in the library: it would be ahead on fewer than half of the data.
"""


if __name__ == "__main__":
    main()

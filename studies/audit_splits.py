"""Are the splits that everybody uses lucky ones? `audit_split` on published splits.

The 38 small sets of the UCR time series archive come with a training and a test set; so do USPS and
pendigits, and letter-recognition by custom (the first 16,000 rows train). One nearest neighbour by
Euclidean distance. If a split was drawn at random, about one in twenty is lucky and one in twenty
unlucky at the 5 % of `Audit.verdict`.

``python studies/audit_splits.py`` writes audit_splits.md. It needs ALLSPLITS_DATA, the folder of
ucr_38.npz, usps_16x16.npz, pendigits.csv and letter_recognition.csv.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from _report import environment, markdown_table, write_page
from scipy.stats import binom
from sklearn.neighbors import KNeighborsClassifier

from allsplits import audit_split
from allsplits.model_selection import Audit

RUNS = 2000
#: Samples, classes, which of them test.
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def folder() -> Path:
    return Path(os.environ["ALLSPLITS_DATA"])


def archive() -> Iterator[tuple[str, Data]]:
    """The sets of the archive, one after the other."""
    file = np.load(folder() / "ucr_38.npz")
    for name in sorted({key.rsplit("_", 1)[0] for key in file.files if key.endswith("_X")}):
        X, y = file[f"{name}_X"].astype(float), file[f"{name}_y"]
        yield name, (X, y, np.arange(len(y)) >= int(file[f"{name}_n_train"]))


def others() -> Iterator[tuple[str, Data]]:
    """Larger sets with a split that is used by custom."""
    usps = np.load(folder() / "usps_16x16.npz")
    yield "USPS", (usps["X"].reshape(len(usps["y"]), -1).astype(float), usps["y"], usps["is_test"])
    for name, file in (("pendigits", "pendigits.csv"), ("letters", "letter_recognition.csv")):
        frame = pl.read_csv(folder() / file)
        X = frame.drop("label", "is_test", strict=False).to_numpy().astype(float)
        custom = np.arange(len(frame)) >= 16_000
        test = frame["is_test"].to_numpy() == 1 if "is_test" in frame.columns else custom
        yield name, (X, frame["label"].to_numpy(), test)


def audited(data: Data) -> Audit:
    X, y, test = data
    return audit_split(KNeighborsClassifier(1), X, y, ~test, test, n_runs=RUNS, n_jobs=1)


def row(name: str, found: Audit) -> list[str]:
    kind = "as many of each class" if found.law.kind == "class counts" else "as many in all"
    return [
        name, f"{found.n_train} + {found.n_test}", f"{found.score:.4f}", f"{found.mean:.4f}",
        f"{found.split_std:.4f}{' (sampled)' if found.spread.sampled else ''}", f"{found.z:+.1f}",
        f"{found.luck:.4f} ± {found.luck_error:.4f}", f"{found.test_mean - found.mean:+.4f}",
        found.verdict, kind,
    ]  # fmt: skip


def tail(count: int, n: int) -> str:
    """How often chance alone would give so many of n."""
    return f"{binom.sf(count - 1, n, 0.05):.2g}"


def page(archived: dict[str, Audit], custom: dict[str, Audit], seconds: float) -> str:
    header = [
        "", "train + test", "this split", "exact mean", "std of splits", "z", "luck",
        "due to the test samples", "verdict", "splits like it have",
    ]  # fmt: skip
    found, n = list(archived.values()), len(archived)
    lucky, unlucky = (
        [name for name, one in archived.items() if one.verdict == word]
        for word in ("lucky", "unlucky")
    )
    far = [abs(one.score - one.mean) for one in found]
    z = np.array([one.z for one in found])
    stratified = sum(one.law.kind == "class counts" for one in found)
    shifted = max(custom, key=lambda name: abs(custom[name].z))
    most = custom[shifted]
    never = [name for name, one in archived.items() if one.luck == 0]
    return f"""# Are the splits that everybody uses lucky ones?

`python studies/audit_splits.py` · {environment()} · {seconds:.0f} seconds on one core

One nearest neighbour, Euclidean distance; {RUNS:,} drawn splits for each luck. A split is lucky
(unlucky) if fewer than 5 % of the splits like it score as high (as low).

## What we find
- Of the {n} splits of the archive, lucky: {len(lucky)} ({", ".join(lucky) or "none"});
  unlucky: {len(unlucky)} ({", ".join(unlucky) or "none"}).
  Of splits drawn at random about {0.05 * n:.1f} would be of each kind; as many or more come by
  chance with probability {tail(len(lucky), n)} and {tail(len(unlucky), n)}. On {len(never)} sets
  ({", ".join(never)}) none of {RUNS:,} drawn splits scores as low: these were hardly drawn at
  random.
- A split is off its own average by {100 * np.mean(far):.1f} points of accuracy on average, at most
  by {100 * max(far):.1f}. The z have mean {z.mean():+.2f} and standard deviation
  {z.std(ddof=1):.2f}; random splits would have about 0 and 1.
- {stratified} of the {n} splits are stratified, as far as their class counts tell.
- Beside them, {", ".join(f"{name} (z {one.z:+.1f})" for name, one in custom.items())}. A z such as
  that of {shifted} is not luck. Of its {most.score - most.mean:+.4f} only
  {most.test_mean - most.mean:+.4f} is due to its test samples, which other training sets serve
  well: this training set lacks what is like them.

## The archive
{markdown_table(header, [row(name, one) for name, one in archived.items()])}

## Splits by custom
{markdown_table(header, [row(name, one) for name, one in custom.items()])}
"""


def main() -> None:
    start = time.process_time()
    archived = {name: audited(data) for name, data in archive()}
    custom = {name: audited(data) for name, data in others()}
    write_page("audit_splits", page(archived, custom, time.process_time() - start))


if __name__ == "__main__":
    main()

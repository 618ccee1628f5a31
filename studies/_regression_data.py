"""Nine regression data sets, and random halves of them, for the studies of local models.

Five are read from the folder ALLSPLITS_DATA, diabetes comes with scikit-learn, and so do the three
made ones, smooth functions with little noise. Rows with empty cells are left out (6 of auto-mpg),
names are dropped, abalone's sex becomes three columns, and of cpu only the six measured features
are used.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.datasets import load_diabetes, make_friedman1, make_friedman2, make_friedman3
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

__all__ = ["CHOSEN_ON", "REPORTED_ON", "Half", "halves", "read", "shapes"]

#: What a default is chosen on, and what it is reported on.
CHOSEN_ON = ("boston_housing", "concrete", "abalone", "friedman1")
REPORTED_ON = ("auto_mpg", "cpu_performance", "diabetes", "friedman2", "friedman3")

N_MADE = 1000
_MADE = {
    "friedman1": lambda: make_friedman1(N_MADE, n_features=5, noise=0.5, random_state=0),
    "friedman2": lambda: make_friedman2(N_MADE, noise=50, random_state=0),
    "friedman3": lambda: make_friedman3(N_MADE, noise=0.1, random_state=0),
}

_DROPPED = {"auto_mpg": ["name"], "cpu_performance": [
    "VendorName", "Model", "erp_linear_regression_estimate"
]}  # fmt: skip


class Half(NamedTuple):
    """One half to train on, the other to test on, features standardised on the first."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Features and targets."""
    if name in _MADE:
        return _MADE[name]()
    if name == "diabetes":
        return load_diabetes(return_X_y=True, scaled=False)
    folder = os.environ.get("ALLSPLITS_DATA")
    if not folder:
        sys.exit("the data are not here: ALLSPLITS_DATA is not set")
    table = pd.read_csv(Path(folder) / f"{name}.csv").drop(columns=_DROPPED.get(name, [])).dropna()
    y = table.pop("target").to_numpy(dtype=float)
    return pd.get_dummies(table).to_numpy(dtype=float), y


def shapes() -> str:
    """Names and sizes of all of them, for the pages."""
    return ", ".join(
        "{} {} × {}".format(name, *read(name)[0].shape) for name in (*CHOSEN_ON, *REPORTED_ON)
    )


def halves(name: str, repeats: int) -> Iterator[Half]:
    """Random halves, the same ones for everybody who asks."""
    X, y = read(name)
    for repeat in range(repeats):
        X_train, X_test, y_train, y_test = train_test_split(
            X, y, train_size=0.5, random_state=repeat
        )
        scaler = StandardScaler().fit(X_train)
        yield Half(scaler.transform(X_train), y_train, scaler.transform(X_test), y_test)

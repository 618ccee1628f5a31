"""Draw the picture of docs/lazy.md: the local models of one query, and the choice among them."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1

from allsplits import LazyRegressor


def main(path: Path) -> None:
    X, y = make_friedman1(1200, n_features=5, noise=0.5, random_state=0)
    model = LazyRegressor(degrees=(0, 1, 2)).fit(X[:1000], y[:1000])
    figure, ax = plt.subplots(figsize=(7, 3.6), constrained_layout=True)
    model.local_paths(X[1000]).plot(ax)
    figure.savefig(path, dpi=90)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/lazy.png"))

"""Draw the picture of the README: accuracy against k, and the learning curve, on digits."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import RepeatedStratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from allsplits import learning_curve, validation_curve

KS = range(1, 21)


def main(path: Path) -> None:
    X, y = load_digits(return_X_y=True)
    exact = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS)
    sizes = learning_curve(KNeighborsClassifier(1), X, y)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), constrained_layout=True)
    for k in KS:
        sampled = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=k)
        scores = cross_val_score(KNeighborsClassifier(k), X, y, cv=sampled)
        per_repeat = scores.reshape(10, 5).mean(axis=1)
        label = "ten random 5-fold runs" if k == 1 else None
        left.plot([k] * 10, per_repeat, ".", color="0.65", markersize=4, label=label, zorder=0)
    exact.plot(left)
    left.set_title("digits: exact over all stratified 5-fold splits")
    sizes.plot(right)
    right.set_title("1-NN: every training size, exact")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/digits.png"))

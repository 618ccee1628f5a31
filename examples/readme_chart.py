"""Print the chart of the README: every k over all splits, and where single runs land.

It is text because pictures of a README are not shown where packages are published, unless they have
an address of their own. A test holds the README to what this prints.
"""

import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import replay, validation_curve

KS = [1, 2, 3, 4, 5, 7, 9, 11]
RUNS, FOLDS = 200, 5
LEFT, WIDTH = 1754, 30  # images that are right: each has two characters


def chart() -> str:
    """A line for each k: shades for the runs that were drawn, a dot for the exact value."""
    X, y = load_digits(return_X_y=True)
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS, cv=FOLDS)
    axis = f"{LEFT / len(X):.3f}{'accuracy'.center(2 * WIDTH - 10)}{(LEFT + WIDTH) / len(X):.3f}"
    lines = [f" k   exact     {axis}"]
    for k, score in zip(KS, curve.scores, strict=True):
        knn = KNeighborsClassifier(int(k))
        drawn = replay(knn, X, y, cv=FOLDS, n_splits=FOLDS * RUNS, random_state=0, control=False)
        right = np.rint(drawn.run_scores * len(X)).astype(int) - LEFT
        counts = np.bincount(right, minlength=WIDTH)
        line = [2 * " ░▒▓"[-(-3 * count // counts.max())] for count in counts]
        line = list("".join(line))
        line[round(2 * (score * len(X) - LEFT))] = "●"
        lines.append(f"{k:2}   {score:.5f}   {''.join(line).rstrip()}")
    return "\n".join(lines)


if __name__ == "__main__":
    print(chart())

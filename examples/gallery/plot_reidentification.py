"""
All galleries instead of ten
============================

Re-identification draws a gallery with one image of each identity, some ten times, and averages.
``cmc_curve`` is the average over all galleries, for every rank at once. Digits play persons here,
and two cameras take turns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ClassCounts, cmc_curve, replay

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
curve = cmc_curve(X, y)
curve

# %%
# Single galleries, as a benchmark draws them, at rank 1:
knn = KNeighborsClassifier(1)
drawn = replay(knn, X, y, cv=ClassCounts(1), scoring="accuracy", n_splits=200, random_state=0)
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
curve.plot(ax)
ones = np.ones(len(drawn.run_scores))
ax.plot(ones, drawn.run_scores, ".", color="0.6", zorder=0, label="200 single galleries, rank 1")
ax.legend()

# %%
# A query must not meet its own identity from its own camera:
camera = np.arange(len(X)) % 2
cmc_curve(X, y, groups=camera, ranks=[1, 2, 5]).scores.round(4)

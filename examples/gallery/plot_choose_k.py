"""
Which k? All splits at once
===========================

A cross-validation draws folds, and each draw has its own favourite number of neighbours. The
average over *all* stratified 5-fold splits has a closed form, for every k from one neighbour
search.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import replay, validation_curve

X, y = load_digits(return_X_y=True)
curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=range(1, 16), cv=5)
curve

# %%
# What would single runs have shown? ``replay`` draws them, as often as one likes, and says that it
# does. Here are twenty runs of shuffled, stratified 5-fold for each k.
runs = {
    k: replay(KNeighborsClassifier(k), X, y, cv=5, n_splits=100, random_state=0, control=False)
    for k in curve.x
}
_, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for k, found in runs.items():
    label = "twenty runs of 5-fold" if k == 1 else None
    ax.plot([k] * len(found.run_scores), found.run_scores, ".", color="0.65", zorder=0, label=label)
curve.plot(ax)

# %%
# The line is exact: no seed can change it. How many of the twenty runs would have chosen another k?
import numpy as np

chosen = np.argmax([found.run_scores for found in runs.values()], axis=0) + 1
dict(zip(*np.unique(chosen, return_counts=True)))

"""
Which k? All splits at once
===========================

A cross-validation draws folds, and each draw has its own favourite number of neighbours. The
average over *all* stratified 5-fold splits has a closed form, for every k from one neighbour
search.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, replay, validation_curve

X, y = load_digits(return_X_y=True)
curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=range(1, 16), cv=5)
curve

# %%
# How many splits is that?
result = evaluate(KNeighborsClassifier(curve.best), X, y, cv=5)
result

# %%
# The images that are most often wrong, and what they are taken for:
for row in result.hardest(3):
    shares = result.prediction_proba[row]
    print(
        f"image {row}: a {y[row]}, right in {result.sample_scores[row]:.1%} of all splits, ", end=""
    )
    print(f"taken for a {result.classes[shares.argmax()]} in {shares.max():.1%}")

# %%
# What would single runs have shown? ``replay`` draws them, as often as one likes, and says that it
# does. Here are twenty runs of shuffled, stratified 5-fold for each k. The line is exact: no seed
# can change it.
runs = np.array(
    [
        replay(
            KNeighborsClassifier(k), X, y, cv=5, n_splits=100, random_state=0, control=False
        ).run_scores
        for k in curve.x
    ]
)
_, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
label = ["twenty single runs of 5-fold"] + [None] * 19
ax.plot(curve.x, runs, ".", color="0.65", zorder=0, label=label)
curve.plot(ax)

# %%
# Which k would each of the twenty runs have chosen?
{int(k): int((curve.x[runs.argmax(axis=0)] == k).sum()) for k in curve.x[np.unique(runs.argmax(0))]}

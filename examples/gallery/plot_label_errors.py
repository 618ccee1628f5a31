"""
Labels that look wrong
======================

Fifty digits are given a wrong label. ``find_label_errors`` ranks all labels by how far the samples
around them speak for another class, and says about how many are wrong.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from allsplits import find_label_errors

X, truth = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
wrong = rng.choice(len(X), 50, replace=False)
y = truth.copy()
y[wrong] = (y[wrong] + rng.integers(1, 10, 50)) % 10
found = find_label_errors(X, y)
found

# %%
# How many of the suspects are among the labels that were made wrong?
len(found.rows), len(set(found.rows) & set(wrong))

# %%
# The first suspects, each with its nearest neighbours and their labels:
rows = found.first(4)
_, axes = plt.subplots(4, 6, figsize=(6, 4.6), layout="constrained")
for line, row in zip(axes, rows, strict=True):
    for ax, shown in zip(line, [row, *found.neighbors(row)[:5]], strict=True):
        ax.imshow(X[shown].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"labelled {y[shown]}" if shown == row else f"{y[shown]}", fontsize=9)
        ax.set_axis_off()

# %%
# What would cleaning bring? The exact score without each suspect, and with its suggested label.
found.effects(4)[["sample", "removed", "relabelled"]].round(5)

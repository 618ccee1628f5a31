"""
600 episodes, or all of them
============================

5-way 1-shot accuracy is reported as the mean of some hundred random episodes. Here is what five
such reports of 600 episodes would have said, beside the value that they estimate.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Episodes, evaluate, replay

X, y = load_digits(return_X_y=True)
nearest = KNeighborsClassifier(1)
law = Episodes(n_way=5, k_shot=1)
exact = evaluate(nearest, X, y, cv=law)
exact

# %%
# ``replay`` draws episodes, and says so. 3,000 of them, in five reports:
drawn = replay(nearest, X, y, cv=law, scoring="accuracy", n_splits=3000, random_state=0)
reports = drawn.run_scores.reshape(5, 600)
_, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.errorbar(
    np.arange(1, 6),
    reports.mean(axis=1),
    1.96 * reports.std(axis=1, ddof=1) / np.sqrt(600),
    fmt="o",
    label="600 episodes, ± 1.96 standard errors",
)
ax.axhline(exact.score, color="black", label="all episodes")
ax.set(xlabel="report", ylabel="accuracy", xticks=range(1, 6))
ax.legend()

# %%
# How many episodes until the standard error is below 0.0005, so that the third digit stands?
int(np.ceil((drawn.run_scores.std(ddof=1) / 0.0005) ** 2))

"""
Every training size, every number of shots
==========================================

How much would more samples bring? A learning curve by resampling has an error at each of its few
sizes. For the nearest neighbour the average over all training sets of a size is known for *every*
size, from one sorting of the distances.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from allsplits import learning_curve

X, y = load_digits(return_X_y=True)
nearest = KNeighborsClassifier(1)
sizes = learning_curve(nearest, X, y)
sizes

# %%
# With ``stratify=True`` the horizontal axis counts samples of *each* class: shots.
shots = learning_curve(nearest, X, y, train_sizes=[1, 2, 3, 5, 8, 12, 20, 40, 80], stratify=True)
_, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
sizes.plot(left)
left.set_title("all training sets of one size")
shots.plot(right)
right.set_title("all training sets with n of each class")

# %%
# How many images until 95 % are right, on average?
int(sizes.x[(sizes.scores >= 0.95).argmax()])

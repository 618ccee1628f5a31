"""
Local models that validate themselves
=====================================

``LazyRegressor`` asks for each query anew how many neighbours to take, and whether their mean is
enough or there is a slope. Every local model is validated by leaving out each of its neighbours in
turn, exactly and without refitting.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_friedman1
from sklearn.metrics import root_mean_squared_error

from allsplits import KNeighborsRegressorCV, LazyRegressor

X, y = make_friedman1(1200, n_features=5, noise=0.5, random_state=0)
train, test = slice(0, 1000), slice(1000, None)
one_k = KNeighborsRegressorCV().fit(X[train], y[train])
local = LazyRegressor(degrees=(0, 1, 2)).fit(X[train], y[train])
[round(root_mean_squared_error(y[test], m.predict(X[test])), 3) for m in (one_k, local)]

# %%
# The models of one query: leave-one-out error against the number of neighbours, for each degree.
_, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
local.local_paths(X[1000]).plot(ax)

# %%
# Prediction intervals, calibrated by samples that are left out. How many of the test samples do
# they hold?
predictions, intervals = local.predict_interval(X[test], confidence=0.9)
float(((intervals[:, 0] <= y[test]) & (y[test] <= intervals[:, 1])).mean())

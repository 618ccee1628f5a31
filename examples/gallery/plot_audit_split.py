"""
Was this split lucky?
=====================

Somebody reports a score on one split of their own. Beside it stands the exact average over all
splits like it, how far single splits lie from that, and how rare such luck is.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import scale

from allsplits import audit_split

X, y = load_breast_cancer(return_X_y=True)
X = scale(X)
knn = KNeighborsClassifier(5)

# %%
# A search for a "good" random state: what it finds is luck.
scores = {}
for seed in range(30):
    train, test = train_test_split(range(len(X)), test_size=0.2, random_state=seed)
    scores[seed] = knn.fit(X[train], y[train]).score(X[test], y[test])
best = max(scores, key=scores.get)
best, round(scores[best], 4)

# %%
# The audit of that split:
train, test = train_test_split(range(len(X)), test_size=0.2, random_state=best)
audit = audit_split(knn, X, y, train, test)
audit

# %%
audit.plot()

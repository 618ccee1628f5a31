"""
All pictures
============

Displays in scikit-learn's manner: ``from_estimator`` computes and draws. Classes differ by marker
and line style as well as by colour.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits, load_wine, make_moons
from sklearn.neighbors import KNeighborsClassifier

from allsplits import CondensedReduced
from allsplits.plots import (
    CMCCurveDisplay,
    ConfusionMatrixDisplay,
    DecisionMapDisplay,
    LearningCurveDisplay,
    SampleDifficultyDisplay,
    ValidationCurveDisplay,
)

X, y = load_wine(return_X_y=True)
X = X / X.std(axis=0)
knn = KNeighborsClassifier(5)
_, axes = plt.subplots(2, 3, figsize=(14, 8), layout="constrained")
ValidationCurveDisplay.from_estimator(knn, X, y, ax=axes[0, 0])
LearningCurveDisplay.from_estimator(knn, X, y, ax=axes[0, 1])
ConfusionMatrixDisplay.from_estimator(knn, X, y, ax=axes[0, 2])
SampleDifficultyDisplay.from_estimator(knn, X, y, ax=axes[1, 0])
CMCCurveDisplay.from_estimator(knn, *load_digits(return_X_y=True), ax=axes[1, 1])
moons = make_moons(250, noise=0.25, random_state=0)
DecisionMapDisplay.from_estimator(CondensedReduced(), *moons, ax=axes[1, 2])

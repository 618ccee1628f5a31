"""One curve over all splits beside what people run instead of it.

On letter-recognition (without the data folder integers of the same size and difficulty):

- scikit-learn's GridSearchCV over 15 values of k with RepeatedStratifiedKFold, 10 x 5 folds;
- 100 random stratified splits at one k, with the noise that they leave.

On two classes, n = 5000, d = 10: R's ExactSampling (Celisse & Mary-Huard's own group; R-Forge) at
one k and p, where R and the package are installed. It counts a tied vote as half an error, which is
``label_ties="share"`` here.
"""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import (
    GridSearchCV,
    LeavePOut,
    RepeatedStratifiedKFold,
    StratifiedShuffleSplit,
    cross_val_score,
)
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, validation_curve
from benchmarks._data import letters, two_classes
from benchmarks._r import answer_of_r, has_package
from benchmarks._timing import Result, interleaved, print_environment, print_results, seconds

KS = list(range(1, 16))
#: Seconds of ExactSampling 1.0 on another day and machine: n = 5000, d = 10, k = 51, p = 200.
KNOWN_SECONDS = 1.8

R_PROGRAM = """
library(ExactSampling)
time <- system.time(
  answer <- knn.cv(X, as.numeric(y), k = 51, p = 200, method = "classification")
)
cat(time["elapsed"], answer$risk)
"""


def beside_repeated_grid() -> list[Result]:
    name, X, y = letters()

    def exact():
        folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
        return validation_curve(KNeighborsClassifier(), X, y, n_neighbors=KS, cv=folds)

    def sampled():
        folds = RepeatedStratifiedKFold(n_splits=5, n_repeats=10, random_state=0)
        grid = {"n_neighbors": KS}
        return GridSearchCV(KNeighborsClassifier(), grid, cv=folds, refit=False).fit(X, y)

    # The grid takes a minute or two, so it runs once, between turns of ours.
    (before,) = interleaved([exact], repeats=3)
    peer = seconds(sampled)
    (after,) = interleaved([exact], repeats=3)
    what = f"{name}, all k ≤ {KS[-1]}, stratified 5-fold"
    return [Result(f"{what}: all splits / GridSearchCV, 10 x 5", min(before, after), peer, 1 / 60)]


def beside_monte_carlo(k: int = 5, n_splits: int = 100) -> list[Result]:
    name, X, y = letters()
    splits = StratifiedShuffleSplit(n_splits, test_size=0.2, random_state=0)
    model = KNeighborsClassifier(k)
    scores = np.empty(n_splits)

    def sampled():
        scores[:] = cross_val_score(model, X, y, cv=splits)

    exact = evaluate(model, X, y, cv=splits)
    ours, peer = interleaved([lambda: evaluate(model, X, y, cv=splits), sampled], repeats=1)
    noise = scores.std(ddof=1) / np.sqrt(n_splits)
    what = f"{name}, 20 % held out, k = {k}"
    return [
        Result(f"{what}: all splits / {n_splits} random splits", ours, peer),
        Result(f"{what}: standard error of {n_splits} random splits", noise, unit="accuracy"),
        Result(
            f"{what}: |{n_splits} random splits - exact|",
            abs(scores.mean() - exact.score),
            unit="accuracy",
        ),
        Result(f"{what}: error bound of all splits", exact.error_bound, unit="accuracy"),
    ]


def beside_exact_sampling() -> list[Result]:
    X, y = two_classes()
    model, held_out = KNeighborsClassifier(51), LeavePOut(200)

    def exact():
        return evaluate(model, X, y, cv=held_out, label_ties="share")

    (ours,) = interleaved([exact])
    what = f"leave-200-out, k = 51, n = {len(X)}"
    if not has_package("ExactSampling"):
        known = f"known figure from elsewhere: {KNOWN_SECONDS} s"
        return [Result(f"{what} (R ExactSampling is not installed here; {known})", ours)]
    answer = answer_of_r(R_PROGRAM, X, y)
    if answer is None:
        return [Result(f"{what} (R ExactSampling is installed here but failed)", ours)]
    peer, risk = answer
    return [
        Result(f"{what} / R ExactSampling", ours, peer),
        Result(f"{what}: |risk - R ExactSampling's|", abs(1 - exact().score - risk), unit=""),
    ]


def measure() -> list[Result]:
    return beside_repeated_grid() + beside_monte_carlo() + beside_exact_sampling()


if __name__ == "__main__":
    print_environment()
    print_results(measure())

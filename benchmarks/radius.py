"""Neighbours within a radius: all stratified 5-fold splits beside one of scikit-learn's runs."""

from __future__ import annotations

from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import RadiusNeighborsClassifier

from allsplits import evaluate
from benchmarks._data import letters
from benchmarks._timing import Result, interleaved, print_results

RADII = (2.0, 3.0, 4.0)


def measure() -> list[Result]:
    name, X, y = letters()
    results = []
    for radius in RADII:
        model = RadiusNeighborsClassifier(radius, outlier_label="most_frequent")
        folds = StratifiedKFold(5, shuffle=True, random_state=0)
        ours, peer = interleaved(
            [
                lambda model=model: evaluate(model, X, y, cv=StratifiedKFold(5)),
                lambda model=model, folds=folds: cross_val_score(model, X, y, cv=folds),
            ],
            repeats=2,
        )
        what = f"{name}, radius {radius:g}, all 5-fold splits / one run of scikit-learn"
        results.append(Result(what, ours, peer))
    return results


if __name__ == "__main__":
    print_results(measure())

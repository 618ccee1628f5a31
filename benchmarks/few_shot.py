"""Few shots, n = 10,000 with 50 features and ten classes: every split beside some sampled ones.

Few shots need the complete order of every sample. What a sampler would do instead: draw episodes or
training sets, and let scikit-learn's classifier or plain distances answer for the rest.
"""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from allsplits import Bootstrap, ClassCounts, Episodes, evaluate
from benchmarks._timing import Result, interleaved, print_results

N, N_FEATURES, N_CLASSES = 10_000, 50, 10
EPISODES, QUERIES = 600, 15
SPLITS = 100


def few_shot_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, N_CLASSES, N)
    return rng.normal(size=(N, N_FEATURES)) + rng.normal(size=(N_CLASSES, N_FEATURES))[y] / 3, y


def sampled_episodes(X: np.ndarray, y: np.ndarray, n_way: int, k_shot: int) -> float:
    """The mean accuracy of the nearest support sample over some episodes."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(y == c) for c in range(N_CLASSES)]
    right = []
    for _ in range(EPISODES):
        classes = rng.choice(N_CLASSES, n_way, replace=False)
        drawn = [rng.choice(members[c], k_shot + QUERIES, replace=False) for c in classes]
        support = X[np.concatenate([rows[:k_shot] for rows in drawn])]
        queries = X[np.concatenate([rows[k_shot:] for rows in drawn])]
        distances = (support**2).sum(axis=1) - 2 * queries @ support.T
        nearest = distances.argmin(axis=1) // k_shot
        right.append(np.mean(nearest == np.repeat(np.arange(n_way), QUERIES)))
    return float(np.mean(right))


def sampled_splits(X: np.ndarray, y: np.ndarray, k_shot: int, k: int) -> float:
    """The mean accuracy of scikit-learn's classifier over some training sets."""
    rng = np.random.default_rng(0)
    members = [np.flatnonzero(y == c) for c in range(N_CLASSES)]
    scores = []
    for _ in range(SPLITS):
        train = np.concatenate([rng.choice(rows, k_shot, replace=False) for rows in members])
        test = np.setdiff1d(np.arange(N), train)
        scores.append(KNeighborsClassifier(k).fit(X[train], y[train]).score(X[test], y[test]))
    return float(np.mean(scores))


def measure() -> list[Result]:
    X, y = few_shot_data()
    small = slice(0, 150)
    ours = [
        lambda: evaluate(KNeighborsClassifier(1), X, y, cv=ClassCounts(1)),
        lambda: evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(5, 1)),
        lambda: evaluate(KNeighborsClassifier(5), X, y, cv=ClassCounts(5)),
        lambda: evaluate(KNeighborsClassifier(30), X[small], y[small] % 4, cv=Bootstrap()),
    ]
    peers = [
        lambda: sampled_splits(X, y, 1, 1),
        lambda: sampled_episodes(X, y, 5, 1),
        lambda: sampled_splits(X, y, 5, 5),
    ]
    one, way, five, bag, one_peer, way_peer, five_peer = interleaved(ours + peers, repeats=2)
    what = f"n = {N:,} × {N_FEATURES}, ten classes, search included"
    return [
        Result(f"ClassCounts(1), k = 1, {what} / {SPLITS} sampled splits", one, one_peer),
        Result(f"ClassCounts(1), k = 1, {what}", one, goal=3.0),
        Result(f"Episodes(5, 1), {what} / {EPISODES} sampled episodes", way, way_peer),
        Result(f"Episodes(5, 1), {what}", way, goal=3.0),
        Result(f"ClassCounts(5), k = 5, {what} / {SPLITS} sampled splits", five, five_peer),
        Result(f"ClassCounts(5), k = 5, {what}", five, goal=60.0),
        Result("Bootstrap, k = 30, four classes, n = 150", bag, goal=3.0),
    ]


if __name__ == "__main__":
    print_results(measure())

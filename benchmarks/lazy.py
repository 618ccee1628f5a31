"""Lazy learning: all constant paths, all linear models with their errors, whole predictions.

The peers are what a user would write with numpy: the direct formula of the constant models, and a
least-squares fit per query and size with PRESS residuals from its QR factors (timed on a part of
the queries and scaled up); for small batches scikit-learn's nearest neighbours, as deep, and the
work of the R package lazy, replayed without R.
"""

from __future__ import annotations

from itertools import cycle

import numpy as np
from sklearn.datasets import make_friedman1
from sklearn.neighbors import KNeighborsRegressor

from allsplits import LazyRegressor, local_constant_path
from allsplits._threads import thread_count
from allsplits.lazy._answers import Near, answer_queries, make_answers
from allsplits.lazy._paths import LocalData
from allsplits.lazy._plan import make_plan
from allsplits.orders import Metric, Reference
from benchmarks._lazy_loops import Ranges, replay_lazy
from benchmarks._timing import Result, interleaved, print_results

N_TRAIN = 20_000
N_CONSTANT = 100_000
N_LINEAR = 10_000
N_FEATURES = 8
K_MAX = 50
N_SMALL, N_BATCH = 406, 100
N_FEW, FEW_FEATURES, N_BATCHES = 400, (1, 2, 3, 8), 50
#: The peers are slow: they do this share of the queries, and their time is scaled up.
CONSTANT_SHARE, LINEAR_SHARE = 20, 200


def measure() -> list[Result]:
    return [
        *measure_constant(),
        *measure_linear(),
        *measure_small_batches(),
        *measure_beside_replay(),
        *measure_intervals(),
    ]


def measure_constant() -> list[Result]:
    y_sorted = np.random.default_rng(0).normal(size=(N_CONSTANT, K_MAX))
    part = y_sorted[: N_CONSTANT // CONSTANT_SHARE]
    ours, peer = interleaved(
        [lambda: local_constant_path(y_sorted), lambda: constant_models_directly(part)], repeats=3
    )
    what = f"lazy: constant models to k = {K_MAX}, {N_CONSTANT:,} queries, after the search"
    return [
        Result(what, ours, goal=1.0),
        Result(f"{what} / direct formula in numpy", ours, CONSTANT_SHARE * peer),
    ]


def measure_linear() -> list[Result]:
    X, y = make_friedman1(N_TRAIN + N_LINEAR, n_features=N_FEATURES, noise=1.0, random_state=0)
    train, queries = X[:N_TRAIN], np.ascontiguousarray(X[N_TRAIN:])
    data = LocalData(np.ascontiguousarray(train), y[:N_TRAIN, None], 1e-6, True)
    plan = make_plan(1, 2, K_MAX, "best", N_TRAIN, N_FEATURES)
    n_threads = thread_count(None)
    search = Reference(train, Metric.resolve("euclidean"), n_threads)
    near = Near(queries, *search.nearest_and_cuts(queries, K_MAX))
    model = LazyRegressor(1, k_min=2, k_max=K_MAX).fit(train, y[:N_TRAIN])

    answers = make_answers(N_LINEAR, plan.n_combined, 1, 1)

    def after_search():
        answer_queries(data, plan, near, n_threads, answers)

    def refits():
        for q in range(N_LINEAR // LINEAR_SHARE):
            linear_models_by_qr(train, y, queries[q], near.neighbors[q])

    ours, searching, peer = interleaved(
        [after_search, lambda: search.nearest(queries, K_MAX), refits], repeats=3
    )
    (whole,) = interleaved([lambda: model.predict(queries)], repeats=2)
    what = f"lazy: linear models to k = {K_MAX}, {N_FEATURES} features, {N_LINEAR:,} queries"
    return [
        Result(f"{what}, after the search", ours, goal=4.0),
        Result(f"{what}, after the search / search among {N_TRAIN:,}", ours, searching),
        Result(f"{what}, after the search / QR per size", ours, LINEAR_SHARE * peer),
        Result(f"{what}, predict() with the search", whole),
    ]


def measure_small_batches() -> list[Result]:
    """A hundred queries among a few hundred samples, where every fixed cost counts."""
    X, y = make_friedman1(N_SMALL + N_BATCH, n_features=13, noise=1.0, random_state=0)
    train, queries = X[:N_SMALL], np.ascontiguousarray(X[N_SMALL:])
    found = []
    for words, degrees in (("constant", 0), ("constant and linear", (0, 1))):
        model = LazyRegressor(degrees).fit(train, y[:N_SMALL])
        depth = max(k_max for _, k_max in model.k_ranges_.values())
        peer = KNeighborsRegressor(depth).fit(train, y[:N_SMALL])
        ours, theirs = interleaved(
            [lambda: model.predict(queries), lambda: peer.predict(queries)],  # noqa: B023
            repeats=50,
        )
        what = f"lazy: {words} models, {N_BATCH} queries among {N_SMALL}, predict()"
        found.append(Result(f"{what} / KNeighborsRegressor({depth}).predict()", ours, theirs))
    return found


def measure_beside_replay() -> list[Result]:
    """Few features, where the models cost least; other queries in each turn, as in life.

    The same ones again and again would teach the processor every comparison of an insertion sort.
    """
    found = []
    for n_features in FEW_FEATURES:
        rng = np.random.default_rng(n_features)
        X = rng.uniform(size=(N_FEW, n_features))
        y = np.sin(4 * X).sum(axis=1) + 0.1 * rng.normal(size=N_FEW)
        batches = [rng.uniform(size=(N_BATCH, n_features)) for _ in range(N_BATCHES)]
        columns, out = X.T.copy(), np.empty(N_BATCH)
        for words, degrees in (("constant", 0), ("constant and linear", (0, 1))):
            model = LazyRegressor(degrees).fit(X, y)
            ranges = Ranges.of(model.k_ranges_, model.combine)
            ours, theirs = cycle(batches), cycle([batch.T.copy() for batch in batches])
            replay_lazy(columns, y, next(theirs), ranges, out)
            times = interleaved(
                [
                    lambda: model.predict(next(ours)),  # noqa: B023
                    lambda: replay_lazy(columns, y, next(theirs), ranges, out),  # noqa: B023
                ],
                repeats=8 * N_BATCHES,
            )
            what = f"lazy: {words} models, {N_BATCH} queries among {N_FEW}"
            features = "1 feature" if n_features == 1 else f"{n_features} features"
            what += f" with {features}, predict() / the loops of R's lazy, replayed"
            found.append(Result(what, *times, goal=1.0))
    return found


def measure_intervals() -> list[Result]:
    """The first intervals cost as many predictions as there are training samples."""
    X, y = make_friedman1(N_LINEAR, n_features=N_FEATURES, noise=1.0, random_state=0)
    model = LazyRegressor()

    def first_intervals():
        model.fit(X, y).predict_interval(X[:N_BATCH])

    ours, peer = interleaved([first_intervals, lambda: model.predict(X)], repeats=3)
    what = f"lazy: first predict_interval() of {N_LINEAR:,} samples / predict() of as many queries"
    return [Result(what, ours, peer, goal=2.0)]


def constant_models_directly(y_sorted):
    """Equations 1 to 4 of Birattari & Bontempi for each size on its own."""
    for k in range(2, y_sorted.shape[1] + 1):
        head = y_sorted[:, :k]
        mean = head.mean(axis=1)
        np.mean((k / (k - 1) * (head - mean[:, None])) ** 2, axis=1)


def linear_models_by_qr(X, y, query, neighbors):
    """Each size on its own: ridge rows appended, leverages from the orthogonal factor."""
    penalty = 1e-3 * np.eye(X.shape[1] + 1)[1:]
    Z = np.column_stack([np.ones(len(neighbors)), X[neighbors] - query])
    for k in range(2, len(neighbors) + 1):
        system = np.concatenate([Z[:k], penalty])
        right = np.concatenate([y[neighbors[:k]], np.zeros(len(penalty))])
        orthogonal, triangular = np.linalg.qr(system)
        residual = (right - orthogonal @ (orthogonal.T @ right))[:k]
        leverage = np.einsum("ij,ij->i", orthogonal[:k], orthogonal[:k])
        np.mean((residual / (1 - leverage)) ** 2)
        np.linalg.solve(triangular, orthogonal.T @ right)


if __name__ == "__main__":
    print_results(measure())

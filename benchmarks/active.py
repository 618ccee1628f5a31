"""Active learning: one round beside scikit-activeml, the start, the memory of a large pool."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.ensemble import BaggingClassifier
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ActiveLearner, CommitteeQuery
from benchmarks._data import gaussian_classes, two_classes
from benchmarks._memory import GIB, answer_of
from benchmarks._timing import Result, interleaved, print_results

N_LABELLED, N_POOL, K, P, MEMBERS = 200, 10_000, 5, 10, 25
N_LARGE, D_LARGE = 1_000_000, 50
N_IMAGES, D_IMAGES = 50_000, 784
PROGRAM = f"""
import numpy as np
from allsplits import CommitteeQuery

rng = np.random.default_rng(0)
X = rng.standard_normal(({N_LARGE}, {D_LARGE}))
y = np.full({N_LARGE}, np.nan)
y[:{N_LABELLED}] = X[:{N_LABELLED}, 0] > 0
before = peak()
start = time.perf_counter()
CommitteeQuery({K}, {P}, diversity=10, random_state=0).query(X, y, batch_size=5)
answer = [before, peak(), time.perf_counter() - start]
"""


def measure() -> list[Result]:
    return [*one_round(), *start(), *large_pool()]


def one_round() -> list[Result]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about its optional parts
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import QueryByCommittee

    X, truth = two_classes(N_LABELLED + N_POOL)
    y = partly(truth)
    bagged = BaggingClassifier(KNeighborsClassifier(K), n_estimators=MEMBERS, random_state=0)
    ensemble = SklearnClassifier(bagged, classes=[0, 1])
    theirs = QueryByCommittee(random_state=0)
    many_X, many_truth = gaussian_classes(N_LABELLED + N_POOL, 10, 10)
    many_y = partly(many_truth)
    learner = ActiveLearner(range(1, 51), leave_out=P, random_state=0).fit(X, y)

    def round_of_learning():
        asked = learner.ask(5)
        learner.teach(asked, truth[asked]).undo()

    ours, small, many, with_tuning, peer = interleaved(
        [
            lambda: CommitteeQuery(K, P, random_state=0).query(X, y, batch_size=5),
            lambda: CommitteeQuery(K, 1, random_state=0).query(X, y, batch_size=5),
            lambda: CommitteeQuery(K, P, random_state=0).query(many_X, many_y, batch_size=5),
            round_of_learning,
            lambda: theirs.query(X, y, ensemble, batch_size=5),
        ]
    )
    what = f"one query round, {N_LABELLED} labelled, pool of {N_POOL:,}"
    beside = f"scikit-activeml with {MEMBERS} bagged members"
    return [
        Result(f"{what}, p = {P} / {beside}", ours, peer, 1.0),
        Result(f"{what}, p = 1 / the same", small, peer, 1.0),
        Result(
            f"ask and teach, all k ≤ 50 re-tuned by leave-{P}-out / the same", with_tuning, peer
        ),
        Result(f"{what}, 10 classes, p = {P} / the same with 2 classes", many, peer),
    ]


def start() -> list[Result]:
    X, truth = gaussian_classes(N_IMAGES, D_IMAGES, 10)
    learner = ActiveLearner(random_state=0).fit(X)
    first = learner.ask(50)
    later = ActiveLearner(random_state=0).fit(X).teach(first, truth[first])
    nothing, some = interleaved([lambda: learner.ask(50), lambda: later.ask(10)])
    what = f"pool of {N_IMAGES:,} x {D_IMAGES}, at the start"
    return [
        Result(f"{what}: 50 questions, no labels", nothing, None, 10.0),
        Result(f"{what}: 10 more, 50 labels", some, None, 10.0),
    ]


def partly(labels: np.ndarray) -> np.ndarray:
    return np.where(np.arange(len(labels)) < N_LABELLED, labels, np.nan)


def large_pool() -> list[Result]:
    before, after, taken = answer_of(PROGRAM)
    what = f"pool of {N_LARGE:,} x {D_LARGE}"
    return [
        Result(f"{what}: peak memory of a query round", after / GIB, None, 2.0, "GiB"),
        Result(f"{what}: before it (imports and X)", before / GIB, None, None, "GiB"),
        Result(f"{what}: time of the round", taken),
    ]


if __name__ == "__main__":
    print_results(measure())

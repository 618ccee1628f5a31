"""A task checks its points once and searches once, whichever door it is asked through."""

from contextvars import copy_context

import numpy as np
import pytest
import rich
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    ActiveLearner,
    ClassCounts,
    FixedSize,
    KNeighborsClassifierCV,
    cmc_curve,
    evaluate,
    learning_curve,
    order_neighbors,
    report,
    validation_curve,
)
from allsplits.cli import _load, _model, _screen
from allsplits.cli import evaluate as command
from allsplits.exact import Neighbors, Options, neighbors
from allsplits.model_selection import _optimism
from allsplits.orders import Metric
from allsplits.orders import search as searches
from unit.refused import refused

RNG = np.random.default_rng(4)
#: Few different values: many ties, also at the ends of rows.
X = RNG.integers(0, 6, (60, 3)).astype(float)
Y = (X[:, 0] + RNG.integers(0, 3, 60) > 3).astype(int)
KNN = KNeighborsClassifier(3)
WEIGHTS = ("uniform", "distance")


@pytest.fixture
def counted(monkeypatch):
    """Calls of the search, and of the check of points."""
    calls = {"searches": 0, "checks": 0}

    def counting(kind, function):
        def call(*arguments, **options):
            calls[kind] += 1
            return function(*arguments, **options)

        return call

    monkeypatch.setattr(neighbors, "iter_parts", counting("searches", neighbors.iter_parts))
    check = counting("checks", searches.check_points)
    monkeypatch.setattr(searches, "check_points", check)
    # What the choice flatters by is found within training sets, which are searched by themselves.
    monkeypatch.setattr(_optimism, "_SECONDS", 0.0)
    return calls


def on_the_command_line(folder, **wanted):
    file = folder / "points.csv"
    table = np.column_stack([X, Y])
    np.savetxt(file, table, delimiter=",", header="a,b,c,y", comments="", fmt="%g")
    model = _model.Model("minkowski", "uniform", 2.0, None)
    source = _load.Source(str(file), "y")
    wanted = command.Wanted(**wanted)
    # A screen sets how soon and where bars are shown, as if the process were its own.
    try:
        copy_context().run(
            lambda: command.run_evaluate(_screen.Screen(quiet=True), source, model, wanted)
        )
    finally:
        rich.reconfigure()


DOORS = {
    "evaluate": lambda _: evaluate(KNN, X, Y),
    "evaluate, exact": lambda _: evaluate(KNN, X, Y, cv=KFold(5), exact=True),
    "validation_curve": lambda _: validation_curve(KNN, X, Y, n_neighbors=range(1, 6)),
    "learning_curve": lambda _: learning_curve(KNN, X, Y),
    "cmc_curve": lambda _: cmc_curve(X, Y),
    "KNeighborsClassifierCV": lambda _: KNeighborsClassifierCV((1, 3), weights=WEIGHTS).fit(X, Y),
    "report": lambda _: report(X, Y),
    "report, estimator": lambda _: report(X, Y, estimator=KNN),
    "report, no curves": lambda _: report(X, Y, estimator=KNeighborsClassifier(1), curves=()),
    "interval": lambda _: evaluate(KNN, X, Y).interval(),
    "report of an evaluation": lambda _: report(ALONE, X=X, estimator=KNN),
    "command": lambda folder: on_the_command_line(folder, k="1-5"),
    "command, report": lambda folder: on_the_command_line(folder, report=str(folder / "r.json")),
}
ALONE = evaluate(KNN, X, Y)


@pytest.mark.parametrize("door", DOORS)
def test_one_check_and_one_search(door, counted, tmp_path):
    DOORS[door](tmp_path)
    assert counted == {"searches": 1, "checks": 1}


def test_a_search_for_each_metric(counted):
    KNeighborsClassifierCV((1, 3), weights=WEIGHTS, metric=("euclidean", "manhattan")).fit(X, Y)
    assert counted == {"searches": 2, "checks": 2}


def test_teaching_checks_no_point_again(counted):
    start = np.where(np.arange(60) < 30, Y, np.nan)
    learner = ActiveLearner((1, 3), tune_leave_out=2).fit(X, start)
    counted.update(searches=0, checks=0)
    learner.teach([40], [1])
    assert counted == {"searches": 1, "checks": 0}


def plain(summary):
    """What a report says, but for the times."""
    return {name: summary[name] for name in summary if name not in ("created", "timings")}


@pytest.mark.parametrize("most", [0, 60 * 30 * 13])
def test_the_memory_limit_changes_no_bit(most, counted, monkeypatch):
    def answers():
        chosen = KNeighborsClassifierCV((1, 4, 9), weights=WEIGHTS).fit(X, Y)
        exact = evaluate(KNN, X, Y, cv=KFold(5), exact=True)
        return chosen.cv_results_["mean_test_score"], exact.prediction_proba, report(X, Y).summary

    kept = answers()
    searches = counted["searches"]
    monkeypatch.setattr(neighbors, "MOST_KEPT", most)
    again = answers()
    assert counted["searches"] > 2 * searches
    np.testing.assert_array_equal(again[0], kept[0])
    np.testing.assert_array_equal(again[1], kept[1])
    assert plain(again[2]) == plain(kept[2])


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "manhattan"])
def test_a_kept_order_is_cut_to_what_a_search_would_find(metric):
    points = np.vstack([X, RNG.standard_normal((540, 3))])
    found = Neighbors(points, Metric.resolve(metric), Options())
    found.expect(len(points) - 1)
    for depth in (30, 1, 7, 200, 599):
        blocks = [block.parts[0] for block in found.blocks(depth, lambda order, _: order)]
        alone = order_neighbors(points, depth=depth, metric=metric)
        assert all(block.depth == depth for block in blocks)
        for name in ("flat_indices", "flat_distances", "tied"):
            joined = np.concatenate([getattr(block, name) for block in blocks])
            np.testing.assert_array_equal(joined, getattr(alone, name))
        lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
        np.testing.assert_array_equal(lengths, np.diff(alone.indptr))


def test_rows_that_ties_make_too_long_are_not_kept(monkeypatch, counted):
    monkeypatch.setattr(neighbors, "MOST_KEPT", 60 * 20 * 13)
    found = Neighbors(np.zeros((60, 2)), Metric.resolve("euclidean"), Options())
    found.expect()
    for _ in range(2):
        assert [len(b.parts[0].tied) for b in found.blocks(5, lambda order, _: order)] == [60 * 59]
    assert counted["searches"] == 2


K_TOO_LARGE = {
    "evaluate": lambda _: evaluate(KNeighborsClassifier(49), X, Y),
    "validation_curve": lambda _: validation_curve(KNN, X, Y, n_neighbors=[3, 49]),
    "KNeighborsClassifierCV": lambda _: KNeighborsClassifierCV(49).fit(X, Y),
    "report": lambda _: report(X, Y, n_neighbors=49),
    "command": lambda folder: on_the_command_line(folder, k="49"),
}


@pytest.mark.parametrize("door", K_TOO_LARGE)
def test_one_answer_to_a_k_that_is_too_large(door, tmp_path):
    words = "n_neighbors must be at most 48, the size of the smallest training set", "got 49"
    refused(lambda: K_TOO_LARGE[door](tmp_path), *words)


def test_a_learning_curve_names_the_largest_training_set():
    words = "n_neighbors must be at most 59, the size of the smallest training set", "got 60"
    refused(lambda: learning_curve(KNeighborsClassifier(60), X, Y), *words)


@pytest.mark.parametrize("flag", ["exact", "progress", "allow_sampling"])
def test_a_word_is_no_flag(flag):
    for door in (evaluate, validation_curve, learning_curve):
        refused(lambda door=door: door(KNN, X, Y, **{flag: "no"}), flag, "'no'")


def test_reports_check_their_flag_as_well():
    for what in ((X, Y), (ALONE,)):
        refused(lambda what=what: report(*what, progress="no"), "progress", "'no'")


@pytest.mark.parametrize("stratify", [False, True])
@pytest.mark.parametrize(
    ("sizes", "n"),
    [(10, 10), (np.int64(10), 10), (np.array(10), 10), ([10], 10), (np.array([10]), 10),
     (0.5, None), (np.float32(0.5), None), (np.array(0.5), None), (np.array([0.5]), None)],
)  # fmt: skip
def test_sizes_of_every_kind(sizes, n, stratify):
    whole = np.bincount(Y).min() if stratify else len(Y)
    curve = learning_curve(KNN, X, Y, train_sizes=sizes, stratify=stratify)
    size = whole // 2 if n is None else n
    assert list(curve.x) == [size]
    cv = ClassCounts(int(size)) if stratify else FixedSize(int(size))
    assert curve.scores[0] == pytest.approx(evaluate(KNN, X, Y, cv=cv).score, abs=1e-13)

"""simulate: what it runs, what it measures, what it returns."""

import numpy as np
import polars as pl
import pytest
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ActiveLearner, Simulation, simulate

RNG = np.random.default_rng(2)
X = RNG.standard_normal((300, 2))
Y = np.array(["in", "out"])[
    (np.abs(X).max(axis=1) + 0.1 * RNG.standard_normal(300) > 1).astype(int)
]
LEARNER = ActiveLearner(
    range(1, 10), leave_out=2, tune_leave_out=3, random_state=5, autosave="never written"
)
SETTINGS = {"rounds": 6, "batch_size": 4, "n_start": 20, "repetitions": 2, "random_state": 0}


@pytest.fixture(scope="module")
def result():
    return simulate(LEARNER, X, Y, oracle=True, **SETTINGS)


def test_sizes_and_names(result):
    assert isinstance(result, Simulation)
    assert result.strategies == ("active", "passive")
    np.testing.assert_array_equal(result.n_labels, np.arange(20, 45, 4))
    for table in (result.errors, result.n_neighbors, result.oracle_errors, result.oracle_neighbors):
        assert [table[name].shape for name in result.strategies] == [(2, 7), (2, 7)]


def test_both_strategies_start_alike(result):
    np.testing.assert_array_equal(result.errors["active"][:, 0], result.errors["passive"][:, 0])
    assert not np.array_equal(result.errors["active"], result.errors["passive"])


def test_no_k_beats_the_oracle(result):
    for name in result.strategies:
        assert (result.oracle_errors[name] <= result.errors[name]).all()
        same = result.oracle_neighbors[name] == result.n_neighbors[name]
        np.testing.assert_array_equal(result.oracle_errors[name][same], result.errors[name][same])


def test_the_same_seed_gives_the_same_result(result):
    again = simulate(LEARNER, X, Y, **SETTINGS)
    assert again.oracle_errors is None
    other = simulate(LEARNER, X, Y, **{**SETTINGS, "random_state": 1})
    for name in result.strategies:
        np.testing.assert_array_equal(again.errors[name], result.errors[name])
    assert not np.array_equal(other.errors["active"], result.errors["active"])


def test_errors_are_those_of_scikit_learns_classifier(monkeypatch):
    """On the pool that is left, and on samples of their own."""
    seen = []
    teach = ActiveLearner.teach

    def watched(self, indices, labels):
        taught = teach(self, indices, labels)
        seen.append((self.labelled_, self.pool_, self.n_neighbors_))
        return taught

    monkeypatch.setattr(ActiveLearner, "teach", watched)
    new = RNG.standard_normal((50, 2)), np.array(["out", "in"])[RNG.integers(0, 2, 50)]
    for test in (None, new):
        seen.clear()
        found = simulate(LEARNER, X, Y, **{**SETTINGS, "repetitions": 1}, test=test)
        errors = np.concatenate([found.errors[name][0, 1:] for name in found.strategies])
        for error, (rows, pool, k) in zip(errors, seen, strict=True):
            knn = KNeighborsClassifier(k).fit(X[rows], Y[rows])
            on = (X[pool], Y[pool]) if test is None else test
            assert error == pytest.approx(1 - knn.score(*on), abs=1e-12)


def test_frame(result):
    frame = result.frame("pandas")
    assert list(frame.columns) == [
        "strategy", "repetition", "round", "n_labels", "error", "n_neighbors", "oracle_error",
        "oracle_neighbors",
    ]  # fmt: skip
    assert len(frame) == 2 * 2 * 7
    last = frame[(frame["round"] == 6) & (frame["strategy"] == "passive")]
    assert last["error"].tolist() == result.errors["passive"][:, -1].tolist()
    assert set(last["n_labels"]) == {44}
    assert isinstance(result.frame("polars"), pl.DataFrame)
    plain = simulate(LEARNER, X, Y, **SETTINGS).frame("polars")
    assert "oracle_error" not in plain.columns


def test_plot(result):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    left, right = result.plot()
    assert (left.get_xlabel(), left.get_ylabel()) == ("labels", "error (%)")
    assert len(left.lines) == 2
    assert len(right.lines) == 4
    np.testing.assert_allclose(
        left.lines[0].get_ydata(), 100 * result.errors["active"].mean(axis=0)
    )
    axes = pyplot.subplots(1, 2)[1]
    assert result.plot(ax=axes)[0] is axes[0]
    with pytest.raises(ValueError, match="pair of matplotlib Axes"):
        result.plot(ax=left)
    pyplot.close("all")


def test_repr_says_what_came_out(result):
    text = repr(result)
    assert text.startswith("Simulation(2 repetitions of 6 rounds, 20 to 44 labels: final error")
    assert f"active {result.final_errors['active']:.2%}" in text


def test_the_learner_is_not_touched_and_progress_is_shown(capsys):
    before = LEARNER.get_params()
    simulate(LEARNER, X, Y, **{**SETTINGS, "repetitions": 1}, progress=True)
    assert LEARNER.get_params() == before
    assert not hasattr(LEARNER, "_state")
    assert "14/14 rounds" in capsys.readouterr().out


def test_distances_in_place_of_points():
    from sklearn.metrics import pairwise_distances

    settings = {**SETTINGS, "repetitions": 1}
    learner = ActiveLearner(range(1, 10), leave_out=2, tune_leave_out=3)
    by_points = simulate(learner, X, Y, **settings)
    learner.set_params(metric="precomputed")
    by_distances = simulate(learner, pairwise_distances(X), Y, **settings)
    for name in by_points.strategies:
        np.testing.assert_array_equal(by_points.errors[name], by_distances.errors[name])


def test_active_learning_helps_where_classes_are_separate():
    """Two clean halves: asking at the border beats asking anywhere."""
    points = np.random.default_rng(0).random((800, 2))
    labels = (points[:, 0] > 0.5).astype(int)
    found = simulate(
        ActiveLearner(3, leave_out=1),
        points,
        labels,
        rounds=10,
        n_start=20,
        repetitions=5,
        random_state=0,
    )
    assert found.final_errors["active"] < 0.7 * found.final_errors["passive"]

"""simulate: what it runs, what it measures, what it returns."""

from typing import NamedTuple

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.neighbors import KNeighborsClassifier

from allsplits import ActiveLearner, Simulation, simulate

RNG = np.random.default_rng(2)
X = RNG.standard_normal((300, 2))
Y = np.array(["in", "out"])[
    (np.abs(X).max(axis=1) + 0.1 * RNG.standard_normal(300) > 1).astype(int)
]
LEARNER = ActiveLearner(
    range(1, 10),
    leave_out=2,
    tune_leave_out=3,
    start="random",
    random_state=5,
    autosave="never written",
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


def test_both_strategies_start_alike_at_random(result):
    np.testing.assert_array_equal(result.errors["active"][:, 0], result.errors["passive"][:, 0])
    assert not np.array_equal(result.errors["active"], result.errors["passive"])


def test_a_cover_is_asked_for_by_the_active_learner_alone(monkeypatch, result):
    """The passive learner is the same whatever the other does, and has as many labels.

    What the active one starts with is what it would ask for if it knew nothing, and no more.
    """
    seen = watch(monkeypatch)
    learner = clone(LEARNER).set_params(start="cover")
    found = simulate(learner, X, Y, **SETTINGS)
    np.testing.assert_array_equal(found.errors["passive"], result.errors["passive"])
    np.testing.assert_array_equal(found.n_neighbors["passive"], result.n_neighbors["passive"])
    assert (found.errors["active"][:, 0] != found.errors["passive"][:, 0]).all()
    for first in (0, 13):  # 7 calls of teach by the active learner, 6 by the passive one
        active, passive = seen[first : first + 7], seen[first + 7 : first + 13]
        assert [len(one.labelled) for one in active] == found.n_labels.tolist()
        assert [len(one.labelled) for one in passive] == found.n_labels[1:].tolist()
        assert set(np.union1d(active[0].labelled, active[0].pool)) == set(
            np.union1d(passive[0].labelled, passive[0].pool)
        )
        everybody = np.sort(np.union1d(active[0].labelled, active[0].pool))
        alone = ActiveLearner(1, random_state=0).fit(X[everybody]).ask(20)
        np.testing.assert_array_equal(np.sort(everybody[alone]), np.sort(active[0].labelled))


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
    """On samples held out, on samples of their own, and on the pool that is left.

    Points are recognised by their values, as the learner sees only those of the pool.
    """
    seen = watch(monkeypatch)
    new = RNG.standard_normal((50, 2)), np.array(["out", "in"])[RNG.integers(0, 2, 50)]
    settings = {**SETTINGS, "repetitions": 1}
    protocols = {
        "45 held-out samples": {"test_size": 0.15},
        "50 test samples": {"X_test": new[0], "y_test": new[1]},
        "the rest of the pool": {"test_size": "pool_remainder"},
    }
    for measured_on, options in protocols.items():
        seen.clear()
        found = simulate(LEARNER, X, Y, **settings, **options)
        assert found.measured_on == measured_on
        errors = np.concatenate([found.errors[name][0, 1:] for name in found.strategies])
        for error, one in zip(errors, seen, strict=True):
            rows, pool = one.labelled, one.pool
            knn = KNeighborsClassifier(one.k).fit(X[rows], Y[rows])
            unseen = np.setdiff1d(np.arange(300), np.union1d(rows, pool))
            assert len(unseen) == (45 if "held" in measured_on else 0)
            judges = {"45": (X[unseen], Y[unseen]), "50": new, "th": (X[pool], Y[pool])}
            assert error == pytest.approx(1 - knn.score(*judges[measured_on[:2]]), abs=1e-12)


class Seen(NamedTuple):
    """A learner after a call of teach: rows of the whole X."""

    labelled: np.ndarray
    pool: np.ndarray
    k: int


def watch(monkeypatch):
    """Note every learner after each call of teach."""
    seen = []
    fit, teach = ActiveLearner.fit, ActiveLearner.teach
    number = {tuple(point): i for i, point in enumerate(X)}
    points = {}

    def watched_fit(self, X, y=None):
        points[id(self)] = np.array([number[tuple(point)] for point in X])
        return fit(self, X, y)

    def watched_teach(self, indices, labels):
        taught = teach(self, indices, labels)
        rows = points[id(self)]
        seen.append(Seen(rows[self.labelled_], rows[self.pool_], self.n_neighbors_))
        return taught

    monkeypatch.setattr(ActiveLearner, "fit", watched_fit)
    monkeypatch.setattr(ActiveLearner, "teach", watched_teach)
    return seen


def test_both_strategies_are_judged_by_the_same_samples(monkeypatch):
    """A quarter, of each class its share, never asked about, other ones in each repetition."""
    seen = watch(monkeypatch)
    found = simulate(LEARNER, X, Y, **SETTINGS)
    assert found.measured_on == "75 held-out samples"
    assert len(seen) == 2 * 2 * 6
    judges = [
        tuple(np.setdiff1d(np.arange(300), np.union1d(one.labelled, one.pool))) for one in seen
    ]
    first, second = set(judges[:12]), set(judges[12:])
    assert len(first) == len(second) == 1
    assert first != second
    for rows in first | second:
        assert len(rows) == 75
        for name in ("in", "out"):
            share = 75 * np.count_nonzero(name == Y) / 300
            assert np.floor(share) <= np.sum(Y[list(rows)] == name) <= np.ceil(share)


class TakesHard(ActiveLearner):
    """Takes the samples with a large second coordinate first."""

    def ask(self, n=1):
        return self.pool_[np.argsort(-self._points[self.pool_, 1], kind="stable")[:n]]


def test_taking_the_hard_samples_does_not_look_like_learning():
    """Labels of a fifth of the samples are coin flips, far from the others, which are plain.

    Whoever takes all of those leaves a pool without errors, and has learnt nothing: on samples
    held out, half of the fifth is wrong, for them as for anybody else.
    """
    rng = np.random.default_rng(0)
    points = np.column_stack([rng.random(1000), np.where(np.arange(1000) < 200, 100.0, 0.0)])
    labels = np.where(points[:, 1] > 50, rng.integers(0, 2, 1000), points[:, 0] > 0.5).astype(int)
    # No plain sample near the border, so that these are never wrong.
    points[:, 0] += np.where(labels == 1, 10, 0) * (points[:, 1] < 50)
    learner = TakesHard(1, leave_out=1)
    settings = {"rounds": 10, "batch_size": 20, "repetitions": 5, "random_state": 0}
    flattering = simulate(learner, points, labels, **settings, test_size="pool_remainder")
    assert flattering.final_errors["active"] == 0
    assert flattering.final_errors["passive"] > 0.08
    fair = simulate(learner, points, labels, **settings)
    assert fair.final_errors["active"] > 0.08
    assert abs(fair.final_errors["active"] - fair.final_errors["passive"]) < 0.03


def test_classes_of_one_sample_and_a_number_of_held_out_samples():
    labels = Y.copy()
    labels[7] = "single"
    found = simulate(LEARNER, X, labels, **{**SETTINGS, "repetitions": 3}, test_size=40)
    assert found.measured_on == "40 held-out samples"
    assert np.isfinite(found.errors["active"]).all()


def test_plus_minus_is_the_standard_error_over_repetitions(result):
    for name in result.strategies:
        last = result.errors[name][:, -1]
        expected = abs(last[0] - last[1]) / 2  # of two values
        assert result.standard_errors[name] == pytest.approx(expected)
        assert f"{name} {last.mean():.2%} ± {expected:.2%}" in repr(result)
    alone = simulate(LEARNER, X, Y, **{**SETTINGS, "repetitions": 1})
    assert np.isnan(alone.standard_errors["active"])
    assert "±" not in repr(alone)


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
    assert left.get_title() == "error on 75 held-out samples"
    assert left.get_legend().get_title().get_text() == "mean ± standard error, 2 repetitions"
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
    assert text.startswith(
        "Simulation(2 repetitions of 6 rounds, 20 to 44 labels; final error on 75 held-out samples"
    )
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
    learner = ActiveLearner(range(1, 10), leave_out=2, tune_leave_out=3)  # it covers the pool
    new, labels = X[:50] + 0.01, Y[:50]
    points = [
        simulate(learner, X, Y, **settings),
        simulate(learner, X, Y, **settings, test_size="pool_remainder"),
        simulate(learner, X, Y, **settings, X_test=new, y_test=labels),
    ]
    learner.set_params(metric="precomputed")
    D, to_new = pairwise_distances(X), pairwise_distances(new, X)
    distances = [
        simulate(learner, D, Y, **settings),
        simulate(learner, D, Y, **settings, test_size="pool_remainder"),
        simulate(learner, D, Y, **settings, X_test=to_new, y_test=labels),
    ]
    for one, other in zip(points, distances, strict=True):
        for name in one.strategies:
            np.testing.assert_array_equal(one.errors[name], other.errors[name])


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

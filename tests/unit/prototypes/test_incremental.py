"""The incremental learner: sources, budgets, history, interruption, refusals."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_iris

from allsplits import CondensedReduced, IncrementalNNClassifier, voronoi_complexity
from allsplits.prototypes import _learnt, _loop
from unit.refused import refused

X, Y = load_iris(return_X_y=True)


def maker(seed=0):
    rng = np.random.default_rng(seed)
    return lambda label, count: rng.normal(loc=label, scale=0.4, size=(count, 2))


def test_a_pool_is_drawn_without_replacement_up_to_the_budget():
    model = IncrementalNNClassifier(budget=70, batch_size=8, random_state=0).fit(X, Y)
    assert len(set(model.pool_indices_)) == len(model.pool_indices_) == 70
    assert np.array_equal(model.samples_, X[model.pool_indices_])
    assert np.array_equal(model.sample_labels_, Y[model.pool_indices_])
    assert model.history_.n_samples.tolist() == [15, 23, 31, 39, 47, 55, 63, 70]
    assert np.array_equal(model.history_.class_counts[-1], np.bincount(model.sample_labels_))


def test_without_a_budget_the_whole_pool_is_learnt():
    model = IncrementalNNClassifier(random_state=0).fit(X, Y)
    assert sorted(model.pool_indices_) == list(range(150))
    assert model.score(X, Y) == 1


def test_unshuffled_examples_are_condensed_in_the_order_they_came():
    model = IncrementalNNClassifier(random_state=0, shuffle=False).fit(X, Y)
    condensed = CondensedReduced().fit(model.samples_, model.sample_labels_)
    assert np.array_equal(model.prototypes_, condensed.prototypes_)


def test_shuffling_is_repeatable_and_leaves_the_order_of_a_pool_alone():
    def learn(**options):
        return IncrementalNNClassifier(random_state=4, query="priors", **options).fit(X, Y)

    first, again, in_order = learn(), learn(), learn(shuffle=False)
    assert np.array_equal(first.prototypes_, again.prototypes_)
    assert np.array_equal(first.pool_indices_, in_order.pool_indices_)
    assert not np.array_equal(first.prototypes_, in_order.prototypes_)


def test_a_new_order_is_drawn_for_every_step(monkeypatch):
    original, orders = _loop.choose_prototypes, []

    def recorded(points, codes, **options):
        orders.append(options["visits"].tolist())
        return original(points, codes, **options)

    monkeypatch.setattr(_loop, "choose_prototypes", recorded)
    IncrementalNNClassifier(maker(), classes=[0, 1], budget=60, random_state=1).fit()
    assert [len(order) for order in orders] == [10, 20, 30, 40, 50, 60]
    assert all(sorted(order) == list(range(len(order))) != order for order in orders)
    beginnings = {tuple(row for row in order if row < 10) for order in orders}
    assert len(beginnings) == len(orders)


def test_a_pool_may_be_given_as_draw():
    inside = IncrementalNNClassifier((X, Y), budget=60, random_state=1).fit()
    outside = IncrementalNNClassifier(budget=60, random_state=1).fit(X, Y)
    assert np.array_equal(inside.prototypes_, outside.prototypes_)


@pytest.mark.parametrize("query", ["shares", "greedy"])
def test_hard_classes_are_asked_more_often_than_easy_ones(query):
    rng = np.random.default_rng(0)

    def draw(label, count):
        x, y = rng.random((2, count))
        stripe = 2 * rng.integers(0, 4, count) + (label == "right")
        return np.column_stack([x + 50 if label == "apart" else x + stripe, 8 * y])

    model = IncrementalNNClassifier(
        draw, classes=["apart", "left", "right"], budget=240, random_state=0, query=query
    ).fit()
    apart, left, right = model.history_.class_counts[-1]
    assert 2 * apart < min(left, right)


def test_asking_by_priors_keeps_shares():
    model = IncrementalNNClassifier(
        maker(), classes=[0, 1], priors=[0.25, 0.75], budget=100, batch_size=1, initial=1,
        query="priors",
    ).fit()  # fmt: skip
    assert model.history_.class_counts[-1].tolist() == [25, 75]


@pytest.mark.parametrize("query", ["shares", "greedy", "priors"])
@pytest.mark.parametrize("initial", [1, 5])
def test_a_pool_of_one_class_is_learnt(query, initial):
    model = IncrementalNNClassifier(query=query, initial=initial, batch_size=7, random_state=0)
    assert model.fit(X[:30], Y[:30]).history_.class_counts[-1].tolist() == [30]
    assert model.predict(X[-1:]).tolist() == [0]


@pytest.mark.parametrize("query", ["shares", "greedy", "priors"])
def test_every_query_uses_up_an_uneven_pool(query):
    rows = np.r_[0:1, 50:53, 100:150]
    model = IncrementalNNClassifier(query=query, random_state=0).fit(X[rows], Y[rows])
    assert model.history_.class_counts[-1].tolist() == [1, 3, 50]


def test_a_class_that_runs_out_is_not_asked_again():
    asked = []

    def draw(label, count):
        asked.append(label)
        count = min(count, 12 - 5 * asked[:-1].count(label)) if label == 1 else count
        return np.random.default_rng(len(asked)).normal(loc=label, scale=2, size=(max(count, 0), 2))

    model = IncrementalNNClassifier(draw, classes=[0, 1], budget=100, batch_size=5).fit()
    assert model.history_.class_counts[-1].tolist() == [88, 12]
    assert asked.count(1) == 3


def test_everything_may_run_out_before_the_budget():
    pool = iter(range(100))

    def draw(label, count):
        return [[next(pool) + label]] if label == 0 else [[50.5]][: count - 4]

    model = IncrementalNNClassifier(draw, classes=[0, 1], budget=50).fit()
    assert len(model.samples_) == 2


def test_history_is_complete_and_readable():
    model = IncrementalNNClassifier(budget=60, batch_size=5, random_state=0)
    history = model.fit(X, Y, eval_set=(X, Y)).history_
    assert np.isnan(history.batch_error[0])
    assert np.all((history.batch_error[1:] >= 0) & (history.batch_error[1:] <= 1))
    assert history.test_error[-1] == pytest.approx(1 - model.score(X, Y))
    assert history.asked[0] is None
    assert np.allclose(history.class_shares.sum(axis=1), 1)
    for step in range(1, len(history.n_samples)):
        grown = history.class_counts[step] - history.class_counts[step - 1]
        assert grown[history.asked[step]] == 5 == grown.sum()
    assert repr(history).startswith("IncrementalHistory(10 steps to 60 examples (0: ")
    for backend in ("pandas", "polars"):
        frame = history.frame(backend)
        assert list(frame["n_samples"]) == history.n_samples.tolist()
        assert {"asked", "bound", "count_0", "facets_2"} <= set(frame.columns)


def test_plot_shows_the_curve_and_the_shares():
    model = IncrementalNNClassifier(budget=60, batch_size=5, random_state=0)
    for eval_set, name in (((X, Y), "test set"), (None, "new batches")):
        ax = model.fit(X, Y, eval_set=eval_set).history_.plot()
        assert name in ax.get_ylabel()
        drawn = ax.get_lines()[0].get_ydata()
        assert len(drawn) == len(model.history_.n_samples)
        assert len(ax.figure.axes) == 2
        assert len(ax.figure.axes[1].collections) == 3


def test_unknown_labels_in_the_test_set_count_as_errors():
    model = IncrementalNNClassifier(budget=60, random_state=0)
    assert model.fit(X, Y, eval_set=(X, np.full(150, 7))).history_.test_error[-1] == 1


def test_ctrl_c_keeps_what_was_learnt():
    give = maker()
    calls = []

    def draw(label, count):
        calls.append(label)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return give(label, count)

    model = IncrementalNNClassifier(draw, classes=[0, 1, 2], budget=500, shuffle=False)
    with pytest.warns(UserWarning, match="stopped by Ctrl-C after 35 of 500 examples"):
        assert model.fit() is model
    assert model.interrupted_
    assert len(model.samples_) == 35 == model.history_.n_samples[-1]
    condensed = CondensedReduced().fit(model.samples_, model.sample_labels_)
    assert np.array_equal(model.prototypes_, condensed.prototypes_)
    assert model.predict([[3.0, 3.0]]).tolist() == [2]


def counted_calls(monkeypatch, module, name, interrupted_at=None):
    """Calls of a function from now on, by their number; one of them may be interrupted."""
    original, calls = getattr(module, name), []

    def counted(*arguments, **options):
        calls.append(len(calls) + 1)
        if calls[-1] == interrupted_at:
            raise KeyboardInterrupt
        return original(*arguments, **options)

    monkeypatch.setattr(module, name, counted)
    return calls


def test_ctrl_c_during_learning_leaves_the_last_complete_step(monkeypatch):
    counted_calls(monkeypatch, _loop, "choose_prototypes", interrupted_at=4)
    with pytest.warns(UserWarning, match="Ctrl-C after 35 of"):
        model = IncrementalNNClassifier(random_state=0).fit(X, Y)
    assert len(model.pool_indices_) == len(model.samples_) == 35
    assert np.array_equal(model.samples_, X[model.pool_indices_])


def test_ctrl_c_before_anything_was_learnt_is_passed_on():
    def draw(label, count):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        IncrementalNNClassifier(draw, classes=[0, 1], budget=50).fit()


def test_contradictory_copies_are_told_once():
    with pytest.warns(UserWarning, match="1 sample is a copy") as caught:
        model = IncrementalNNClassifier(random_state=0).fit(np.vstack([X, X[0]]), np.append(Y, 2))
    assert len(caught) == 1
    assert model.score(X[1:], Y[1:]) == 1


def test_many_features_are_counted_by_bounds():
    rng = np.random.default_rng(0)
    data, labels = rng.normal(size=(60, 9)), np.arange(60) % 3
    counts = {}
    for complexity in ("auto", "bound", "exact"):
        model = IncrementalNNClassifier(complexity=complexity, random_state=0, budget=30)
        counts[complexity] = model.fit(data, labels).history_.facets[0]
    assert np.array_equal(counts["auto"], counts["bound"])
    assert np.all(counts["bound"] <= counts["exact"])


@pytest.mark.parametrize(("query", "at_once"), [("priors", 0), ("greedy", 5)])
def test_facets_are_counted_when_they_are_needed_and_once(monkeypatch, query, at_once):
    calls = counted_calls(monkeypatch, _learnt, "facets_between")
    model = IncrementalNNClassifier(budget=65, random_state=0, query=query).fit(X, Y)
    assert len(calls) == at_once
    history = pickle.loads(pickle.dumps(model)).history_
    for position, facets in enumerate(history.facets):
        rows = history.learnt.steps[position].prototypes
        expected = voronoi_complexity(model.samples_[rows], model.sample_labels_[rows]).facets
        assert facets.tolist() == expected.tolist()
    assert np.isfinite(history.bound).all()
    assert np.array_equal(history.facets, history.frame("pandas").filter(like="facets"))
    assert len(calls) == 6 == len(history.n_samples)


def test_progress_is_shown_only_when_asked(capsys):
    IncrementalNNClassifier(budget=40, random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    IncrementalNNClassifier(budget=40, random_state=0, progress=True).fit(X, Y)
    assert "IncrementalNNClassifier" in capsys.readouterr().out


def asking(draw=None, X=None, y=None, eval_set=None, **parameters):
    return lambda: IncrementalNNClassifier(draw, **parameters).fit(X, y, eval_set)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (asking(X=X, y=Y, batch_size=0), ["batch_size", "1", "0"]),
        (asking(X=X, y=Y, batch_size=2.5), ["batch_size", "integer", "2.5"]),
        (asking(X=X, y=Y, initial=0), ["initial", "1", "0"]),
        (asking(X=X, y=Y, budget=2), ["budget", "3", "150", "2"]),
        (asking(X=X, y=Y, budget=151), ["budget", "150", "151"]),
        (asking(X=X, y=Y, query="random"), ["query", "greedy", "priors", "shares", "random"]),
        (asking(X=X, y=Y, shuffle=1), ["shuffle", "True", "False", "1"]),
        (asking(X=X, y=Y, reduce="all"), ["reduce", "all"]),
        (asking(X=X, y=Y, complexity="fast"), ["complexity", "fast"]),
        (asking(X=X, y=Y, priors=[1, 2]), ["priors", "3"]),
        (asking(X=X, y=Y, eval_set=X), ["eval_set", "pair"]),
        (asking(X=X, y=Y, eval_set=(X, Y[:-1])), ["y", "150", "149"]),
        (asking(X=X, y=Y, eval_set=(X[:, :2], Y)), ["eval_set", "4", "2"]),
        (asking(maker(), budget=50), ["classes", "budget", "None"]),
        (asking(maker(), classes=[0, 1]), ["classes", "budget", "None"]),
        (asking(maker(), classes=[0], budget=50), ["2 classes"]),
        (asking(maker(), classes=[0, 1], budget=1), ["budget", "2", "1"]),
        (asking(maker(), X=X, y=Y, classes=[0, 1], budget=50), ["draw", "X"]),
        (asking("pool"), ["draw", "function", "str"]),
        (asking(lambda label, n: [["x"]] * n, classes=[0, 1], budget=50), ["draw", "numeric"]),
        (asking(lambda label, n: [[np.nan]] * n, classes=[0, 1], budget=50), ["draw", "NaN"]),
        (asking(lambda label, n: [[1e200]] * n, classes=[0, 1], budget=50), ["draw", "1e+200"]),
        (asking(lambda label, n: [[0.0]] * 9, classes=[0, 1], budget=50), ["draw", "at most 5"]),
        (asking(lambda label, n: [], classes=[0, 1], budget=50), ["draw"]),
        (
            asking(lambda label, n: np.zeros((n, 1 + label)), classes=[0, 1], budget=50),
            ["draw", "features", "(5, 2)"],
        ),
    ],
)
def test_bad_input_is_refused(call, words):
    refused(call, *words)

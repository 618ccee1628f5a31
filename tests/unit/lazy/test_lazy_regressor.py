"""LazyRegressor: the choice, what predict returns, ranges, metrics."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from allsplits import LazyRegressor, local_constant_path
from allsplits.lazy import LocalModels, LocalPaths


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X[:, :4])
    return X[:200], y[:200], X[200:240]


@pytest.fixture(scope="module")
def fitted(diabetes):
    X, y, _ = diabetes
    sizes = {"k_min": (3, 12, 35), "k_max": (20, 30, 50)}
    return LazyRegressor((0, 1, 2), **sizes, combine="best").fit(X, y)


def test_the_best_model_of_each_query_predicts(diabetes, fitted):
    queries = diabetes[2]
    predictions, std, k = fitted.predict(queries, return_std=True, return_k=True)
    degrees = set()
    for q, query in enumerate(queries):
        paths = fitted.local_paths(query)
        assert isinstance(paths, LocalPaths)
        best = paths.best
        assert paths.mse[best] == paths.mse.min()
        assert (predictions[q], k[q]) == (paths.predictions[best], paths.k[best])
        assert std[q] == pytest.approx(np.sqrt(paths.mse[best]), rel=1e-15)
        degrees.add(paths.degree[best])
    assert len(degrees) > 1, "these data are to show a choice between degrees"


def test_the_ranges_of_sizes(fitted):
    assert fitted.k_ranges_ == {0: (3, 20), 1: (12, 30), 2: (35, 50)}
    paths = fitted.local_paths(np.zeros(4))
    for degree, (low, high) in fitted.k_ranges_.items():
        assert list(paths.k[paths.degree == degree]) == list(range(low, high + 1))


def test_default_ranges(diabetes):
    X, y, _ = diabetes
    model = LazyRegressor((0, 1, 2)).fit(X, y)
    assert model.k_ranges_ == {0: (3, 30), 1: (15, 40), 2: (45, 120)}
    small = LazyRegressor((0, 1, 2)).fit(X[:20], y[:20])
    assert small.k_ranges_ == {0: (3, 20), 1: (15, 20), 2: (20, 20)}
    assert LazyRegressor(0, k_min=40).fit(X, y).k_ranges_ == {0: (40, 40)}
    assert LazyRegressor(0, k_max=2).fit(X, y).k_ranges_ == {0: (2, 2)}


def test_degrees_in_any_order(diabetes):
    X, y, queries = diabetes
    one = LazyRegressor((1, 0), k_min=(12, 3), k_max=(30, 20)).fit(X, y)
    two = LazyRegressor((0, 1), k_min=(3, 12), k_max=(20, 30)).fit(X, y)
    assert one.k_ranges_ == two.k_ranges_
    np.testing.assert_array_equal(one.predict(queries), two.predict(queries))


def test_one_size_of_constants_is_nearest_neighbours(diabetes):
    X, y, queries = diabetes
    lazy = LazyRegressor(0, k_min=7, k_max=7).fit(X, y)
    knn = KNeighborsRegressor(7).fit(X, y)
    np.testing.assert_allclose(lazy.predict(queries), knn.predict(queries), rtol=1e-13)


def test_several_models_are_weighted_by_their_inverse_errors(diabetes):
    X, y, queries = diabetes
    model = LazyRegressor((0, 1), k_min=(3, 12), k_max=20, combine=4).fit(X, y)
    predictions, std, k, details = model.predict(
        queries, return_std=True, return_k=True, return_details=True
    )
    for q, query in enumerate(queries):
        paths = model.local_paths(query)
        best = np.argsort(paths.mse)[:4]
        weights = 1 / paths.mse[best]
        expected = np.sum(weights * paths.predictions[best]) / weights.sum()
        assert predictions[q] == pytest.approx(expected, rel=1e-13)
        assert std[q] == pytest.approx(np.sqrt(4 / weights.sum()), rel=1e-13)
        assert k[q] == paths.k[best].max()
        np.testing.assert_array_equal(details.k[q], paths.k[best])
        np.testing.assert_array_equal(details.degree[q], paths.degree[best])
        np.testing.assert_array_equal(details.mse[q], paths.mse[best])
        np.testing.assert_allclose(details.weight[q], weights / weights.sum(), rtol=1e-13)


def test_all_models_are_combined_where_there_are_not_so_many(diabetes):
    X, y, queries = diabetes
    few = LazyRegressor(0, k_min=3, k_max=9).fit(X, y).predict(queries, return_details=True)[1]
    assert few.k.shape == (40, 7)
    np.testing.assert_array_equal(np.sort(few.k, axis=1), [range(3, 10)] * 40)
    assert LazyRegressor().fit(X, y).predict(queries, return_details=True)[1].k.shape == (40, 30)


def test_models_without_error_share_all_the_weight():
    X = np.arange(12.0)[:, None]
    y = np.where(X[:, 0] < 5, 2.0, 9.0)
    model = LazyRegressor(0, k_min=2, k_max=8, combine=6).fit(X, y)
    prediction, std, details = model.predict([[0.0]], return_std=True, return_details=True)
    assert (prediction[0], std[0]) == (2.0, 0.0)
    np.testing.assert_allclose(details.weight[0], [0.25] * 4 + [0, 0])


def test_equal_errors_go_to_the_lower_degree_and_the_smaller_size():
    X = np.random.default_rng(0).normal(size=(30, 2))
    prediction, details = (
        LazyRegressor((0, 1), combine=5).fit(X, np.full(30, 4.0)).predict(X, return_details=True)
    )
    np.testing.assert_array_equal(prediction, 4.0)
    assert (details.degree == 0).all()
    assert (details.k == [3, 4, 5, 6, 7]).all()


def test_details(diabetes, fitted):
    predictions, details = fitted.predict(diabetes[2], return_details=True)
    assert isinstance(details, LocalModels)
    np.testing.assert_array_equal(details.predictions, predictions)
    np.testing.assert_array_equal(details.coefficients[:, 0], predictions)
    assert details.coefficients.shape == (40, 15)
    assert details.terms[:7] == ("1", "x0", "x1", "x2", "x3", "x0^2", "x0 x1")
    constant = details.degree[:, 0] == 0
    assert constant.any()
    assert not details.coefficients[constant, 1:].any()
    linear = details.degree[:, 0] == 1
    assert not details.coefficients[linear, 5:].any()
    assert "40 queries" in repr(details)
    assert list(details.frame().columns) == ["query", "rank", "degree", "k", "mse", "weight"]
    assert len(details.frame("polars")) == 40


def test_coefficients_are_the_gradient():
    """The local model is the function itself where that is quadratic."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 2))
    y = 1 + 2 * X[:, 0] - X[:, 1] + 3 * X[:, 0] * X[:, 1]
    details = LazyRegressor(2, ridge=1e-12).fit(X, y).predict([[0.5, 1.0]], return_details=True)[1]
    expected = [1 + 1 - 1 + 1.5, 2 + 3, -1 + 1.5, 0, 3, 0]
    np.testing.assert_allclose(details.coefficients[0], expected, atol=1e-8)


def test_several_outputs_are_several_problems(diabetes):
    X, y, queries = diabetes
    Y = np.column_stack([y, X[:, 0] ** 2, -y])
    model = LazyRegressor((0, 1, 2), combine=2).fit(X, Y)
    together = model.predict(queries, return_std=True, return_k=True, return_details=True)
    assert together[0].shape == (40, 3)
    assert together[3].coefficients.shape == (40, 3, 15)
    assert list(together[3].frame().columns)[:3] == ["query", "output", "rank"]
    for output in range(3):
        alone = clone(model).fit(X, Y[:, output])
        for one, all_ in zip(
            alone.predict(queries, return_std=True, return_k=True), together, strict=False
        ):
            np.testing.assert_array_equal(one, all_[:, output])
        assert alone.local_paths(queries[0]).mse.tolist() == (
            model.local_paths(queries[0], output=output).mse.tolist()
        )


def test_metrics(diabetes):
    X, y, queries = diabetes
    model = LazyRegressor(0, k_min=5, k_max=5, metric="manhattan").fit(X, y)
    knn = KNeighborsRegressor(5, metric="manhattan").fit(X, y)
    np.testing.assert_allclose(model.predict(queries), knn.predict(queries), rtol=1e-13)
    same = LazyRegressor(0, k_min=5, k_max=5, p=1).fit(X, y)
    np.testing.assert_array_equal(same.predict(queries), model.predict(queries))


def test_precomputed_distances(diabetes):
    X, y, queries = diabetes
    model = LazyRegressor(0, metric="precomputed").fit(pairwise_distances(X), y)
    expected = LazyRegressor(0).fit(X, y).predict(queries)
    np.testing.assert_allclose(model.predict(pairwise_distances(queries, X)), expected, rtol=1e-12)
    assert cross_val_score(model, pairwise_distances(X), y, cv=3).shape == (3,)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_give_their_names_to_terms(diabetes, library):
    frames = pytest.importorskip(library)
    X, y, queries = diabetes
    names = ["age", "sex", "bmi", "bp"]
    frame, new = (
        frames.DataFrame({name: part[:, f] for f, name in enumerate(names)})
        for part in (X, queries)
    )
    predictions, details = LazyRegressor().fit(frame, y).predict(new, return_details=True)
    assert details.terms == ("1", *names)
    np.testing.assert_array_equal(predictions, LazyRegressor().fit(X, y).predict(queries))


def test_it_works_where_estimators_work(diabetes):
    X, y, _ = diabetes
    search = GridSearchCV(
        make_pipeline(StandardScaler(), LazyRegressor()),
        {"lazyregressor__degrees": [0, (0, 1)], "lazyregressor__combine": ["best", 5]},
        cv=3,
    ).fit(X, y)
    assert search.best_score_ > 0, "better than the mean of all targets"


def test_blocks_of_queries_do_not_matter(diabetes, fitted, monkeypatch):
    from allsplits.lazy import _regressor

    expected = fitted.predict(diabetes[2], return_details=True)
    monkeypatch.setattr(_regressor, "_ENTRIES_PER_BLOCK", 1)
    found = fitted.predict(diabetes[2], return_details=True, progress=False)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1].coefficients, expected[1].coefficients)


def test_a_progress_bar_on_request(diabetes, fitted, capsys):
    fitted.predict(diabetes[2])
    assert capsys.readouterr().out == ""
    fitted.predict(diabetes[2], progress=True)
    assert "local models" in capsys.readouterr().out


def test_the_plot_of_one_query(fitted):
    plt = pytest.importorskip("matplotlib.pyplot")
    paths = fitted.local_paths(np.zeros(4))
    ax = paths.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels[:3] == ["constant", "linear", "quadratic"]
    assert f"k = {paths.k[paths.best]}" in labels[3]
    marked = ax.get_lines()[-1].get_xydata()[0]
    np.testing.assert_array_equal(marked, [paths.k[paths.best], paths.mse.min()])
    assert paths.plot(ax=ax) is ax
    plt.close("all")
    assert list(paths.frame().columns) == ["degree", "k", "mse", "prediction"]
    assert "models: best" in repr(paths)


def test_parameters_are_kept_as_given():
    model = LazyRegressor([1, 0], k_min=[12, 3], combine=3, ridge=1)
    assert str(clone(model).get_params()) == str(model.get_params())


def test_the_predictions_are_those_of_the_public_path(diabetes):
    X, y, queries = diabetes
    model = LazyRegressor(0, k_min=2, k_max=25, combine="best").fit(X, y)
    order = np.argsort(pairwise_distances(queries, X), axis=1, kind="stable")[:, :25]
    predictions, loo_mse = local_constant_path(y[order])
    best = np.argmin(loo_mse[:, 1:], axis=1) + 1
    np.testing.assert_array_equal(model.predict(queries), predictions[np.arange(len(best)), best])


@pytest.mark.parametrize("degree", [0, 1, 2])
@pytest.mark.parametrize("offset", [1e9, 2.0**50])
def test_an_offset_of_the_targets_costs_no_digits(degree, offset):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 2)), rng.integers(-2, 3, 60).astype(float)
    queries = rng.standard_normal((10, 2))
    model = LazyRegressor(degree, k_min=8, k_max=20)
    plain, std = model.fit(X, y).predict(queries, return_std=True)
    shifted, same = model.fit(X, y + offset).predict(queries, return_std=True)
    np.testing.assert_array_equal(same, std)
    # One rounding of a number of this size.
    assert np.abs(shifted - (plain + offset)).max() <= np.spacing(offset)

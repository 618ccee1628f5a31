"""Displays: they draw what the results hold, on given or new axes, readable without colours."""

import sys

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from sklearn.datasets import load_diabetes, load_iris, make_blobs, make_moons
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    ActiveLearner,
    CondensedReduced,
    IncrementalNNClassifier,
    LazyRegressor,
    UNNClassifier,
    audit_split,
    cmc_curve,
    compare,
    evaluate,
    learning_curve,
    simulate,
    validation_curve,
    voronoi_complexity,
)
from allsplits.exceptions import MissingExtraError
from allsplits.plots import (
    CMCCurveDisplay,
    ComparisonDisplay,
    ConfusionMatrixDisplay,
    DecisionMapDisplay,
    LearningCurveDisplay,
    SampleDifficultyDisplay,
    ValidationCurveDisplay,
)
from allsplits.plots._style import class_looks
from unit.refused import refused

KNN = KNeighborsClassifier(5)
FROM_ESTIMATOR = [
    ValidationCurveDisplay,
    LearningCurveDisplay,
    ConfusionMatrixDisplay,
    SampleDifficultyDisplay,
    CMCCurveDisplay,
    DecisionMapDisplay,
]


@pytest.fixture(scope="module")
def moons():
    return make_moons(120, noise=0.25, random_state=0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("Display", FROM_ESTIMATOR)
def test_from_estimator_draws_on_new_or_given_axes(Display, moons):
    made = Display.from_estimator(KNN, *moons)
    assert made.figure_ is made.ax_.figure
    ax = plt.subplots()[1]
    assert Display.from_estimator(KNN, *moons, ax=ax).ax_ is ax
    again = plt.subplots()[1]
    assert made.plot(ax=again) is made
    assert made.ax_ is again
    for axes in (ax, again):
        assert axes.get_xlabel()
        assert axes.get_ylabel()
        axes.figure.canvas.draw()


@pytest.mark.parametrize("Display", FROM_ESTIMATOR)
def test_without_matplotlib_the_extra_is_named(Display, moons, monkeypatch):
    for module in ("matplotlib", "matplotlib.pyplot", "matplotlib.colors"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"allsplits\[plot\]"):
        Display.from_estimator(KNN, *moons)


def lines_of(display):
    return [line.get_xydata() for line in display.ax_.get_lines()]


@pytest.mark.parametrize(
    ("Display", "function", "options"),
    [
        (ValidationCurveDisplay, validation_curve, {"n_neighbors": range(1, 9), "cv": 4}),
        (LearningCurveDisplay, learning_curve, {"train_sizes": [10, 20, 50]}),
        (LearningCurveDisplay, learning_curve, {"stratify": True}),
    ],
)
def test_curves_are_those_of_the_functions(Display, function, options, moons):
    curve = function(KNN, *moons, **options)
    drawn, best = lines_of(Display.from_estimator(KNN, *moons, **options))
    np.testing.assert_allclose(drawn, np.column_stack([curve.x, curve.scores]), atol=1e-13)
    np.testing.assert_allclose(best, [[curve.best, curve.best_score]])
    np.testing.assert_array_equal(lines_of(Display(curve).plot())[0][:, 0], curve.x)


def test_the_match_curve_takes_the_metric_of_the_estimator(moons):
    made = CMCCurveDisplay.from_estimator(
        KNeighborsClassifier(metric="manhattan"), *moons, ranks=[1, 2]
    )
    expected = cmc_curve(*moons, ranks=[1, 2], metric="manhattan")
    np.testing.assert_array_equal(made.curve.scores, expected.scores)
    assert (expected.scores != cmc_curve(*moons, ranks=[1, 2]).scores).any()
    refused(lambda: CMCCurveDisplay.from_estimator(KNeighborsRegressor(), *moons), "estimator")


def test_axes_and_legends_speak_in_words(moons):
    made = LearningCurveDisplay.from_estimator(KNN, *moons, stratify=True)
    assert made.ax_.get_xlabel() == "training samples of each class"
    made = ValidationCurveDisplay.from_estimator(KNN, *moons, n_neighbors=range(1, 8))
    assert made.ax_.get_xlabel() == "number of neighbours"
    (legend,) = [text.get_text() for text in made.ax_.get_legend().get_texts()]
    assert legend == f"best: {made.curve.best_score:.4f} at {made.curve.best}"
    ticks = made.ax_.get_xticks()
    np.testing.assert_array_equal(ticks, np.round(ticks))


def test_axes_of_integers_have_integer_ticks(moons):
    """Few values, so that ticks would otherwise fall between them."""
    X, y = moons
    same = evaluate(KNN, X, y)
    unn = UNNClassifier(n_neighbors=3).fit(X[:5], y[:5])
    learner = IncrementalNNClassifier(batch_size=2, budget=12, random_state=0)
    active = ActiveLearner(n_neighbors=range(1, 4))
    simulation = simulate(active, X, y, 2, batch_size=1, n_start=6, repetitions=2, random_state=0)
    axes = [
        validation_curve(KNN, X, y, n_neighbors=[1, 2]).plot().xaxis,
        validation_curve(KNN, X, y, n_neighbors=[5]).plot().xaxis,
        learning_curve(KNN, X, y, train_sizes=[10, 12]).plot().xaxis,
        cmc_curve(X, y, ranks=[1, 2, 3]).plot().xaxis,
        LazyRegressor(k_min=3, k_max=5).fit(X, y).local_paths(X[0]).plot().xaxis,
        unn.trust().plot().xaxis,
        learner.fit(X, y).history_.plot().xaxis,
        voronoi_complexity(X[:4], y[:4]).plot().yaxis,
        compare(same, evaluate(KNN, X, y)).plot().xaxis,
        *(ax.xaxis for ax in simulation.plot()),
    ]
    for axis in axes:
        ticks = axis.get_majorticklocs()
        np.testing.assert_array_equal(ticks, np.round(ticks))


def test_the_confusion_matrix_is_that_of_the_evaluation(moons):
    made = ConfusionMatrixDisplay.from_estimator(KNN, *moons)
    matrix = made.evaluation.confusion
    (image,) = made.ax_.get_images()
    np.testing.assert_allclose(image.get_array(), matrix / matrix.sum(axis=1, keepdims=True))
    regression = evaluate(KNeighborsRegressor(3), *load_diabetes(return_X_y=True))
    refused(lambda: ConfusionMatrixDisplay(regression).plot(), "confusion")


def test_a_comparison_adds_up_to_the_difference(moons):
    X, y = moons
    one, other = evaluate(KNN, X, y), evaluate(KNeighborsClassifier(1), X * [1, 3], y)
    for a, b in ((one, other), (other, one)):
        made = ComparisonDisplay.from_evaluations(a, b, confidence=0.9)
        found = made.comparison
        (marker,) = (line for line in made.ax_.get_lines() if line.get_marker() == "D")
        gains, losses = (area.get_paths()[0].vertices for area in made.ax_.collections[:2])
        assert marker.get_ydata()[0] == found.difference == a.score - b.score
        assert gains[:, 1].max() == losses[:, 1].max() > max(0, found.difference)
        end = losses[losses[:, 0] == losses[:, 0].max(), 1]
        np.testing.assert_allclose(end[np.argmax(np.abs(end))], found.difference, atol=1e-12)
        assert made.figure_ is made.ax_.figure
        assert compare(a, b).plot(ax := plt.subplots()[1]) is ax
    refused(lambda: ComparisonDisplay(one), "comparison", "Evaluation")


def test_a_comparison_without_a_difference_is_drawn(moons):
    one, same = evaluate(KNN, *moons), evaluate(KNN, *moons)
    ComparisonDisplay.from_evaluations(one, same).figure_.canvas.draw()
    X, y = load_diabetes(return_X_y=True)
    few, many = (evaluate(KNeighborsRegressor(k), X, y) for k in (1, 9))
    assert "neg_mean" in compare(few, many).plot().get_ylabel()


def test_standings_are_drawn_best_first_with_the_tied_marked(moons):
    X, y = moons
    lost = np.random.default_rng(0).permutation(X)
    found = {
        name: evaluate(knn, Z, y)
        for name, knn, Z in (("lost", KNN, lost), ("plain", KNN, X),
                             ("a name that is far too long for the axis", KNN, X * [1, 1.5]))
    }  # fmt: skip
    made = ComparisonDisplay.from_evaluations(*found.values(), names=found, confidence=0.9)
    standings = made.comparison
    rows = [text.get_text() for text in made.ax_.get_yticklabels()]
    assert rows[-1] == f"lost\n{found['lost'].score:.4f}"
    assert max(len(row.split("\n")[0]) for row in rows) <= 28
    drawn = {
        (x, round(y)): line.get_markerfacecolor()
        for line in made.ax_.get_lines()
        if line.get_marker() in "os"
        for x, y in line.get_xydata()
    }
    expected = [standings.differences[i].estimate for i in standings.best_first]
    assert [x for x, _ in sorted(drawn, key=lambda place: place[1])] == expected
    assert len(set(drawn.values())) == 2
    legend = [text.get_text() for text in made.ax_.get_legend().get_texts()]
    assert legend == ["tied for first", "behind"]
    assert standings.plot(ax := plt.subplots()[1]) is ax


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_an_audit_draws_all_drawn_splits(kind, moons):
    X, y = moons if kind == "classes" else load_diabetes(return_X_y=True)
    train = np.random.default_rng(0).random(len(y)) < 0.7
    knn = KNN if kind == "classes" else KNeighborsRegressor(3)
    audit = audit_split(knn, X, y, train, ~train, n_runs=300)
    ax = audit.plot()
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)
    marked = {line.get_xdata()[0] for line in ax.get_lines()}
    assert marked == {audit.mean, audit.score}
    if kind == "classes":
        _, tail = ax.containers
        assert sum(bar.get_height() for bar in tail) == pytest.approx(audit.luck)
    ax.figure.canvas.draw()
    assert audit.plot(other := plt.subplots()[1]) is other


@pytest.mark.parametrize("size", [(4, 3), (6.4, 4.8)])
@pytest.mark.parametrize(
    ("n_classes", "name"), [(3, "{}"), (10, "{}"), (10, "a long class name {}"), (26, "class {}"),
                            (30, "a rather long name of the class {}"),
                            (60, "the class of things with the number {}")],
)  # fmt: skip
def test_names_of_classes_do_not_overlap(n_classes, name, size):
    y = np.repeat([name.format(i) for i in range(n_classes)], 3)
    evaluation = evaluate(KNN, np.random.default_rng(0).normal(size=(len(y), 2)), y, cv=3)
    ax = plt.subplots(figsize=size, layout="constrained")[1]
    assert evaluation.plot(ax) is ax
    ax.figure.canvas.draw()
    for axis in (ax.xaxis, ax.yaxis):
        shown = axis.get_ticklabels()
        assert len(shown) >= min(n_classes, 10)
        assert min(label.get_fontsize() for label in shown) >= 5
        boxes = [label.get_window_extent() for label in shown]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
    at = {label.get_text(): label.get_position()[0] for label in ax.get_xticklabels()}
    first = min(at, key=at.get)
    assert name.format(0).startswith(first.partition("…")[0])


def test_difficulty_is_every_sample_in_order(moons):
    made = SampleDifficultyDisplay.from_estimator(KNN, *moons, n_named=3)
    scores, y = made.evaluation.sample_scores, moons[1]
    for code, drawn in enumerate(lines_of(made)):
        np.testing.assert_array_equal(drawn[:, 1], np.sort(scores[y == code]))
    named = [text.get_text() for text in made.ax_.texts]
    assert named == [str(row) for row in made.evaluation.hardest(3)]


def test_difficulty_of_many_classes_and_of_regression():
    X, y = make_blobs(160, centers=8, cluster_std=3, random_state=0)
    made = SampleDifficultyDisplay.from_estimator(KNN, X, y)
    assert len(lines_of(made)) == 1
    X, y = load_diabetes(return_X_y=True)
    made = SampleDifficultyDisplay.from_estimator(KNeighborsRegressor(5), X, y)
    (drawn,) = lines_of(made)
    np.testing.assert_array_equal(drawn[:, 1], np.sort(-made.evaluation.sample_scores)[::-1])
    refused(lambda: made.plot(n_named=-1), "n_named")


def test_regions_are_the_predictions(moons):
    X, y = moons
    made = DecisionMapDisplay.from_estimator(KNN, X, y, grid_resolution=30)
    model = KNeighborsClassifier(5).fit(X, y)
    for i, j in ((0, 0), (29, 0), (10, 20), (29, 29)):
        place = [[made.grid_x[j], made.grid_y[i]]]
        assert made.regions[i, j] == model.predict(place)[0]
    assert made.prototypes is None


def test_prototypes_are_ringed(moons):
    X, y = moons
    kept = CondensedReduced().fit(X, y).sample_indices_
    made = DecisionMapDisplay.from_estimator(CondensedReduced(), X, y, grid_resolution=20)
    np.testing.assert_array_equal(made.prototypes, kept)
    rings = made.ax_.collections[-1]
    np.testing.assert_array_equal(np.asarray(rings.get_offsets()), X[kept])
    given = DecisionMapDisplay.from_estimator(KNN, X, y, prototypes=[3, 5], grid_resolution=20)
    assert given.prototypes.tolist() == [3, 5]


def test_prototypes_of_boosting_are_ringed(moons):
    model = UNNClassifier(n_neighbors=5)
    made = DecisionMapDisplay.from_estimator(model, *moons, grid_resolution=20)
    kept = UNNClassifier(n_neighbors=5).fit(*moons).prototype_indices_
    np.testing.assert_array_equal(made.prototypes, kept)


def test_a_map_takes_frames_text_labels_and_three_classes():
    X, y = load_iris(return_X_y=True, as_frame=True)
    frame = X[["petal length (cm)", "sepal width (cm)"]]
    names = np.array(["a", "b", "c"])[y]
    made = DecisionMapDisplay.from_estimator(KNN, frame, names, grid_resolution=40)
    assert made.ax_.get_xlabel() == "petal length (cm)"
    assert [t.get_text() for t in made.ax_.get_legend().get_texts()] == ["a", "b", "c"]
    assert set(np.unique(made.regions)) == {0, 1, 2}


def test_bad_maps_are_refused(moons):
    X, y = moons
    make = DecisionMapDisplay.from_estimator
    refused(lambda: make(KNN, np.zeros((9, 3)), np.arange(9) % 2), "X", "2 features", "3")
    refused(lambda: make(KNeighborsRegressor(), X, y), "estimator", "classifier")
    refused(lambda: make(KNN, X, y, grid_resolution=1), "grid_resolution")
    refused(lambda: make(KNN, X, y, prototypes=[120]), "prototypes", "119")
    refused(lambda: make(KNN, X, y, prototypes=["a"]), "prototypes")
    refused(lambda: make(KNN, X, y, prototypes=[3, 3]), "prototypes", "once")
    refused(lambda: make(KNN, X, y[:5]), "y", "120")
    refused(lambda: make(KNN, pd.DataFrame({"a": ["x"] * 120, "b": 1}), y), "X", "numeric")


@pytest.mark.parametrize("Display", FROM_ESTIMATOR[:5])
def test_other_things_are_refused(Display):
    refused(lambda: Display(3), "int")


def test_classes_differ_without_colours():
    looks = class_looks(7)
    assert len({look.marker for look in looks}) == 7
    assert len({str(look.line) for look in looks}) == 7
    assert len({(look.marker, str(look.line)) for look in class_looks(80)}) == 80


def test_the_first_colours_differ_in_greyscale_and_for_the_colour_blind():
    """Luminance of neighbours in the list differs, and so it does without the red cones."""
    # Viénot, Brettel & Mollon (1999): dichromats of the first kind, in linear RGB.
    without_red = np.array([[0.11238, 0.88762, 0], [0.11238, 0.88762, 0], [0.00401, -0.00401, 1]])
    colors = np.array([to_rgb(look.color) for look in class_looks(7)]) ** 2.2
    grey = colors @ [0.2126, 0.7152, 0.0722]
    assert np.abs(np.diff(grey[:3])).min() > 0.08
    seen = colors @ without_red.T
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(seen) for b in seen[:i]]
    assert min(gaps) > 0.05

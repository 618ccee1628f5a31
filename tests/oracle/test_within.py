"""Neighbours within a radius: every law and every score, against the enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import RadiusNeighborsClassifier, RadiusNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    CostMatrix,
    Episodes,
    FixedSize,
    LogLoss,
    evaluate,
    learning_curve,
    validation_curve,
)
from allsplits.exceptions import InvalidInputError
from oracle import enumerate as oracle
from oracle import outside, votes, within
from oracle.compare import assert_close, assert_within_bound
from oracle.datasets import dataset
from oracle.outside import asked, everybody

LAWS = [
    ("2 classes, unbalanced", FixedSize(4), lambda y: oracle.fixed_size(8, 4)),
    ("3 classes", KFold(3), lambda y: oracle.folds(8, 3)),
    ("4 classes, unbalanced", LeavePOut(2), lambda y: oracle.fixed_size(8, 6)),
    ("4 classes", LeaveOneOut(), lambda y: oracle.fixed_size(8, 7)),
    ("3 classes, one of one sample", FixedSize(1), lambda y: oracle.fixed_size(8, 1)),
    (
        "2 classes",
        ShuffleSplit(train_size=4, test_size=2),
        lambda y: oracle.train_and_test_size(8, 4, 2),
    ),
    ("3 classes, unbalanced", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
    ("2 classes", StratifiedKFold(3), lambda y: oracle.stratified_folds(y, 3)),
    (
        "3 classes",
        StratifiedShuffleSplit(test_size=3),
        lambda y: oracle.stratified_shuffles(y, 5, 3),
    ),
    (
        "4 classes, one of one sample",
        ClassCounts({0: 1, 1: 2, 2: 2, 3: 0}),
        lambda y: oracle.class_counts(y, {0: 1, 1: 2, 2: 2, 3: 0}),
    ),
    ("3 classes", Bernoulli(Fraction(2, 5)), lambda y: oracle.bernoulli(8, Fraction(2, 5), 1)),
]
every_law = pytest.mark.parametrize(
    ("labels", "cv", "enumeration"), LAWS, ids=[f"{type(cv).__name__}-{y}" for y, cv, _ in LAWS]
)
every_tie = pytest.mark.parametrize("label_ties", ["first", "share"])
#: A squared radius that leaves some alone, one that meets distances exactly, and everybody.
RADII = {"no ties": [16, 150], "duplicates": [0, 16, 10**6], "heavy ties": [1, 2]}


def costs_for(n_classes):
    return [
        [(3 * t - 2 * p) / 4 if t != p else 0.25 * t for p in range(n_classes)]
        for t in range(n_classes)
    ]


def check(
    data, cv, law, squared_radius, label_ties, outlier, *, groups=None, n_voting=None, tops=True
):
    """Every score at once, in floats and in Fractions, sample by sample."""
    C = len(set(data.labels))
    costs = costs_for(C)
    expected, weight, proba = within.score_votes(
        data.distances, data.labels, law, squared_radius, outlier=outlier, costs=costs,
        label_ties=label_ties, n_voting=n_voting,
    )  # fmt: skip
    tops = [f"top_{n}_accuracy" for n in range(2, C)] if tops else []
    scoring = ["accuracy", "neg_log_loss", LogLoss(0.5), "neg_brier_score", CostMatrix(costs)]
    model = RadiusNeighborsClassifier(squared_radius**0.5, outlier_label=outlier)
    options = {"cv": cv, "scoring": scoring + tops, "label_ties": label_ties, "groups": groups}
    found = evaluate(model, data.X, data.y, **options)
    exact = evaluate(model, data.X, data.y, exact=True, **options)
    nothing = [None] * C
    for each in (found, exact):
        assert_close(each.prediction_proba, [row or nothing for row in proba], "proba")
        for name in ("neg_log_loss", "neg_log_loss+0.5"):
            assert each[name].fraction is None
            assert abs(each[name].score - expected[name][0]) <= 4e-12
            assert each[name].error_bound <= 1e-10
    for name in ["accuracy", "neg_brier_score", "neg_cost", *tops]:
        score, samples = expected[name]
        assert exact[name].fraction == score, name
        assert exact[name].error_bound == 0
        assert_close(found[name].sample_scores, samples, name)
        assert_close(found[name].sample_weight, weight, name)
        assert_within_bound(found[name].score, score, found[name].error_bound, name, 1e-10)
        fractions = [f for f in exact[name].sample_fractions if f is not None]
        assert fractions == [f for f in samples if f is not None]


@every_tie
@every_law
@pytest.mark.parametrize("points", list(RADII))
def test_every_score_for_every_law(points, labels, cv, enumeration, label_ties):
    data = dataset(points, labels)
    law = enumeration(data.labels)
    for squared_radius in RADII[points]:
        check(data, cv, law, squared_radius, label_ties, data.labels[1])


@every_tie
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
@pytest.mark.parametrize(("n_way", "k_shot"), [(2, 1), (3, 1), (2, 2)])
def test_episodes(points, n_way, k_shot, label_ties):
    """Smoothing counts the classes of an episode; Brier is halved for two of them."""
    y = np.array(list("zxyzyxzy")) if k_shot == 2 else np.array([7, -1, 3, 0, -1, 7, 0, 3])
    data = dataset(points, "4 classes")._replace(y=y)
    if k_shot == 2:
        data = data._replace(X=np.vstack([data.X, data.X[:1] + 1]), y=np.array(list("zxyzyxzyx")))
    law = oracle.episodes(data.labels, n_way, k_shot)
    cv, squared_radius = Episodes(n_way, k_shot), RADII[points][1]
    for outlier in (data.labels[1], "most_frequent"):
        check(
            data, cv, law, squared_radius, label_ties, outlier, n_voting=n_way, tops=False
        )  # fmt: skip


GROUPS = [0, 1, 2, 3, 1, 0, 0, 0]


@every_tie
@pytest.mark.parametrize("points", list(RADII))
@pytest.mark.parametrize(
    ("cv", "n_test", "n_train"),
    [
        (LeaveOneGroupOut(), 1, None),
        (LeavePGroupsOut(2), 2, None),
        (GroupShuffleSplit(train_size=2, test_size=1), 1, 2),
    ],
    ids=["one", "two", "shuffled"],
)
def test_whole_groups(points, cv, n_test, n_train, label_ties):
    law = oracle.group_subsets(GROUPS, n_test, n_train)
    for labels in ("2 classes", "3 classes, unbalanced"):
        data = dataset(points, labels)
        for outlier in (data.labels[1], "most_frequent"):
            check(data, cv, law, RADII[points][0], label_ties, outlier, groups=GROUPS)
    y = np.array([0.5, -2, 7, 3.25, 1, 10, -4, 2])
    for squared_radius in RADII[points]:
        check_regression(data.X, y, cv, law, squared_radius, groups=GROUPS)


def test_whole_groups_asked_from_outside():
    data, groups = asked("no ties", "3 classes"), GROUPS
    law = everybody(data, oracle.group_subsets(groups, 2))
    expected, *_ = within.score_votes(
        data.distances, data.labels, law, 150, outlier="b", costs=costs_for(3), label_ties="first"
    )
    for exact in (False, True):
        found = evaluate(
            RadiusNeighborsClassifier(150**0.5, outlier_label="b"), data.references.X,
            data.references.y, cv=LeavePGroupsOut(2), groups=groups, exact=exact,
            scoring=["accuracy", "neg_brier_score"], **data.test_set(),
        )  # fmt: skip
        for name in found.scores:
            assert_close(found[name].score, expected[name][0], name)
            assert not exact or found[name].fraction == expected[name][0]


@every_tie
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_bags(points, label_ties):
    data = dataset(points, "3 classes")
    few = data._replace(X=data.X[:5], y=np.array(list("bcabc")))
    check(few, Bootstrap(), oracle.bootstrap(5), RADII[points][1], label_ties, "c")


@every_tie
@pytest.mark.parametrize("labels", ["3 classes, unbalanced", "2 classes, unbalanced"])
def test_the_most_frequent_class_of_each_training_set(labels, label_ties):
    data = dataset("no ties", labels)
    law = oracle.stratified_folds(data.labels, 2)
    check(data, StratifiedKFold(2), law, 16, label_ties, "most_frequent")
    if "2 classes" in labels:
        check(data, LeavePOut(2), oracle.fixed_size(8, 6), 16, label_ties, "most_frequent")


def test_a_label_that_no_sample_has_is_wrong():
    data = dataset("no ties", "3 classes")
    law = oracle.folds(8, 3)
    expected, _, proba = within.score_votes(
        data.distances, data.labels, law, 16, outlier="?", costs=costs_for(3), label_ties="first"
    )
    model = RadiusNeighborsClassifier(4, outlier_label="?")
    found = evaluate(model, data.X, data.y, cv=KFold(3), exact=True)
    assert found.fraction == expected["accuracy"][0]
    assert_close(found.prediction_proba, proba, "proba")
    assert found.prediction_proba.sum(axis=1).min() < 1


@every_tie
@every_law
def test_balanced_accuracy_and_the_recall_of_each_class(labels, cv, enumeration, label_ties):
    data = dataset("heavy ties", labels)
    law, outlier = enumeration(data.labels), data.labels[1]
    classes = sorted(set(data.labels))
    tested = sorted({data.labels[i] for split in law for i in split.test})

    def right(sample, train):
        voters = within.inside(data.distances[sample], train, 1)
        ballot = votes.votes_of([data.labels[i] for i in voters] or [outlier], classes)
        return votes.shares_of_win(ballot, label_ties)[classes.index(data.labels[sample])]

    scoring = ["balanced_accuracy", *(f"recall_of:{label}" for label in tested)]
    model = RadiusNeighborsClassifier(1, outlier_label=outlier)
    options = {"cv": cv, "scoring": scoring, "label_ties": label_ties}
    found = evaluate(model, data.X, data.y, **options)
    exact = evaluate(model, data.X, data.y, exact=True, **options)
    if isinstance(cv, (StratifiedKFold, StratifiedShuffleSplit, ClassCounts)):
        recalls = [votes.recall_of(law, data.labels, right, label) for label in tested]
        balanced = oracle.weighted_sum(
            *zip(
                *(
                    (split.weight, oracle.mean(right(i, split.train) for i in split.test))
                    for split in oracle.classes_equally(law, data.labels)
                ),
                strict=True,
            )
        )
    else:
        weight, of_samples = oracle.average(law, 8, right, lambda _, share: [share])
        recalls = []
        for label in classes:
            mine = [i for i in range(8) if data.labels[i] == label]
            total = sum(weight[i] for i in mine)
            recalls.append(sum(weight[i] * of_samples[i][0] for i in mine) / total)
        balanced = oracle.mean(recalls)
    assert exact.fraction == balanced
    assert_close(found.score, balanced, "balanced")
    for label, recall in zip(tested, recalls, strict=True):
        assert exact[f"recall_of:{label}"].fraction == recall
        assert_close(found[f"recall_of:{label}"].score, recall, "recall")


@pytest.mark.parametrize("points", list(RADII))
@pytest.mark.parametrize(
    ("cv", "law"),
    [
        (KFold(3), oracle.folds(8, 3)),
        (FixedSize(1), oracle.fixed_size(8, 1)),
        (LeaveOneOut(), oracle.fixed_size(8, 7)),
        (Bernoulli(Fraction(1, 3)), oracle.bernoulli(8, Fraction(1, 3), 1)),
    ],
    ids=str,
)
def test_regression(points, cv, law):
    data = dataset(points, "2 classes")
    y = np.array([0.5, -2, 7, 3.25, 1, 10, -4, 2])
    for squared_radius in RADII[points]:
        check_regression(data.X, y, cv, law, squared_radius)


def check_regression(X, y, cv, law, squared_radius, groups=None):
    score, samples = within.regress(oracle.squared_distances(X), y, law, squared_radius, 1.5)
    model = RadiusNeighborsRegressor(squared_radius**0.5)
    found = evaluate(model, X, y, cv=cv, outlier_target=1.5, groups=groups)
    assert_close(found.sample_scores, samples, "sample scores")
    assert_within_bound(found.score, score, found.error_bound, "score", 1e-10)
    exact = evaluate(model, X, y, cv=cv, outlier_target=1.5, exact=True, groups=groups)
    assert exact.fraction == score
    assert list(exact.sample_fractions) == samples


def test_regression_on_bags():
    X, y = dataset("heavy ties", "2 classes").X[:5], np.array([0.5, -2, 7, 3.25, 1])
    for squared_radius in (0, 1, 2):
        check_regression(X, y, Bootstrap(), oracle.bootstrap(5), squared_radius)


@every_tie
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_questions_from_outside(points, label_ties):
    data = asked(points, "3 classes", n=6)
    half, labels = Fraction(1, 2), data.references.labels
    laws = [
        (FixedSize(3), oracle.fixed_size(6, 3)),
        (ClassCounts(1), oracle.class_counts(labels, dict.fromkeys(labels, 1))),
        (Bernoulli(half), outside.independent(6, half, 1)),
        (None, oracle.fixed_size(6, 6)),
    ]
    scoring = ["neg_brier_score", "accuracy", "top_2_accuracy"]
    for cv, law in laws:
        expected, *_ = within.score_votes(
            data.distances, data.labels, everybody(data, law), RADII[points][1], outlier="b",
            costs=costs_for(3), label_ties=label_ties,
        )  # fmt: skip
        for exact in (False, True):
            found = evaluate(
                RadiusNeighborsClassifier(RADII[points][1] ** 0.5, outlier_label="b"),
                data.references.X, data.references.y, cv=cv, scoring=scoring, exact=exact,
                label_ties=label_ties, **data.test_set(),
            )  # fmt: skip
            for name in scoring:
                assert_close(found[name].score, expected[name][0], name)
                assert not exact or found[name].fraction == expected[name][0]


def test_curves_over_radii_and_sizes():
    data = dataset("no ties", "3 classes")
    model = RadiusNeighborsClassifier(5, outlier_label="a")
    options = {"scoring": ["accuracy", "neg_brier_score"], "exact": True}
    radii = [20.0, 4.0, 11.5]
    curve = validation_curve(model, data.X, data.y, radius=radii, cv=KFold(3), **options)
    other = validation_curve(
        model, data.X, data.y, param_name="radius", param_range=radii, cv=KFold(3), **options
    )
    sizes = learning_curve(model, data.X, data.y, train_sizes=[2, 5], **options)
    assert (curve.parameter, curve.best in radii) == ("radius", True)
    for name in options["scoring"]:
        singles = [
            evaluate(
                RadiusNeighborsClassifier(radius, outlier_label="a"), data.X, data.y, cv=KFold(3),
                scoring=name, exact=True,
            ).fraction
            for radius in radii
        ]  # fmt: skip
        assert list(curve[name].fractions) == list(other[name].fractions) == singles
        assert list(sizes[name].fractions) == [
            evaluate(model, data.X, data.y, cv=FixedSize(a), scoring=name, exact=True).fraction
            for a in (2, 5)
        ]


def test_nobody_alone_needs_no_outlier_label():
    """Exactly where no training set leaves anybody alone: 3 of 8 are held out."""
    data = dataset("duplicates", "2 classes")
    model = RadiusNeighborsClassifier(7.0)
    counts = [sum(d <= 49 for d in row) - 1 for row in data.distances]
    assert min(counts) >= 2
    evaluate(model, data.X, data.y, cv=LeavePOut(min(counts)), exact=True)
    with pytest.raises(InvalidInputError, match=r"outlier_label must be given .* 1 of 8 samples"):
        evaluate(model, data.X, data.y, cv=LeavePOut(min(counts) + 1), exact=True)

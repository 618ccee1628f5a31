"""Log-loss, Brier, top-K, costs, calibration and recall of a class, against the enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    LeavePOut,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    CostMatrix,
    Episodes,
    FixedSize,
    LogLoss,
    evaluate,
    validation_curve,
)
from oracle import enumerate as oracle
from oracle import votes
from oracle.checks import every_tie, smallest_train
from oracle.compare import assert_close, assert_within_bound
from oracle.datasets import dataset

GROUPS = [0, 1, 2, 3, 1, 0, 0, 0]
ONE_OF_EACH = ("3 classes", ClassCounts(1), lambda y: oracle.class_counts(y, dict.fromkeys(y, 1)))

# (labels, splitter, enumeration); groups of unequal size, classes of unequal size.
CASES = [
    ("2 classes, unbalanced", FixedSize(4), lambda y: oracle.fixed_size(8, 4)),
    ("3 classes", KFold(3), lambda y: oracle.folds(8, 3)),
    ("4 classes, unbalanced", LeavePOut(2), lambda y: oracle.fixed_size(8, 6)),
    ("3 classes, one of one sample", FixedSize(5), lambda y: oracle.fixed_size(8, 5)),
    ("2 classes", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
    ("3 classes, unbalanced", StratifiedKFold(2), lambda y: oracle.stratified_folds(y, 2)),
    (
        "3 classes",
        StratifiedShuffleSplit(test_size=3),
        lambda y: oracle.stratified_shuffles(y, 5, 3),
    ),
    ONE_OF_EACH,
    ("3 classes, unbalanced", LeaveOneGroupOut(), lambda y: oracle.group_subsets(GROUPS, 1)),
    ("4 classes", LeavePGroupsOut(2), lambda y: oracle.group_subsets(GROUPS, 2)),
]
every_case = pytest.mark.parametrize(
    ("labels", "cv", "enumeration"), CASES, ids=[f"{type(cv).__name__}-{y}" for y, cv, _ in CASES]
)
POINTS = ["no ties", "duplicates", "heavy ties", "all equally far"]


def costs_for(classes):
    """Gains as well as costs, and a price of being right."""
    C = len(classes)
    return [[(3 * t - 2 * p) / 4 if t != p else 0.25 * t for p in range(C)] for t in range(C)]


def check(data, cv, law, k, *, n_classes=None, **ties):
    """Every score at once, in floats and in Fractions, sample by sample."""
    labels = data.labels
    classes = sorted(set(labels))
    costs = costs_for(classes)
    expected, weight, own, said, hits = votes.score_votes(
        data.distances, labels, law, k, costs=costs, n_classes=n_classes, **ties
    )
    groups = GROUPS if "Group" in type(cv).__name__ else None
    tops = [f"top_{n}_accuracy" for n in range(1, len(classes))]
    if isinstance(cv, Episodes):
        tops = []
        expected = {name: found for name, found in expected.items() if "top" not in name}
    scoring = [
        "accuracy",
        "neg_log_loss",
        LogLoss(0.5),
        "neg_brier_score",
        CostMatrix(costs),
        *tops,
    ]
    options = {"cv": cv, "groups": groups, "scoring": scoring, **ties}
    knn = KNeighborsClassifier(k)
    found = evaluate(knn, data.X, data.y, **options)
    exact = evaluate(knn, data.X, data.y, exact=True, **options)
    for name, (score, samples) in expected.items():
        assert_close(found[name].score, score, name)
        assert_within_bound(found[name].score, score, found[name].error_bound, name, 1e-10)
        assert exact[name].fraction == score, name
        assert exact[name].error_bound == 0
        assert_close(found[name].sample_scores, samples, name)
        assert [f for f in exact[name].sample_fractions if f is not None] == [
            f for f in samples if f is not None
        ]
        assert_close(found[name].sample_weight, weight, name)
    C = n_classes or len(classes)
    for name, smoothing in (("neg_log_loss", None), ("neg_log_loss+0.5", 0.5)):
        score = votes.log_loss(weight, own, k, C, smoothing)
        for each in (found[name], exact[name]):
            assert abs(each.score - score) <= 1e-13 * 40 + each.error_bound
            assert each.error_bound <= 1e-10
            assert each.fraction is None
    check_calibration(found, exact, weight, said, hits)


def check_calibration(found, exact, weight, said, hits):
    shares = [
        tuple(
            sum((w * row[v] for w, row in zip(weight, rows, strict=True) if row), Fraction(0))
            for rows in (said, hits)
        )
        for v in range(len(next(row for row in said if row)))
    ]
    expected = [pair for pair in shares if pair[0]]
    assert list(exact.calibration().fractions) == expected
    curve = found.calibration()
    assert_close(np.column_stack([curve.predictions, curve.hits]), expected, "calibration")
    k = found.n_neighbors
    ece = sum(abs(h - Fraction(v, k) * n) for v, (n, h) in enumerate(shares))
    assert_close(curve.ece, ece, "ece")


@every_tie
@every_case
@pytest.mark.parametrize("points", POINTS)
def test_every_score_for_every_law(points, labels, cv, enumeration, ties):
    data = dataset(points, labels)
    law = enumeration(data.labels)
    largest = smallest_train(law)
    for k in sorted({2, min(4, largest)} if points == "heavy ties" else {1, min(3, largest)}):
        check(data, cv, law, k, **ties)


@every_tie
@pytest.mark.parametrize("points", ["no ties", "duplicates", "heavy ties"])
def test_independent_draws_and_the_bootstrap(points, ties):
    data = dataset(points, "3 classes")
    few = data._replace(X=data.X[:6], y=data.y[:6])
    check(few, Bootstrap(), oracle.bootstrap(6), 3, **ties)
    check(few, Bernoulli(0.4), oracle.bernoulli(6, 0.4, 2), 2, **ties)


@every_tie
@pytest.mark.parametrize("points", ["no ties", "heavy ties"])
def test_episodes(points, ties):
    """Smoothing counts the classes of an episode."""
    data = dataset(points, "4 classes")
    check(data, Episodes(2, 1), oracle.episodes(data.labels, 2, 1), 1, n_classes=2, **ties)


@every_tie
@pytest.mark.parametrize("points", ["duplicates", "heavy ties"])
def test_more_voters_in_episodes(points, ties):
    """Two shots of two classes of three; everybody votes with k = 4."""
    data = dataset(points, "4 classes")
    nine = data._replace(X=np.vstack([data.X, data.X[:1] + 1]), y=np.array(list("zxyzyxzyx")))
    law = oracle.episodes(nine.labels, 2, 2)
    for k in (2, 3, 4):
        check(nine, Episodes(2, 2), law, k, n_classes=2, **ties)
    check(data, Episodes(3, 1), oracle.episodes(data.labels, 3, 1), 2, n_classes=3, **ties)


@every_tie
@every_case
def test_recall_of_each_class(labels, cv, enumeration, ties):
    data = dataset("heavy ties", labels)
    law, k = enumeration(data.labels), 2
    groups = GROUPS if "Group" in type(cv).__name__ else None
    one_label = dict.fromkeys(sorted(set(data.labels)))
    scoring = ["balanced_accuracy", *(f"recall_of:{label}" for label in one_label)]
    options = {"cv": cv, "groups": groups, "scoring": scoring, **ties}
    found = evaluate(KNeighborsClassifier(k), data.X, data.y, **options)
    exact = evaluate(KNeighborsClassifier(k), data.X, data.y, exact=True, **options)
    plain = evaluate(
        KNeighborsClassifier(k), data.X, data.y, cv=cv, groups=groups, exact=True,
        scoring="balanced_accuracy", **ties,
    )  # fmt: skip
    assert exact.fraction == plain.fraction
    assert abs(found.score - plain.score) <= found.error_bound
    if isinstance(cv, (StratifiedKFold, StratifiedShuffleSplit, ClassCounts)):
        expected = {
            label: votes.recall_of(law, data.labels, right_in(data, k, ties), label)
            for label in one_label
        }
    else:
        answer = oracle.classify(data.distances, data.labels, law, k, **ties)
        expected = {
            label: row[c] / sum(row)
            for c, (label, row) in enumerate(zip(answer.classes, answer.confusion, strict=True))
        }
    for label, value in expected.items():
        assert exact[f"recall_of:{label}"].fraction == value
        assert_close(found[f"recall_of:{label}"].score, value, "recall")
        assert_close(found.recall_per_class[label], value, "recall")
    one = evaluate(KNeighborsClassifier(k), data.X, data.y, cv=cv, groups=groups, **ties)
    assert_close(list(one.recall_per_class.values()), list(expected.values()), "recall")


def right_in(data, k, ties):
    """P(right) of a sample with a training set."""
    classes = sorted(set(data.labels))

    def right(sample, train):
        ballots = oracle.nearest(data.distances[sample], train, k, ties["distance_ties"])
        shares = [
            votes.shares_of_win(
                votes.votes_of([data.labels[i] for i in voters], classes), ties["label_ties"]
            )
            for voters in ballots
        ]
        return oracle.mean(share[classes.index(data.labels[sample])] for share in shares)

    return right


@pytest.mark.parametrize("cv", [KFold(3), StratifiedKFold(2)], ids=["folds", "stratified"])
def test_curves_have_every_score_at_every_k(cv):
    data = dataset("duplicates", "3 classes")
    law = oracle.folds(8, 3) if isinstance(cv, KFold) else oracle.stratified_folds(data.labels, 2)
    scoring = {"loss": "neg_brier_score", "top": "top_2_accuracy", "right": "accuracy"}
    for exact in (False, True):
        curve = validation_curve(
            KNeighborsClassifier(), data.X, data.y, n_neighbors=[1, 2, 3, 4], cv=cv,
            scoring=scoring, exact=exact,
        )  # fmt: skip
        for k in (1, 2, 3, 4):
            expected, *_ = votes.score_votes(
                data.distances, data.labels, law, k, costs=costs_for("abc")
            )
            for name, of in scoring.items():
                assert_close(curve[name].scores[k - 1], expected[of][0], name)
                if exact:
                    assert curve[name].fractions[k - 1] == expected[of][0]


@every_tie
@pytest.mark.parametrize("points", ["no ties", "duplicates"])
@pytest.mark.parametrize("cv", [FixedSize(3), ClassCounts(1), LeavePGroupsOut(2)], ids=str)
def test_questions_from_outside(points, cv, ties):
    """A fixed test set: every training set of the references is asked about all of it."""
    data = dataset(points, "3 classes")
    n, groups = 5, [0, 1, 2, 2, 1]
    outside, labels = tuple(range(n, 8)), data.labels
    if isinstance(cv, FixedSize):
        trains = oracle.combinations(range(n), 3)
    elif isinstance(cv, ClassCounts):
        trains = [split.train for split in oracle.class_counts(labels[:n], dict.fromkeys("abc", 1))]
    else:
        trains = [split.train for split in oracle.group_subsets(groups, 2)]
    law = oracle.equally_likely((train, outside) for train in trains)
    costs = costs_for("abc")
    k = 1 if isinstance(cv, LeavePGroupsOut) else 3
    expected, weight, own, *_ = votes.score_votes(
        data.distances, labels, law, k, costs=costs, **ties
    )
    options = {
        "cv": cv, "X_test": data.X[n:], "y_test": data.y[n:], **ties,
        "scoring": ["neg_brier_score", CostMatrix(costs), "top_2_accuracy", "neg_log_loss+1"],
        "groups": groups if isinstance(cv, LeavePGroupsOut) else None,
    }  # fmt: skip
    for exact in (False, True):
        found = evaluate(KNeighborsClassifier(k), data.X[:n], data.y[:n], exact=exact, **options)
        for name in ("neg_brier_score", "neg_cost", "top_2_accuracy"):
            assert_close(found[name].score, expected[name][0], name)
            if exact:
                assert found[name].fraction == expected[name][0]
        loss = votes.log_loss(weight, own, k, 3, 1.0)
        assert_close(found["neg_log_loss+1"].score, loss, "log-loss")


def _scores_of(data, labels, k, **options):
    scoring = ["accuracy", "neg_brier_score", CostMatrix(costs_for(set(labels))), "top_2_accuracy"]
    return evaluate(KNeighborsClassifier(k), data, labels, scoring=scoring, **options)


def _agree_with_fractions(data, labels, k, **options):
    """`exact=True` is compared with the enumeration above, on data that can be enumerated."""
    exact = _scores_of(data, labels, k, exact=True, **options)
    found = _scores_of(data, labels, k, **options)
    for name in ("accuracy", "neg_brier_score", "neg_cost", "top_2_accuracy"):
        assert abs(Fraction(found[name].score) - exact[name].fraction) <= found[name].error_bound
        assert found[name].error_bound < 1e-11


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize(
    "cv", [FixedSize(9), KFold(4), ClassCounts(3), StratifiedKFold(4)], ids=str
)
def test_more_cases_than_go_side_by_side(cv, label_ties):
    """Long rows with tie groups and without, of one class and of several; several components."""
    rng = np.random.default_rng(5)
    labels = np.repeat(["a", "b", "c"], [17, 13, 8])
    near = rng.integers(0, 4, size=(38, 2)) + (labels == "b")[:, None]
    test, answers = [[1.0, 1.0], [2.0, 3.0], [0.2, 0.7]], ["a", "c", "b"]
    for k, ties in ((2, "average"), (5, "average"), (4, "index")):
        _agree_with_fractions(
            near.astype(float), labels, k, cv=cv, X_test=test, y_test=answers,
            label_ties=label_ties, distance_ties=ties,
        )  # fmt: skip


@pytest.mark.parametrize("label_ties", ["first", "share"])
@pytest.mark.parametrize("places", [1, 2, 4])
def test_tie_groups_of_few_and_of_many_parts(places, label_ties):
    """All in one place: 4 · 4 · 4 · 4 parts and more. In four: a handful."""
    labels = np.repeat(["a", "b", "c", "d"], [4, 4, 3, 3])
    X = (np.arange(14) % places)[:, None].astype(float)
    for k in (2, 5):
        _agree_with_fractions(X, labels, k, cv=FixedSize(7), label_ties=label_ties)


def test_components_in_several_turns(monkeypatch):
    """More of them than go side by side: here two at once are."""
    rng = np.random.default_rng(2)
    labels = np.repeat(list("abcd"), [11, 10, 9, 7])
    X = rng.integers(0, 5, size=(37, 2)).astype(float)
    at_once = _scores_of(X, labels, 3, cv=StratifiedKFold(5))
    monkeypatch.setattr("allsplits.exact.laws.class_counts.ballots.LANES", 2)
    in_turns = _scores_of(X, labels, 3, cv=StratifiedKFold(5))
    for name in ("accuracy", "neg_brier_score", "neg_cost", "top_2_accuracy"):
        assert in_turns[name].score == pytest.approx(at_once[name].score, rel=1e-14)

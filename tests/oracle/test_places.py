"""Tie groups of every size: all samples in one place, or in a few.

Internal sizes (lanes, nodes of a rule, depths, tables) change between these sizes, so that both
sides of each are seen.
"""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.model_selection import (
    KFold,
    LeaveOneGroupOut,
    LeavePGroupsOut,
    LeavePOut,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import (
    Bernoulli,
    Bootstrap,
    ClassCounts,
    CommitteeQuery,
    Episodes,
    FixedSize,
    evaluate,
    validation_curve,
)
from oracle import places as urns
from oracle.checks import check_curve
from oracle.compare import assert_within_bound

LAYOUTS = ["sorted", "alternating", "shuffled"]
SIZES = [(5, 5), (31, 33), (32, 33), (35, 35), (60, 90), (64, 64), (65, 64), (128, 1), (130, 260),
         (400, 400), (1000, 1000)]  # fmt: skip
every_layout = pytest.mark.parametrize("layout", LAYOUTS)
# Large sizes take longer: one layout each.
SIZES_IN_LAYOUTS = [
    (sizes, layout)
    for i, sizes in enumerate(SIZES)
    for j, layout in enumerate(LAYOUTS)
    if sum(sizes) < 300 or i % len(LAYOUTS) == j
]
every_label_tie = pytest.mark.parametrize("label_ties", ["first", "share"])


def labels_of(sizes, layout):
    y = np.repeat(np.arange(len(sizes)), sizes)
    if layout == "alternating":
        rank = np.concatenate([np.arange(size) for size in sizes])
        return y[np.lexsort((y, rank))]
    return np.random.default_rng(0).permutation(y) if layout == "shuffled" else y


def one_place(sizes, layout):
    y = labels_of(sizes, layout)
    return np.zeros((len(y), 2)), y


def others(sizes, own):
    return tuple(size - (c == own) for c, size in enumerate(sizes))


def mean_over_classes(weights, values):
    return sum((w * v for w, v in zip(weights, values, strict=True)), Fraction(0)) / sum(weights)


def check(found, expected, what, largest_bound=1e-10):
    assert np.isfinite(found.score), what
    assert_within_bound(found.score, expected, found.error_bound, what, largest_bound)


@pytest.mark.parametrize(("sizes", "layout"), SIZES_IN_LAYOUTS, ids=str)
@pytest.mark.parametrize(
    "cv",
    [KFold(5), LeavePOut(3), ShuffleSplit(test_size=0.5), FixedSize(9), Bernoulli(0.4)],
    ids=str,
)
def test_one_place_laws_without_classes(sizes, layout, cv):
    X, y = one_place(sizes, layout)
    for k in (1, 2, 5):
        for label_ties in ("first", "share"):
            values = [urns.vote_of(others(sizes, c), k, c, label_ties) for c in range(2)]
            expected = mean_over_classes(sizes, values)
            found = evaluate(KNeighborsClassifier(k), X, y, cv=cv, label_ties=label_ties)
            check(found, expected, f"k={k} {label_ties}")
            np.testing.assert_allclose(
                found.sample_scores, np.array(values, dtype=float)[y], rtol=0, atol=1e-11
            )
        curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=[k], cv=cv)
        expected = mean_over_classes(
            sizes, [urns.vote_of(others(sizes, c), k, c, "first") for c in range(2)]
        )
        check_curve(curve, [k], [expected], 1e-10)


def stratified_value(sizes, splits, k, label_ties, value=urns.vote_of):
    """The mean over folds of the mean over their test samples."""
    total = Fraction(0)
    for test in splits:
        train = tuple(size - t for size, t in zip(sizes, test, strict=True))
        extra = () if value is urns.hit_of else (label_ties,)
        values = [value(train, k, c, *extra) for c in range(len(sizes))]
        total += mean_over_classes(test, values)
    return total / len(splits)


def fold_counts(n_folds, y):
    folds = StratifiedKFold(n_folds).split(np.zeros((len(y), 1)), y)
    return [tuple(np.bincount(y[test]).tolist()) for _, test in folds]


@every_layout
@pytest.mark.parametrize("sizes", [s for s in SIZES if min(s) >= 5], ids=str)
@every_label_tie
def test_one_place_stratified_folds(sizes, layout, label_ties):
    X, y = one_place(sizes, layout)
    splits = fold_counts(5, y)
    for k in (1, 2, 3, 7):
        expected = stratified_value(sizes, splits, k, label_ties)
        found = evaluate(KNeighborsClassifier(k), X, y, label_ties=label_ties)
        check(found, expected, f"k={k}")
    hit = stratified_value(sizes, splits, 2, label_ties, urns.hit_of)
    check(evaluate(KNeighborsClassifier(1), X, y, scoring="recall@2"), hit, "recall@2")


@every_layout
@pytest.mark.parametrize("sizes", [(35, 35), (60, 90), (400, 400), (200, 300, 150)], ids=str)
def test_one_place_all_k_at_once(sizes, layout):
    X, y = one_place(sizes, layout)
    splits = fold_counts(5, y)
    ks = [1, 2, 3, 4, 9, 16, 29, 30]
    curve = validation_curve(KNeighborsClassifier(), X, y, n_neighbors=ks)
    check_curve(curve, ks, [stratified_value(sizes, splits, k, "first") for k in ks], 1e-10)


@every_layout
@pytest.mark.parametrize("sizes", [(40, 40), (100, 100), (400, 400), (70, 500, 90)], ids=str)
@pytest.mark.parametrize("shots", [1, 2, 5, 33])
def test_one_place_class_counts(sizes, layout, shots):
    X, y = one_place(sizes, layout)
    tests = tuple(size - shots for size in sizes)
    for k in {1, 2, 5, 9, shots * len(sizes)}:
        if k > shots * len(sizes) or k > 20:
            continue
        expected = stratified_value(sizes, [tests], k, "first")
        check(evaluate(KNeighborsClassifier(k), X, y, cv=ClassCounts(shots)), expected, f"k={k}")
    for rank in (1, 3):
        expected = stratified_value(sizes, [tests], min(rank, shots * len(sizes)), "", urns.hit_of)
        found = evaluate(
            KNeighborsClassifier(1), X, y, cv=ClassCounts(shots), scoring=f"recall@{rank}"
        )
        check(found, expected, f"R={rank}")


@every_layout
@pytest.mark.parametrize("size", [10, 64, 65, 150, 700])
def test_one_place_episodes_guess(size, layout):
    X, y = one_place((size, size, size), layout)
    for ways in (2, 3):
        for shots in (1, 5):
            found = evaluate(KNeighborsClassifier(1), X, y, cv=Episodes(ways, shots))
            check(found, Fraction(1, ways), f"{ways} ways, {shots} shots")


@every_layout
@pytest.mark.parametrize("sizes", [(31, 33), (60, 90), (400, 400)], ids=str)
@every_label_tie
def test_one_place_bootstrap(sizes, layout, label_ties):
    X, y = one_place(sizes, layout)
    for k in (1, 2, 5):
        values = [urns.vote_with_replacement(others(sizes, c), k, c, label_ties) for c in range(2)]
        found = evaluate(KNeighborsClassifier(k), X, y, cv=Bootstrap(), label_ties=label_ties)
        check(found, mean_over_classes(sizes, values), f"k={k}")


@every_layout
@pytest.mark.parametrize("sizes", [(31, 33), (60, 90), (500, 501), (700, 700)], ids=str)
def test_one_place_groups_of_one(sizes, layout):
    X, y = one_place(sizes, layout)
    for cv, k in ((LeaveOneGroupOut(), 5), (LeavePGroupsOut(2), 3)):
        values = [urns.vote_of(others(sizes, c), k, c, "first") for c in range(2)]
        found = evaluate(KNeighborsClassifier(k), X, y, cv=cv, groups=np.arange(len(y)))
        check(found, mean_over_classes(sizes, values), f"{cv}")


@pytest.mark.parametrize(("sizes", "layout"), SIZES_IN_LAYOUTS, ids=str)
def test_one_place_regression(sizes, layout):
    X, y = one_place(sizes, layout)
    n = len(y)
    for k in (1, 4):
        errors = []
        for c in range(2):
            own = others(sizes, c)
            # Mean and variance of the mean of k out of n - 1, of which own[1] are ones.
            p = Fraction(own[1], n - 1)
            spread = p * (1 - p) / k * (1 - Fraction(k - 1, n - 2))
            errors.append((p - c) ** 2 + spread)
        expected = -mean_over_classes(sizes, errors)
        for cv in (KFold(5), FixedSize(9)):
            found = evaluate(KNeighborsRegressor(k), X, y.astype(float), cv=cv)
            check(found, expected, f"k={k} {cv}")


@every_layout
@pytest.mark.parametrize("sizes", [(31, 33), (65, 64), (400, 400)], ids=str)
def test_one_place_committee(sizes, layout):
    X, y = one_place(sizes, layout)
    for k in (1, 3, 4):
        expected = float(urns.vote_of(sizes, k, 1, "first"))
        agreement = CommitteeQuery(n_neighbors=k).agreement(X, y, np.zeros((1, 2)))
        np.testing.assert_allclose(agreement, 2 * abs(expected - 0.5), rtol=0, atol=1e-10)


def test_many_classes_in_one_place():
    """Every class has three samples, so that all classes compete in one group."""
    n_classes = 40
    X, y = one_place((3,) * n_classes, "shuffled")
    train = (2,) * n_classes
    # 1-NN: two of the training samples are of the own class.
    found = evaluate(KNeighborsClassifier(1), X, y, cv=StratifiedKFold(3))
    check(found, Fraction(2, sum(train)), "1-NN")
    found = evaluate(KNeighborsClassifier(2), X, y, cv=StratifiedKFold(3), label_ties="share")
    # Both votes, or one of two: the other vote does not matter.
    both = Fraction(1, 80 * 79 // 2)
    one = Fraction(2 * 78, 80 * 79 // 2)
    check(found, both + one / 2, "2-NN")


PLACES = {
    2: [[0.0], [1.0]],
    3: [[0.0], [1.0], [3.0]],
    5: [[0.0], [1.0], [3.0], [7.0], [15.0]],
}


def some_places(n_places, per_cell, layout):
    """The same numbers of two classes, in another mix, in every place."""
    cells = [(per_cell + p, per_cell + 2 * (n_places - p)) for p in range(n_places)]
    y = np.concatenate([np.repeat([0, 1], cell) for cell in cells])
    where = np.concatenate([np.full(sum(cell), p) for p, cell in enumerate(cells)])
    order = np.arange(len(y))
    if layout == "sorted":
        order = np.argsort(y, kind="stable")
    if layout == "shuffled":
        order = np.random.default_rng(1).permutation(len(y))
    return np.array(PLACES[n_places])[where[order]], y[order], where[order], cells


def seen_from(cells, place, own, n_places):
    """The cells nearest first, without the sample itself."""
    x = np.array(PLACES[n_places])[:, 0]
    nearest = np.argsort(np.abs(x - x[place]), kind="stable")
    return [tuple(n - (p == place and c == own) for c, n in enumerate(cells[p])) for p in nearest]


@every_layout
@pytest.mark.parametrize(("n_places", "per_cell"), [(2, 3), (2, 20), (2, 36), (3, 12), (5, 8)])
def test_a_few_places(n_places, per_cell, layout):
    X, y, where, cells = some_places(n_places, per_cell, layout)
    n, sizes = len(y), np.bincount(y)
    train = n // 2
    shots = tuple(int(size) // 3 for size in sizes)
    for k in (1, 2, 4):
        plain = evaluate(KNeighborsClassifier(k), X, y, cv=FixedSize(train))
        counts = evaluate(KNeighborsClassifier(k), X, y, cv=ClassCounts(dict(enumerate(shots))))
        for place in range(n_places):
            for own in range(2):
                row = np.flatnonzero((where == place) & (y == own))[0]
                near = seen_from(cells, place, own, n_places)
                expected = urns.fixed_size_vote(near, train, k, own, "first")
                assert abs(plain.sample_scores[row] - float(expected)) < 1e-11
                expected = urns.class_counts_vote(near, shots, k, own, "first")
                assert abs(counts.sample_scores[row] - float(expected)) < 1e-11


@pytest.mark.parametrize(
    "cv", [None, StratifiedShuffleSplit(test_size=0.3), KFold(5), ClassCounts(20)]
)
def test_three_bits_do_not_depend_on_the_order_of_rows(cv):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (600, 3)).astype(float)
    y = (X.sum(axis=1) + rng.integers(0, 2, 600) > 1.5).astype(int)
    sort = np.lexsort((*X.T, y))
    # The classes appear in the same order: scikit-learn allocates folds by it.
    shuffled = rng.permutation(600)
    shuffled = np.append(sort[0], shuffled[shuffled != sort[0]])
    for k in (1, 5):
        found = [
            evaluate(KNeighborsClassifier(k), X[rows], y[rows], cv=cv) for rows in (sort, shuffled)
        ]
        bound = found[0].error_bound + found[1].error_bound
        assert abs(found[0].score - found[1].score) <= bound < 1e-10


@pytest.mark.parametrize("k", [100, 401, 1000])
@pytest.mark.parametrize("cv", [KFold(5), None], ids=["KFold", "stratified"])
@pytest.mark.filterwarnings("ignore::allsplits.exceptions.LongRunWarning")
def test_many_voters_in_one_place(k, cv):
    """Binomial weights of hundreds of voters neither overflow nor vanish."""
    sizes = (700, 660)
    X, y = one_place(sizes, "sorted")
    found = evaluate(KNeighborsClassifier(k), X, y, cv=cv)
    if cv is None:
        expected = stratified_value(sizes, fold_counts(5, y), k, "first")
    else:
        values = [urns.vote_of(others(sizes, c), k, c, "first") for c in range(2)]
        expected = mean_over_classes(sizes, values)
    check(found, expected, f"k={k}", 1e-9)

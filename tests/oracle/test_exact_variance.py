"""`exact=True`: the jackknife's variance as a fraction, for every law and vote that has one."""

from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from sklearn.model_selection import KFold, LeaveOneGroupOut, LeavePOut, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from allsplits import Bernoulli, Bootstrap, ClassCounts, Episodes, FixedSize, evaluate
from allsplits.exceptions import AllSplitsError
from oracle import enumerate as oracle
from oracle.datasets import dataset
from oracle.test_weighted import TARGETS, city_block
from oracle.test_without_one import counts_without, fewer, mixture

K, SHARE = 2, Fraction(1, 3)
DATA = dataset("heavy ties", "2 classes")
N = DATA.n
#: Votes by their names: estimator and score.
VOTES = {
    "equal": (KNeighborsClassifier(K, metric="manhattan"), "accuracy"),
    "weighted": (KNeighborsClassifier(K, weights="distance", metric="manhattan"), "accuracy"),
    "balanced": (KNeighborsClassifier(K, metric="manhattan"), "balanced_accuracy"),
    "recall": (KNeighborsClassifier(K, metric="manhattan"), f"recall@{K}"),
    "mean": (KNeighborsRegressor(K, metric="manhattan"), None),
    "weighted mean": (KNeighborsRegressor(K, weights="distance", metric="manhattan"), None),
}
MEANS = ("mean", "weighted mean")
SIZES = Counter(DATA.labels)
TRAIN = {label: size // 2 for label, size in SIZES.items()}
REST = {label: size - TRAIN[label] for label, size in SIZES.items()}
FOLDS = [
    (Fraction(1, 2), {label: SIZES[label] - test[label] for label in SIZES}, test)
    for test in oracle.stratified_fold_counts(DATA.labels, 2)
]
GROUPS = [0, 0, 1, 1, 1, 2, 3, 3]
#: Laws by their names: the splitter, and all splits when a sample, or a group, is gone.
LAWS = {
    "fixed size": (FixedSize(4), lambda j: oracle.fixed_size(N - 1, fewer(4, N))),
    "leave-p-out": (LeavePOut(2), lambda j: oracle.fixed_size(N - 1, N - 3)),
    "folds": (
        KFold(3),
        lambda j: mixture(N - 1, [(Fraction(2, 3), fewer(5, N)), (Fraction(1, 3), fewer(6, N))]),
    ),
    "independent draws": (Bernoulli(SHARE), lambda j: oracle.bernoulli(N - 1, SHARE, K)),
    "bootstrap": (Bootstrap(), lambda j: oracle.bootstrap(N - 1)),
    "class counts": (
        ClassCounts(TRAIN),
        lambda j: counts_without(DATA.labels, j, [(Fraction(1), TRAIN, REST)]),
    ),
    "stratified folds": (
        StratifiedKFold(2),
        lambda j: counts_without(DATA.labels, j, FOLDS),
    ),
    "episodes": (
        Episodes(2, 2),
        lambda j: oracle.episodes([DATA.labels[i] for i in oracle.all_but(N, [j])], 2, 2),
    ),
    "whole groups": (
        LeaveOneGroupOut(),
        lambda g: oracle.group_subsets([group for group in GROUPS if group != g], 1),
    ),
}


#: Pairs that are not offered: an error says so before anything is computed.
REFUSED = [
    *product(("bootstrap",), ("weighted", "weighted mean")),
    *product(("class counts", "stratified folds", "episodes"), MEANS),
]


def units(law: str) -> list[int]:
    """What is taken out together with each sample, by number."""
    return GROUPS if law == "whole groups" else list(range(N))


def score_without(law: str, vote: str, unit: int) -> Fraction:
    whole = oracle.given_distances(city_block(DATA.X))
    kept = [i for i in range(N) if units(law)[i] != unit]
    distances = tuple(tuple(whole[i][j] for j in kept) for i in kept)
    labels, targets = ([values[i] for i in kept] for values in (DATA.labels, TARGETS))
    splits = LAWS[law][1](unit)
    weigh = {"weigh": oracle.one_over_distance} if vote.startswith("weighted") else {}
    if vote in MEANS:
        return oracle.regress(distances, targets, splits, K, **weigh).score
    if vote == "recall":
        return oracle.recall(distances, labels, splits, K).score
    answer = oracle.classify(distances, labels, splits, K, **weigh)
    return answer.mean_recall if vote == "balanced" else answer.score


def ask(law: str, vote: str):
    estimator, scoring = VOTES[vote]
    y = TARGETS if vote in MEANS else DATA.y
    groups = GROUPS if law == "whole groups" else None
    return evaluate(
        estimator, DATA.X, y, cv=LAWS[law][0], groups=groups, scoring=scoring, exact=True
    )


@pytest.mark.parametrize(("law", "vote"), [p for p in product(LAWS, VOTES) if p not in REFUSED])
def test_every_law_and_vote(law, vote):
    expected = [score_without(law, vote, unit) for unit in sorted(set(units(law)))]
    n, mean = len(expected), oracle.mean(expected)
    found = ask(law, vote)
    assert list(found.fractions_without_one) == expected
    variance = Fraction(n - 1, n) * sum((one - mean) ** 2 for one in expected)
    assert found.jackknife_variance == variance > 0
    if law == "episodes":
        # Only Fractions leave out one sample after the other; the interval says what it is.
        assert found.interval().method == "sample scores"
        with pytest.raises(AllSplitsError, match="jackknife_variance"):
            found.interval(method="jackknife")
    else:
        interval = found.interval(method="jackknife")
        assert interval.standard_error**2 == pytest.approx(float(variance))


@pytest.mark.parametrize(("law", "vote"), REFUSED)
def test_what_is_not_offered_says_so(law, vote):
    with pytest.raises(AllSplitsError, match=r"weight|class"):
        ask(law, vote)

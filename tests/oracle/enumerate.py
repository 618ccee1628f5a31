"""The oracle: every split, one at a time, in exact fractions.

Nothing here is clever and nothing here is shared with the library. A law is the list of all its
splits with their probabilities. For each split and each of its test samples the training items are
ranked by exact distance, the nearest ones vote, and the outcomes are averaged as Fractions.
The cost is exponential in the number of samples: the data must be tiny, about eight samples.

A split is `Split(weight, train, test)`: the weights of a law sum to 1, `train` may hold an index
several times (bootstrap), and the test samples of a split share its weight equally.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from itertools import combinations, combinations_with_replacement, permutations, product
from math import factorial, prod
from typing import NamedTuple


class Split(NamedTuple):
    weight: Fraction
    train: tuple[int, ...]
    test: tuple[int, ...]


Law = list[Split]
Distances = tuple[tuple[Fraction | int, ...], ...]


# ---------------------------------------------------------------------------------------------
# Distances
# ---------------------------------------------------------------------------------------------


def squared_distances(points) -> Distances:
    """Exact squared Euclidean distances of rows of integers (the order is that of distances)."""
    rows = [[_exact(value) for value in _as_row(point)] for point in points]
    return tuple(
        tuple(sum((a - b) ** 2 for a, b in zip(one, other, strict=True)) for other in rows)
        for one in rows
    )


def given_distances(matrix) -> Distances:
    """A matrix of distances, entry by entry without rounding."""
    return tuple(tuple(_exact(value) for value in row) for row in matrix)


def _as_row(point):
    return point if hasattr(point, "__len__") else [point]


def _exact(value) -> Fraction | int:
    """A float, numpy number or int as the rational number it is."""
    number = Fraction(value.item() if hasattr(value, "item") else value)
    return int(number) if number.denominator == 1 else number


# ---------------------------------------------------------------------------------------------
# Laws: which splits there are, and how likely
# ---------------------------------------------------------------------------------------------


def equally_likely(pairs, weight: Fraction = Fraction(1)) -> Law:
    """The given (train, test) pairs, sharing `weight` equally."""
    pairs = list(pairs)
    return [Split(weight / len(pairs), tuple(train), tuple(test)) for train, test in pairs]


def all_but(n: int, chosen) -> tuple[int, ...]:
    return tuple(i for i in range(n) if i not in set(chosen))


def fixed_size(n: int, train_size: int) -> Law:
    """Every training set of one size; the test set is all the rest."""
    return equally_likely(
        (train, all_but(n, train)) for train in combinations(range(n), train_size)
    )


def train_and_test_size(n: int, train_size: int, test_size: int) -> Law:
    """Every pair of disjoint sets of the two sizes; some samples may be in neither."""
    return equally_likely(
        (train, test)
        for train in combinations(range(n), train_size)
        for test in combinations(all_but(n, train), test_size)
    )


def fold_sizes(n: int, n_folds: int) -> list[int]:
    """As equal as possible, the larger ones first."""
    return [n // n_folds + (fold < n % n_folds) for fold in range(n_folds)]


def folds(n: int, n_folds: int) -> Law:
    """Shuffled folds: each fold is a random set of its own size, and folds count equally."""
    return [
        split
        for size in fold_sizes(n, n_folds)
        for split in equally_likely(
            ((all_but(n, test), test) for test in combinations(range(n), size)),
            weight=Fraction(1, n_folds),
        )
    ]


def members_by(keys: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """The indices of every distinct key, keys in order of first appearance."""
    members: dict[Hashable, list[int]] = {}
    for index, key in enumerate(keys):
        members.setdefault(key, []).append(index)
    return members


def class_counts(labels, train_counts: dict, test_counts: dict | None = None, weight=Fraction(1)):
    """A given number of training (and of test) items from every class; None: test all the rest."""
    per_class = []
    for label, members in members_by(labels).items():
        options = []
        for train in combinations(members, train_counts[label]):
            rest = [i for i in members if i not in train]
            size = len(rest) if test_counts is None else test_counts[label]
            options += [(train, test) for test in combinations(rest, size)]
        per_class.append(options)
    return equally_likely(
        (
            (sum((train for train, _ in parts), ()), sum((test for _, test in parts), ()))
            for parts in product(*per_class)
        ),
        weight=weight,
    )


def stratified_fold_counts(labels, n_folds: int) -> list[dict]:
    """Test items of every class in every fold: scikit-learn deals the sorted labels out in turn."""
    in_blocks = [label for label, members in members_by(labels).items() for _ in members]
    return [
        {label: in_blocks[fold::n_folds].count(label) for label in members_by(labels)}
        for fold in range(n_folds)
    ]


def stratified_folds(labels, n_folds: int) -> Law:
    """Shuffled stratified folds; folds count equally."""
    sizes = Counter(labels)
    return [
        split
        for counts in stratified_fold_counts(labels, n_folds)
        for split in class_counts(
            labels,
            {label: sizes[label] - counts[label] for label in sizes},
            weight=Fraction(1, n_folds),
        )
    ]


def proportional_counts(sizes: dict, draws: int) -> list[tuple[Fraction, dict]]:
    """Allocate draws in proportion to class sizes, largest remainders first.

    Among equal remainders the classes that get one more are drawn at random, so the answer is a
    list of (probability, counts).
    """
    total = sum(sizes.values())
    shares = {label: Fraction(size * draws, total) for label, size in sizes.items()}
    counts = {label: int(share) for label, share in shares.items()}
    left = draws - sum(counts.values())
    for remainder in sorted({shares[label] - counts[label] for label in sizes}, reverse=True):
        tied = [label for label in sizes if shares[label] - int(shares[label]) == remainder]
        if len(tied) > left:
            choices = list(combinations(tied, left))
            return [(Fraction(1, len(choices)), _one_more(counts, some)) for some in choices]
        counts = _one_more(counts, tied)
        left -= len(tied)
    return [(Fraction(1), counts)]


def _one_more(counts: dict, labels) -> dict:
    return {label: count + (label in labels) for label, count in counts.items()}


def stratified_shuffles(labels, train_size: int, test_size: int) -> Law:
    """Training items in proportion to the classes, then test items in proportion to the rest."""
    sizes = Counter(labels)
    law = []
    for p_train, train_counts in proportional_counts(sizes, train_size):
        rest = {label: sizes[label] - train_counts[label] for label in sizes}
        for p_test, test_counts in proportional_counts(rest, test_size):
            law += class_counts(labels, train_counts, test_counts, weight=p_train * p_test)
    return law


def classes_equally(law: Law, labels) -> Law:
    """The same splits, but the classes in a test set count equally: balanced accuracy."""
    return [
        Split(split.weight / len(of_class), split.train, tuple(split.test[i] for i in members))
        for split in law
        for of_class in [members_by([labels[i] for i in split.test])]
        for members in of_class.values()
    ]


def group_subsets(groups, n_test: int, n_train: int | None = None) -> Law:
    """Whole groups: every set of `n_test` test groups and (None: all other) training groups."""
    members = members_by(groups)

    def items(chosen):
        return tuple(sorted(i for group in chosen for i in members[group]))

    pairs = []
    for test in combinations(members, n_test):
        others = [group for group in members if group not in test]
        for train in combinations(others, len(others) if n_train is None else n_train):
            pairs.append((items(train), items(test)))
    return equally_likely(pairs)


def episodes(labels, n_way: int, k_shot: int) -> Law:
    """Few-shot episodes: `n_way` random classes, `k_shot` random support items from each.

    The queries are all other items of those classes, and the classes of an episode count equally.
    """
    members = members_by(labels)
    ways = list(combinations(members, n_way))
    law = []
    for way in ways:
        supports = list(product(*(combinations(members[label], k_shot) for label in way)))
        weight = Fraction(1, len(ways) * len(supports) * n_way)
        for support in supports:
            train = sum(support, ())
            for label in way:
                queries = tuple(i for i in members[label] if i not in train)
                law.append(Split(weight, train, queries))
    return law


def galleries(labels, groups, per_class: int, exclude: str) -> Law:
    """Re-identification: a random gallery for every query, without what the query must not meet.

    Excluded are the items of the query's group, with "identity" only those of its class as well.
    From every class `per_class` of the remaining items are drawn (or all, if there are fewer);
    queries whose class has none left do not count, the others count equally.
    """
    law = []
    n = len(labels)
    for query in range(n):
        allowed = [
            i
            for i in all_but(n, [query])
            if groups[i] != groups[query] or (exclude == "identity" and labels[i] != labels[query])
        ]
        pools = members_by([labels[i] for i in allowed])
        if labels[query] not in pools:
            continue
        choices = product(
            *(combinations([allowed[i] for i in p], min(per_class, len(p))) for p in pools.values())
        )
        law += equally_likely((sum(gallery, ()), (query,)) for gallery in choices)
    return [split._replace(weight=split.weight / len({s.test for s in law})) for split in law]


def committee(n_labelled: int, p: int, n_queries: int) -> Law:
    """Every member of a leave-p-out committee is asked about all queries.

    The labelled samples come first; no query is ever in a training set.
    """
    queries = tuple(range(n_labelled, n_labelled + n_queries))
    return equally_likely(
        (train, queries) for train in combinations(range(n_labelled), n_labelled - p)
    )


def bernoulli(n: int, probability, at_least: int) -> Law:
    """Each item is in the training set independently; samples count equally.

    For every sample: given that it is held out and that `at_least` others are in the training set.
    """
    q = Fraction(probability)
    law = []
    for sample in range(n):
        chances = {
            train: q ** len(train) * (1 - q) ** (n - 1 - len(train))
            for size in range(at_least, n)
            for train in combinations(all_but(n, [sample]), size)
        }
        total = n * sum(chances.values())
        law += [Split(chance / total, train, (sample,)) for train, chance in chances.items()]
    return law


def bootstrap(n: int) -> Law:
    """n draws with replacement, given that the sample is out of the bag; samples count equally."""
    law = []
    for sample in range(n):
        for train in combinations_with_replacement(all_but(n, [sample]), n):
            orders = factorial(n) // prod(factorial(copies) for copies in Counter(train).values())
            law.append(Split(Fraction(orders, n * (n - 1) ** n), train, (sample,)))
    return law


# ---------------------------------------------------------------------------------------------
# One split, one sample: who votes, and what comes out
# ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=200_000)
def nearest(distances_from_sample: tuple, train: tuple, k: int, distance_ties: str):
    """The sets of k nearest training items that may vote, all equally likely.

    Copies in `train` count one by one. With fewer than k training items, all of them vote.
    """
    if distance_ties == "index":
        return [tuple(sorted(train, key=lambda i: (distances_from_sample[i], i))[:k])]
    ranked = sorted(train, key=lambda i: distances_from_sample[i])[:k]
    farthest = distances_from_sample[ranked[-1]]
    closer = tuple(i for i in ranked if distances_from_sample[i] < farthest)
    tied = tuple(i for i in train if distances_from_sample[i] == farthest)
    return [closer + some for some in combinations(tied, len(ranked) - len(closer))]


def nearest_by_permutation(distances_from_sample: tuple, train: tuple, k: int):
    """The same by brute force: the k first of every order of `train` that distance allows."""
    orders = permutations(train)
    key = [distances_from_sample[i] for i in train]
    allowed = (o for o in orders if [distances_from_sample[i] for i in o] == sorted(key))
    return [order[:k] for order in allowed]


@cache
def winners(voter_labels: tuple, label_ties: str) -> tuple:
    """The classes with the most votes: only the lowest of them if "first"."""
    counts = Counter(voter_labels)
    most = max(counts.values())
    tied = tuple(sorted(label for label, count in counts.items() if count == most))
    return tied[:1] if label_ties == "first" else tied


def one_over_distance(distances: list) -> list:
    """scikit-learn's "distance": 1/d, but voters at distance 0 count alone if there are any."""
    if 0 in distances:
        return [Fraction(distance == 0) for distance in distances]
    return [1 / Fraction(distance) for distance in distances]


def heaviest(voter_labels: tuple, weights: list, classes: list, label_ties: str) -> tuple:
    """The classes whose voters weigh most; all classes if nobody weighs anything.

    A sum that is less than the largest by no more than 1e-12 of the lightest vote is as large.
    """
    sums = {label: Fraction(0) for label in classes}
    for label, weight in zip(voter_labels, weights, strict=True):
        sums[label] += weight
    lightest = min((weight for weight in weights if weight), default=0)
    least = max(sums.values()) - lightest / Fraction(10**12)
    tied = tuple(label for label in classes if sums[label] >= least)
    return tied[:1] if label_ties == "first" else tied


@cache
def shares(elections: tuple, classes: tuple) -> list[Fraction]:
    """What each class gets of equally likely elections; tied winners of one share it equally."""
    return [mean(Fraction(label in won, len(won)) for won in elections) for label in classes]


def mean(values) -> Fraction:
    values = list(values)
    return Fraction(sum(values), len(values))


# ---------------------------------------------------------------------------------------------
# The average over all splits
# ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Answer:
    """What the library must return.

    `sample_weight` is the share of the average that each sample has; scores and probabilities of a
    sample are its weighted average over the splits that test it (None if none does).
    """

    score: Fraction
    sample_weight: list[Fraction]
    sample_scores: list[Fraction | None]
    classes: list | None = None
    prediction_proba: list[list[Fraction] | None] | None = None
    confusion: list[list[Fraction]] | None = None

    @property
    def mean_recall(self) -> Fraction:
        """The mean over classes of how often a sample of the class is right when it is tested."""
        return mean(row[c] / sum(row) for c, row in enumerate(self.confusion))


def average(law: Law, n: int, judge: Callable, values: Callable):
    """The share of every sample in the average, and its own average over the law.

    `judge(sample, train)` is the outcome of one case, in any hashable form: equal outcomes are
    counted first. `values(sample, outcome)` is then the list of numbers to average.
    """
    counted: dict[Fraction, list[Counter]] = {}
    for split in law:
        share = split.weight / len(split.test)
        outcomes = counted.setdefault(share, [Counter() for _ in range(n)])
        for sample in split.test:
            outcomes[sample][judge(sample, split.train)] += 1

    weight = [Fraction(0)] * n
    totals: list[list[Fraction] | None] = [None] * n
    for share, outcomes in counted.items():
        for sample, outcome_counts in enumerate(outcomes):
            for outcome, times in outcome_counts.items():
                weight[sample] += share * times
                new = [share * times * value for value in values(sample, outcome)]
                old = totals[sample] or [Fraction(0)] * len(new)
                totals[sample] = [a + b for a, b in zip(old, new, strict=True)]
    return weight, [
        None if total is None else [value / w for value in total]
        for total, w in zip(totals, weight, strict=True)
    ]


def classify(
    distances: Distances,
    labels,
    law: Law,
    k: int,
    *,
    distance_ties: str = "average",
    label_ties: str = "first",
    weigh: Callable[[list], list] | None = None,
) -> Answer:
    """k-nearest-neighbour classification, averaged over the law.

    `weigh` turns the distances of the voters into their weights; None: votes are equal.
    """
    classes = sorted(set(labels))

    def elect(sample, voters):
        of_voters = tuple(labels[i] for i in voters)
        if weigh is None:
            return winners(of_voters, label_ties)
        weights = weigh([distances[sample][i] for i in voters])
        return heaviest(of_voters, weights, classes, label_ties)

    def judge(sample, train):
        return tuple(
            elect(sample, voters) for voters in nearest(distances[sample], train, k, distance_ties)
        )

    def values(_, elections):
        return shares(elections, tuple(classes))

    weight, proba = average(law, len(labels), judge, values)
    right = [
        None if row is None else row[classes.index(label)]
        for row, label in zip(proba, labels, strict=True)
    ]
    confusion = [[Fraction(0)] * len(classes) for _ in classes]
    for label, w, row in zip(labels, weight, proba, strict=True):
        for c, share in enumerate(row or []):
            confusion[classes.index(label)][c] += w * share
    return Answer(
        score=weighted_sum(weight, right),
        sample_weight=weight,
        sample_scores=right,
        classes=classes,
        prediction_proba=proba,
        confusion=confusion,
    )


def recall(
    distances: Distances, labels, law: Law, rank: int, *, distance_ties: str = "average"
) -> Answer:
    """Right if any of the `rank` nearest training items has the sample's class."""

    def judge(sample, train):
        return tuple(
            any(labels[i] == labels[sample] for i in found)
            for found in nearest(distances[sample], train, rank, distance_ties)
        )

    def values(_, hits):
        return [mean(hits)]

    return _one_value_per_sample(average(law, len(labels), judge, values))


def regress(
    distances: Distances,
    targets,
    law: Law,
    k: int,
    *,
    distance_ties: str = "average",
    weigh: Callable[[list], list] = lambda distances: [1] * len(distances),
) -> Answer:
    """Minus the squared error of the (weighted) mean of the k nearest targets."""
    targets = [_exact(target) for target in targets]

    def predict(sample, voters):
        weights = weigh([distances[sample][i] for i in voters])
        return Fraction(weighted_sum(weights, [targets[i] for i in voters]), sum(weights))

    def judge(sample, train):
        return tuple(nearest(distances[sample], train, k, distance_ties))

    def values(sample, choices):
        predictions = [predict(sample, voters) for voters in choices]
        return [-mean((targets[sample] - prediction) ** 2 for prediction in predictions)]

    return _one_value_per_sample(average(law, len(targets), judge, values))


def _one_value_per_sample(averages) -> Answer:
    weight, values = averages
    scores = [None if value is None else value[0] for value in values]
    return Answer(weighted_sum(weight, scores), weight, scores)


def weighted_sum(weight, values) -> Fraction:
    return sum(
        (w * value for w, value in zip(weight, values, strict=True) if value is not None),
        Fraction(0),
    )

"""Scores of votes, one split at a time: what scikit-learn would make of each ballot.

Imports nothing from the library: a ballot is the list of the voters' labels.
"""

from fractions import Fraction
from math import log

from oracle import enumerate as oracle


def votes_of(labels_of_voters, classes):
    return [labels_of_voters.count(label) for label in classes]


def brier(votes, own, n_classes):
    """Σ (share - [own])², halved for two classes as in scikit-learn."""
    k = sum(votes)
    total = sum((Fraction(v, k) - (c == own)) ** 2 for c, v in enumerate(votes))
    return -total / 2 if n_classes == 2 else -total


def among_most_voted(votes, own, n, label_ties):
    """Whether the own class is among the n most voted; all orders of tied ones if "share"."""
    ahead = sum(v > votes[own] for v in votes)
    tied = [c for c, v in enumerate(votes) if v == votes[own]]
    if label_ties == "first":
        return Fraction(ahead + tied.index(own) < n)
    return Fraction(min(max(n - ahead, 0), len(tied)), len(tied))


def shares_of_win(votes, label_ties):
    winners = [c for c, v in enumerate(votes) if v == max(votes)]
    if label_ties == "first":
        winners = winners[:1]
    return [Fraction(c in winners, len(winners)) for c in range(len(votes))]


def score_votes(
    distances, labels, law, k, *, costs, distance_ties="average", label_ties="first", n_classes=None
):
    """{score: (value, value of each sample)} and the own votes, winners' votes and hits.

    `n_classes` is how many classes are in a split, if not all.
    """
    classes = sorted(set(labels))
    C, codes = len(classes), [classes.index(label) for label in labels]

    def judge(sample, train):
        return tuple(
            tuple(votes_of([labels[i] for i in voters], classes))
            for voters in oracle.nearest(distances[sample], train, k, distance_ties)
        )

    def of_ballot(own, votes):
        win = shares_of_win(votes, label_ties)
        tops = [among_most_voted(votes, own, n, label_ties) for n in range(1, C)]
        own_votes = [Fraction(votes[own] == v) for v in range(k + 1)]
        said = [Fraction(max(votes) == v) for v in range(k + 1)]
        hits = [win[own] * (max(votes) == v) for v in range(k + 1)]
        cost = -sum(Fraction(costs[own][c]) * win[c] for c in range(C))
        return [win[own], brier(votes, own, n_classes or C), cost, *tops, *own_votes, *said, *hits]

    def values(sample, ballots):
        rows = [of_ballot(codes[sample], votes) for votes in ballots]
        return [sum(column) / len(rows) for column in zip(*rows, strict=True)]

    weight, found = oracle.average(law, len(labels), judge, values)
    n_first = 3 + C - 1
    names = ["accuracy", "neg_brier_score", "neg_cost"]
    names += [f"top_{n}_accuracy" for n in range(1, C)]
    by_score = {}
    for place, name in enumerate(names):
        samples = [None if row is None else row[place] for row in found]
        by_score[name] = (oracle.weighted_sum(weight, samples), samples)
    own, said, hits = (
        [
            None if row is None else row[n_first + part * (k + 1) : n_first + (part + 1) * (k + 1)]
            for row in found
        ]
        for part in range(3)
    )
    return by_score, weight, own, said, hits


def log_loss(weight, own, k, n_classes, smoothing):
    """The average of log p over own votes; smoothing None clips as scikit-learn does."""
    eps = 2.0**-52
    total = 0.0
    for w, chances in zip(weight, own, strict=True):
        for v, chance in enumerate(chances or []):
            if smoothing is None:
                p = min(max(v / k, eps), 1 - eps)
            else:
                p = (v + smoothing) / (k + smoothing * n_classes)
            total += float(w * chance) * log(p)
    return total


def recall_of(law, labels, judge_right, label):
    """The mean over splits that test the class of the mean over its test samples."""
    total = weights = Fraction(0)
    for split in law:
        mine = [i for i in split.test if labels[i] == label]
        if mine:
            right = [judge_right(i, split.train) for i in mine]
            total += split.weight * sum(right) / len(mine)
            weights += split.weight
    return total / weights

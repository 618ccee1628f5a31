"""Votes of everybody within a radius, one split at a time. Imports nothing from the library."""

from fractions import Fraction
from math import log

from oracle import enumerate as oracle
from oracle import votes


def inside(distances_from_sample, train, squared_radius):
    """Training items within the radius; copies count one by one."""
    return tuple(i for i in train if distances_from_sample[i] <= squared_radius)


def most_frequent(labels_of_train):
    """The first of the most frequent labels of a training set, as scikit-learn has it."""
    return max(sorted(set(labels_of_train)), key=labels_of_train.count)


def log_share(v, s, n_classes, smoothing):
    if smoothing is None:
        return log(min(max(v / s, 2.0**-52), 1 - 2.0**-52))
    return log((v + smoothing) / (s + smoothing * n_classes))


def score_votes(
    distances, labels, law, squared_radius, *, outlier, costs, label_ties, n_voting=None
):
    """{score: (value, value of each sample)}, weights, and P(each class is predicted).

    Without a neighbour the outlier label has one vote; a label that is no class, none.
    `n_voting` is how many classes are in a split, if not all.
    """
    classes = sorted(set(labels))
    C, codes = len(classes), [classes.index(label) for label in labels]

    def judge(sample, train):
        voters = inside(distances[sample], train, squared_radius)
        if voters:
            return tuple(votes.votes_of([labels[i] for i in voters], classes))
        said = outlier
        if outlier == "most_frequent":
            said = most_frequent([labels[i] for i in train])
        return tuple(int(label == said) for label in classes)

    def values(sample, ballot):
        own = codes[sample]
        if not any(ballot):
            return [Fraction(0)] * (3 + C + C - 2) + [0.0, 0.0]
        win = votes.shares_of_win(ballot, label_ties)
        cost = -sum(Fraction(costs[own][c]) * win[c] for c in range(C))
        tops = [votes.among_most_voted(ballot, own, n, label_ties) for n in range(2, C)]
        logs = [log_share(ballot[own], sum(ballot), n_voting or C, s) for s in (None, 0.5)]
        return [win[own], votes.brier(ballot, own, n_voting or C), cost, *win, *tops, *logs]

    weight, found = oracle.average(law, len(labels), judge, values)
    names = ["accuracy", "neg_brier_score", "neg_cost", *(f"win {c}" for c in range(C))]
    names += [f"top_{n}_accuracy" for n in range(2, C)] + ["neg_log_loss", "neg_log_loss+0.5"]
    by_score = {}
    for place, name in enumerate(names):
        samples = [None if row is None else row[place] for row in found]
        by_score[name] = (oracle.weighted_sum(weight, samples), samples)
    proba = [None if row is None else row[3 : 3 + C] for row in found]
    return by_score, weight, proba


def regress(distances, targets, law, squared_radius, outlier):
    """Minus the squared error of the mean of those within the radius."""
    targets = [Fraction(float(target)) for target in targets]

    def judge(sample, train):
        return inside(distances[sample], train, squared_radius)

    def values(sample, voters):
        said = oracle.mean(targets[i] for i in voters) if voters else Fraction(outlier)
        return [-((targets[sample] - said) ** 2)]

    weight, found = oracle.average(law, len(targets), judge, values)
    samples = [None if row is None else row[0] for row in found]
    return oracle.weighted_sum(weight, samples), samples

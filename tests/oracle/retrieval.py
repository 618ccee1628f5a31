"""Scores of retrieval, one gallery and one order of its tied items at a time, in exact fractions.

Nothing here is shared with the library: a gallery is a list of relevant (True) and other (False)
items in the order of their distance, and every order that ties allow is written down.
"""

from fractions import Fraction
from functools import lru_cache
from itertools import combinations, groupby, product
from math import log2

from oracle.enumerate import Answer, Distances, Law, _one_value_per_sample, average, mean


def orders(relevance: list[tuple[Fraction | int, bool]], distance_ties: str) -> list[tuple]:
    """The sequences of relevant and other items that are possible, equally likely."""
    if distance_ties == "index":
        return [tuple(relevant for _, relevant in sorted(relevance, key=lambda pair: pair[0]))]
    groups = []
    for _, members in groupby(sorted(relevance), key=lambda pair: pair[0]):
        marks = [relevant for _, relevant in members]
        places = combinations(range(len(marks)), sum(marks))
        groups.append([tuple(i in chosen for i in range(len(marks))) for chosen in places])
    return [sum(parts, ()) for parts in product(*groups)]


@lru_cache(maxsize=100_000)
def score_of(found: tuple, scoring: str):
    """The score of one sequence, by the book."""
    name, _, cut = scoring.partition("@")
    relevant = sum(found)
    if relevant == 0:
        return Fraction(0)
    k = {"": len(found), "r": relevant}.get(cut) or int(cut)
    top = found[:k]
    if name == "precision":
        return Fraction(sum(top), k)
    if name == "recall":
        return Fraction(int(any(top)))
    if name == "item_recall":
        return Fraction(sum(top), relevant)
    if name == "r_precision":
        return Fraction(sum(found[:relevant]), relevant)
    if name == "mrr":
        return Fraction(1, top.index(True) + 1) if any(top) else Fraction(0)
    if name == "map":
        hits = [place for place, mark in enumerate(top, start=1) if mark]
        return sum((Fraction(sum(found[:p]), p) for p in hits), Fraction(0)) / relevant
    assert name == "ndcg"
    gain = sum(1 / log2(place + 1) for place, mark in enumerate(top, start=1) if mark)
    best = sum(1 / log2(place + 1) for place in range(1, min(k, relevant) + 1))
    return Fraction(gain) / Fraction(best)


def retrieve(
    distances: Distances, labels, law: Law, scoring: str, *, distance_ties: str = "average"
) -> Answer:
    """The score of every sample as a query, averaged over the galleries of the law."""

    def judge(sample, train):
        near = [(distances[sample][i], labels[i] == labels[sample]) for i in sorted(train)]
        return tuple(orders(near, distance_ties))

    def values(_, sequences):
        return [mean(score_of(found, scoring) for found in sequences)]

    return _one_value_per_sample(average(law, len(labels), judge, values))

"""Samples that share a few places: what every law × vote must say, by plain hypergeometric sums.

A neighbour is only a place and a class, so the probabilities are those of drawing balls from urns.
Imports nothing from the library.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod

#: How many items of each class.
Counts = tuple[int, ...]


def drawn_vectors(items: Counts, total: int) -> Iterator[tuple[Counts, int]]:
    """All (numbers of each class, ways) of a `total`-subset of the items."""
    *rest, last = items
    for some in product(*(range(min(count, total) + 1) for count in rest)):
        left = total - sum(some)
        if 0 <= left <= last:
            chosen = (*some, left)
            yield chosen, prod(comb(n, b) for n, b in zip(items, chosen, strict=True))


def value_of(votes: Counts, own: int, label_ties: str) -> Fraction:
    """What a vote is worth for a sample of class `own`."""
    winners = [c for c, count in enumerate(votes) if count == max(votes)]
    if label_ties == "share":
        return Fraction(int(own in winners), len(winners))
    return Fraction(int(winners[0] == own))


def vote_of(items: Counts, k: int, own: int, label_ties: str) -> Fraction:
    """P(right) if the voters are a uniform k-subset of the items."""
    total = sum(
        (ways * value_of(votes, own, label_ties) for votes, ways in drawn_vectors(items, k)),
        Fraction(0),
    )
    return total / comb(sum(items), k)


def hit_of(items: Counts, rank: int, own: int) -> Fraction:
    """P(own class is among a uniform subset of `rank` items)."""
    return 1 - Fraction(comb(sum(items) - items[own], rank), comb(sum(items), rank))


def vote_with_replacement(items: Counts, k: int, own: int, label_ties: str) -> Fraction:
    """P(right) if each of k voters is drawn from all items."""
    total = Fraction(0)
    for votes, _ in drawn_vectors((k,) * len(items), k):
        ways, left = 1, k
        for b in votes:
            ways *= comb(left, b)
            left -= b
        ways *= prod(n**b for n, b in zip(items, votes, strict=True))
        total += ways * value_of(votes, own, label_ties)
    return total / sum(items) ** k


def fixed_size_vote(
    places: Sequence[Counts], train: int, k: int, own: int, label_ties: str
) -> Fraction:
    """P(right) of a sample whose neighbours lie in these places, nearest first; `train` of all."""
    n_all = sum(map(sum, places))
    total = Fraction(0)
    before: Counts = (0,) * len(places[0])
    for place in places:
        s, g = sum(before), sum(place)
        for u in range(k):
            # u voters are nearer, and the place has at least the k - u that are missing.
            ways = sum(
                comb(g, t) * comb(n_all - s - g, train - u - t)
                for t in range(k - u, min(g, train - u) + 1)
            )
            if ways:
                for near, near_ways in drawn_vectors(before, u):
                    for here, here_ways in drawn_vectors(place, k - u):
                        votes = tuple(a + b for a, b in zip(near, here, strict=True))
                        share = Fraction(near_ways * here_ways * ways, comb(g, k - u))
                        total += share * value_of(votes, own, label_ties)
        before = tuple(a + b for a, b in zip(before, place, strict=True))
    return total / comb(n_all, train)


def class_counts_vote(
    places: Sequence[Counts], train: Counts, k: int, own: int, label_ties: str
) -> Fraction:
    """The same if `train[c]` items of each class are drawn."""
    everything = tuple(map(sum, zip(*places, strict=True)))
    whole = prod(comb(n, a) for n, a in zip(everything, train, strict=True))
    total = Fraction(0)
    left = everything
    # Ways to have drawn each vector of voters so far, fewer than k of them.
    states: dict[Counts, int] = {(0,) * len(train): 1}
    for place in places:
        left = tuple(a - b for a, b in zip(left, place, strict=True))
        new: dict[Counts, int] = {}
        for votes, ways in states.items():
            missing = k - sum(votes)
            for here in product(*(range(n + 1) for n in place)):
                rest = [a - v - h for a, v, h in zip(train, votes, here, strict=True)]
                if min(rest) < 0:
                    continue
                chosen = ways * prod(comb(n, h) for n, h in zip(place, here, strict=True))
                later = prod(comb(n, r) for n, r in zip(left, rest, strict=True))
                if sum(here) < missing:
                    key = tuple(v + h for v, h in zip(votes, here, strict=True))
                    new[key] = new.get(key, 0) + chosen
                elif chosen * later:
                    for last, last_ways in drawn_vectors(here, missing):
                        final = tuple(v + b for v, b in zip(votes, last, strict=True))
                        share = Fraction(chosen * later * last_ways, comb(sum(here), missing))
                        total += share * value_of(final, own, label_ties)
        states = new
    return total / whole

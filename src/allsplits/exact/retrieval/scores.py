"""The scores of retrieval, each as a sum over the relevant items that are in the gallery.

A relevant item at position p of the gallery, with u relevant ones before it, where the gallery
holds m relevant ones in all, counts

    precision@k    1/k              if p ≤ k
    item_recall@k  1/m              if p ≤ k
    recall@k       1                if p ≤ k and u = 0
    r_precision    1/m              if p ≤ m
    map            (u + 1)/p / m
    map@r          (u + 1)/p / m    if p ≤ m
    mrr, mrr@k     1/p              if u = 0 (and p ≤ k)
    ndcg, ndcg@k   1/log2(p + 1) / Σ_{q ≤ min(m, k)} 1/log2(q + 1)      (if p ≤ k)

So each is a *counting* of u (1, u + 1, or whether u is 0) times a weight of the position, which is
at most 1 in sum over the positions (recall@k: at each of them). A gallery without a relevant item
has nothing to count: 0.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.retrieval.kernel_types import COUNTED, FIRST, PLAIN

Floats = NDArray[np.float64]

#: name -> how relevant items before an item count; with @k there is a cut-off.
_COUNTING = {
    "precision@k": PLAIN,
    "item_recall@k": PLAIN,
    "recall@k": FIRST,
    "r_precision": PLAIN,
    "map": COUNTED,
    "map@r": COUNTED,
    "mrr": FIRST,
    "mrr@k": FIRST,
    "ndcg": PLAIN,
    "ndcg@k": PLAIN,
}
#: Up to 18 digits, which fit into 64 bits.
_CUT = re.compile(r"(.+)@([1-9][0-9]{0,17})")


@dataclass(frozen=True)
class RetrievalScore:
    """A score of retrieval by its name, "precision@k" for all cut-offs k."""

    name: str

    @classmethod
    def parse(cls, name: str) -> "tuple[RetrievalScore, int | None] | None":
        """(score, cut-off) that a name such as "precision@5" or "map@r" stands for, or None."""
        if name in _COUNTING and not name.endswith("@k"):
            return cls(name), None
        match = _CUT.fullmatch(name)
        if match is None or f"{match.group(1)}@k" not in _COUNTING:
            return None
        return cls(f"{match.group(1)}@k"), int(match.group(2))

    @property
    def counting(self) -> int:
        """What relevant items before an item do: PLAIN, COUNTED or FIRST."""
        return _COUNTING[self.name]

    @property
    def has_cut(self) -> bool:
        """Whether there is a cut-off k."""
        return self.name.endswith("@k")

    @property
    def stops_at_relevant(self) -> bool:
        """Whether the first m positions matter, m being the relevant items in the gallery."""
        return self.name in ("r_precision", "map@r")

    @property
    def whole_relevant(self) -> bool:
        """Whether the number of relevant items in the gallery matters."""
        return self.name not in ("precision@k", "recall@k", "mrr", "mrr@k")

    @property
    def rational(self) -> bool:
        """Whether its values are fractions (a logarithm is not)."""
        return not self.name.startswith("ndcg")

    def positions(self, gallery: int, relevant: int, ks: list[int]) -> int:
        """How many positions matter, for galleries with at most so many (relevant) items."""
        if self.has_cut:
            return min(max(ks), gallery)
        return min(relevant, gallery) if self.stops_at_relevant else gallery

    def in_all(self, size: int) -> int:
        """What so many positions count together, at most: errors of positions are that much."""
        return size if self.name == "recall@k" else 1

    def weights(self, relevant: int, ks: list[int], size: int) -> Floats:
        """[s, column]: what position s + 1 counts, in a gallery with so many relevant items."""
        place = np.arange(1.0, size + 1)[:, None]
        cut = np.array(ks, dtype=np.float64)[None, :]
        counted = np.ones((size, len(ks)))
        if self.has_cut:
            counted[place > cut] = 0
        if self.stops_at_relevant:
            counted[place[:, 0] > relevant] = 0
        family = self.name.partition("@")[0]
        if family == "precision":
            counted /= cut
        elif family == "mrr":
            counted /= place
        elif family == "ndcg":
            ideal = np.cumsum(1 / np.log2(np.arange(2.0, relevant + 2)))
            last = np.minimum(ks, relevant) if self.has_cut else np.full(len(ks), relevant)
            counted /= np.log2(place + 1) * ideal[last - 1]
        elif family != "recall":
            counted /= relevant * (place if family == "map" else 1.0)
        return counted

    def exact_weight(self, place: int, relevant: int, k: int) -> Fraction:
        """What a position counts, as a Fraction."""
        family = self.name.partition("@")[0]
        if (self.has_cut and place > k) or (self.stops_at_relevant and place > relevant):
            return Fraction(0)
        if family == "precision":
            return Fraction(1, k)
        if family == "mrr":
            return Fraction(1, place)
        if family == "recall":
            return Fraction(1)
        return Fraction(1, relevant * (place if family == "map" else 1))


def group_weights(
    score: RetrievalScore, before: tuple[int, int], tied: tuple[int, int], relevant: int, k: int
) -> Fraction:
    """What a tie group counts: the mean over all orders of its relevant and other items.

    `before` and `tied` are the (relevant, other) gallery items before the group, and in it. Each of
    its positions is as likely to hold each item.
    """
    (u, o), (a, b) = before, tied
    total = Fraction(0)
    for place in range(1, a + b + 1):
        weight = score.exact_weight(u + o + place, relevant, k)
        total += weight * _expected_count(score.counting, u, a, b, place)
    return total


def _expected_count(counting: int, u: int, a: int, b: int, place: int) -> Fraction:
    """What the item at a place of a random order of a relevant and b other items is expected to."""
    if counting == FIRST:
        value = Fraction(a if u == 0 else 0, a + b)
        for other in range(place - 1):
            value *= Fraction(b - other, a + b - 1 - other)
        return value
    here = Fraction(a, a + b)
    if counting == PLAIN or a + b == 1:
        return here * (u + 1 if counting == COUNTED else 1)
    return here * (u + 1 + Fraction((place - 1) * (a - 1), a + b - 1))

"""exact=True: all votes that those within a radius can give, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, factorial, prod
from typing import Any

from allsplits.exact.laws.class_counts.draws import class_pools
from allsplits.exact.question import Question
from allsplits.exact.within.draws import exact_masses
from allsplits.exact.within.records import WithinPlaces, votes_record
from allsplits.exceptions import UnsupportedError
from allsplits.splits import BootstrapLaw, CountsComponent

#: exact=True goes through all votes of a row.
_MOST_VOTES = 20_000


def _most_votes(law: Any, counts: Sequence[int]) -> list[int]:
    """The most votes that each class can have: copies count."""
    return [law.n_samples if isinstance(law, BootstrapLaw) and n else n for n in counts]


def check_votes(law: Any, rows: Sequence[Sequence[int]]) -> None:
    """Raise if the votes of a row can fall in too many ways to go through them."""
    most = max(prod(top + 1 for top in _most_votes(law, counts)) for counts in rows)
    if most > _MOST_VOTES:
        raise UnsupportedError(
            "exact=True goes through all votes that those within the radius can give: "
            f"{most:,} for one sample here, at most {_MOST_VOTES:,} are supported; use exact=False "
            "or a smaller radius"
        )


def vote_chances(
    question: Question, component: CountsComponent | None, counts: Sequence[int], own: int
) -> Iterator[tuple[list[int], Fraction]]:
    """(votes of all classes, their chance) of a row with so many candidates within the radius."""
    law, m = question.columns[0].law, sum(counts)
    copies = isinstance(law, BootstrapLaw)
    tops = _most_votes(law, counts)
    pools: list[int] = []
    if component is not None:
        others, own_pools = class_pools(question)
        pools = others[0].tolist()
        pools[own] = int(own_pools[0, own])
        # A class that is all in training is never asked.
        train = [min(pair) for pair in zip(component.train, pools, strict=True)]
        masses = {}
    else:
        masses = exact_masses(law, m)
    for votes in product(*(range(top + 1) for top in tops)):
        s = sum(votes)
        if component is not None:
            chance = prod(
                (
                    Fraction(comb(n, v) * comb(pool - n, a - v) if a >= v else 0, comb(pool, a))
                    for n, v, pool, a in zip(counts, votes, pools, train, strict=True)
                ),
                start=Fraction(1),
            )
        elif not masses.get(s):
            continue
        elif copies:
            ways = factorial(s) * prod(n**v for n, v in zip(counts, votes, strict=True))
            chance = masses[s] * Fraction(ways, m**s * prod(factorial(v) for v in votes))
        else:
            ways = prod(comb(n, v) for n, v in zip(counts, votes, strict=True))
            chance = masses[s] * Fraction(ways, comb(m, s))
        if chance:
            yield list(votes), chance


def exact_record(
    question: Question,
    component: CountsComponent | None,
    counts: Sequence[int],
    own: int,
    places: WithinPlaces,
) -> tuple[list[Any], Fraction]:
    """The record of votes that have voters, and P(no voter)."""
    record: list[Any] = [Fraction(0)] * places.width
    empty = Fraction(0)
    for votes, chance in vote_chances(question, component, counts, own):
        if not any(votes):
            empty += chance
            continue
        for place, value in enumerate(votes_record(votes, own, places, question.options.share)):
            if value:
                record[place] += chance * value
    return record, empty

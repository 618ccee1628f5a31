"""From records of votes to an answer, for laws under which a sample has one weight."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, FromFractions, FromRows, RowFractions, Solver
from allsplits.exact.ballots import Ballots, Values, certain_record
from allsplits.exact.kernel_types import Places
from allsplits.exact.question import Question
from allsplits.exceptions import UnsupportedError
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
#: Chances of votes of all classes.
VoteChances = dict[tuple[int, ...], Fraction]

#: exact=True goes through all ways to share out the votes.
_MOST_VECTORS = 20_000


def per_class(weight: Values, codes: NDArray[np.int32], n_classes: int) -> Values:
    """Weights that sum to 1 within each class, 0 in a class that is never tested."""
    totals: list[Any] = [0] * n_classes
    for code, w in zip(codes.tolist(), weight.tolist(), strict=True):
        totals[code] += w
    found = [w / totals[code] if w else w for code, w in zip(codes, weight, strict=True)]
    return np.array(found, dtype=weight.dtype)


def answer_from_ballots(ballots: Ballots) -> Answer:
    """The accuracy of ballots, with the ballots."""
    tested = ballots.weight != 0
    score = np.sum((ballots.right * ballots.weight)[tested])
    return Answer(
        scores=np.array([float(score)]),
        error_bound=np.array([ballots.error_bound]),
        fractions=(Fraction(score),) if ballots.exact else None,
        sample_weight=ballots.weight.astype(np.float64),
        prediction_proba=np.where(tested[:, None], ballots.proba.astype(np.float64), np.nan),
        ballots=ballots,
    )


def ballots_of(
    question: Question, records: Values, weight: Values, error_bound: float = 0.0
) -> Ballots:
    """All splits, or predictions, count equally; balanced, the classes do."""
    places, codes = question.places, question.own_codes
    recall = per_class(weight, codes, question.n_classes)
    present = len(np.unique(codes[weight != 0]))
    right = records[np.arange(len(codes)), codes]
    one = Fraction(1, present) if records.dtype == object else 1 / present
    return Ballots(
        places, records, codes, question.n_classes, weight, (right, recall * one), (right, recall),
        error_bound,
    )  # fmt: skip


def ballots_from_rows(
    question: Question, depth: int, part: Any, finish: Callable[[Floats], Ballots]
) -> Solver:
    """Records of all samples, put together from blocks."""

    def answer(records: Floats) -> Answer:
        return answer_from_ballots(finish(records))

    return Solver(depth, part, FromRows(question, answer, width=question.places.width))


# ------------------------------------------------------------ exact=True


def check_vectors(question: Question) -> None:
    """Raise if the votes can fall in too many ways to go through them."""
    k, C = question.columns[0].k, question.n_classes
    n_vectors = comb(k + C - 1, C - 1)
    if n_vectors > _MOST_VECTORS:
        raise UnsupportedError(
            f"exact=True goes through all ways to share {k} votes among {C} classes for this "
            f"score: {n_vectors:,} here, at most {_MOST_VECTORS:,} are supported; use exact=False"
        )


def record_of(chances: VoteChances, own: int, places: Places, share: bool) -> list[Fraction]:
    """The record of votes that are known by their chances."""
    record = [Fraction(0)] * places.width
    for votes, chance in chances.items():
        for place, value in enumerate(certain_record(list(votes), own, places, share)):
            if value:
                record[place] += chance * value
    return record


def ballots_in_fractions(
    question: Question,
    chances: Callable[[NeighborOrder, int], VoteChances],
    weight: list[Fraction],
    depth: int,
) -> Solver:
    """exact=True: the chances of all votes of a row, and what each sample counts."""
    check_vectors(question)

    def line(order: NeighborOrder, row: int) -> list[Fraction]:
        own = int(question.codes[order.sample_of(row)])
        return record_of(chances(order, row), own, question.places, question.options.share)

    def finish(lines: list[list[Fraction]]) -> Answer:
        weights = np.array(weight, dtype=object)
        return answer_from_ballots(ballots_of(question, np.array(lines, dtype=object), weights))

    return Solver(depth, RowFractions(line, question), FromFractions(finish))


def votes_within(
    k: int, before: list[int], tied: list[int]
) -> dict[tuple[int, ...], dict[int, int]]:
    """{votes of all classes: {i: ways to choose them with i items of the tie group}}."""
    states: dict[tuple[tuple[int, ...], int], int] = {((), 0): 1}
    for n, g in zip(before, tied, strict=True):
        found: dict[tuple[tuple[int, ...], int], int] = {}
        for (votes, i), ways in states.items():
            left = k - sum(votes)
            for b in range(min(n, left) + 1):
                for beta in range(min(g, left - b) + 1):
                    key = ((*votes, b + beta), i + beta)
                    found[key] = found.get(key, 0) + ways * comb(n, b) * comb(g, beta)
        states = found
    by_votes: dict[tuple[int, ...], dict[int, int]] = {}
    for (votes, i), ways in states.items():
        if sum(votes) == k:
            by_votes.setdefault(votes, {})[i] = ways
    return by_votes


def with_classes(ballots: Ballots, n_classes: int) -> Ballots:
    """The same where only some of the classes can have votes in one split."""
    return replace(ballots, n_classes=n_classes)

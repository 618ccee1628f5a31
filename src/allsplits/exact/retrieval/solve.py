"""Which computation answers a question of retrieval."""

import warnings
from collections.abc import Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Solver, by_law, in_fractions
from allsplits.exact.laws.class_counts.draws import class_pools, query_kinds
from allsplits.exact.laws.class_counts.fractions import ExactRow, solve_in_fractions
from allsplits.exact.laws.class_counts.weights import alike
from allsplits.exact.question import Question, class_weights
from allsplits.exact.retrieval.class_counts import solve_counted, solve_whole
from allsplits.exact.retrieval.fractions import exact_counted, exact_sized
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.retrieval.sizes import solve_sized
from allsplits.exceptions import InvalidInputError, NothingRelevantWarning, UnsupportedError
from allsplits.orders import NeighborOrder
from allsplits.splits import CountsLaw


def solve_counted_galleries(question: Question) -> Solver:
    """Galleries with fixed class counts."""
    score = _score(question)
    if not question.options.exact:
        return by_law(question, partial(solve_counted, score=score))

    def value(
        row: ExactRow, pools: Sequence[int], train: Sequence[int], k: int, share: bool
    ) -> Fraction:
        return exact_counted(score, row, pools, train, k)

    return by_law(question, partial(solve_in_fractions, value))


def solve_sized_galleries(question: Question) -> Solver:
    """Galleries of a fixed size."""
    score = _score(question)
    if not question.options.exact:
        return by_law(question, partial(_sized, score=score))
    per_class = class_weights(question)
    weights = [per_class[code] for code in question.codes.tolist()]
    if question.exclusion is not None:
        weights = alike(question)

    def line(order: NeighborOrder, row: int) -> list[Fraction | None]:
        if not weights[order.sample_of(row)]:
            return [None] * len(question.columns)
        return list(exact_sized(score, question, order, row))

    return in_fractions(question, line, question.n_candidates, weights[question.asked])


def _sized(question: Question, score: RetrievalScore) -> Solver:
    whole = question.columns[0].law.smallest_training_set == question.n_candidates
    return (solve_whole if whole else solve_sized)(question, score)


def _score(question: Question) -> RetrievalScore:
    """The score of a question that can be answered; queries without an answer are named."""
    score = question.retrieval
    if score is None:
        raise AssertionError("a question of retrieval has a score")
    if question.options.exact and not score.rational:
        raise UnsupportedError(
            f"exact=True must be False for scoring={score.name!r}, whose logarithms are no "
            "fractions: exact=False has the value within its error_bound"
        )
    relevant = _most_relevant(question)[question.asked]
    n_lone = int(np.sum(relevant == 0))
    if n_lone == question.n_questions:
        raise InvalidInputError(
            f"y must leave some query a relevant item, another sample of its class that is in a "
            f"gallery ({question.columns[0].law}); got none among {question.n_questions} queries"
        )
    if n_lone:
        warnings.warn(
            f"{n_lone} of {question.n_questions} queries have no relevant item in any gallery "
            "(their class has no other sample, or none is drawn): they score 0",
            NothingRelevantWarning,
            stacklevel=2,
        )
    return score


def _most_relevant(question: Question) -> NDArray[np.int64]:
    """Relevant items in the largest gallery, of each number; 1 for queries that do not count."""
    pools, codes = class_pools(question)[1], question.codes
    most = pools[query_kinds(question), codes]
    for law in {column.law for column in question.columns}:
        if isinstance(law, CountsLaw):
            trains = np.max([component.train for component in law.components], axis=0)
            most = np.minimum(most, trains[codes])
    if question.exclusion is not None:
        most = np.where(pools[query_kinds(question), codes] == 0, 1, most)
    if question.outside:
        # Of classes that no sample has another warning tells.
        most = np.where(question.class_sizes[codes] == 0, 1, most)
    return most

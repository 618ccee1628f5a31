"""Which computation answers a question of retrieval."""

from fractions import Fraction
from functools import partial

from allsplits.exact.answer import Solver, by_law, in_fractions
from allsplits.exact.laws.class_counts.fractions import ExactRow, solve_in_fractions
from allsplits.exact.question import Question, class_weights
from allsplits.exact.retrieval.class_counts import solve_counted
from allsplits.exact.retrieval.fractions import exact_counted, exact_sized
from allsplits.exact.retrieval.scores import RetrievalScore
from allsplits.exact.retrieval.sizes import solve_sized
from allsplits.exceptions import UnsupportedError


def solve_counted_galleries(question: Question) -> Solver:
    """Galleries with fixed class counts."""
    score = _score(question)
    if not question.options.exact:
        return by_law(question, partial(solve_counted, score=score))

    def value(
        row: ExactRow, pools: list[int], train: list[int], k: int, share: bool
    ) -> Fraction:
        return exact_counted(score, row, pools, train, k)

    return by_law(question, partial(solve_in_fractions, value))


def solve_sized_galleries(question: Question) -> Solver:
    """Galleries of a fixed size."""
    score = _score(question)
    if not question.options.exact:
        return by_law(question, partial(solve_sized, score=score))
    per_class = class_weights(question)
    weights = [per_class[code] for code in question.own_codes.tolist()]
    line = partial(exact_sized, score, question)
    return in_fractions(question, line, question.n_candidates, weights)


def _score(question: Question) -> RetrievalScore:
    score = question.retrieval
    if score is None:
        raise AssertionError("a question of retrieval has a score")
    if question.options.exact and not score.rational:
        raise UnsupportedError(
            f"exact=True must be False for scoring={score.name!r}, whose logarithms are no "
            "fractions: exact=False has the value within its error_bound"
        )
    return score

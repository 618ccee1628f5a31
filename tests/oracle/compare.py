"""Compare what the library returns with what the oracle counted."""

from fractions import Fraction

import numpy as np

from oracle.enumerate import Answer

TOLERANCE = 1e-12


def assert_close(actual, expected, what: str, tolerance: float = TOLERANCE) -> None:
    """Numbers, vectors or tables; None in `expected` means that nan is due."""
    actual = np.asarray(actual, dtype=float)
    expected = np.array(
        [
            np.nan if value is None else value
            for value in np.ravel(np.array(expected, dtype=object))
        ],
        dtype=float,
    ).reshape(actual.shape)
    np.testing.assert_allclose(
        actual, expected, rtol=0, atol=tolerance, equal_nan=True, err_msg=what
    )


def assert_within_bound(
    value: float, expected: Fraction, bound: float, what: str, largest_bound: float = TOLERANCE
) -> None:
    """The claimed bound holds, and it is small enough to mean something."""
    assert 0 <= bound <= largest_bound, f"{what}: error_bound is {bound}"
    off = abs(Fraction(float(value)) - expected)
    assert off <= Fraction(float(bound)), f"{what}: off by {float(off)}, claimed {bound}"


def assert_matches(
    evaluation, answer: Answer, what: str = "", largest_bound: float = TOLERANCE
) -> None:
    """A float evaluation agrees with the oracle in every field."""
    assert_close(evaluation.score, answer.score, f"score {what}")
    assert_within_bound(
        evaluation.score, answer.score, evaluation.error_bound, f"score {what}", largest_bound
    )
    _assert_fields_match(evaluation, answer, what)


def assert_matches_exactly(evaluation, answer: Answer, what: str = "") -> None:
    """An exact evaluation gives the oracle's very fractions."""
    assert isinstance(evaluation.fraction, Fraction)
    assert evaluation.fraction == answer.score, f"fraction {what}"
    assert evaluation.score == float(answer.score), f"score {what}"
    assert _untested_removed(evaluation.sample_fractions, answer) == tuple(
        score for score in answer.sample_scores if score is not None
    ), f"sample_fractions {what}"
    _assert_fields_match(evaluation, answer, what)


def _assert_fields_match(evaluation, answer: Answer, what: str) -> None:
    assert_close(evaluation.sample_scores, answer.sample_scores, f"sample_scores {what}")
    assert_close(evaluation.sample_weight, answer.sample_weight, f"sample_weight {what}")
    if answer.prediction_proba is None:
        assert evaluation.prediction_proba is None
        assert evaluation.confusion is None
        return
    assert list(evaluation.classes) == answer.classes
    nothing = [None] * len(answer.classes)
    proba = [nothing if row is None else row for row in answer.prediction_proba]
    assert_close(evaluation.prediction_proba, proba, f"prediction_proba {what}")
    assert_close(evaluation.confusion, answer.confusion, f"confusion {what}")


def _untested_removed(fractions, answer: Answer) -> tuple:
    return tuple(
        fraction
        for fraction, score in zip(fractions, answer.sample_scores, strict=True)
        if score is not None
    )

"""Scores by name: what counts as right, and what each sample counts.

One table of what a name means (`_BY_NAME`, `_BY_PATTERN`), and one of what is refused, with the
reason (`_NOT_LINEAR`): a score that is not a mean over test samples has no average in closed form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Any

from numpy.typing import NDArray

from allsplits._validation import shown
from allsplits.exact import RetrievalScore
from allsplits.exceptions import REPLAY_INSTEAD, InvalidInputError
from allsplits.model_selection._measures import Brier, CostMatrix, LogLoss, Measure, TopK


@dataclass(frozen=True)
class Scoring:
    """A score.

    Attributes
    ----------
    name : str
    rank : int or None
        R of recall@R.
    measure : Measure or None
        What the votes are worth; None where it counts who wins them.
    of_class : str or None
        The class whose recall it is, as text.
    code : int or None
        Its number, once the classes are known.
    given_name : str or None
        What the user calls it.
    retrieval : RetrievalScore or None
        What is scored in a gallery.
    cut : int or None
        Its cut-off k.
    """

    name: str
    rank: int | None = None
    measure: Measure | None = None
    of_class: str | None = None
    code: int | None = None
    given_name: str | None = None
    retrieval: RetrievalScore | None = None
    cut: int | None = None

    @classmethod
    def parse(cls, scoring: Any, *, regression: bool) -> Scoring:
        """Read a score; None is the usual one."""
        if scoring is None:
            return cls("neg_mean_squared_error" if regression else "accuracy")
        if isinstance(scoring, (LogLoss, CostMatrix)) and not regression:
            return cls(scoring.name, measure=scoring)
        name = scoring if isinstance(scoring, str) else ""
        if regression:
            if name != "neg_mean_squared_error":
                _refuse(scoring, "'neg_mean_squared_error' for a regressor")
            return cls(name)
        if name in _BY_NAME:
            return _BY_NAME[name]()
        for pattern, make in _BY_PATTERN:
            match = pattern.fullmatch(name)
            if match is not None:
                return make(match)
        found = RetrievalScore.parse(_OF_RETRIEVAL.get(name, name))
        if found is not None:
            return cls(_OF_RETRIEVAL.get(name, name), retrieval=found[0], cut=found[1])
        _refuse(scoring, _ALLOWED)
        raise AssertionError("refused above")

    @property
    def is_plain(self) -> bool:
        """Whether it only counts how often a sample is right: what all functions know."""
        return self.measure is None and self.of_class is None and self.retrieval is None

    @property
    def ignores_neighbors(self) -> bool:
        """Whether the number of voters plays no part."""
        return self.rank is not None or self.retrieval is not None

    @property
    def label(self) -> str:
        """How results call it."""
        return self.given_name or self.name

    def fitted(self, classes: NDArray[Any] | None) -> Scoring:
        """The score for these classes, or an error if it does not fit them."""
        if classes is None:
            return self
        if self.measure is not None:
            return replace(self, measure=self.measure.fitted(classes))
        if self.of_class is None:
            return self
        named = [str(label) for label in classes.tolist()]
        if self.of_class not in named:
            raise InvalidInputError(
                f"scoring={self.name!r} must name one of the classes {shown(classes)}; got "
                f"{shown(self.of_class)}"
            )
        return replace(self, code=named.index(self.of_class))


def read_scores(scoring: Any, *, regression: bool) -> tuple[Scoring, ...]:
    """One score, or several: a list, tuple or set of them, or a dict with names of one's own."""
    if isinstance(scoring, Mapping):
        found = [
            replace(Scoring.parse(each, regression=regression), given_name=str(name))
            for name, each in scoring.items()
        ]
    elif isinstance(scoring, (set, frozenset)):
        found = [Scoring.parse(each, regression=regression) for each in sorted(scoring, key=str)]
    elif isinstance(scoring, (list, tuple)):
        found = [Scoring.parse(each, regression=regression) for each in scoring]
    else:
        return (Scoring.parse(scoring, regression=regression),)
    names = [each.label for each in found]
    if not names:
        raise InvalidInputError("scoring must hold at least one score; got none")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InvalidInputError(
            f"scoring must hold each score once; got {shown(twice[0])} several times: a dict "
            "{name: score} gives names of your own"
        )
    return tuple(found)


def plain_score(scoring: Any, *, regression: bool) -> Scoring:
    """One score that only counts how often a sample is right, where others have no meaning yet."""
    if isinstance(scoring, (Mapping, list, tuple, set, frozenset)):
        raise InvalidInputError(
            f"scoring must be one score here; got {shown(list(scoring))}: evaluate (not of a "
            "Pipeline), validation_curve, learning_curve and the CV estimators take several"
        )
    found = Scoring.parse(scoring, regression=regression)
    if not found.is_plain:
        raise InvalidInputError(
            f"scoring must be 'accuracy', 'balanced_accuracy' or 'recall@R' here; got "
            f"{found.name!r}, which evaluate (not of a Pipeline), validation_curve, "
            "learning_curve and the CV estimators know"
        )
    return found


def ignores_neighbors(name: str) -> bool:
    """Whether the score of this name does not depend on the number of voters."""
    return name.startswith("recall@") or RetrievalScore.parse(name) is not None


def in_digits(score: float) -> str:
    """How a score is printed: six decimals, or six digits of a large squared error."""
    return f"{score:.6f}" if abs(score) < 1e6 else f"{score:.6g}"


# ------------------------------------------------------------ the table


def _measured(measure: Any) -> Scoring:
    return Scoring(measure.name, measure=measure)


def _smoothed(match: re.Match[str]) -> Scoring:
    return _measured(LogLoss(float(match.group(1))))


#: A name -> the score. scikit-learn's "top_k_accuracy" has k = 2.
_BY_NAME: dict[str, Callable[[], Scoring]] = {
    "accuracy": lambda: Scoring("accuracy"),
    "balanced_accuracy": lambda: Scoring("balanced_accuracy"),
    "neg_log_loss": lambda: _measured(LogLoss(None)),
    "neg_brier_score": lambda: _measured(Brier()),
    "top_k_accuracy": lambda: Scoring("top_k_accuracy", measure=TopK(2)),
}
#: Names with a number or a class in them. Up to 18 digits fit into 64 bits.
_BY_PATTERN: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Scoring]], ...] = (
    (re.compile(r"recall@([1-9][0-9]{0,17})"), lambda m: Scoring(m[0], rank=int(m[1]))),
    (re.compile(r"top_([1-9][0-9]{0,8})_accuracy"), lambda m: _measured(TopK(int(m[1])))),
    (re.compile(r"neg_log_loss\+([0-9.]+(?:e-?[0-9]+)?)"), _smoothed),
    (re.compile(r"recall_of:(.+)", re.DOTALL), lambda m: Scoring(m[0], of_class=m[1])),
)
#: What others call scores of retrieval.
_OF_RETRIEVAL = {
    "precision_at_1": "precision@1",
    "mean_average_precision": "map",
    "mean_average_precision_at_r": "map@r",
    "mean_reciprocal_rank": "mrr",
}
_ALLOWED = (
    "'accuracy', 'balanced_accuracy', 'recall@R' with R = 1, 2, … of at most 18 digits (for "
    "example 'recall@5'), 'recall_of:CLASS', 'neg_log_loss' (as scikit-learn clips it), "
    "'neg_log_loss+S' or LogLoss(S) (S added to all votes), 'neg_brier_score', 'top_K_accuracy', "
    "CostMatrix(costs), or a list of these; of retrieval 'precision@k', 'item_recall@k', "
    "'ndcg@k', 'mrr@k' with a number k, 'r_precision', 'map', 'map@r', 'mrr', 'ndcg'"
)

# ------------------------------------------------------------ what is refused, and why

_RATIO = "it is a ratio of counts of a whole test set, not a mean over its samples"
_PAIRS = "it compares pairs of test samples, which share a training set"
#: The beginning of a name -> why it has no average in closed form, and what comes nearest.
_NOT_LINEAR = {
    "f1": (_RATIO, "'recall_of:CLASS', 'balanced_accuracy' or CostMatrix"),
    "precision": (_RATIO, "'recall_of:CLASS' or CostMatrix"),
    "jaccard": (_RATIO, "'recall_of:CLASS' or CostMatrix"),
    "matthews_corrcoef": (_RATIO, "'balanced_accuracy' or CostMatrix"),
    "r2": (_RATIO, "'neg_mean_squared_error'"),
    "explained_variance": (_RATIO, "'neg_mean_squared_error'"),
    "d2_": (_RATIO, "'neg_mean_squared_error' or 'neg_log_loss'"),
    "roc_auc": (_PAIRS, "'neg_brier_score' or 'neg_log_loss'"),
    "average_precision": (_PAIRS, "'neg_brier_score' or 'recall@R'"),
    "neg_root_mean_squared_error": (
        "the mean of roots is not the root of the mean",
        "'neg_mean_squared_error', and take the root of the average",
    ),
    "neg_mean_absolute_error": (
        "the sign of an error depends on all voters together", "'neg_mean_squared_error'",
    ),
    "neg_median_absolute_error": ("it is a quantile of a test set", "'neg_mean_squared_error'"),
    "max_error": ("it is the largest of a test set", "'neg_mean_squared_error'"),
}  # fmt: skip
_ELSEWHERE = {
    "map@k": "there is no one MAP with a cut-off; 'map@r' stops at the number of relevant items",
    "recall": "the recall of one class is 'recall_of:CLASS', and their mean 'balanced_accuracy'",
}


def _refuse(scoring: Any, allowed: str) -> None:
    """Raise: what was given, why there is no exact average, what there is instead."""
    if callable(scoring):
        raise InvalidInputError(
            f"scoring must be {allowed}; got a function: it is given whole test sets, which have "
            f"no average in closed form. {REPLAY_INSTEAD}"
        )
    name = scoring if isinstance(scoring, str) else ""
    advice = _ELSEWHERE.get(re.sub("@[0-9]+$", "@k", name.removesuffix("_macro")))
    if advice is not None:
        raise InvalidInputError(f"scoring must be {allowed}; got {name!r}: {advice}")
    for start, (why, instead) in _NOT_LINEAR.items():
        if name.startswith(start) and "@" not in name:
            raise InvalidInputError(
                f"scoring={name!r} has no exact average over all splits: {why}. Exact is "
                f"{instead}. {REPLAY_INSTEAD}"
            )
    raise InvalidInputError(f"scoring must be {allowed}; got {shown(scoring)}. {REPLAY_INSTEAD}")


def score_limits(scoring: str) -> tuple[float, float]:
    """The least and the largest value that a score can have; "" is a difference of scores."""
    if scoring == "neg_cost":
        return -inf, inf
    if scoring.startswith("neg_"):
        return -inf, 0.0
    return (0.0, 1.0) if scoring else (-inf, inf)

"""Scores of a split: the usual ones from compiled sums, all others by calling scikit-learn's.

The sums are those of `_kernels_scores`: right answers, answers and tested samples of each class;
areas under the curve of each class; log losses; errors of means; and samples with a voter of their
class. The formulas here work on the sums
of many splits at once, and return what scikit-learn's scorers of the same name return.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer

from allsplits._validation import shown
from allsplits.exceptions import InvalidInputError, InvalidTypeError

Floats = NDArray[np.float64]
#: The sums of many splits, by name; the last axes are those of the kernel that fills them.
Sums = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Score:
    """A score by name.

    Attributes
    ----------
    name : str
    needs : tuple of str
        The sums that `formula` takes; none if the answers themselves are needed.
    formula : callable or None
        From sums to scores.
    scorer : callable or None
        Called with an estimator that knows its answers, the tested rows of X, and their y.
    standard : str
        What scikit-learn (or `evaluate`) calls it, if it is known by name.
    rank : int or None
        How many neighbours it looks at, if not as many as vote.
    same : object
        The score of `evaluate` that is the same on every split, if it is not known by name.
    """

    name: str
    needs: tuple[str, ...] = ()
    formula: Callable[[Sums], Floats] | None = None
    scorer: Callable[[Any, Any, Any], Any] | None = None
    standard: str = ""
    rank: int | None = None
    same: Any = None


class KnownClasses(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier whose answers are known; `votes` of one split, `given` are the winners."""

    def __init__(self, classes: Any = None, given: Any = None, votes: Any = None) -> None:
        self.classes, self.given, self.votes = classes, given, votes
        self.classes_ = classes

    def predict(self, X: Any) -> NDArray[Any]:
        """The winners."""
        labels: NDArray[Any] = self.classes[self.given]
        return labels

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the votes."""
        total = self.votes.sum(axis=1, keepdims=True)
        shares: Floats = self.votes / np.where(total > 0, total, 1)
        return shares

    def __sklearn_is_fitted__(self) -> bool:
        return True


class KnownMeans(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor whose answers are known."""

    def __init__(self, given: Any = None) -> None:
        self.given = given

    def predict(self, X: Any) -> Floats:
        """The means."""
        means: Floats = self.given
        return means

    def __sklearn_is_fitted__(self) -> bool:
        return True


# ---------------------------------------------------------------- formulas


def _ratio(part: Floats, whole: Floats) -> Floats:
    """part/whole, 0 where there is nothing: scikit-learn's zero_division."""
    return np.divide(part, whole, out=np.zeros(np.shape(part)), where=whole != 0)


def _parts(sums: Sums) -> tuple[Floats, Floats, Floats]:
    counts = sums["counts"].astype(np.float64)
    return counts[..., 0, :], counts[..., 1, :], counts[..., 2, :]


def _accuracy(sums: Sums) -> Floats:
    right, _, own = _parts(sums)
    shares: Floats = right.sum(axis=-1) / own.sum(axis=-1)
    return shares


def _balanced(sums: Sums) -> Floats:
    right, _, own = _parts(sums)
    mean: Floats = _ratio(right, own).sum(axis=-1) / (own > 0).sum(axis=-1)
    return mean


#: Twice, or once, the right answers over what: by the parts of `_parts`.
_RATIOS: dict[str, Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]] = {
    "precision": lambda right, given, own: (right, given),
    "recall": lambda right, given, own: (right, own),
    "f1": lambda right, given, own: (2 * right, given + own),
    "jaccard": lambda right, given, own: (right, given + own - right),
}


def _of_class(sums: Sums, *, ratio: str, positive: int) -> Floats:
    return _ratio(*_RATIOS[ratio](*_parts(sums)))[..., positive]


def _macro(sums: Sums, *, ratio: str) -> Floats:
    right, given, own = _parts(sums)
    values = _ratio(*_RATIOS[ratio](right, given, own))
    mean: Floats = values.sum(axis=-1) / (given + own > 0).sum(axis=-1)
    return mean


def _micro(sums: Sums, *, ratio: str) -> Floats:
    part, whole = _RATIOS[ratio](*_parts(sums))
    return _ratio(part.sum(axis=-1), whole.sum(axis=-1))


def _weighted(sums: Sums, *, ratio: str) -> Floats:
    right, given, own = _parts(sums)
    values = _ratio(*_RATIOS[ratio](right, given, own))
    mean: Floats = (values * own).sum(axis=-1) / own.sum(axis=-1)
    return mean


def _matthews(sums: Sums) -> Floats:
    right, given, own = _parts(sums)
    n = own.sum(axis=-1)
    together = right.sum(axis=-1) * n - (given * own).sum(axis=-1)
    spread = (n**2 - (given**2).sum(axis=-1)) * (n**2 - (own**2).sum(axis=-1))
    return _ratio(together, np.sqrt(spread))


def _area(sums: Sums, *, by_size: bool) -> Floats:
    """The mean over the classes that have a curve: some tested samples are theirs, others not."""
    areas = sums["areas"]
    if areas.shape[-1] == 2:
        return areas[..., 1]
    there = ~np.isnan(areas)
    own = np.where(there, _parts(sums)[2] if by_size else 1.0, 0.0)
    total = own.sum(axis=-1)
    mean = _ratio((np.where(there, areas, 0.0) * own).sum(axis=-1), total)
    return np.where(total > 0, mean, np.nan)


def _explained(sums: Sums, *, centred: bool) -> Floats:
    """R², or with the mean error taken out the explained variance."""
    error, square, _, _, about = np.moveaxis(sums["errors"], -1, 0)
    left = square - error**2 if centred else square
    share = _ratio(left, about)
    # A constant target is explained if there is no error at all, as scikit-learn has it.
    constant: Floats = np.where(left == 0, 1.0, 0.0)
    return np.where(about > 0, 1 - share, constant)


def reached(name: str, rank: int) -> Score:
    """recall@R: the share of samples with one of their class among the R nearest."""
    return Score(name, ("reached",), lambda sums: sums["reached"], standard=name, rank=rank)


def _class_scores() -> dict[str, Score]:
    found = [
        Score("accuracy", ("counts",), _accuracy),
        Score("balanced_accuracy", ("counts",), _balanced),
        Score("matthews_corrcoef", ("counts",), _matthews),
        Score("roc_auc", ("areas",), partial(_area, by_size=False)),
        Score("roc_auc_ovr", ("areas",), partial(_area, by_size=False)),
        Score("roc_auc_ovr_weighted", ("areas", "counts"), partial(_area, by_size=True)),
        Score("neg_log_loss", ("losses",), lambda sums: -sums["losses"]),
    ]
    for ratio in _RATIOS:
        for average, formula in (("macro", _macro), ("micro", _micro), ("weighted", _weighted)):
            found.append(Score(f"{ratio}_{average}", ("counts",), partial(formula, ratio=ratio)))
    return {score.name: score for score in found}


def _mean_scores() -> dict[str, Score]:
    errors = ("errors",)
    found = [
        Score("neg_mean_squared_error", errors, lambda sums: -sums["errors"][..., 1]),
        Score("neg_root_mean_squared_error", errors, lambda s: -np.sqrt(s["errors"][..., 1])),
        Score("neg_mean_absolute_error", errors, lambda sums: -sums["errors"][..., 2]),
        Score("neg_max_error", errors, lambda sums: -sums["errors"][..., 3]),
        Score("r2", errors, partial(_explained, centred=False)),
        Score("explained_variance", errors, partial(_explained, centred=True)),
    ]
    return {score.name: score for score in found}


CLASS_SCORES, MEAN_SCORES = _class_scores(), _mean_scores()


# ---------------------------------------------------------------- reading


def read_scores(scoring: Any, classes: NDArray[Any] | None) -> list[Score]:
    """What `scoring` names: one score, several names, or a dict of names and scores."""
    if isinstance(scoring, Mapping):
        named = dict(scoring)
    elif isinstance(scoring, (list, tuple, set)):
        named = {_name(one): one for one in scoring}
        if len(named) < len(scoring):
            names = [_name(one) for one in scoring]
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidInputError(
                f"scoring must hold each score once; got {shown(twice)} several times: a dict "
                "{name: score} gives names of your own"
            )
    else:
        return [read_score(scoring, classes)]
    if not named:
        raise InvalidInputError("scoring must name at least one score; got none")
    return [read_score(one, classes, str(name)) for name, one in named.items()]


def read_score(scoring: Any, classes: NDArray[Any] | None, name: str = "") -> Score:
    """One score by name or callable; None is the usual one. `classes` is None for regression."""
    if scoring is None:
        scoring = "neg_mean_squared_error" if classes is None else "accuracy"
    if isinstance(scoring, Score):
        return replace(scoring, name=name or scoring.name)
    if not isinstance(scoring, str):
        return Score(name or _name(scoring), scorer=_called(scoring))
    found = (MEAN_SCORES if classes is None else CLASS_SCORES).get(scoring)
    if scoring in _RATIOS and classes is not None:
        positive = _positive(scoring, classes)
        found = Score(scoring, ("counts",), partial(_of_class, ratio=scoring, positive=positive))
    if scoring == "roc_auc" and classes is not None and len(classes) != 2:
        raise InvalidInputError(
            f"scoring='roc_auc' needs two classes; got {len(classes)}: use 'roc_auc_ovr', "
            "'roc_auc_ovr_weighted' or 'roc_auc_ovo'"
        )
    if found is None:
        found = Score(scoring, scorer=_known(scoring))
    return Score(name or scoring, found.needs, found.formula, found.scorer, scoring)


def _name(scoring: Any) -> str:
    if isinstance(scoring, str):
        return scoring
    if isinstance(scoring, Score):
        return scoring.name
    function = getattr(scoring, "_score_func", scoring)
    return str(getattr(function, "__name__", type(scoring).__name__))


def _positive(scoring: str, classes: NDArray[Any]) -> int:
    """The class that counts as positive, 1, as in scikit-learn's scorer of that name."""
    if len(classes) != 2 or 1 not in classes.tolist():
        raise InvalidInputError(
            f"scoring={scoring!r} needs two classes, one of them called 1; got {shown(classes)}: "
            f"use '{scoring}_macro', or make_scorer with pos_label"
        )
    return int(np.flatnonzero(classes == 1)[0])


def _known(name: str) -> Callable[[Any, Any, Any], Any]:
    try:
        scorer: Callable[[Any, Any, Any], Any] = get_scorer(name)
    except ValueError as error:
        raise InvalidInputError(
            "scoring must be a name from sklearn.metrics.get_scorer_names(), a scorer, or a "
            f"function of (y_true, y_pred); got {shown(name)}"
        ) from error
    return scorer


def _called(function: Any) -> Callable[[Any, Any, Any], Any]:
    """A scorer as it is; a function of (y_true, y_pred) is called with the predictions."""
    if not callable(function):
        raise InvalidTypeError(
            "scoring must be a name, a callable, or several of them; got " + shown(function)
        )
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    needed = [
        one
        for one in signature(function).parameters.values()
        if one.kind in positional and one.default is Parameter.empty
    ]
    if len(needed) == 2:
        return lambda estimator, X, y: function(y, estimator.predict(X))
    if len(needed) != 3:
        raise InvalidTypeError(
            "scoring must be a function of (y_true, y_pred) or a scorer of (estimator, X, y); got "
            f"{_name(function)}, which needs {len(needed)} arguments"
        )
    scorer: Callable[[Any, Any, Any], Any] = function
    return scorer

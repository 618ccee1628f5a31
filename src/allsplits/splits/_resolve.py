"""From what users pass as `cv` to a law of the training set.

scikit-learn's own splitter objects are read for what they draw; the law is the distribution of
their training sets over all their random states.
"""

from collections.abc import Callable, Iterable, Sized
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import (
    GroupShuffleSplit,
    KFold,
    LeaveOneGroupOut,
    LeaveOneOut,
    LeavePGroupsOut,
    LeavePOut,
    RepeatedKFold,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from allsplits._validation import check_count, shown
from allsplits.exceptions import REPLAY_INSTEAD, InvalidInputError, InvalidTypeError
from allsplits.splits._counts import ClassCounts, CountsLaw
from allsplits.splits._episodes import EpisodeLaw, Episodes
from allsplits.splits._fixed import FixedSize, SizeLaw
from allsplits.splits._groups import GroupLaw, group_law, group_shuffle
from allsplits.splits._random import Bernoulli, BernoulliLaw, Bootstrap, BootstrapLaw
from allsplits.splits._stratified import stratified_folds, stratified_shuffle

#: What cv=None means, as in scikit-learn.
_DEFAULT_FOLDS = 5

Law = SizeLaw | CountsLaw | GroupLaw | EpisodeLaw | BernoulliLaw | BootstrapLaw


@dataclass(frozen=True)
class Samples:
    """What a law may depend on: how many samples, their classes, their groups.

    With `outside` the samples are references, which are asked by others: nobody is held out.
    """

    n_samples: int
    classes: NDArray[Any] | None = None
    codes: NDArray[np.int32] | None = None
    groups: NDArray[np.int32] | None = None
    outside: bool = False

    def labels(self, cv: Any) -> tuple[NDArray[Any], NDArray[np.int32]]:
        """Classes and codes, or an error for regression."""
        if self.classes is None or self.codes is None:
            raise InvalidInputError(
                f"cv={shown(cv)} stratifies by class and y has no classes here; use KFold, "
                "LeavePOut, ShuffleSplit or FixedSize, or name classes to draw from as strata"
            )
        return self.classes, self.codes


def resolve_cv(cv: Any, samples: Samples) -> Law:
    """Turn a law or a scikit-learn splitter into the law for these samples.

    For questions from outside it is the law of the training parts; None means all samples.
    """
    if samples.outside:
        whole = SizeLaw.of_size(samples.n_samples, samples.n_samples)
        return (whole if cv is None else _resolved(cv, samples)).without_tests()
    return _resolved(cv, samples)


def _resolved(cv: Any, samples: Samples) -> Law:
    if cv is None:
        return _default_folds(samples)
    if isinstance(cv, Integral) and not isinstance(cv, bool):
        why = f" for {samples.n_samples} samples"
        check_count("cv (number of folds)", cv, at_least=2, at_most=samples.n_samples, why=why)
        cv = (KFold if samples.codes is None else StratifiedKFold)(int(cv))
    for kind, reader in _READERS.items():
        # A subclass may draw differently: only the classes themselves are known.
        if type(cv) is kind:
            return reader(cv, samples)
    names = ", ".join(kind.__name__ for kind in _READERS)
    raise InvalidTypeError(
        f"cv must be None, a number of folds or one of {names}; got {_given(cv)}. {REPLAY_INSTEAD}"
    )


def is_law(cv: Any) -> bool:
    """Whether `cv` is a law, or stands for one."""
    whole = isinstance(cv, Integral) and not isinstance(cv, bool)
    return cv is None or whole or type(cv) in _READERS


def _default_folds(samples: Samples) -> Law:
    """Five folds, or an error for somebody who did not ask for five."""
    kind = "plain" if samples.codes is None else "stratified"
    try:
        return resolve_cv(_DEFAULT_FOLDS, samples)
    except InvalidInputError as error:
        raise InvalidInputError(
            f"cv was not given and means {_DEFAULT_FOLDS} {kind} folds, which do not fit: {error}. "
            "Pass as cv another number of folds, or a splitter such as LeaveOneOut()"
        ) from error


def _given(cv: Any) -> str:
    """What was passed as cv; splits that are already drawn are counted, not printed."""
    if isinstance(cv, (str, bytes, type)) or not isinstance(cv, Iterable):
        return shown(cv)
    number = f" of {len(cv)}" if isinstance(cv, Sized) else ""
    return (
        f"a {type(cv).__name__}{number}. Splits that are already drawn are a few of all: pass the "
        "splitter that draws them"
    )


def _leave_p_out(p: int, n: int) -> SizeLaw:
    check_count("p (of LeavePOut)", p, at_least=1, at_most=n - 1, why=f" for {n} samples")
    return SizeLaw.of_size(n, n - p)


def _shuffle_split(cv: ShuffleSplit, samples: Samples) -> SizeLaw:
    n = samples.n_samples
    try:
        # A copy with a seed of its own: reading sizes must not move the user's random state.
        copy = ShuffleSplit(1, test_size=cv.test_size, train_size=cv.train_size, random_state=0)
        train, test = next(copy.split(np.zeros((n, 1))))
    except ValueError as error:
        raise InvalidInputError(f"cv={shown(cv)} does not fit {n} samples: {error}") from error
    return SizeLaw.of_size(n, len(train), len(test))


def _folds(n_folds: int, n: int) -> SizeLaw:
    check_count("n_splits (folds)", n_folds, at_least=2, at_most=n, why=f" for {n} samples")
    return SizeLaw.of_folds(n, n_folds)


_READERS: dict[type, Callable[[Any, Samples], Law]] = {
    FixedSize: lambda cv, s: cv.resolve(s.n_samples, outside=s.outside),
    ClassCounts: lambda cv, s: cv.resolve(*s.labels(cv), outside=s.outside),
    Episodes: lambda cv, s: cv.resolve(*s.labels(cv), outside=s.outside),
    Bernoulli: lambda cv, s: cv.resolve(s.n_samples),
    Bootstrap: lambda cv, s: cv.resolve(s.n_samples),
    LeaveOneOut: lambda cv, s: _leave_p_out(1, s.n_samples),
    LeavePOut: lambda cv, s: _leave_p_out(cv.p, s.n_samples),
    ShuffleSplit: _shuffle_split,
    KFold: lambda cv, s: _folds(cv.n_splits, s.n_samples),
    RepeatedKFold: lambda cv, s: _folds(cv.cvargs["n_splits"], s.n_samples),
    StratifiedKFold: lambda cv, s: stratified_folds(cv.n_splits, s.labels(cv)[1]),
    RepeatedStratifiedKFold: lambda cv, s: stratified_folds(cv.cvargs["n_splits"], s.labels(cv)[1]),
    StratifiedShuffleSplit: lambda cv, s: stratified_shuffle(cv, *s.labels(cv)),
    LeaveOneGroupOut: lambda cv, s: group_law(s.groups, 1, None, cv),
    LeavePGroupsOut: lambda cv, s: group_law(s.groups, cv.n_groups, None, cv),
    GroupShuffleSplit: lambda cv, s: group_shuffle(cv, s.groups),
}

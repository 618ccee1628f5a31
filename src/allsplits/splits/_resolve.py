"""From what users pass as `cv` to a law of the training set.

scikit-learn's own splitter objects are read for what they draw; the law is the distribution of
their training sets over all their random states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, LeaveOneOut, LeavePOut, RepeatedKFold, ShuffleSplit

from allsplits._validation import check_count
from allsplits.exceptions import InvalidInputError, InvalidTypeError
from allsplits.splits._fixed import FixedSize, SizeLaw

__all__ = ["resolve_cv"]


def resolve_cv(cv: Any, n_samples: int) -> SizeLaw:
    """Turn a law or a scikit-learn splitter into the law for this many samples."""
    if isinstance(cv, FixedSize):
        return cv.resolve(n_samples)
    for splitter, reader in _READERS.items():
        # A subclass may draw differently: only the classes themselves are known.
        if type(cv) is splitter:
            return reader(cv, n_samples)
    if cv is None or isinstance(cv, int):
        raise InvalidInputError(
            f"cv={cv!r} means stratified folds: pass KFold({cv or 5}) from scikit-learn instead"
        )
    names = ", ".join(splitter.__name__ for splitter in _READERS)
    raise InvalidTypeError(
        f"cv must be FixedSize(...) or one of scikit-learn's {names}; got {cv!r}"
    )


def _leave_p_out(p: int, n: int) -> SizeLaw:
    check_count("p (of LeavePOut)", p, at_least=1, at_most=n - 1, why=f" for {n} samples")
    return SizeLaw.of_size(n, n - p)


def _shuffle_split(cv: ShuffleSplit, n: int) -> SizeLaw:
    try:
        # A copy with a seed of its own: reading sizes must not move the user's random state.
        copy = ShuffleSplit(1, test_size=cv.test_size, train_size=cv.train_size, random_state=0)
        train, test = next(copy.split(np.zeros((n, 1))))
    except ValueError as error:
        raise InvalidInputError(f"cv={cv!r} does not fit {n} samples: {error}") from error
    return SizeLaw.of_size(n, len(train), len(test))


def _folds(n_folds: int, n: int) -> SizeLaw:
    check_count("n_splits (folds)", n_folds, at_least=2, at_most=n, why=f" for {n} samples")
    return SizeLaw.of_folds(n, n_folds)


_READERS: dict[type, Callable[[Any, int], SizeLaw]] = {
    LeaveOneOut: lambda cv, n: _leave_p_out(1, n),
    LeavePOut: lambda cv, n: _leave_p_out(cv.p, n),
    ShuffleSplit: _shuffle_split,
    KFold: lambda cv, n: _folds(cv.n_splits, n),
    RepeatedKFold: lambda cv, n: _folds(cv.cvargs["n_splits"], n),
}

"""Strata of a regressor: classes that a law draws from, and that targets do not have."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_labels, shown
from allsplits.exceptions import InvalidInputError
from allsplits.splits import Law


def read_strata(
    strata: Any, n_samples: int
) -> tuple[NDArray[Any] | None, NDArray[np.int32] | None]:
    """The strata and the number of each sample's; None where there are none."""
    if strata is None:
        return None, None
    return check_labels(strata, n_samples, several=False, name="strata")


def refuse_unused_strata(strata: Any, cv: Any, law: Law) -> None:
    """Raise if strata are given for a law that draws from all samples alike."""
    if strata is not None and law.kind != "class counts":
        raise InvalidInputError(
            "strata must be None for a cv that draws from all samples alike; StratifiedKFold, "
            f"StratifiedShuffleSplit and ClassCounts draw from strata; got cv={shown(cv)}"
        )


def refuse_strata(strata: Any) -> None:
    """Raise if strata are given for a classifier, whose classes are its strata."""
    if strata is not None:
        raise InvalidInputError(
            "strata must be None for a classifier: stratified folds and ClassCounts draw from the "
            "classes of y"
        )

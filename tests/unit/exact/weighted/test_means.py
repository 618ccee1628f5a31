"""Which numbers of voters matter in a prefix, beside plain binomial coefficients."""

from math import comb

import numpy as np
import pytest
from sklearn.model_selection import KFold, LeavePOut

from allsplits.exact.masses import Column, prefixes_for
from allsplits.exact.weighted.means import subset_windows
from allsplits.splits import Samples, resolve_cv


def share_of(prefixes, column, j, u):
    """P(the voters lie within a prefix of at least j items, u of them among the first j)."""
    k = int(prefixes.ks[column])
    return sum(
        prefixes.masses[column, longer]
        * comb(j, u) * comb(longer - j, k - u) / comb(longer, k)
        for longer in range(max(j, k), prefixes.depth + 1)
    )  # fmt: skip


@pytest.mark.parametrize("cv", [KFold(4), KFold(7), LeavePOut(3), LeavePOut(30)])
@pytest.mark.parametrize("tol", [1e-15, 1e-6, 0.0])
@pytest.mark.parametrize("ks", [[1], [5], [1, 2, 3, 9]])
def test_what_is_left_out(cv, tol, ks):
    law = resolve_cv(cv, Samples(40))
    prefixes = prefixes_for([Column(k, law) for k in ks], tol)
    lows, highs = subset_windows(prefixes, tol)
    assert np.all(np.diff(lows) >= 0)
    assert np.all(np.diff(highs) >= 0)
    for column, k in enumerate(ks):
        left_out = sum(
            share_of(prefixes, column, j, u)
            for j in range(prefixes.depth + 1)
            for u in range(k + 1)
            if not lows[j] <= u <= highs[j]
        )
        assert left_out <= tol / 4
    if tol == 1e-6:
        assert lows[-1] > 0 or max(ks) == 1

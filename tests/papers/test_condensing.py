"""Condensing on pendigits beside what R's class package keeps there."""

import numpy as np

from allsplits import CondensedReduced
from papers.data_files import data_file

#: R 4.2.2, class 7.3-21: set.seed(s); reduce.nn(X, condense(X, y, trace = FALSE), y) on all rows,
#: s = 1, 2, 3, 4. Its order of passes is random.
KEPT_BY_R = (371, 371, 363, 372)


def test_no_more_prototypes_than_r_and_no_training_error():
    table = np.loadtxt(data_file("pendigits.csv"), delimiter=",", skiprows=1)
    X, y = table[:, :16], table[:, -1]
    model = CondensedReduced().fit(X, y)
    assert len(model.sample_indices_) <= min(KEPT_BY_R)
    assert model.n_contradictions_ == 0
    assert np.array_equal(model.predict(X), y)

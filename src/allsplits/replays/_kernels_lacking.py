"""Compiled: which folds of a mask lack a class, in training or in test."""

from numba import njit


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def count_lacking(labels, folds, copies, n_folds, tally):
    """How many folds lack a class; tally[0 or 1, c] is room for training and tested samples."""
    lacking = 0
    for fold in range(n_folds):
        tally[:] = 0
        for sample in range(len(labels)):
            if folds[sample] == fold:
                tally[1, labels[sample]] += 1
            else:
                tally[0, labels[sample]] += copies[sample]
        complete = True
        for c in range(tally.shape[1]):
            complete &= tally[0, c] > 0 and tally[1, c] > 0
        lacking += not complete
    return lacking

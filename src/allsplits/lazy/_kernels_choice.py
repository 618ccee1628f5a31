"""Compiled choice among the local models of each query: the best few, weighted by 1/mse."""

import numpy as np
from numba import njit

from allsplits.orders.kernels_nearest import make_ranking, rank_words

#: Up to so many models are ranked by counting, if at least one in so many is kept; of more, the
#: best few are found sooner by insertion (measured).
_MOST_RANKED = 128
_RANKED_PER_KEPT = 4


@njit(nogil=True, cache=True, error_model="numpy")
def choose_models(paths, words, answers):
    """Fill in the answers to queries whose models are the first rows of `paths`.

    Equal errors go to the model that comes first: the lower degree, then the smaller size. `words`
    are the errors seen as integers, which have the same order because no error is negative.
    """
    values, errors = paths
    coefficients, std, models, mse, weights = answers
    n_models, n_combined = errors.shape[1], models.shape[1]
    if n_models <= min(_MOST_RANKED, _RANKED_PER_KEPT * n_combined):
        _rank_all(errors, words, models, mse)
    else:
        for q in range(len(models)):
            for o in range(errors.shape[2]):
                _keep_best(errors[q, :, o], models[q, :, o], mse[q, :, o])
    for q in range(len(models)):
        for o in range(errors.shape[2]):
            std[q, o] = np.sqrt(_weigh(mse[q, :, o], weights[q, :, o]))
            for j in range(coefficients.shape[1]):
                # Less the best one's, so that what is common to all costs no digits.
                base = values[q, models[q, 0, o], j, o]
                change = 0.0
                for r in range(1, n_combined):
                    change += weights[q, r, o] * (values[q, models[q, r, o], j, o] - base)
                coefficients[q, j, o] = base + change


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _rank_all(errors, words, models, mse):
    """The smallest errors of each query in order, and where they stand: all are ranked."""
    n_models, n_kept = errors.shape[1], models.shape[1]
    ranking = make_ranking(n_models)
    chosen, ranks, _ = ranking
    for q in range(len(models)):
        for o in range(errors.shape[2]):
            for model in range(n_models):
                chosen[model] = words[q, model, o]
            rank_words(ranking, n_models)
            for model in range(n_models):
                if ranks[model] < n_kept:
                    models[q, ranks[model], o] = model
                    mse[q, ranks[model], o] = errors[q, model, o]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _keep_best(errors, models, mse):
    """The smallest errors in order, and where they stand: insertion, because few are kept."""
    n_kept = 0
    for model in range(len(errors)):
        error = errors[model]
        if n_kept < len(mse):
            n_kept += 1
        elif not error < mse[n_kept - 1]:
            continue
        place = n_kept - 1
        while place > 0 and error < mse[place - 1]:
            mse[place] = mse[place - 1]
            models[place] = models[place - 1]
            place -= 1
        mse[place] = error
        models[place] = model


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _weigh(mse, weights):
    """Proportional to 1/mse; models without any error share all the weight.

    Returns the weighted mean of the errors, which is their harmonic mean.
    """
    best = mse[0]
    total = 0.0
    for r in range(len(mse)):
        # Dividing the smallest keeps the inverses within 1, however small the errors are.
        if best > 0.0:
            weights[r] = best / mse[r]
        else:
            weights[r] = 1.0 if mse[r] == 0.0 else 0.0
        total += weights[r]
    mean = 0.0
    for r in range(len(mse)):
        weights[r] /= total
        mean += weights[r] * mse[r]
    return mean

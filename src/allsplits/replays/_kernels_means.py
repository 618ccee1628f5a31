"""Compiled means of classes, and which of them is nearest to each tested sample."""

import numpy as np
from numba import njit

from allsplits.replays._kernels_draw import list_tested, uniform


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _count_columns(rule, run, fold, means):
    """Count the training samples of each class; returns how many classes there are."""
    means.sizes[:] = 0
    for sample in range(len(rule.labels)):
        if run.folds[sample] != fold:
            means.sizes[rule.labels[sample]] += run.copies[sample]
    n_columns = 0
    for c in range(len(means.sizes)):
        means.columns[c] = n_columns
        if means.sizes[c] > 0:
            means.classes[n_columns] = c
            n_columns += 1
    return n_columns


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _mean_columns(rule, run, fold, means, n_columns):
    centres, points = means.centres, rule.points
    centres[:, :n_columns] = 0.0
    for sample in range(len(points)):
        times = run.copies[sample] if run.folds[sample] != fold else 0
        if times > 0:
            column = means.columns[rule.labels[sample]]
            for j in range(points.shape[1]):
                centres[j, column] += times * points[sample, j]
    for j in range(points.shape[1]):
        for column in range(n_columns):
            centres[j, column] /= means.sizes[means.classes[column]]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _median_columns(rule, run, fold, means, n_columns):
    points, values, ends = rule.points, means.values, means.ends
    for j in range(points.shape[1]):
        filled = 0
        for column in range(n_columns):
            ends[column] = filled
            filled += means.sizes[means.classes[column]]
        for sample in range(len(points)):
            if run.folds[sample] != fold:
                column = means.columns[rule.labels[sample]]
                for _ in range(run.copies[sample]):
                    values[ends[column]] = points[sample, j]
                    ends[column] += 1
        for column in range(n_columns):
            size = means.sizes[means.classes[column]]
            own = np.sort(values[ends[column] - size : ends[column]])
            means.centres[j, column] = 0.5 * (own[(size - 1) // 2] + own[size // 2])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _add_squares(point, centres, keys):
    """Squared distances, four coordinates at a time: keys are read and written less often."""
    whole = len(point) - len(point) % 4
    for j in range(0, whole, 4):
        for column in range(len(keys)):
            a = point[j] - centres[j, column]
            b = point[j + 1] - centres[j + 1, column]
            c = point[j + 2] - centres[j + 2, column]
            d = point[j + 3] - centres[j + 3, column]
            keys[column] += (a * a + b * b) + (c * c + d * d)
    for j in range(whole, len(point)):
        for column in range(len(keys)):
            off = point[j] - centres[j, column]
            keys[column] += off * off


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _measure(rule, sample, centres, keys):
    """Keys of all columns: by differences, as products lose what is left of a small distance."""
    point = rule.points[sample]
    keys[:] = 0.0
    if not rule.manhattan:
        _add_squares(point, centres, keys)
        return
    for j in range(len(point)):
        for column in range(len(keys)):
            keys[column] += abs(point[j] - centres[j, column])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _nearest(keys, rule, state):
    """(column of the nearest mean, how many are tied): the first of the tied, or one drawn."""
    least, tied, found = np.inf, 0, -1
    for key in keys:
        least = min(least, key)
    for column in range(len(keys)):
        if keys[column] - least <= rule.tolerance * keys[column]:
            tied += 1
            if tied == 1 or (rule.average and uniform(state) * tied < 1.0):
                found = column
    return found, tied


@njit(nogil=True, cache=True, error_model="numpy")
def answer_by_means(rule, room, means):
    """Give all that the run tests the class of the nearest mean. Returns how often one was drawn.

    Of classes that do not train there is no mean.
    """
    answers, drawn = room.answers, 0
    list_tested(room.run.folds, answers.tested, answers.starts)
    for fold in range(len(answers.starts) - 1):
        n_columns = _count_columns(rule, room.run, fold, means)
        if rule.manhattan:
            _median_columns(rule, room.run, fold, means, n_columns)
        else:
            _mean_columns(rule, room.run, fold, means, n_columns)
        keys = means.keys[:n_columns]
        for place in range(answers.starts[fold], answers.starts[fold + 1]):
            _measure(rule, answers.tested[place], means.centres, keys)
            found, tied = _nearest(keys, rule, room.work.state)
            answers.given[place] = means.classes[found]
            drawn += rule.average and tied > 1
    return drawn

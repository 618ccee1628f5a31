"""Compiled draws of runs: who trains, and who is tested in which fold."""

import numpy as np
from numba import njit

#: The ways to draw a run, one for each kind of law.
SPLIT, FOLDS, GROUPS, EPISODE, INDEPENDENT, BOOTSTRAP = range(6)
#: A law of random sizes may draw runs that cannot be scored, this often in a row.
_MOST_TRIALS = 1000


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def uniform(state):
    """The next number from 0 to 1 (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _draw_first(items, size, number, state):
    """Bring a random choice to the first places of items[:size], in random order."""
    for i in range(min(number, size - 1)):
        j = i + int(uniform(state) * (size - i))
        items[i], items[j] = items[j], items[i]


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _nobody(dealt):
    for sample in range(len(dealt.folds)):
        dealt.folds[sample] = -1
        dealt.copies[sample] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _copy_pool(pools, pool, items):
    """Write the samples of a pool to the first places of `items`, to shuffle them; their number."""
    start = pools.starts[pool]
    size = pools.starts[pool + 1] - start
    for place in range(size):
        items[place] = pools.members[start + place]
    return size


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_split(pools, train, test, state, dealt):
    """Numbers of each pool for training and for test; the smaller part is drawn."""
    _nobody(dealt)
    for p in range(len(train)):
        items = dealt.scratch
        size = _copy_pool(pools, p, items)
        a, t = train[p], test[p]
        if a + t == size and t < a:
            _draw_first(items, size, t, state)
            for place in range(size):
                if place < t:
                    dealt.folds[items[place]] = 0
                else:
                    dealt.copies[items[place]] = 1
        else:
            _draw_first(items, size, a if a + t == size else a + t, state)
            for place in range(a + t):
                if place < a:
                    dealt.copies[items[place]] = 1
                else:
                    dealt.folds[items[place]] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_folds(pools, sizes, state, dealt):
    """Fold f tests sizes[f, p] of pool p, and everybody trains for the other folds."""
    dealt.copies[:] = 1
    for p in range(sizes.shape[1]):
        items = dealt.scratch
        size = _copy_pool(pools, p, items)
        _draw_first(items, size, size, state)
        place = 0
        for fold in range(sizes.shape[0]):
            for _ in range(sizes[fold, p]):
                dealt.folds[items[place]] = fold
                place += 1


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_groups(drawing, state, dealt):
    """Whole groups for training and for test."""
    _nobody(dealt)
    groups, n_groups = drawing.groups, drawing.n_groups
    n_train, n_test = drawing.n_train, drawing.n_test
    items = dealt.scratch[:n_groups]
    places = dealt.scratch[n_groups : 2 * n_groups]
    for group in range(n_groups):
        items[group] = group
    _draw_first(items, n_groups, n_train + n_test, state)
    for place in range(n_groups):
        places[items[place]] = place
    for sample in range(len(groups)):
        place = places[groups[sample]]
        if place < n_train:
            dealt.copies[sample] = 1
        elif place < n_train + n_test:
            dealt.folds[sample] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_episode(pools, n_way, k_shot, state, dealt):
    """Some classes; a few members of each train, the others are tested."""
    _nobody(dealt)
    n_classes = len(pools.starts) - 1
    classes = dealt.scratch[len(dealt.folds) :]
    for c in range(n_classes):
        classes[c] = c
    _draw_first(classes, n_classes, n_way, state)
    for c in classes[:n_way]:
        items = dealt.scratch
        size = _copy_pool(pools, c, items)
        _draw_first(items, size, k_shot, state)
        for place in range(size):
            if place < k_shot:
                dealt.copies[items[place]] = 1
            else:
                dealt.folds[items[place]] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_independent(q, at_least, state, dealt):
    """Each sample trains with probability q. Too few of them: nobody is tested."""
    _nobody(dealt)
    n_train = 0
    for sample in range(len(dealt.folds)):
        if uniform(state) < q:
            dealt.copies[sample] = 1
            n_train += 1
        else:
            dealt.folds[sample] = 0
    if n_train < at_least:
        _nobody(dealt)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _deal_bootstrap(state, dealt):
    """As many draws with replacement as there are samples; who is not drawn is tested."""
    _nobody(dealt)
    n = len(dealt.folds)
    for _ in range(n):
        dealt.copies[int(uniform(state) * n)] += 1
    for sample in range(n):
        if dealt.copies[sample] == 0:
            dealt.folds[sample] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _component(ends, state):
    """One of the components of a law, drawn by its share."""
    component = 0
    if len(ends) > 0:
        place = uniform(state)
        while component < len(ends) and ends[component] <= place:
            component += 1
    return component


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _can_be_scored(drawing, dealt):
    """Whether there are enough voters for questions from outside, or somebody is tested."""
    if drawing.outside:
        n_train = 0
        for copies in dealt.copies:
            n_train += copies
        return n_train >= drawing.fewest
    for fold in dealt.folds:
        if fold >= 0:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def deal_run(drawing, state, dealt):
    """Write one run that can be scored. False if many in a row cannot be."""
    pools, way = drawing.pools, drawing.way
    for _ in range(_MOST_TRIALS):
        if way == SPLIT:
            c = _component(drawing.ends, state)
            _deal_split(pools, drawing.trains[c], drawing.tests[c], state, dealt)
        elif way == FOLDS:
            _deal_folds(pools, drawing.tests, state, dealt)
        elif way == GROUPS:
            _deal_groups(drawing, state, dealt)
        elif way == EPISODE:
            _deal_episode(pools, drawing.n_way, drawing.k_shot, state, dealt)
        elif way == INDEPENDENT:
            _deal_independent(drawing.q, drawing.k, state, dealt)
        else:
            _deal_bootstrap(state, dealt)
        if _can_be_scored(drawing, dealt):
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def list_tested(folds, tested, starts):
    """Tested samples, fold by fold, in row order: fold f has tested[starts[f]:starts[f + 1]].

    `tested` has room for one more than all.
    """
    starts[:] = 0
    if len(starts) == 2:
        # Written in any case and kept if it is tested: a branch would be guessed wrong too often.
        filled = 0
        for sample in range(len(folds)):
            tested[filled] = sample
            filled += folds[sample] >= 0
        starts[1] = filled
        return
    for sample in range(len(folds)):
        if folds[sample] >= 0:
            starts[folds[sample] + 1] += 1
    for fold in range(1, len(starts)):
        starts[fold] += starts[fold - 1]
    for sample in range(len(folds)):
        fold = folds[sample]
        if fold >= 0:
            tested[starts[fold]] = sample
            starts[fold] += 1
    # Each start has moved to the end of its fold, which is where the next one starts.
    for fold in range(len(starts) - 1, 0, -1):
        starts[fold] = starts[fold - 1]
    starts[0] = 0

"""Compiled steps through tie groups under class counts: rows of votes at a time in the group.

Before the time λ, a class with γ tied members has Binomial(γ, λ) of them in the prefix, and classes
stay independent given λ. The binomial weights are taken relative to the largest, so that no group
is too large for them, and those below 2⁻⁸⁰ of it are left out.
"""

import numpy as np
from numba import njit

from allsplits.exact.kernel_types import TimeRule, Walk

#: Binomial weights below this share of the largest are left out.
FAINT = 2.0**-80
#: Up to this size a tie group is sorted by insertion.
SHORT_GROUP = 32


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def binomial_window(n, time):
    """(first, last, weight of first): the numbers of successes that matter, the likeliest has 1."""
    odds = time / (1.0 - time)
    likeliest = min(np.int64((n + 1) * time), n)
    last = likeliest
    weight = 1.0
    while last < n and weight > FAINT:
        weight *= odds * (n - last) / (last + 1.0)
        last += 1
    first = likeliest
    weight = 1.0
    while first > 0 and weight > FAINT:
        weight *= first / (odds * (n - first + 1.0))
        first -= 1
    return first, last, weight


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def row_before(table, n, tied, time, width, out):
    """Votes of a class with n items in the prefix and `tied` in the group, before the time.

    Rows of a table hold [votes, component] one after the other; `width` entries are wanted.
    """
    for x in range(width):
        out[x] = 0.0
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied, time)
    total = 0.0
    for d in range(first, last + 1):
        total += weight
        for x in range(width):
            out[x] += weight * table[n + d, x]
        weight *= odds * (tied - d) / (d + 1.0)
    for x in range(width):
        out[x] /= total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def row_next(table, remaining, pool, n, tied, time, width, out):
    """The same, and a tied member of the class is drawn at this very time.

    remaining[votes, component] is how many items are still to be drawn after those votes.
    """
    for x in range(width):
        out[x] = 0.0
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied - 1, time)
    total = 0.0
    for d in range(first, last + 1):
        total += weight
        scale = weight / (pool - n - d)
        for x in range(width):
            out[x] += scale * table[n + d, x]
        weight *= odds * (tied - 1 - d) / (d + 1.0)
    for x in range(width):
        out[x] *= tied * remaining[x] / total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def _silent(pool, drawn, n, passed):
    """P(none of `passed` more items of a class is drawn | none of n so far)."""
    value = 1.0
    for e in range(passed):
        left = pool - n - e
        value *= max(left - drawn, 0) / left
    return value


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def survive_tied(pool, drawn, n, tied, time):
    """P(no training item among `tied` more items before the time | none so far)."""
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied, time)
    silent = _silent(pool, drawn, n, first)
    value, total = 0.0, 0.0
    for d in range(first, last + 1):
        total += weight
        value += weight * silent
        weight *= odds * (tied - d) / (d + 1.0)
        if d < tied:
            left = pool - n - d
            silent *= max(left - drawn, 0) / left
    return value / total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def first_tied(pool, drawn, n, tied, time):
    """P(density) that the first training item of the class is tied and comes at this time."""
    odds = time / (1.0 - time)
    first, last, weight = binomial_window(tied - 1, time)
    silent = _silent(pool, drawn, n, first)
    value, total = 0.0, 0.0
    for d in range(first, last + 1):
        left = pool - n - d
        total += weight
        value += weight * silent * drawn / left
        weight *= odds * (tied - 1 - d) / (d + 1.0)
        silent *= max(left - drawn, 0) / left
    return tied * value / total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def choose_rule(rules, members, group, table_ids, pools, drawn):
    """The `TimeRule` for a tie group of the classes `members`, group[d] items each.

    drawn[table, component] of pools[table] items are drawn from a class. See `ties`: the window is
    cut into several panels only if the components expect very different numbers of draws.
    """
    most, fewest_expected, most_expected = np.int64(0), np.inf, 0.0
    for p in range(drawn.shape[1]):
        expected, highest = 0.0, np.int64(0)
        for d in members:
            t = table_ids[d]
            expected += group[d] * (drawn[t, p] / pools[t])
            highest += min(group[d], drawn[t, p])
        most = max(most, highest)
        fewest_expected = min(fewest_expected, expected)
        most_expected = max(most_expected, expected)
    window = 1.0
    if fewest_expected > rules.reach:
        window = rules.reach / fewest_expected
    span = most_expected + np.sqrt(2.0 * most_expected * rules.spread) + rules.spread
    span = min(span, float(most)) * window
    for rule in range(len(rules.sizes)):
        # All of it is a polynomial of degree most - 1, or the rule is known to be good enough.
        if (window == 1.0 and 2 * rules.sizes[rule] >= most) or rules.spans[rule] >= span:
            return TimeRule(rule, np.int64(1), window, rules.sizes[rule])
    panels = np.int64(np.ceil(span / rules.spans[rule]))
    return TimeRule(rule, panels, window, panels * rules.sizes[rule])


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def node_of(rules, chosen, q):
    """(time, weight) of node q of a chosen rule."""
    panel, node = divmod(q, rules.sizes[chosen.number])
    node += rules.starts[chosen.number]
    width = chosen.window / chosen.panels
    return (panel + rules.nodes[node]) * width, rules.weights[node] * width


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def new_walk(n_classes):
    """Space for walks along rows with that many classes."""
    # Filled with zeros by `start_walk`: np.zeros takes half a second to compile.
    return Walk(
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def start_walk(walk):
    """Nothing is met yet."""
    counts, group, met, _, _ = walk
    for d in range(len(counts)):
        counts[d], group[d], met[d] = 0, 0, 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def meet_group(labels, walk, n_present):
    """Count a tie group by class; returns how many classes were met so far and how many now."""
    _, group, met, present, members = walk
    n_members = np.int64(0)
    for d in labels:
        if met[d] == 0:
            present[n_present] = d
            n_present += 1
        if group[d] == 0:
            members[n_members] = d
            n_members += 1
        met[d] += 1
        group[d] += 1
    return n_present, n_members


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def pass_group(walk, members):
    """The tie group is over: its items are before the next."""
    counts, group, met, _, _ = walk
    for d in members:
        counts[d] = met[d]
        group[d] = 0


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, no_cpython_wrapper=True)
def has_ties(tied):
    """Whether any of these entries is tied with the one before it."""
    for is_tied in tied:
        if is_tied:
            return True
    return False


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False)
def row_keys(indptr, labels, tied, who, salts, out):
    """out[i]: two 64-bit keys of (who[i], the numbers of each class in each tie group, in order).

    Within a group the salts of the classes are added up, so their order does not matter.
    """
    for i in range(len(who)):
        for h in range(2):
            key = np.uint64(who[i]) * salts[0, h]
            group = np.uint64(0)
            for e in range(indptr[i], indptr[i + 1]):
                if not tied[e]:
                    key = (key ^ group) * salts[1, h]
                    key ^= key >> np.uint64(29)
                    group = np.uint64(0)
                group += salts[2 + labels[e], h]
            out[i, h] = (key ^ group) * salts[1, h]


@njit(nogil=True, cache=True, error_model="numpy")
def sort_tied(labels, tied, n_classes):
    """Put the labels of each tie group in order, so that sums are added up in one order only."""
    counts = np.empty(n_classes, np.int64)
    for c in range(n_classes):
        counts[c] = 0
    start = 0
    while start < len(labels):
        end = start + 1
        while end < len(labels) and tied[end]:
            end += 1
        if end - start > SHORT_GROUP:
            for e in range(start, end):
                counts[labels[e]] += 1
            e = start
            for c in range(n_classes):
                while counts[c] > 0:
                    labels[e] = c
                    counts[c] -= 1
                    e += 1
        else:
            for e in range(start + 1, end):
                label = labels[e]
                place = e
                while place > start and labels[place - 1] > label:
                    labels[place] = labels[place - 1]
                    place -= 1
                labels[place] = label
        start = end

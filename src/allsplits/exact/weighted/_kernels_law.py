"""What compiled weighted votes share: the candidates of one sample, and how likely a vote is.

The vote of k ends with its last voter. Before that voter stand n_c candidates of each class, of
which b_c are training items, all b_c-subsets being equally likely. Such a prefix has the weight

    Π_c h_c(n_c, b_c) · (α_e - b_e)/(N_e - n_e)                 α_c of N_c drawn from each class,
    Π_c C(n_c, b_c) · C(N-1-j, a-k)/C(N, a),    j = Σ n_c       a of N drawn (or a mixture),

where e is the class of the last voter. Products of binomial probabilities stand for products of
binomial coefficients, so that nothing overflows. Members of a tie group come in random order: all
class counts that may stand before the last voter are visited with their probabilities.
"""

import numpy as np
from numba import njit

# Plain loops: every array expression of numpy takes a second to compile.


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def count(members):
    """Their sum."""
    total = np.int64(0)
    for value in members:
        total += value
    return total


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_values(out, value):
    """out[i] = value."""
    for i in range(len(out)):
        out[i] = value


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def copy_values(source, out):
    """out[i] = source[i]."""
    for i in range(len(out)):
        out[i] = source[i]


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def largest_component(rows, p, x):
    """The largest of rows[m, p, x]."""
    largest = 0.0
    for m in range(rows.shape[0]):
        largest = max(largest, rows[m, p, x])
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _class_row(law, m, table, is_next, n, passed, forced, out):
    """out[b] = weight of b training items among the first n, all `forced` and no `passed` ones.

    C(n - passed - forced, b - forced) of the C(n, b) subsets are such.
    """
    source = law.nexts if is_next else law.rows
    share = 1.0
    for b in range(forced):
        share *= (b + 1.0) / (n - b)
    for b in range(len(out)):
        out[b] = 0.0
        if forced <= b <= n - passed:
            out[b] = source[m, table, n, b] * share
            if b < n:
                share *= (n - passed - b) / (b - forced + 1.0) * ((b + 1.0) / (n - b))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def fill_rows(law, row, seen, last, rows, polynomial, spare):
    """rows[m, p, b] of all classes, and polynomial[m, b] = their product, all classes."""
    n_votes = rows.shape[2]
    for m in range(rows.shape[0]):
        fill_values(polynomial[m], 0.0)
        polynomial[m, 0] = 1.0
        for p in range(rows.shape[1]):
            _class_row(
                law, m, row.tables[p], p == last, seen[p], row.passed[p], row.forced[p],
                rows[m, p],
            )  # fmt: skip
            fill_values(spare, 0.0)
            for b in range(n_votes):
                if rows[m, p, b] > 0.0:
                    for v in range(n_votes - b):
                        spare[v + b] += polynomial[m, v] * rows[m, p, b]
            copy_values(spare, polynomial[m])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _members_of_class(inside, outside, drawn, out):
    """out[b] = P(b of `inside` among `drawn` of inside + outside items); returns (low, high).

    By ratios from the mode outwards, then divided by the sum: nothing overflows.
    """
    low, high = max(0, drawn - outside), min(inside, drawn)
    mode = (drawn + 1) * (inside + 1) // (inside + outside + 2)
    mode = min(max(mode, low), high)
    out[mode] = 1.0
    total = 1.0
    for b in range(mode, high):
        out[b + 1] = out[b] * ((inside - b) * (drawn - b)) / ((b + 1.0) * (outside - drawn + b + 1))
        total += out[b + 1]
    for b in range(mode, low, -1):
        out[b - 1] = out[b] * (b * (outside - drawn + b)) / ((inside - b + 1.0) * (drawn - b + 1))
        total += out[b - 1]
    for b in range(low, high + 1):
        out[b] /= total
    return low, high


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _prefix_chance(members, taken, buffer):
    """P(the first items of a tie group in random order are taken[p] of each class)."""
    inside, drawn = count(members), count(taken)
    chance = 1.0
    if inside == 1 or drawn == 0:
        return chance
    for p in range(len(members)):
        inside -= members[p]
        _members_of_class(members[p], inside, drawn, buffer)
        chance *= buffer[taken[p]]
        drawn -= taken[p]
    return chance


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def see_prefix(members, before, taken, seen, buffer):
    """Fill seen = before + taken; returns (P(taken come first in the tie group), items left)."""
    for p in range(len(seen)):
        seen[p] = before[p] + taken[p]
    return _prefix_chance(members, taken, buffer), count(members) - count(taken)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def next_prefix(members, taken):
    """The next counts of classes that may come first in a tie group; False after the last.

    The last voter must still be there, so the whole group is not among them.
    """
    for p in range(len(members)):
        if taken[p] < members[p]:
            taken[p] += 1
            return count(taken) < count(members)
        taken[p] = 0
    return False


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def largest_group(row, first):
    """Members of the largest of the groups from `first` on."""
    largest = np.int64(0)
    for g in range(first, len(row.members)):
        largest = max(largest, count(row.members[g]))
    return largest


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def ways_to_come(members):
    """How many different counts of classes may come first in a tie group."""
    ways = 1.0
    for p in range(len(members)):
        ways *= members[p] + 1.0
    return ways


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def add_mass(law, slots, polynomial, m, seen, chance, last_voter, out):
    """Add weights by number of voters to out[m of the law, slots[k]]; returns the largest.

    polynomial[b] belongs to b training items among `seen`. With a last voter they are a vote of
    b + 1, otherwise the vote of every k above b ends with them.
    """
    largest = 0.0
    sizes = law.ends.shape[0]
    for size in range(max(sizes, 1)):
        line = m if sizes == 0 else size
        for b in range(len(polynomial)):
            value = polynomial[b] * chance
            if value == 0.0:
                continue
            if sizes > 0:
                value *= law.lasts[size, seen, b] if last_voter else law.ends[size, seen, b]
            if last_voter:
                if slots[b + 1] >= 0:
                    out[line, slots[b + 1]] += value
                    largest = max(largest, value)
            elif b > 0:
                for k in range(b + 1, len(slots)):
                    if slots[k] >= 0:
                        out[line, slots[k]] += value
                        largest = max(largest, value)
    return largest

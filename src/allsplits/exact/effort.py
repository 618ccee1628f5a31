"""How long the votes will take, roughly, and a word before long runs.

Mostly from counts of operations, before the search; the constants were measured on one core of an
ordinary server and decide about a warning only. What ties and Fractions cost is not known from
counts: there the first rows are timed.
"""

import warnings
from collections.abc import Callable, Iterator
from math import comb, log2
from time import perf_counter

from allsplits._threads import map_row_ranges
from allsplits.exceptions import LongRunWarning

#: Nanoseconds for one product of a lane, for what a rank costs besides, and for a rank of 1-NN.
_PRODUCT, _RANK, _NEAREST = 0.15, 40.0, 5.0
#: Nanoseconds for a branch of the walk through groups.
_BRANCH = 25.0
#: Longer runs are announced; and to leave samples out, which takes longer than one expects.
_ANNOUNCED, _ANNOUNCED_STRIKES = 60.0, 10.0
#: One row in so many is timed at once, so often at most; rows in Python after some seconds.
_TIMED_SHARE, _TRIALS, _FIRST_SECONDS = 4096, 3, 2.0


def _products(n_classes: int, k: int, most: int, every_class: bool) -> float:
    """Products for a rank: rows of `most` votes, polynomials up to degree k, caps 1 to k."""
    total = 0
    for v in range(1, min(k, most) + 1):
        cap = min(v, most)
        total += sum(min(degree, cap) + 1 for degree in range(k - v + 1))
    # The first of the others' rows is copied, not multiplied: two classes cost O(k²).
    return max(n_classes - 2, 0) * total * (4.0 if every_class else 1.3) + n_classes * k * k / 2


def class_votes_seconds(
    n_rows: int, depth: int, n_classes: int, ks: list[int], most: int, every_class: bool
) -> float:
    """Majority votes of classes whose numbers of voters are independent, rank by rank.

    All `ks` come from the products of the largest.
    """
    k = max(ks)
    if k == 1:
        return 1e-9 * n_rows * depth * _NEAREST
    # No more classes than neighbours are met.
    products = _products(min(n_classes, depth), k, most, every_class)
    return 1e-9 * n_rows * depth * (_RANK + _PRODUCT * products)


def own_votes_seconds(n_rows: int, depth: int, n_classes: int, k: int) -> float:
    """Votes of the own class where a fixed number comes from each, all k up to this one.

    Fitted to ten and a hundred classes, stratified folds and few shots; easy rows take less.
    """
    if k == 1:
        return 1e-9 * n_rows * depth * _NEAREST
    return 1e-9 * n_rows * depth * (1.0 + log2(min(n_classes, depth))) * (10.0 + 3.0 * k)


def episode_seconds(n_rows: int, depth: int, n_classes: int, n_way: int) -> float:
    """1-NN over episodes: a polynomial of degree n_way in all classes for each neighbour."""
    return 1e-9 * n_rows * depth * (_NEAREST + 0.6 * n_classes * n_way)


def group_seconds(n_rows: int, n_others: int, n_train: int, n_test: int, k: int) -> float:
    """Branches that do not have k training groups yet; n_test is 0 where only training matters.

    Groups with several near samples end a branch sooner: an upper end.
    """
    branches, left_out = 0, n_others - n_train
    for met in range(min(n_others, left_out + k - 1) + 1):
        for trained in range(max(0, met - left_out), min(met, k - 1) + 1):
            tested = sum(comb(met - trained, t) for t in range(min(n_test, met) + 1))
            branches += comb(met, trained) * (tested if n_test else 1)
            if branches > 1e18:
                return float("inf")
    return 1e-9 * n_rows * branches * _BRANCH


def right_seconds(n_rows: int, depth: int, most: int, k: int) -> float:
    """Votes of the own class under laws of fixed size, all k up to this one; `most` are in a class.

    Fitted to classes that are mixed at random, 3 to 1000 of them; others take down to a fifth.
    Mixed tie groups cost more than is said here.
    """
    return 1e-9 * n_rows * depth * (100.0 + min(k, most) * (40.0 + k / 3))


def majority_seconds(n_rows: int, depth: int, n_classes: int, k: int) -> float:
    """Votes of all classes under laws of fixed size.

    O(k²) for a class and a rank; mixed tie groups cost more than is said here.
    """
    return 1e-9 * n_rows * depth * (_RANK + 0.25 * min(n_classes, depth) * k * k)


def weighted_votes_seconds(n_rows: int, k: int) -> float:
    """Weighted votes of classes: measured on several kinds of data, which differ by ten times."""
    return 1e-5 * n_rows * k * k


def weighted_mean_seconds(n_rows: int, depth: int, k: int) -> float:
    """Weighted means: a walk at some sixty nodes, three moments for each number of voters."""
    return 1e-9 * n_rows * depth * (600.0 + 60.0 * k)


def weighted_shapley_seconds(n_rows: int, n_candidates: int, k: int, means: bool) -> float:
    """Complete orders, each without every candidate in turn; infinite where votes stay unknown.

    Sets of k voters are counted one by one while there are few; on a grid the intervals of deep
    orders are too wide to tell anything.
    """
    lists = n_rows * (n_candidates + 2)
    if means:
        return weighted_mean_seconds(lists, n_candidates, k)
    sets = comb(n_candidates, k)
    if sets > 10_000_000 and n_candidates > 64:
        return float("inf")
    return lists * min(6e-8 * sets + 1e-4, 4e-3 * k * k)


def is_long(seconds: float, n_threads: int) -> bool:
    """Whether that much work is announced."""
    return seconds / n_threads > _ANNOUNCED


def warn_if_long(search: float, votes: float, n_threads: int, depth: int, cheaper: str) -> None:
    """Say so before a run that is expected to take over a minute, and what would be cheaper."""
    seconds = (search + votes) / n_threads
    if not is_long(search + votes, n_threads):
        return
    share = f"the search for {depth} neighbours of each sample {search / (search + votes):.0%}"
    advice = f"; cheaper: {cheaper}" if cheaper else ""
    warnings.warn(
        f"this will take about {_in_words(seconds)} on {n_threads} threads ({share} of it){advice}",
        LongRunWarning,
        stacklevel=2,
    )


def warn_of_strikes(seconds: float, n_threads: int) -> None:
    """Say so before all samples are left out, if that is expected to take long."""
    waiting = seconds / n_threads
    if waiting <= _ANNOUNCED_STRIKES:
        return
    words = f"{waiting:.0f} seconds" if waiting < 120 else _in_words(waiting)
    warnings.warn(
        f"the score without each sample will take about {words} on {n_threads} threads, far longer "
        "than the evaluation; cheaper: interval(method='sample scores'), which is too narrow for "
        "few neighbours",
        LongRunWarning,
        stacklevel=2,
    )


def _in_words(seconds: float) -> str:
    for unit, size in (("days", 86400.0), ("hours", 3600.0)):
        if seconds >= 2 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{max(1.0, seconds / 60):.0f} minutes"


def _say_so(seconds: float, n_threads: int, cheaper: str) -> None:
    warnings.warn(
        f"this will take about {_in_words(seconds)} on {n_threads} threads, as long as the first "
        f"rows go; cheaper: {cheaper}",
        LongRunWarning,
        stacklevel=3,
    )


def announced(n_rows: int, n_all: int) -> Iterator[int]:
    """Numbers of rows that are computed in Fractions, and a word if all will take over a minute.

    `n_all` is the number of rows of all blocks, 0 if nothing is to be said.
    """
    start, silent = perf_counter(), n_all == 0
    for row in range(n_rows):
        yield row
        spent = perf_counter() - start
        if not silent and spent > _FIRST_SECONDS:
            silent = True
            if spent * n_all > _ANNOUNCED * (row + 1):
                _say_so(spent * n_all / (row + 1), 1, "exact=False, fewer samples or neighbours")


def map_timed_rows(
    kernel: Callable[[int, int], None],
    n_rows: int,
    n_threads: int,
    *,
    scale: float,
    cheaper: str,
    smallest: int = 64,
) -> None:
    """`map_row_ranges` with a word if all rows will take over a minute, after a few of them.

    `scale` is how many rows stand for each of these (the blocks to come), 0 if nothing is to be
    said. A kernel may be compiled during the first trials: the fastest one counts.
    """
    done, fastest = 0, float("inf")
    step = -(-n_rows // _TIMED_SHARE)
    for trial in range(_TRIALS if scale and n_rows > _TRIALS * step else 0):
        start = perf_counter()
        kernel(done, done + step)
        done += step
        fastest = min(fastest, (perf_counter() - start) / step)
        seconds = fastest * n_rows * scale / n_threads
        if seconds <= _ANNOUNCED:
            break
        if trial == _TRIALS - 1:
            _say_so(seconds, n_threads, cheaper)

    def rest(start: int, stop: int) -> None:
        kernel(start + done, stop + done)

    map_row_ranges(rest, n_rows - done, n_threads, smallest=smallest)

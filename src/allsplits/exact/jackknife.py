"""The score with each sample gone, for all samples at once: the delete-one jackknife.

The score without sample j is the sum over the other rows i of what row i is worth when candidate j
is struck from it. Rows in which j is too far away to matter are all worth their base value, so

    score without j = Σ_i base_i - base_j + Σ_(rows i that have j) (struck_ij - base_i).

Laws of whole groups lose a whole group, and exact=True wants Fractions: there the score is computed
anew from the orders without the group, or the sample.
"""

from dataclasses import dataclass, replace
from math import inf
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.answer import Answer, RowChanges, ScoresWithout, Solver
from allsplits.exact.effort import warn_of_strikes
from allsplits.exact.kernel_types import Rows
from allsplits.exact.question import Question, own_rows
from allsplits.exact.strikes import Candidates, Changes, Strikes, batches, struck_rows
from allsplits.exact.struck_votes import Shortcut, StruckVotes, struck_votes
from allsplits.orders import NeighborOrder

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

#: Entries of all lists together that are still valued one by one.
_MOST_ENTRIES = 2_000_000_000
#: So many lists are timed.
_TIMED_LISTS = 12
#: Changes of single entries that are kept (256 MiB with their places).
_MOST_KEPT = 1 << 24


class _Found(NamedTuple):
    """What a block of rows contributes.

    Attributes
    ----------
    hits : array of shape (samples, columns)
        What striking each sample changes in these rows.
    sums : array of shape (classes, columns)
        Base values of these rows, weighted as they count without a sample of each class.
    own : array of shape (rows, columns)
        The row's own part in the sum of its class.
    changes : RowChanges
        The changes one by one.
    doubt : float
        How far a value of these rows may be off.
    """

    hits: Floats
    sums: Floats
    own: Floats
    changes: RowChanges
    doubt: float = 0.0


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a block, their classes, and the classes of their candidates."""

    order: NeighborOrder
    own: Codes
    candidates: Codes


@dataclass(frozen=True, eq=False)
class _StruckPart:
    """What the rows of a block contribute to the scores without each sample.

    `within_classes` tells that changes are set against their mean over samples of a class, `keep`
    that they are kept one by one.
    """

    votes: StruckVotes
    codes: Codes
    class_sizes: NDArray[np.int64]
    average: bool
    n_columns: int
    within_classes: bool
    keep: bool = False

    def __call__(self, order: NeighborOrder, n_threads: int) -> _Found:
        shortcut = self.votes.shortcut
        if shortcut is None:
            return self._list_by_list(order, n_threads)
        mixed = self._has_mixed_ties(order)
        found = self._without_lists(shortcut, order, np.flatnonzero(~mixed), n_threads)
        if mixed.any():
            numbers = np.flatnonzero(mixed)
            some = struck_rows(order, numbers, np.full(len(numbers), -1))
            rest = self._list_by_list(replace(some, n_candidates=order.n_candidates), n_threads)
            found.own[mixed] = rest.own
            changes = RowChanges.join([found.changes, rest.changes])
            hits, sums = found.hits + rest.hits, found.sums + rest.sums
            found = _Found(hits, sums, found.own, changes, rest.doubt)
        return found

    def _has_mixed_ties(self, order: NeighborOrder) -> NDArray[np.bool_]:
        """Rows in which neighbours of two classes are tied."""
        labels = self.codes[order.flat_indices]
        mixed = np.zeros(len(labels), dtype=bool)
        mixed[1:] = order.tied[1:] & (labels[1:] != labels[:-1]) & self.average
        filled = np.flatnonzero(np.diff(order.indptr))
        found = np.zeros(order.n_samples, dtype=bool)
        found[filled] = np.logical_or.reduceat(mixed, order.indptr[filled])
        return found

    def _without_lists(
        self, shortcut: Shortcut, order: NeighborOrder, numbers: NDArray[np.int64], n_threads: int
    ) -> _Found:
        """Rows without ties between classes."""
        some = struck_rows(order, numbers, np.full(len(numbers), -1))
        given = self._candidates(some, self.codes[own_rows(some)], self.codes[some.flat_indices])
        struck = shortcut.strikes(given, n_threads)
        mine = np.zeros((order.n_samples, self.n_columns))
        mine[numbers] = struck.own
        changes = self._row_changes(some, struck.changes)
        return _Found(struck.changes.hits, struck.sums, mine, changes)

    def _candidates(self, order: NeighborOrder, own: Codes, labels: Codes) -> Candidates:
        """Rows of these classes, and the classes of their candidates."""
        rows = Rows(order.indptr, labels, order.tied, own)
        sizes = self.class_sizes
        if not self.within_classes:
            sizes = sizes.sum(keepdims=True)
        return Candidates(rows, order.flat_indices, self.votes.weights, sizes, self.keep)

    def _row_changes(self, order: NeighborOrder, found: Changes) -> RowChanges:
        """The changes of these rows, with their places if they are kept."""
        if found.kept is None:
            return RowChanges(found.squares)
        scopes = self.codes if self.within_classes else np.zeros_like(self.codes)
        rows = np.arange(len(self.codes), dtype=np.int32)[own_rows(order)]
        rows = np.repeat(rows, np.diff(order.indptr))
        units = order.flat_indices.astype(np.int32)
        return RowChanges(found.squares, rows, units, found.kept, scopes)

    def _list_by_list(self, order: NeighborOrder, n_threads: int) -> _Found:
        """Every different list that a strike leaves is valued."""
        rows = _Rows(order, self.codes[own_rows(order)], self.codes[order.flat_indices])
        strikes = Strikes.of(order, rows.candidates if self.votes.runs else None, self.average)
        of_lists = rows.candidates[strikes.entries]
        scopes = of_lists if self.votes.by_class else np.zeros_like(of_lists)
        n_scopes = len(self.class_sizes) if self.votes.by_class else 1
        if self.votes.timed and order.first_row == 0:
            self._announce(order, strikes, of_lists, n_threads)
        keys = strikes.rows * n_scopes + scopes
        pairs, pair_of_list = np.unique(keys, return_inverse=True)
        base, unchanged, doubt = self._bases(rows, pairs // n_scopes, pairs % n_scopes, n_threads)
        weights = self.votes.weights
        # What striking a list changes, as it counts.
        change = np.empty((len(keys), self.n_columns))
        for batch in batches(order, strikes.rows):
            here = strikes.rows[batch]
            struck = struck_rows(order, here, strikes.entries[batch])
            values, more = self.votes.values(struck, of_lists[batch], n_threads)
            doubt = max(doubt, more)
            counted = weights[of_lists[batch], :, rows.own[here]]
            change[batch] = np.einsum("lpc,lp->lc", values - base[pair_of_list[batch]], counted)
        sums, own = self._sum_up(rows, pairs, base, unchanged)
        given = self._candidates(order, rows.own, rows.candidates)
        found = Changes(given, self.n_columns)
        for some in given.batches(self.n_columns):
            found.add(some, slice(None), change[strikes.of_entry[some.entries]])
        return _Found(found.hits, sums, own, self._row_changes(order, found), doubt)

    def _announce(
        self, order: NeighborOrder, strikes: Strikes, of_lists: Codes, n_threads: int
    ) -> None:
        """Time a few lists, and say so if all of them will take long."""
        n_lists = len(strikes.rows)
        some = np.unique(np.linspace(0, n_lists - 1, _TIMED_LISTS).astype(np.int64))
        struck = struck_rows(order, strikes.rows[some], strikes.entries[some])
        seconds = inf
        # The first time kernels may be compiled.
        for _ in range(2):
            start = perf_counter()
            self.votes.values(struck, of_lists[some], 1)
            seconds = min(seconds, perf_counter() - start)
        blocks = len(self.codes) / order.n_samples
        warn_of_strikes(seconds / len(some) * n_lists * blocks, n_threads)

    def _bases(
        self, rows: _Rows, numbers: NDArray[np.int64], scopes: NDArray[np.int64], n_threads: int
    ) -> tuple[Floats, Floats, float]:
        """(values of rows that lose a far sample of a class, of rows that lose none, their doubt).

        The first are for pairs of a row and a class that it has within its depth; 0 where the row
        has all candidates of that class, so that none of them is far.
        """
        order = rows.order
        n_rows = order.n_samples
        complete = self._is_complete(rows, numbers, scopes)
        some = np.flatnonzero(~complete)
        near = struck_rows(order, numbers[some], np.full(len(some), -1))
        gone = scopes[some].astype(np.int32)
        base = np.zeros((len(numbers), self.votes.weights.shape[1], self.n_columns))
        doubt = 0.0
        if len(some):
            base[some], doubt = self.votes.values(near, gone, n_threads)
        if not self.votes.by_class:
            return base, base, doubt
        every = struck_rows(order, np.arange(n_rows), np.full(n_rows, -1))
        nobody = np.full(n_rows, len(self.class_sizes), dtype=np.int32)
        unchanged, more = self.votes.values(every, nobody, n_threads)
        return base, unchanged, max(doubt, more)

    def _is_complete(
        self, rows: _Rows, numbers: NDArray[np.int64], scopes: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """Whether a row has all candidates (of a class)."""
        lengths = np.diff(rows.order.indptr)
        complete: NDArray[np.bool_]
        if not self.votes.by_class:
            complete = lengths[numbers] == rows.order.n_candidates
            return complete
        n_scopes = len(self.class_sizes)
        row_of = np.repeat(np.arange(len(lengths)), lengths)
        keys, counts = np.unique(row_of * n_scopes + rows.candidates, return_counts=True)
        met = counts[np.searchsorted(keys, numbers * n_scopes + scopes)]
        candidates = self.class_sizes[scopes] - (rows.own[numbers] == scopes)
        complete = met == candidates
        return complete

    def _sum_up(
        self, rows: _Rows, pairs: NDArray[np.int64], base: Floats, unchanged: Floats
    ) -> tuple[Floats, Floats]:
        """Sums of base values, and each row's own part in them."""
        weights, n_classes = self.votes.weights, len(self.class_sizes)
        of_class = np.zeros((n_classes, *base.shape[1:]))
        np.add.at(of_class, rows.own, unchanged)
        sums = np.einsum("cpd,dpk->ck", weights, of_class)
        own = np.einsum("ipk,ip->ik", unchanged, weights[rows.own, :, rows.own])
        if self.votes.by_class:
            numbers, gone = pairs // n_classes, pairs % n_classes
            change = base - unchanged[numbers]
            change = np.einsum("ipk,ip->ik", change, weights[gone, :, rows.own[numbers]])
            np.add.at(sums, gone, change)
            mine = gone == rows.own[numbers]
            own[numbers[mine]] += change[mine]
        return sums, own


class _Without:
    """Scores without each sample, put together from blocks in the order of their rows."""

    def __init__(self, question: Question, codes: Codes, n_classes: int, bound: float) -> None:
        n, n_columns = len(codes), len(question.columns)
        self._codes, self._bound, self._doubt = codes, bound, 0.0
        self._hits = np.zeros((n, n_columns))
        self._sums = np.zeros((n_classes, n_columns))
        self._own: list[Floats] = []
        self._changes: list[RowChanges] = []

    def add(self, found: _Found) -> None:
        """Add what a block found."""
        self._doubt = max(self._doubt, found.doubt)
        self._hits += found.hits
        self._sums += found.sums
        self._own.append(found.own)
        self._changes.append(found.changes)

    def finish(self) -> Answer:
        """Scores without each sample; the answer's own scores are their means."""
        without = self._sums[self._codes] - np.concatenate(self._own) + self._hits
        bound = np.full(without.shape[1], self._bound + self._doubt)
        found = ScoresWithout(without, bound, changes=RowChanges.join(self._changes))
        return Answer(without.mean(axis=0), bound, without=found)


def solve_without_one(question: Question, *, keep: bool = False) -> Solver | None:
    """Scores without each sample from one pass; None where there is none for law and vote.

    With `keep` what samples change in each other's rows is kept, if it is not too much.
    """
    votes = struck_votes(question)
    if votes is None or question.exclusion is not None:
        return None
    # At most half of the ranks begin a list of their own, as long as the row; neighbours that are
    # all different do.
    lists = 0 if votes.shortcut is not None else votes.depth // (2 if votes.runs else 1)
    if question.n_samples * votes.depth * lists > _MOST_ENTRIES:
        return None
    codes = question.codes if question.n_classes else np.zeros(question.n_samples, dtype=np.int32)
    n_classes = max(question.n_classes, 1)
    sizes = np.bincount(codes, minlength=n_classes)
    n_columns, depth = len(question.columns), min(votes.depth + 1, question.n_samples - 1)
    keep = keep and question.n_samples * depth * n_columns <= _MOST_KEPT
    # Changes count alike where it does not matter which class has lost a sample.
    within = votes.by_class or question.balanced
    part = _StruckPart(votes, codes, sizes, question.options.average, n_columns, within, keep)
    total = _Without(question, codes, n_classes, votes.bound)
    seconds = 0.0 if votes.timed else votes.seconds * (3 + lists)
    return Solver(depth, part, total, seconds, "fewer samples or neighbours")

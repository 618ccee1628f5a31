"""How far the samples around it doubt a label.

Every sample learns with probability 1/5, each on its own, and a question is answered by its nearest
learner. The j-th nearest of a question then answers with probability 0.2 · 0.8^(j-1) (who is tied
shares), so that about five have a say and the nearest most of all. Two things are counted for a
sample, exactly: how often it *hears* each class when it asks, and how often it is *heard* by
questions of each class when it learns. What it hears are shares; what it is heard by, T questions
in all (1 on average), becomes shares when divided by T + 1/4: whom nobody hears is an outlier, and
is doubted by half of the evidence only. With

    A(c) = share of class c in what it hears + share of class c in what it is heard by,

the doubt about the label y is half of max A(c ≠ y) - A(y), from -1 to 1. What it hears of its own
class counts against what a class of its size could reach, 1 - 0.8^(others of the class), so that
small classes are not doubted for being small; the label of a class of one is beyond judging.

How many labels are wrong is read off where the voices agree most: of the half of the samples with
the largest max A(c), the share whose label is another. Errors that fall on all samples alike are as
frequent there as elsewhere, and right labels seldom differ there. One pass over the 42 nearest of
each sample; studies/suspects.md says how the rule was chosen and how well it does.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from allsplits._ranking import rounding_of, smallest_first
from allsplits._threads import thread_count
from allsplits.exact import Exclusion
from allsplits.exact.effort import warn_if_long
from allsplits.exact.neighbors import cut_rows
from allsplits.exact.question import own_rows
from allsplits.model_selection._task import Task
from allsplits.orders import NeighborOrder, SearchReport

Floats = NDArray[np.float64]
Codes = NDArray[np.int32]

#: About so many nearest samples have a say (fewer where there are few samples).
VOICES = 5
#: With fewer samples there is nothing to be agreed on.
FEWEST = 4
#: What being heard by nobody counts, in questions.
_UNHEARD = 0.25
#: What may be left out of a share.
_ACCURACY = 1e-4
#: A share of 1 in whole numbers: sums of these do not depend on their order.
_WHOLE = 1 << 40
#: Seconds for a neighbour, on one core.
_EACH = 1e-7


class _Voices(NamedTuple):
    """What a block contributes.

    Attributes
    ----------
    hears : sparse array of shape (rows, classes)
        What its rows hear, in whole numbers.
    heard : sparse array of shape (samples, classes)
        By whom all samples are heard.
    nearest : array of shape (rows, n_nearest)
    missing : float
        What may be lacking of a share.
    """

    hears: csr_array
    heard: csr_array
    nearest: Codes
    missing: float


@dataclass(frozen=True, eq=False)
class Doubts:
    """What is known of every label.

    Attributes
    ----------
    doubt : array
        From -1 to 1; above 0 where another class has more to say for it.
    suggested : array
        Code of the other class with most to say for it.
    probability, own : array
        How often the sample, when it asks, is given the suggested class, and its own.
    rate : float
        Share of labels that are expected to be wrong.
    nearest : array of shape (n_samples, n_nearest)
        The nearest samples, -1 where there are fewer.
    chance : float
        Probability that a sample learns.
    error_bound : float
        No probability is off by more.
    search : SearchReport
    """

    doubt: Floats
    suggested: Codes
    probability: Floats
    own: Floats
    rate: float
    nearest: Codes
    chance: float
    error_bound: float
    search: SearchReport

    @property
    def suspects(self) -> NDArray[np.intp]:
        """As many as are expected to be wrong, the most doubtful first; never without a doubt."""
        first = most_doubtful(self.doubt, self.error_bound)[: round(self.rate * len(self.doubt))]
        return first[self.doubt[first] > 0]


def most_doubtful(doubt: Floats, error_bound: float) -> NDArray[np.intp]:
    """Rows by doubt, the most doubtful first; a doubt is the difference of two probabilities."""
    return smallest_first(-doubt, rounding_of(doubt, 2 * error_bound))


def chance_to_learn(n_samples: int) -> float:
    """The probability that a sample learns: 1/5, and more for very few samples."""
    return 1 / min(VOICES, sqrt(n_samples))


def depth_to_judge(n_samples: int, groups: Codes | None = None) -> int:
    """How deep orders must be: those of the same group have no say."""
    q = chance_to_learn(n_samples)
    largest = 0 if groups is None else int(np.bincount(groups).max()) - 1
    return min(ceil(log(_ACCURACY) / log(1 - q)) + largest, n_samples - 1)


def can_be_judged(task: Task, groups: Codes | None = None) -> bool:
    """Whether there are labels and enough of their neighbours: an order that is given has few."""
    X, n = task.neighbors.X, task.samples.n_samples
    depth = X.depth if isinstance(X, NeighborOrder) else n
    return task.samples.classes is not None and n >= FEWEST and depth_to_judge(n, groups) <= depth


def judge_labels(task: Task, groups: Codes | None = None, n_nearest: int = 5) -> Doubts:
    """Doubt the labels of a classification task; members of a group have no say about another."""
    codes, n = task.samples.codes, task.samples.n_samples
    if codes is None or task.samples.classes is None:
        raise AssertionError("labels are judged, not targets")
    q, depth = chance_to_learn(n), depth_to_judge(n, groups)
    neighbors = task.neighbors
    n_threads = thread_count(task.options.n_jobs)
    warn_if_long(neighbors.seconds(depth), _EACH * n * depth, n_threads, depth, "fewer samples")
    part = _VoicePart(
        depth, codes, len(task.samples.classes), q, task.options.average,
        None if groups is None else Exclusion(groups, same_class_only=False), n_nearest,
    )  # fmt: skip
    blocks = list(neighbors.blocks(depth, part))
    parts: list[_Voices] = [each for block in blocks for each in block.parts]
    heard = parts[0].heard
    for each in parts[1:]:
        heard = heard + each.heard
    found = vstack([each.hears for each in parts], format="csr")
    nearest = np.concatenate([each.nearest for each in parts])
    peers = _peers(codes, part.n_classes, part.exclusion)
    weighed = _weigh(found, heard, codes, peers, q)
    return Doubts(
        *weighed,
        nearest=nearest,
        chance=q,
        error_bound=max(each.missing for each in parts) + depth / _WHOLE,
        search=neighbors.report([block.search for block in blocks]),
    )


def _peers(codes: Codes, n_classes: int, exclusion: Exclusion | None) -> NDArray[np.int64]:
    """How many others of its class could speak for each sample."""
    if exclusion is None:
        return np.bincount(codes, minlength=n_classes)[codes] - 1
    elsewhere: NDArray[np.int64] = exclusion.pools(codes, n_classes)[1]
    return elsewhere[exclusion.groups, codes]


@dataclass(frozen=True, eq=False)
class _VoicePart:
    """Rows of a block -> who hears whom; an order that is given may be deeper than it need be."""

    depth: int
    codes: Codes
    n_classes: int
    q: float
    average: bool
    exclusion: Exclusion | None
    n_nearest: int

    def __call__(self, order: NeighborOrder, n_threads: int) -> _Voices:
        n, order = len(self.codes), cut_rows(order, self.depth)
        others = np.full(order.n_samples, n - 1)
        if self.exclusion is not None:
            of_group = np.bincount(self.exclusion.groups)
            others = n - of_group[self.exclusion.groups[own_rows(order)]]
            order = self.exclusion.apply(order, self.codes)
        rows = np.repeat(np.arange(order.n_samples), np.diff(order.indptr))
        # Somebody learns: a question without an answer is not counted.
        answered = -np.expm1(others * np.log1p(-self.q))
        shares = answer_shares(order, self.q, self.average) / np.maximum(answered, self.q)[rows]
        lengths = np.diff(order.indptr)
        missing = np.where(
            lengths < others, (1 - self.q) ** lengths / np.maximum(answered, self.q), 0.0
        )
        weights = np.rint(_WHOLE * shares).astype(np.int64)
        own = self.codes[own_rows(order)]
        there = order.flat_indices
        places = np.arange(len(there)) - order.indptr[rows]
        nearest = np.full((order.n_samples, self.n_nearest), -1, dtype=np.int32)
        near = places < self.n_nearest
        nearest[rows[near], places[near]] = there[near]
        return _Voices(
            _table(weights, rows, self.codes[there], (order.n_samples, self.n_classes)),
            _table(weights, there, own[rows], (n, self.n_classes)),
            nearest,
            float(missing.max()),
        )


def answer_shares(order: NeighborOrder, q: float, average: bool) -> Floats:
    """How often each entry is the first in its row that learns; who is tied shares."""
    lengths = np.diff(order.indptr)
    places = np.arange(len(order.tied)) - np.repeat(order.indptr[:-1], lengths)
    if not average:
        return np.asarray(q * (1 - q) ** places, dtype=np.float64)
    group = np.cumsum(~order.tied) - 1
    heads = np.flatnonzero(~order.tied)
    sizes = np.bincount(group, minlength=len(heads))
    each = (1 - q) ** places[heads] * -np.expm1(sizes * np.log1p(-q)) / sizes
    shared: Floats = each[group]
    return shared


def _table(
    weights: NDArray[np.int64], rows: NDArray[Any], columns: Codes, shape: tuple[int, int]
) -> csr_array:
    return coo_array((weights, (rows, columns)), shape=shape).tocsr()


class _Weighed(NamedTuple):
    """The first fields of `Doubts`."""

    doubt: Floats
    suggested: Codes
    probability: Floats
    own: Floats
    rate: float


def _weigh(
    hears: csr_array, heard: csr_array, codes: Codes, peers: NDArray[np.int64], q: float
) -> _Weighed:
    rows = np.arange(len(codes))
    shares = hears.astype(np.float64) / _WHOLE
    said = heard.astype(np.float64) / _WHOLE
    total = np.asarray(said.sum(axis=1))
    said = said.multiply(1 / (total + _UNHEARD)[:, None]).tocsr()
    own_hears, own_said = shares[rows, codes], said[rows, codes]
    own_voice = own_hears + own_said
    reach = -np.expm1(peers * np.log1p(-q))
    support = np.divide(own_hears, reach, out=np.zeros(len(codes)), where=reach > 0) + own_said
    own = coo_array((own_voice, (rows, codes)), shape=shares.shape)
    others = (shares + said - own).tocsr()
    most = others.max(axis=1).toarray().ravel()
    suggested = np.where(most > 0, np.asarray(others.argmax(axis=1)).ravel(), codes)
    # Rounded, so that neither noise nor what was left out decides between equal doubts.
    doubt = np.where(peers > 0, np.round((most - support) / 2, 3), -1.0)
    agreed = np.maximum(most, own_voice)
    clear = agreed >= np.median(agreed)
    rate = float(np.mean(doubt[clear] > 0))
    given = shares[rows, suggested]
    return _Weighed(doubt, suggested.astype(np.int32), given, own_hears, rate)

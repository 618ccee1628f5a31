"""The GPU kernel of votes on a circle: one class of one row after the other.

A class is known by its last item in a prefix: that is there before the prefix ends, and the next of
its class is not; its count there is the number of its items. So no state changes along a row.
Classes alike (kind, number of items, before or after the own class) have one key: they are one
factor and its power. Triton comes with torch where there is CUDA.
"""

from typing import Any, NamedTuple

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

#: Votes of the own class that are looked at side by side.
VOTES = 8


class VoteRows(NamedTuple):
    """Whose votes are asked for, on the device.

    Attributes
    ----------
    labels : int32 tensor of shape (rows, at least the depth)
        Classes of the neighbours, nearest first.
    numbers, targets, own : int32 tensors of shape (pairs,)
        Which of the rows, which class may win there, and the class of the row itself.
    """

    labels: Any
    numbers: Any
    targets: Any
    own: Any


class VoteTables(NamedTuple):
    """What all rows share, on the device.

    Attributes
    ----------
    sums, rows, fewest : tensors
        As in `ClassTables`.
    turned : tensor of shape (votes + 1, 2, points)
        z^v.
    k_low : int32 tensor of shape (depth + 2,)
        The fewest voters that a prefix is asked about.
    kind_of, own_kind_of : int32 tensors of shape (classes,)
        The kind of a class, and in rows of that class.
    nodes, node_weights : tensors
        Of the integral over shared votes: line q holds the rule of q nodes.
    n_kinds, depth : int
    first, last : int
        The prefixes that are asked about.
    next_is_drawn, share : bool
        Whether the item after a prefix is drawn; whether classes with as many votes share them.
    """

    sums: Any
    rows: Any
    fewest: Any
    turned: Any
    k_low: Any
    kind_of: Any
    own_kind_of: Any
    nodes: Any
    node_weights: Any
    n_kinds: int
    depth: int
    first: int
    last: int
    next_is_drawn: bool
    share: bool


def votes_are_there() -> bool:
    """Whether the kernel can be used."""
    return triton is not None


if triton is not None:
    _VOTES, _ALL_KEYS = tl.constexpr(VOTES), tl.constexpr((1 << 31) - 1)

    @triton.jit
    def _times(real, imaginary, by_real, by_imaginary):
        """The product of complex numbers."""
        return (
            real * by_real - imaginary * by_imaginary,
            real * by_imaginary + imaginary * by_real,
        )

    @triton.jit
    def _times_power(real, imaginary, by_real, by_imaginary, times):
        """Times a power of a complex number, by squares."""
        while times > 0:
            if times % 2 == 1:
                real, imaginary = _times(real, imaginary, by_real, by_imaginary)
            times //= 2
            if times > 0:
                by_real, by_imaginary = _times(by_real, by_imaginary, by_real, by_imaginary)
        return real, imaginary

    @triton.jit
    def _all_votes(tables, line, POINTS: tl.constexpr):
        """Σ_b row[b] z^b of a line."""
        sums, _, _, width = tables
        at = sums + ((line + 1).to(tl.int64) * width - 1) * 2 * POINTS + tl.arange(0, POINTS)
        return tl.load(at), tl.load(at + POINTS)

    @triton.jit
    def _up_to(tables, line, v, POINTS: tl.constexpr):
        """Σ_{b ≤ v} row[b] z^b of a line, for each of several v."""
        sums, _, _, width = tables
        at = (line.to(tl.int64) * width + v)[:, None] * 2 * POINTS
        at = sums + at + tl.arange(0, POINTS)[None, :]
        return tl.load(at), tl.load(at + POINTS)

    @triton.jit
    def _capped(tables, line, v, after, worth, SHARE: tl.constexpr, POINTS: tl.constexpr):
        """As `_up_to`, where v votes count `worth`, or all or nothing, as the class comes after."""
        if not SHARE:
            return _up_to(tables, line, v - 1 + after, POINTS)
        real, imaginary = _up_to(tables, line, v - 1, POINTS)
        tie_real, tie_imaginary = _up_to(tables, line, v, POINTS)
        return real + worth * (tie_real - real), imaginary + worth * (tie_imaginary - imaginary)

    @triton.jit
    def _key_line(tables, key):
        """The line of the classes with a key."""
        _, kinds, height, _ = tables
        return key // 2 % kinds * height + key // (2 * kinds)

    @triton.jit
    def _times_free(real, imaginary, tables, keys, below, POINTS: tl.constexpr):
        """Times all votes of the classes whose keys are below a limit."""
        key = tl.max(tl.where(keys < below, keys, 0), 0)
        while key > 0:
            by_real, by_imaginary = _all_votes(tables, _key_line(tables, key), POINTS)
            alike = tl.sum((keys == key).to(tl.int32), 0)
            real, imaginary = _times_power(real, imaginary, by_real, by_imaginary, alike)
            key = tl.max(tl.where(keys < key, keys, 0), 0)
        return real, imaginary

    @triton.jit
    def _times_rivals(real, imaginary, tables, keys, v, worth, SHARE: tl.constexpr,
                      POINTS: tl.constexpr):  # fmt: skip
        """Times the capped votes of the classes that can reach the first v; and their items."""
        _, kinds, _, _ = tables
        items = 0
        below = tl.min(v, 0) * kinds * 2
        key = tl.max(keys, 0)
        while key >= below:
            line = _key_line(tables, key)
            by_real, by_imaginary = _capped(tables, line, v, key % 2, worth, SHARE, POINTS)
            alike = tl.sum((keys == key).to(tl.int32), 0)
            real, imaginary = _times_power(real, imaginary, by_real, by_imaginary, alike)
            items += alike * (key // (2 * kinds))
            key = tl.max(tl.where(keys < key, keys, 0), 0)
        return real, imaginary, items

    @triton.jit
    def _classes(base, depth, ITEMS: tl.constexpr):
        """Of each item its class, how many of it there are up to here, and where the next is."""
        position = tl.arange(0, ITEMS)
        label = tl.load(base + position, mask=position < depth, other=-1)
        count = tl.zeros((ITEMS,), tl.int32)
        following = tl.full((ITEMS,), ITEMS, tl.int32)
        for i in range(depth):
            same = label == tl.load(base + i)
            count += (same & (position >= i)).to(tl.int32)
            following = tl.where(same & (position < i), tl.minimum(following, i), following)
        return label, count, following

    @triton.jit
    def _fewest_votes(counts, n_next, low, high, wanted):
        """The fewest votes with which the own class can win among `wanted` voters."""
        enough = low > high
        while not enough:
            others = tl.sum(tl.minimum(counts, low), 0) + tl.minimum(n_next, low)
            enough = low + others >= wanted
            if not enough:
                low += 1
                enough = low > high
        return low

    @triton.jit
    def _sure_wins(tables, line, most, rivals, NEXT: tl.constexpr, POINTS: tl.constexpr):
        """More votes than anybody else has items: whatever the others do, the target wins."""
        sums, _, _, width = tables
        keys, _, free_items, upcoming = rivals
        _, next_line, _, other_is_next = upcoming
        real, imaginary = _all_votes(tables, line, POINTS)
        at = sums + (line.to(tl.int64) * width + most) * 2 * POINTS + tl.arange(0, POINTS)
        real -= tl.load(at)
        imaginary -= tl.load(at + POINTS)
        if NEXT:
            real, imaginary = _times_free(real, imaginary, tables, keys, _ALL_KEYS, POINTS)
            if other_is_next:
                by_real, by_imaginary = _all_votes(tables, next_line, POINTS)
                real, imaginary = _times(real, imaginary, by_real, by_imaginary)
        else:
            # Classes of one kind, all votes: as if they were one class (Vandermonde).
            by_real, by_imaginary = _all_votes(tables, free_items, POINTS)
            real, imaginary = _times(real, imaginary, by_real, by_imaginary)
        return real, imaginary

    @triton.jit
    def _nobody_has_more(real, imaginary, tables, rivals, tie, NEXT: tl.constexpr,
                         SHARE: tl.constexpr, POINTS: tl.constexpr):  # fmt: skip
        """Times the others' votes up to v, then summed over several v; `tie` is (v, worth)."""
        _, kinds, _, _ = tables
        keys, _, free_items, upcoming = rivals
        _, next_line, next_after, other_is_next = upcoming
        v, worth = tie
        real, imaginary, items = _times_rivals(
            real, imaginary, tables, keys, v, worth, SHARE, POINTS
        )
        if NEXT:  # noqa: SIM102 - known when the kernel is compiled, the other when it runs
            if other_is_next:
                by_real, by_imaginary = _capped(
                    tables, next_line, v, next_after, worth, SHARE, POINTS
                )
                real, imaginary = _times(real, imaginary, by_real, by_imaginary)
        won_real, won_imaginary = tl.sum(real, 0), tl.sum(imaginary, 0)
        if NEXT:
            below = tl.min(v, 0) * kinds * 2
            return _times_free(won_real, won_imaginary, tables, keys, below, POINTS)
        by_real, by_imaginary = _all_votes(tables, free_items - items, POINTS)
        return _times(won_real, won_imaginary, by_real, by_imaginary)

    @triton.jit
    def _contested_wins(tables, chances, low_high, rules, rivals, NEXT: tl.constexpr,
                        SHARE: tl.constexpr, POINTS: tl.constexpr):  # fmt: skip
        """The target has votes that others can have as well, and nobody has more."""
        low, high = low_high
        chance_of, turned, votes = chances
        nodes, node_weights = rules
        _, counts, _, upcoming = rivals
        n_next, _, _, _ = upcoming
        point = tl.arange(0, POINTS)
        real, imaginary = tl.zeros((POINTS,), tl.float64), tl.zeros((POINTS,), tl.float64)
        while low <= high:
            v = low + tl.arange(0, _VOTES)
            chance = tl.load(chance_of + v, mask=v <= high, other=0.0)[:, None]
            v = tl.minimum(v, votes)
            power = turned + v[:, None] * 2 * POINTS + point[None, :]
            own_real, own_imaginary = chance * tl.load(power), chance * tl.load(power + POINTS)
            n_nodes = 1
            if SHARE:
                able = tl.sum((counts >= low).to(tl.int32), 0) + (n_next >= low).to(tl.int32)
                n_nodes = tl.minimum(able, (votes - low) // low) // 2 + 1
            for node in range(n_nodes):
                worth, weight = 1.0, 1.0
                if SHARE:
                    at_node = n_nodes * (votes // 2 + 1) + node
                    worth, weight = tl.load(nodes + at_node), tl.load(node_weights + at_node)
                won_real, won_imaginary = _nobody_has_more(
                    weight * own_real, weight * own_imaginary, tables, rivals, (v, worth), NEXT,
                    SHARE, POINTS,
                )  # fmt: skip
                real += won_real
                imaginary += won_imaginary
            low += _VOTES
        return real, imaginary

    @triton.jit
    def _next_item(after, target, n_before, kind, tables):
        """Of the item after a prefix, which is drawn: items and line of its class, if another's."""
        _, kinds, height, _ = tables
        other_is_next = after != target
        n_next = tl.where(other_is_next, n_before, 0)
        next_line = (kinds + kind) * height + n_next
        return n_next, next_line, (after > target).to(tl.int32), other_is_next

    @triton.jit
    def _vote_kernel(
        labels, stride, row_of, target_of, own_of, kind_of, own_kind_of, sums, rows, fewest, turned,
        k_low, nodes, node_weights, out, first, last, depth, kinds, votes,
        NEXT: tl.constexpr, SHARE: tl.constexpr, ITEMS: tl.constexpr, POINTS: tl.constexpr,
    ):  # fmt: skip
        """out[pair, j - first] = H(z) of the prefixes j = first … last."""
        pair = tl.program_id(0)
        position, point = tl.arange(0, ITEMS), tl.arange(0, POINTS)
        height = depth + 1
        tables = (sums, kinds, height, votes + 2)
        target, own = tl.load(target_of + pair), tl.load(own_of + pair)
        base = labels + tl.load(row_of + pair).to(tl.int64) * stride
        label, count, following = _classes(base, depth, ITEMS)
        # A class has a candidate less in its own rows.
        own_kind = tl.load(own_kind_of + own)
        kind = tl.load(kind_of + label, mask=position < depth, other=0)
        kind = tl.where(label == own, own_kind, kind)
        target_kind = tl.where(target == own, own_kind, tl.load(kind_of + target))
        key = (count * kinds + kind) * 2
        if not SHARE:
            # Of classes with as many votes the first in class order wins.
            key += (label > target).to(tl.int32)
        rival = (label != target) & (position < depth)
        n_target = 0
        for j in range(1, last + 1):
            n_target += (tl.load(base + j - 1) == target).to(tl.int32)
            if (n_target > 0) & (j >= first):
                here = rival & (position < j) & (following >= j)
                line = target_kind * height + n_target
                upcoming = (0, 0, 0, False)
                if NEXT:
                    after = tl.load(base + j)
                    n_before = tl.sum(tl.where(position == j, count, 0), 0) - 1
                    next_kind = tl.where(after == own, own_kind, tl.load(kind_of + after))
                    upcoming = _next_item(after, target, n_before, next_kind, tables)
                    # The class that is drawn next has the second version of everything.
                    line += tl.where(after == target, kinds * height, 0)
                    here = here & (label != after)
                counts = tl.where(here, count, 0)
                rivals = (tl.where(here, key, 0), counts, j - n_target, upcoming)
                most = tl.minimum(tl.maximum(tl.max(counts, 0), upcoming[0]), votes)
                real, imaginary = _sure_wins(tables, line, most, rivals, NEXT, POINTS)
                high = tl.minimum(most, n_target)
                low = tl.maximum(tl.load(fewest + line), 1)
                low = _fewest_votes(counts, upcoming[0], low, high, tl.load(k_low + j))
                chances = (rows + line.to(tl.int64) * (votes + 1), turned, votes)
                won_real, won_imaginary = _contested_wins(
                    tables, chances, (low, high), (nodes, node_weights), rivals, NEXT, SHARE, POINTS
                )  # fmt: skip
                place = out + (pair.to(tl.int64) * (last + 1 - first) + j - first) * 2 * POINTS
                tl.store(place + point, real + won_real)
                tl.store(place + POINTS + point, imaginary + won_imaginary)


def values_on_circle(torch: Any, rows: VoteRows, tables: VoteTables) -> Any:
    """H(z) of each pair of a row and a class, in each prefix: (pairs, prefixes, 2 · points)."""
    first, last = tables.first, tables.last
    points = tables.sums.shape[-1]
    out = torch.zeros(
        (len(rows.targets), last + 1 - first, 2 * points),
        dtype=torch.float64, device=rows.labels.device,
    )  # fmt: skip
    depth, votes = tables.depth, tables.rows.shape[1] - 1
    with torch.cuda.device(out.device):
        _vote_kernel[(len(rows.targets),)](
            rows.labels, rows.labels.stride(0), rows.numbers, rows.targets, rows.own,
            tables.kind_of, tables.own_kind_of, tables.sums, tables.rows, tables.fewest,
            tables.turned, tables.k_low, tables.nodes, tables.node_weights, out, first, last,
            depth, tables.n_kinds, votes,
            NEXT=tables.next_is_drawn, SHARE=tables.share,
            ITEMS=triton.next_power_of_2(depth), POINTS=points, num_warps=1,
        )  # fmt: skip
    return out

"""GPU kernels of the fused search: products that are filtered where they arise, and never written.

    filter_band     x·y of a band of rows with all that come after; whoever beats the limit of a row
                    is put on its list, and the row on the other's list if that limit is beaten, too
    sample_maxima   maxima over groups of columns of the products with a sample, for the limits
    list_distances  squared distances of the rows to those on their lists, by differences in float64

An element that passes is rare, so the filter is a comparison and a branch that is almost never
taken; behind it stands one atomic addition. Triton comes with torch where there is CUDA.
"""

from typing import Any, NamedTuple

try:
    import triton
    import triton.language as tl
except ImportError:
    triton = None

#: Rows and columns of a tile. Tiles of a band of rows share their columns while these are near.
ROWS, COLUMNS, BAND = 256, 128, 16
#: Features at a time: tables are filled up to a multiple.
FEATURES = 64
#: Columns of which a sample keeps the maximum.
GROUP = 32
_TILE = {"num_warps": 8, "num_stages": 3}
#: Items of a step of the distances.
ITEMS = 16


class Table(NamedTuple):
    """Points as the matrix units take them, on the device.

    Attributes
    ----------
    points : bfloat16 tensor of shape (rows, features)
        Filled up with zeros to whole bands and steps.
    halves : float32 tensor of shape (rows,)
        Half of the squared norms before rounding; huge where there is no point.
    """

    points: Any
    halves: Any


class Lists(NamedTuple):
    """Candidates of all rows, on the device.

    Attributes
    ----------
    items : int32 tensor of shape (rows, room)
        Who passed, in any order.
    counts : int32 tensor of shape (rows,)
        How many passed; more than there is room for if the list is not complete.
    """

    items: Any
    counts: Any


def fused_is_there() -> bool:
    """Whether the kernels can be used."""
    return triton is not None


def _append_code() -> str:
    """PTX that puts those of four pairs who beat a limit on the lists.

    Operands, four of each: nothing (out), score, limit of the row, limit of the column, row,
    column, counts, lists, room.
    """
    score, of_row, of_column, row, column, counts, lists, room = range(4, 36, 4)

    def append(e: int, limit: int, owner: int, item: int, label: str) -> str:
        return f"""
            setp.gt.f32 passes, ${score + e}, ${limit + e};
            @!passes bra {label};
            mul.wide.u32 at, ${owner + e}, 4;
            add.u64 at, at, ${counts + e};
            atom.global.add.u32 place, [at], 1;
            setp.lt.u32 passes, place, ${room + e};
            @!passes bra {label};
            mul.wide.u32 at, ${owner + e}, ${room + e};
            cvt.u64.u32 offset, place;
            add.u64 at, at, offset;
            shl.b64 at, at, 2;
            add.u64 at, at, ${lists + e};
            st.global.u32 [at], ${item + e};
            {label}:"""

    tests = "".join(
        f"setp.gt.or.f32 passes, ${score + e}, ${limit + e}, passes;"
        for e in range(4)
        for limit in (of_row, of_column)
    )
    appended = "".join(
        append(e, of_row, row, column, f"ROW{e}") + append(e, of_column, column, row, f"COLUMN{e}")
        for e in range(4)
    )
    return f"""{{
            .reg .pred passes;
            .reg .u32 place;
            .reg .u64 at, offset;
            setp.ne.u32 passes, 0, 0;
            {tests}
            @!passes bra DONE;{appended}
            DONE:
            {"".join(f"mov.u32 ${e}, 0;" for e in range(4))}
            }}"""


_KINDS = ("=r", "f", "f", "f", "r", "r", "l", "l", "r")
#: Kinds of the operands of `_append_code`.
_OPERANDS = ",".join(kind for kind in _KINDS for _ in range(4))

if triton is not None:
    # Kernels know constants of this kind only.
    _ROWS, _COLUMNS, _BAND = tl.constexpr(ROWS), tl.constexpr(COLUMNS), tl.constexpr(BAND)
    _FEATURES, _GROUP = tl.constexpr(FEATURES), tl.constexpr(GROUP)
    _ITEMS, _STEP = tl.constexpr(ITEMS), tl.constexpr(128)
    _APPEND_OPERANDS = tl.constexpr(_OPERANDS)

    #: For four pairs at a time: a comparison with both limits, and one branch that is seldom taken.
    _APPEND = tl.constexpr(_append_code())

    @triton.jit
    def _scores(
        table, others, row, column, row_halves, column_halves, width
    ):  # fmt: skip
        """x·y - |x|²/2 - |y|²/2 of a tile; sums begin with the halves, which costs nothing."""
        feature = tl.arange(0, _FEATURES)
        x = table + row.to(tl.int64)[:, None] * width + feature[None, :]
        y = others + column.to(tl.int64)[None, :] * width + feature[:, None]
        scores = -tl.load(row_halves + row)[:, None] - tl.load(column_halves + column)[None, :]
        for _ in range(0, width, _FEATURES):
            scores = tl.dot(tl.load(x), tl.load(y), scores)
            x += _FEATURES
            y += _FEATURES
        return scores

    @triton.jit
    def _filter(
        table, halves, limits, counts, lists, first, room, width
    ):  # fmt: skip
        place = tl.program_id(0)
        top = first + (place % _BAND) * _ROWS
        left = first + (place // _BAND) * _COLUMNS
        if left >= top:
            row = top + tl.arange(0, _ROWS)
            column = left + tl.arange(0, _COLUMNS)
            scores = _scores(table, table, row, column, halves, halves, width)
            of_rows, of_columns = tl.load(limits + row), tl.load(limits + column)
            # On the diagonal both of a pair are rows.
            of_columns = tl.where(left >= top + _ROWS, of_columns, float("inf"))
            tl.inline_asm_elementwise(
                _APPEND, _APPEND_OPERANDS,
                [
                    scores, of_rows[:, None], of_columns[None, :], row[:, None], column[None, :],
                    counts.to(tl.int64), lists.to(tl.int64), room,
                ],
                dtype=tl.int32, is_pure=False, pack=4,
            )  # fmt: skip

    @triton.jit
    def _maxima(
        table, sample, halves, sample_halves, out, first, n_groups, width
    ):  # fmt: skip
        line = tl.program_id(0) * _ROWS + tl.arange(0, _ROWS)
        column = tl.program_id(1) * _COLUMNS + tl.arange(0, _COLUMNS)
        scores = _scores(table, sample, first + line, column, halves, sample_halves, width)
        maxima = tl.max(tl.reshape(scores, [_ROWS, _COLUMNS // _GROUP, _GROUP]), axis=2)
        group = tl.program_id(1) * (_COLUMNS // _GROUP) + tl.arange(0, _COLUMNS // _GROUP)
        tl.store(out + line.to(tl.int64)[:, None] * n_groups + group[None, :], maxima)

    @triton.jit
    def _distances(
        points, items, counts, out, first, room, n_features
    ):  # fmt: skip
        line = tl.program_id(0).to(tl.int64)
        place = tl.program_id(1) * _ITEMS + tl.arange(0, _ITEMS)
        count = tl.minimum(tl.load(counts + line), room)
        if tl.program_id(1) * _ITEMS < count:
            own = first + line
            item = tl.load(items + line * room + place, mask=place < count, other=0).to(tl.int64)
            total = tl.zeros([_ITEMS], dtype=tl.float64)
            for start in range(0, n_features, _STEP):
                feature = start + tl.arange(0, _STEP)
                there = feature < n_features
                x = tl.load(points + own * n_features + feature, mask=there, other=0.0)
                y = tl.load(
                    points + item[:, None] * n_features + feature[None, :],
                    mask=there[None, :], other=0.0,
                )  # fmt: skip
                difference = y.to(tl.float64) - x.to(tl.float64)[None, :]
                total += tl.sum(difference * difference, axis=1)
            total = tl.where(item == own, float("inf"), total)
            tl.store(out + line * room + place, total, mask=place < count)


def filter_band(table: Table, limits: Any, lists: Lists, first: int) -> None:
    """Pairs of the rows of a band from `first` on with all rows that do not come before them.

    Whoever has a score, -|x - y|²/2, above the limit of a row is put on its list.
    """
    n_columns = (len(table.points) - first) // COLUMNS
    _filter[(BAND * n_columns,)](
        table.points, table.halves, limits, lists.counts, lists.items, first,
        lists.items.shape[1], table.points.shape[1], **_TILE,
    )  # fmt: skip


def sample_maxima(torch: Any, table: Table, sample: Table, start: int, stop: int) -> Any:
    """Maxima of the scores over groups of the sample, for some rows."""
    n_groups = len(sample.points) // GROUP
    out = torch.empty((stop - start, n_groups), dtype=torch.float32, device=sample.points.device)
    _maxima[((stop - start) // ROWS, len(sample.points) // COLUMNS)](
        table.points, sample.points, table.halves, sample.halves, out, start, n_groups,
        table.points.shape[1], **_TILE,
    )  # fmt: skip
    return out


def list_distances(torch: Any, points: Any, lists: Lists, first: int) -> Any:
    """Squared distances of consecutive rows to those on their lists, infinite where nobody is."""
    shape, room = lists.items.shape, lists.items.shape[1]
    keys = torch.full(shape, float("inf"), dtype=torch.float64, device=points.device)
    _distances[(shape[0], triton.cdiv(room, ITEMS))](
        points, lists.items, lists.counts, keys, first, room, points.shape[1],
    )  # fmt: skip
    return keys

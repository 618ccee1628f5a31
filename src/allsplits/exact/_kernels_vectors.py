"""Compiled sums of products, eight numbers at a time.

Loops over a handful of numbers stay scalar in what numba makes of them, and so do loops of fixed
length, which are unrolled first. Here the vectors are written down; each number is multiplied and
added up by itself, in the order of the terms, so that their width changes no bit.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

#: Numbers of a chunk.
CHUNK = 8
_VECTOR = ir.VectorType(ir.DoubleType(), CHUNK)
_NUMBERS = ir.VectorType(ir.IntType(64), CHUNK)
_ZEROS = ir.Constant(_VECTOR, [0.0] * CHUNK)
_POWERS = ir.Constant(_NUMBERS, list(range(CHUNK)))


def _data(context, builder, kind, array):
    """Where the numbers of an array begin."""
    return context.make_array(kind)(context, builder, array).data


def _chunk_at(builder, data, place):
    """The chunk that begins at this place."""
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _splat(builder, value, kind=_VECTOR):
    """A chunk of the same number."""
    undefined = ir.Constant(kind, ir.Undefined)
    first = builder.insert_element(undefined, value, ir.Constant(ir.IntType(32), 0))
    same = ir.Constant(ir.VectorType(ir.IntType(32), CHUNK), [0] * CHUNK)
    return builder.shuffle_vector(first, undefined, same)


def _shifted_sum(n_chunks: int) -> Any:
    """The same for this many chunks side by side."""

    @intrinsic
    def shifted_sum(typing, space, places, rows, factor):
        """space[target:] = space[base:] + Σ_t rows[first + t step] space[source - t:], in chunks.

        `places` are target, source and base; the `factor` has first, step, the number of terms (one
        at least) and by what the last one is multiplied besides.
        """

        def build(context, builder, signature, args):
            data, table = (_data(context, builder, signature.args[i], args[i]) for i in (0, 2))
            target, source, base = (builder.extract_value(args[1], i) for i in range(3))
            first, step, n_terms, last = (builder.extract_value(args[3], i) for i in range(4))
            sums = [cgutils.alloca_once(builder, _VECTOR) for _ in range(n_chunks)]

            def chunk(place, c):
                shifted = builder.add(place, ir.Constant(place.type, CHUNK * c))
                return _chunk_at(builder, data, shifted)

            def term(t, scale=None):
                place = builder.add(first, builder.mul(t, step))
                value = builder.load(builder.gep(table, [place]))
                value = builder.fmul(value, scale) if scale is not None else value
                same = _splat(builder, value)
                for c, total in enumerate(sums):
                    others = builder.load(chunk(builder.sub(source, t), c), align=8)
                    more = builder.fadd(builder.load(total), builder.fmul(same, others))
                    builder.store(more, total)

            for c, total in enumerate(sums):
                builder.store(builder.load(chunk(base, c), align=8), total)
            before = builder.sub(n_terms, ir.Constant(n_terms.type, 1))
            with cgutils.for_range(builder, before, intp=n_terms.type) as loop:
                term(loop.index)
            term(before, last)
            for c, total in enumerate(sums):
                builder.store(builder.load(total), chunk(target, c), align=8)
            return context.get_dummy_value()

        return types.void(space, places, rows, factor), build

    return shifted_sum


sum_one, sum_two, sum_three, sum_four = (_shifted_sum(n_chunks) for n_chunks in (1, 2, 3, 4))


@intrinsic
def capped_sum(typing, space, places, scales, cap, y):
    """space[target:] = a space[first:] + b space[second:], a chunk; cut after the cap.

    `places` are target, first, second and the number of the chunk's first power; `scales` are a and
    b. What has the power `cap` counts y times.
    """

    def build(context, builder, signature, args):
        data = _data(context, builder, signature.args[0], args[0])
        target, first, second, power = (builder.extract_value(args[1], i) for i in range(4))
        a, b = (_splat(builder, builder.extract_value(args[2], i)) for i in range(2))
        left = builder.fmul(a, builder.load(_chunk_at(builder, data, first), align=8))
        right = builder.fmul(b, builder.load(_chunk_at(builder, data, second), align=8))
        total = builder.fadd(left, right)
        ahead = _splat(builder, builder.sub(args[3], power), _NUMBERS)
        at_cap = builder.fmul(total, _splat(builder, args[4]))
        kept = builder.select(builder.icmp_signed("==", _POWERS, ahead), at_cap, _ZEROS)
        kept = builder.select(builder.icmp_signed("<", _POWERS, ahead), total, kept)
        builder.store(kept, _chunk_at(builder, data, target), align=8)
        return context.get_dummy_value()

    return types.void(space, places, scales, cap, y), build

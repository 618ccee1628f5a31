"""Lines of numbers in registers: tuples of eights (`_kernels_eight`), the first numbers first.

Where a short polynomial is multiplied by one after the other, writing each product takes longer
than the product: what has just been written cannot be read one place further before it has reached
the cache. A line stays where it is, and moves by a place as a whole. Each number is multiplied and
added up by itself, in the order of the terms, and rounded once for each of them.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from allsplits.exact._kernels_eight import LANES, eight_times, fused, load_at, pointer_at, spread


def _parts(builder, signature, arguments, i):
    """The eights of a line."""
    return cgutils.unpack_tuple(builder, arguments[i], signature.args[i].count)


@intrinsic
def plus_scaled(typing_context, total, line, factor):
    """The total plus an eight times those of the line, each rounded once."""

    def build(context, builder, signature, arguments):
        pairs = zip(
            _parts(builder, signature, arguments, 0),
            _parts(builder, signature, arguments, 1),
            strict=True,
        )
        sums = [fused(builder, a, arguments[2], b) for a, b in pairs]
        return context.make_tuple(builder, signature.return_type, sums)

    return total(total, line, factor), build


@intrinsic
def scaled(typing_context, line, factor):
    """An eight times those of the line."""

    def build(context, builder, signature, arguments):
        parts = _parts(builder, signature, arguments, 0)
        products = [builder.fmul(arguments[1], part) for part in parts]
        return context.make_tuple(builder, signature.return_type, products)

    return line(line, factor), build


@intrinsic
def moved_up(typing_context, line):
    """The line times z: one place further, a zero comes in, and the last number is lost."""

    def build(context, builder, signature, arguments):
        parts = _parts(builder, signature, arguments, 0)
        places = [*range(LANES - 1, 2 * LANES - 1)]
        chosen = ir.Constant(ir.VectorType(ir.IntType(32), LANES), places)
        before = [ir.Constant(parts[0].type, [0.0] * LANES), *parts[:-1]]
        moved = [
            builder.shuffle_vector(last, part, chosen)
            for last, part in zip(before, parts, strict=True)
        ]
        return context.make_tuple(builder, signature.return_type, moved)

    return line(line), build


@intrinsic
def moved_eight(typing_context, line):
    """The line eight places further: zeros come in, and the last eight is lost."""

    def build(context, builder, signature, arguments):
        parts = _parts(builder, signature, arguments, 0)
        moved = [ir.Constant(parts[0].type, [0.0] * LANES), *parts[:-1]]
        return context.make_tuple(builder, signature.return_type, moved)

    return line(line), build


@intrinsic
def load_like(typing_context, line, space, place):
    """A line as long as this one, of the numbers that begin at this place."""

    def build(context, builder, signature, arguments):
        parts = []
        for x in range(line.count):
            at = builder.add(arguments[2], ir.Constant(arguments[2].type, LANES * x))
            part = builder.load(pointer_at(context, builder, signature.args[1], arguments[1], at))
            part.align = 8
            parts.append(part)
        return context.make_tuple(builder, signature.return_type, parts)

    return line(line, space, place), build


@intrinsic
def store_line(typing_context, space, place, line):
    """Write a line into an array, from this place on."""

    def build(context, builder, signature, arguments):
        parts = _parts(builder, signature, arguments, 2)
        for x, part in enumerate(parts):
            at = builder.add(arguments[1], ir.Constant(arguments[1].type, LANES * x))
            pointer = pointer_at(context, builder, signature.args[0], arguments[0], at)
            builder.store(part, pointer).align = 8
        return context.get_dummy_value()

    return types.none(space, place, line), build


@intrinsic
def cut_at(typing_context, numbers, cap, y):
    """An eight whose number `cap` counts y times, and those after it not at all."""

    def build(context, builder, signature, arguments):
        eight, cap, y = arguments
        caps = spread(builder, cap)
        powers = ir.Constant(caps.type, [*range(LANES)])
        nothing = ir.Constant(eight.type, [0.0] * LANES)
        tied = builder.select(builder.icmp_signed("==", powers, caps), y, nothing)
        return builder.select(
            builder.icmp_signed("<", powers, caps), eight, builder.fmul(eight, tied)
        )

    return numbers(numbers, cap, y), build


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def one_eight(space, place):
    """A line of the eight that begins at this place."""
    return (load_at(space, place),)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def two_eights(space, place):
    """Two of them."""
    return (load_at(space, place), load_at(space, place + LANES))


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def three_eights(space, place):
    """Three of them."""
    return (
        load_at(space, place),
        load_at(space, place + LANES),
        load_at(space, place + 2 * LANES),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def four_eights(space, place):
    """Four of them."""
    return (
        load_at(space, place),
        load_at(space, place + LANES),
        load_at(space, place + 2 * LANES),
        load_at(space, place + 3 * LANES),
    )


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, forceinline=True)
def times_row(line, rows, first, step, n_terms, last):
    """The line times Σ_t rows[first + t step] z^t; the last term counts so often."""
    moved = line
    total = scaled(line, eight_times(rows[first] * (last if n_terms == 1 else 1.0)))
    for t in range(1, n_terms - 1):
        moved = moved_up(moved)
        total = plus_scaled(total, moved, eight_times(rows[first + t * step]))
    if n_terms > 1:
        factor = eight_times(rows[first + (n_terms - 1) * step] * last)
        total = plus_scaled(total, moved_up(moved), factor)
    return total


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def eight_eights(space, place):
    """Eight of them."""
    return four_eights(space, place) + four_eights(space, place + 4 * LANES)


@njit(nogil=True, cache=True, error_model="numpy", _nrt=False, inline="always")
def sixteen_eights(space, place):
    """Sixteen of them."""
    return eight_eights(space, place) + eight_eights(space, place + 8 * LANES)

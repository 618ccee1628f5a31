"""Eight numbers side by side, as one value of compiled code.

Numba leaves short loops as they are written, one number after the other. A value of this type is a
vector of LLVM, which is one register or a few on every processor. Products and sums are rounded one
by one, as those of single numbers are, and `plus_times` once, as it says: the bits do not depend on
the processor.

The n-th eight of an array are its numbers 8n … 8n + 7, whatever its shape; `load_at` and `store_at`
begin at any number. As everywhere in compiled code, nobody looks whether they are there.
"""

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

#: Numbers side by side.
LANES = 8
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_PLACES = ir.IntType(32)


class _EightType(types.Type):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__(name="Eight")


_EIGHT = _EightType()


@register_model(_EightType)
class _EightModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager, kind):
        super().__init__(manager, kind, _VECTOR)


def pointer_at(context, builder, kind, array, place):
    """Where the eight numbers lie that begin at this place of an array."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _pointer(context, builder, kind, array, n):
    """Where the n-th eight of an array lie."""
    place = builder.mul(n, ir.Constant(n.type, LANES))
    return pointer_at(context, builder, kind, array, place)


def _taken(builder, value, places):
    """The numbers at these places of a vector."""
    chosen = ir.Constant(ir.VectorType(_PLACES, len(places)), [*places])
    return builder.shuffle_vector(value, value, chosen)


def _is_plain(array):
    """Whether it is an array of numbers of eight bytes; integers can be copied."""
    numbers = (types.float64, types.int64)
    return isinstance(array, types.Array) and array.layout == "C" and array.dtype in numbers


@intrinsic
def load(typing_context, array, n):
    """The n-th eight of an array."""

    def build(context, builder, signature, arguments):
        value = builder.load(_pointer(context, builder, signature.args[0], *arguments))
        value.align = 8
        return value

    return (_EIGHT(array, types.int64), build) if _is_plain(array) else None


@intrinsic
def store(typing_context, array, n, value):
    """Write the n-th eight of an array."""

    def build(context, builder, signature, arguments):
        place = _pointer(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place).align = 8
        return context.get_dummy_value()

    return (types.none(array, types.int64, _EIGHT), build) if _is_plain(array) else None


@intrinsic
def load_at(typing_context, array, place):
    """The eight numbers of an array that begin at this place."""

    def build(context, builder, signature, arguments):
        value = builder.load(pointer_at(context, builder, signature.args[0], *arguments))
        value.align = 8
        return value

    return (_EIGHT(array, types.int64), build) if _is_plain(array) else None


@intrinsic
def store_at(typing_context, array, place, value):
    """Write the eight numbers of an array that begin at this place."""

    def build(context, builder, signature, arguments):
        place = pointer_at(context, builder, signature.args[0], *arguments[:2])
        builder.store(arguments[2], place).align = 8
        return context.get_dummy_value()

    return (types.none(array, types.int64, _EIGHT), build) if _is_plain(array) else None


@intrinsic
def is_short(typing_context):
    """Said in a loop of few turns: it stays as it is written.

    The compiler would make eight turns one, and most time would go where these begin and end.
    """

    def build(context, builder, signature, arguments):
        # Loops with a call in them are left alone. This one is to no instruction at all.
        builder.asm(ir.FunctionType(ir.VoidType(), []), "", "", [], True)
        return context.get_dummy_value()

    return types.none(), build


def spread(builder, number):
    """A number, eight times."""
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(_PLACES, 0))
    return _taken(builder, first, (0,) * LANES)


@intrinsic
def spread_from(typing_context, array, place):
    """The number of an array at this place, eight times."""

    def build(context, builder, signature, arguments):
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        return spread(builder, builder.load(builder.gep(data, [arguments[1]])))

    return (_EIGHT(array, types.int64), build) if _is_plain(array) else None


@intrinsic
def eight_times(typing_context, x):
    """A number, eight times."""

    def build(context, builder, signature, arguments):
        return spread(builder, arguments[0])

    return _EIGHT(types.float64), build


@intrinsic
def times(typing_context, a, b):
    """Each of a times that of b."""

    def build(context, builder, signature, arguments):
        return builder.fmul(*arguments)

    return _EIGHT(_EIGHT, _EIGHT), build


@intrinsic
def plus(typing_context, a, b):
    """Each of a plus that of b."""

    def build(context, builder, signature, arguments):
        return builder.fadd(*arguments)

    return _EIGHT(_EIGHT, _EIGHT), build


def fused(builder, total, a, b):
    """The total plus a times b, of vectors of eight, rounded once."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f64")
    return builder.call(function, [a, b, total])


@intrinsic
def plus_times(typing_context, total, a, b):
    """Each of the total plus a times b, rounded once."""

    def build(context, builder, signature, arguments):
        return fused(builder, *arguments)

    return _EIGHT(_EIGHT, _EIGHT, _EIGHT), build


@intrinsic
def largest(typing_context, a):
    """The largest of eight numbers."""

    def build(context, builder, signature, arguments):
        value, width = arguments[0], LANES
        while width > 1:
            width //= 2
            lower = _taken(builder, value, range(width))
            upper = _taken(builder, value, range(width, 2 * width))
            value = builder.select(builder.fcmp_ordered(">", lower, upper), lower, upper)
        return builder.extract_element(value, ir.Constant(_PLACES, 0))

    return types.float64(_EIGHT), build


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def multiply_eight(poly, degree, row, top, limit):
    """Multiply poly by Σ_{b ≤ top} row[b] z^b in place, up to degree `limit`; the new degree.

    Both hold eight polynomials, coefficient by coefficient. Two coefficients are found at once:
    they share what they read.
    """
    new_degree = min(degree + top, limit)
    e = new_degree
    while e > 0:
        upper, lower = eight_times(0.0), eight_times(0.0)
        if e > degree:
            lower = times(load(row, e - 1 - degree), load(poly, degree))
        for b in range(max(0, e - degree), min(e - 1, top) + 1):
            factor = load(row, b)
            upper = plus(upper, times(factor, load(poly, e - b)))
            lower = plus(lower, times(factor, load(poly, e - 1 - b)))
        if e <= top:
            upper = plus(upper, times(load(row, e), load(poly, 0)))
        store(poly, e, upper)
        store(poly, e - 1, lower)
        e -= 2
    if e == 0:
        store(poly, 0, times(load(row, 0), load(poly, 0)))
    return new_degree

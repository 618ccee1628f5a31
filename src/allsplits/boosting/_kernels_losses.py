"""Compiled losses: ψ, its weight -ψ' and its curvature ψ'' at a margin; the step along one example.

A loss is a number (`EXPONENTIAL`, `SQUARED`, `LOGISTIC`) or `CUSTOM`, whose three functions are
called at their addresses, so that one compiled kernel serves them all.

The step δ along example j solves (10) of the paper, Σ r_i w(u_i + δ r_i) = 0 over those i who have
j among their nearest, with margins u_i and agreements r_i = ±1. Two losses have it in closed form
from W±, the sums of the weights where r = ±1; the others are solved by Newton's method.
"""

import math

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

EXPONENTIAL, SQUARED, LOGISTIC, CUSTOM = 0, 1, 2, 3
#: Longer than any step can be as long as there is some smoothing.
LONGEST_STEP = 100.0
_MOST_ITERATIONS = 200
#: Newton's error is about the square of its last relative move.
_SMALL_MOVE = 1e-9


@intrinsic
def _call_at(typing_context, address, x):
    """Call the C function double → double at an address."""

    def build(context, builder, signature, arguments):
        double = ir.DoubleType()
        function = ir.FunctionType(double, [double]).as_pointer()
        return builder.call(builder.inttoptr(arguments[0], function), [arguments[1]])

    return types.float64(types.int64, types.float64), build


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def loss_at(loss, x):
    """ψ(x)."""
    if loss.kind == EXPONENTIAL:
        return math.exp(-x)
    if loss.kind == SQUARED:
        return (1.0 - x) * (1.0 - x)
    if loss.kind == LOGISTIC:
        return max(-x, 0.0) + math.log1p(math.exp(-abs(x)))
    return _call_at(loss.addresses[0], x)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _weight_and_curvature(loss, x):
    """-ψ'(x) and ψ''(x)."""
    if loss.kind == EXPONENTIAL:
        weight = math.exp(-x)
        return weight, weight
    if loss.kind == SQUARED:
        return 2.0 * (1.0 - x), 2.0
    if loss.kind == LOGISTIC:
        small = math.exp(-abs(x))
        share = 1.0 / (1.0 + small)
        return (small * share if x > 0.0 else share), small * share * share
    return _call_at(loss.addresses[1], x), _call_at(loss.addresses[2], x)


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def weight_at(loss, x):
    """-ψ'(x)."""
    weight, _ = _weight_and_curvature(loss, x)
    return weight


@njit(nogil=True, cache=True, error_model="numpy")
def loss_curves(loss, points, out):
    """out[0], out[1], out[2] = ψ, -ψ', ψ'' at the points."""
    for i in range(len(points)):
        out[0, i] = loss_at(loss, points[i])
        out[1, i], out[2, i] = _weight_and_curvature(loss, points[i])


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def closed_step(kind, plus, minus, count, smoothing):
    """The step of the exponential and the squared loss from W±."""
    if plus == minus:
        return 0.0
    if kind == SQUARED:
        return (plus - minus) / (2.0 * count)
    return 0.5 * math.log((plus + smoothing) / (minus + smoothing))


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def _slope(problem, margins, j, step):
    """Minus the derivative of the surrogate at a step along j, and its curvature there.

    Smoothing is a pair of examples at margin 0, one that agrees with j and one that does not; each
    counts as much as `problem.pseudo` examples.
    """
    loss, signs, pseudo = problem.loss, problem.signs, problem.pseudo
    slope, bend = 0.0, 0.0
    if pseudo > 0.0:
        agree, bend_agree = _weight_and_curvature(loss, step)
        differ, bend_differ = _weight_and_curvature(loss, -step)
        slope = pseudo * (agree - differ)
        bend = pseudo * (bend_agree + bend_differ)
    for e in range(problem.indptr[j], problem.indptr[j + 1]):
        i = problem.members[e]
        agreement = float(signs[i] * signs[j])
        weight, curvature = _weight_and_curvature(loss, margins[i] + step * agreement)
        slope += agreement * weight
        bend += curvature
    return slope, bend


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def solve_step(problem, margins, j, forward, guess):
    """The step along j by Newton's method, kept in a bracket; `forward` tells its sign."""
    side = 1.0 if forward else -1.0
    low, high = 0.0, LONGEST_STEP
    t = guess if low < guess < high else 0.5
    for _ in range(_MOST_ITERATIONS):
        slope, bend = _slope(problem, margins, j, side * t)
        slope *= side
        if slope == 0.0:
            break
        if slope > 0.0:
            low = t
        else:
            high = t
        following = t + slope / bend
        # Infinity and NaN (a bend of 0) bisect as well.
        if low < following < high:
            arrived = abs(following - t) <= _SMALL_MOVE * t
        else:
            following = 0.5 * (low + high)
            arrived = high - low <= 4e-16 * high
        t = following
        if arrived:
            break
    return side * t


@njit(nogil=True, cache=True, error_model="numpy", no_cpython_wrapper=True)
def step_is_longer(problem, margins, j, forward, bound):
    """Whether the step along j is longer than a bound, without solving for it."""
    side = 1.0 if forward else -1.0
    slope, _ = _slope(problem, margins, j, side * bound)
    return side * slope > 0.0

"""Surrogate losses of the margin: three by name, others as a `Loss` of three functions.

A loss ψ is convex and falls at 0. From it follow the weight -ψ' of an example, and the probability
that a decision value h stands for: the expected loss p ψ(h) + (1 - p) ψ(-h) is smallest where

    p = w(-h) / (w(h) + w(-h)),    w = -ψ'

which is 1/(1 + exp(-2h)) for the exponential loss, 1/(1 + exp(-h)) for the logistic loss and
(1 + h)/2, cut to [0, 1], for the squared loss.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from allsplits.boosting._kernel_types import LossCode
from allsplits.boosting._kernels_losses import CUSTOM, EXPONENTIAL, LOGISTIC, SQUARED, loss_curves
from allsplits.exceptions import InvalidInputError, InvalidTypeError

_KINDS = {"exponential": EXPONENTIAL, "squared": SQUARED, "logistic": LOGISTIC}
_NOWHERE = np.zeros(3, dtype=np.int64)
#: Where a user's functions are tried out.
_TRIAL = np.linspace(-3.0, 3.0, 25)

Scalar = Callable[[float], float]


@dataclass(frozen=True)
class Loss:
    """A surrogate loss ψ of the margin for `UNNClassifier`, as three functions of one float.

    ψ must be convex and not negative, and fall at margin 0. The functions are compiled by numba,
    so they can use arithmetic, ``if`` and the `math` module.

    Parameters
    ----------
    value : callable
        ψ(x).
    weight : callable
        -ψ'(x).
    curvature : callable
        ψ''(x), greater than 0.
    name : str, default="custom"
        How the loss is called in messages.

    Examples
    --------
    >>> import math
    >>> from allsplits import UNNClassifier
    >>> from allsplits.boosting import Loss
    >>> smooth_hinge = Loss(
    ...     value=lambda x: 0.5 * (math.sqrt((1 - x) ** 2 + 1) + 1 - x),
    ...     weight=lambda x: 0.5 * ((1 - x) / math.sqrt((1 - x) ** 2 + 1) + 1),
    ...     curvature=lambda x: 0.5 / ((1 - x) ** 2 + 1) ** 1.5,
    ...     name="smooth hinge",
    ... )
    >>> X, y = [[0.0], [1.0], [2.0], [7.0], [8.0], [9.0]], [0, 0, 0, 1, 1, 1]
    >>> UNNClassifier(n_neighbors=2, loss=smooth_hinge).fit(X, y).predict([[1.5], [7.5]])
    array([0, 1])
    """

    value: Scalar
    weight: Scalar
    curvature: Scalar
    name: str = "custom"


@dataclass(frozen=True)
class CompiledLoss:
    """A loss as the kernels see it, with its name."""

    name: str
    code: LossCode
    #: Keeps the compiled functions alive as long as their addresses are used.
    functions: tuple[Any, ...] = ()

    def curves(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Rows ψ, -ψ', ψ'' at the points."""
        flat = np.ascontiguousarray(points, dtype=np.float64).ravel()
        out = np.empty((3, len(flat)))
        loss_curves(self.code, flat, out)
        curves: NDArray[np.float64] = out.reshape(3, *np.shape(points))
        return curves

    @property
    def start_weight(self) -> float:
        """The weight at margin 0."""
        return float(self.curves(np.zeros(1))[1, 0])

    def probability(self, decision: NDArray[np.float64]) -> NDArray[np.float64]:
        """The probability of membership that a decision value stands for."""
        if self.code.kind in (EXPONENTIAL, LOGISTIC):
            # The quotient of weights in a form that cannot overflow.
            return np.asarray(expit((2.0 if self.code.kind == EXPONENTIAL else 1.0) * decision))
        against, by = self.curves(decision)[1], self.curves(-decision)[1]
        return np.asarray(np.clip(by / (against + by), 0.0, 1.0))


def resolve_loss(loss: Any) -> CompiledLoss:
    """Read the name of a loss or compile a `Loss`."""
    if isinstance(loss, Loss):
        return _compile(loss)
    if isinstance(loss, str) and loss in _KINDS:
        return CompiledLoss(loss, LossCode(_KINDS[loss], _NOWHERE))
    raise InvalidInputError(
        f"loss must be one of {list(_KINDS)} or an allsplits.boosting.Loss; got {loss!r}"
    )


@lru_cache(maxsize=64)
def _compile(loss: Loss) -> CompiledLoss:
    from numba import cfunc
    from numba.core.errors import NumbaError

    functions = []
    for name in ("value", "weight", "curvature"):
        function = getattr(loss, name)
        if not callable(function):
            raise InvalidTypeError(f"loss.{name} must be a function; got {function!r}")
        try:
            functions.append(cfunc("float64(float64)", error_model="numpy")(function))
        except (NumbaError, TypeError) as error:
            raise InvalidInputError(
                f"loss.{name} must be a function of one float that numba can compile; "
                f"got: {str(error).strip().splitlines()[-1]}"
            ) from error
    addresses = np.array([function.address for function in functions], dtype=np.int64)
    compiled = CompiledLoss(loss.name, LossCode(CUSTOM, addresses), tuple(functions))
    _check_shape(compiled)
    return compiled


def _check_shape(loss: CompiledLoss) -> None:
    """Raise unless the functions belong together and describe a convex loss that falls at 0."""
    value, weight, curvature = loss.curves(_TRIAL)
    width = 1e-5
    after, before = loss.curves(_TRIAL + width), loss.curves(_TRIAL - width)
    slope, bend = -(after - before)[:2] / (2 * width)
    problems = {
        "finite values": not np.isfinite([value, weight, curvature]).all(),
        "value ≥ 0": (value < 0).any(),
        "weight > 0 at margin 0": not weight[len(weight) // 2] > 0,
        "curvature > 0": not (curvature > 0).all(),
        "weight = -value'": not np.allclose(weight, slope, rtol=1e-4, atol=1e-6),
        "curvature = -weight'": not np.allclose(curvature, bend, rtol=1e-4, atol=1e-6),
    }
    missing = [need for need, absent in problems.items() if absent]
    if missing:
        raise InvalidInputError(
            f"loss {loss.name!r} must be convex and fall at 0, with functions that belong "
            f"together; between margins {_TRIAL[0]:g} and {_TRIAL[-1]:g} it lacks: "
            f"{', '.join(missing)}"
        )

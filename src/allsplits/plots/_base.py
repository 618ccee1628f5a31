"""What all displays share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

from allsplits.exceptions import InvalidTypeError
from allsplits.model_selection import Evaluation, evaluate
from allsplits.plots._style import axes_or_new


def checked(name: str, value: Any, kind: type) -> Any:
    """Return `value` if it is of that kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InvalidTypeError(
            f"{name} must be {article} {kind.__name__}; got {type(value).__name__}"
        )
    return value


class Display(ABC):
    """A result, and where it is drawn."""

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        self
            With `ax_` and `figure_`.
        """
        self.ax_ = axes_or_new(ax)
        self.figure_ = self.ax_.figure
        self._draw()
        return self

    @abstractmethod
    def _draw(self) -> None:
        """Draw on `ax_`."""


class EstimatorDisplay(Display):
    """The display of what one function computes from an estimator and samples."""

    _compute: ClassVar[Callable[..., Any]]

    @abstractmethod
    def __init__(self, result: Any) -> None: ...

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, ax: Any = None, **options: Any
    ) -> Self:
        """Compute and draw; `options` are those of the function that computes."""
        return cls(cls._compute(estimator, X, y, **options)).plot(ax)


class EvaluationDisplay(EstimatorDisplay):
    """Holds the Evaluation that is drawn."""

    _compute: ClassVar[Callable[..., Any]] = staticmethod(evaluate)

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation: Evaluation = checked("evaluation", evaluation, Evaluation)

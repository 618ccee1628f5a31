"""The result of `validation_curve` and `learning_curve`: one exact score per value."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_choice, check_counts, check_fraction, shown
from allsplits.exact import Column
from allsplits.exceptions import InvalidInputError
from allsplits.model_selection._band import Band
from allsplits.model_selection._choice import KNOWN, Choice, choose_best
from allsplits.model_selection._interval import make_interval
from allsplits.model_selection._moves import Moves
from allsplits.model_selection._scoring import in_digits
from allsplits.model_selection._variance import METHODS
from allsplits.orders import SearchReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from allsplits.model_selection._task import Task


@dataclass(frozen=True, eq=False, repr=False)
class Curve:
    """Exact scores along one parameter.

    Attributes
    ----------
    parameter : str
        What varies: "n_neighbors", "train_size", …
    x : ndarray
        Its values.
    scores : ndarray
        The exact average over all splits at each value.
    scoring : str
        Name of the score.
    error_bounds : ndarray
        Each score is off by no more than this; one number is a bound for all.
    fractions : tuple of Fraction or None
        The scores as fractions, with ``exact=True``.
    search : SearchReport
        How neighbours were found: ``search.backend``, ``search.approximate``.
    standard_errors : ndarray
        With ``allow_sampling=True``: of the part of each score that was sampled, on top of its
        bound; 0 where nothing was.
    others : tuple of Curve
        Of several scores all but the first, whose curve this is: ``curve[name]`` is the one of any
        of them.
    names : tuple of str
        The names of all scores.
    """

    parameter: str
    x: NDArray[Any]
    scores: NDArray[np.float64]
    scoring: str
    error_bounds: NDArray[np.float64]
    fractions: tuple[Fraction, ...] | None = None
    search: SearchReport = field(default_factory=SearchReport)
    standard_errors: NDArray[np.float64] = field(default_factory=lambda: np.zeros(1))
    task: Task | None = field(default=None, repr=False)
    columns: tuple[Column, ...] = ()
    others: tuple[Curve, ...] = ()
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("error_bounds", "standard_errors"):
            values = np.asarray(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, np.broadcast_to(values, len(self.scores)))

    def __getitem__(self, name: str) -> Curve:
        """The curve of one of several scores."""
        names = self.names or (self.scoring,)
        if name not in names:
            raise InvalidInputError(
                f"the scores here are {', '.join(map(repr, names))}; got {shown(name)}"
            )
        place = names.index(name)
        return self.others[place - 1] if place else replace(self, others=(), names=())

    @property
    def error_bound(self) -> float:
        """No score is off by more than this."""
        return float(self.error_bounds.max())

    @property
    def best(self) -> Any:
        """The value with the best score; the first one where several are equal within their bounds.

        A score that is known only within a wide interval counts by its lower end.
        """
        return self.x[self._choice.position].item()

    @property
    def best_score(self) -> float:
        """The score at `best`."""
        return float(self.scores[self._choice.position])

    @property
    def could_be_best(self) -> NDArray[np.bool_]:
        """Which values could be best: their intervals reach the best guaranteed score."""
        return self._choice.could_be_best

    @cached_property
    def _choice(self) -> Choice:
        return choose_best(self.scores, self.error_bounds + 2 * self.standard_errors)

    @property
    def log_scale(self) -> bool:
        """Whether the values span so much that a logarithmic axis reads better."""
        return bool(self.x[-1] > 200 * max(1, self.x[0]))

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per value with its score and bound, as a pandas or polars data frame.

        Of several scores each has a column.
        """
        columns = {
            self.parameter: self.x, self.scoring: self.scores, "error_bound": self.error_bounds
        }  # fmt: skip
        columns |= {name: self[name].scores for name in self.names[1:]}
        if self.standard_errors.any():
            columns["standard_error"] = self.standard_errors
        return make_frame(columns, backend)

    def interval(
        self, confidence: float = 0.95, *, method: str = "combined", at: Any = None
    ) -> Band:
        """What other data sets from the same source might have given, at each value.

        Each interval is that of `Evaluation.interval` at the value; the values of a curve over k
        share one pass. Take its intervals one by one: that all of them hold is less certain, and
        none of them knows that the best value was chosen by the same scores.

        Parameters
        ----------
        confidence, method :
            As in `Evaluation.interval`.
        at : array-like, default=None
            Some values of the curve; None means all. A learning curve takes time for each.

        Returns
        -------
        Band
            ``low, high = curve.interval()`` unpacks it.

        Examples
        --------
        >>> from allsplits import validation_curve
        >>> from sklearn.datasets import load_iris
        >>> from sklearn.neighbors import KNeighborsClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> validation_curve(KNeighborsClassifier(), X, y, n_neighbors=[1, 5]).interval()
        Band(2 intervals of width 0.0... to 0.0..., 0.95 confidence each, ...)
        """
        check_fraction("confidence", confidence)
        check_choice("method", method, METHODS)
        places = self._places(at)
        moves = self._moves(places, take_out=method != "sample scores")
        intervals = tuple(
            make_interval(
                float(self.scores[place]), moves[place], confidence=confidence, method=method,
                error_bound=float(self.error_bounds[place]), scoring=self.scoring,
            )
            for place in places
        )  # fmt: skip
        return Band(self.parameter, self.x[places], intervals)

    def _places(self, at: Any) -> list[int]:
        """Where the values are that are asked for."""
        if at is None:
            return list(range(len(self.x)))
        wanted = check_counts("at", at)
        missing = sorted(set(wanted) - set(self.x.tolist()))
        if missing:
            raise InvalidInputError(
                f"at must hold values of the curve, of {self.parameter} from {self.x[0]} to "
                f"{self.x[-1]}; got {missing[0]}"
            )
        return [self.x.tolist().index(value) for value in wanted]

    def _moves(self, places: list[int], *, take_out: bool) -> dict[int, Moves]:
        """What each unit moves the scores by; kept for the next question if they are taken out."""
        if self.task is None:
            raise InvalidInputError(
                "interval needs a curve that was computed here: one that was put together from "
                "parts does not know its samples"
            )
        # Asked of the task, which makes curves: imported when it is needed.
        from allsplits.model_selection._column_moves import column_moves

        known = self._known_moves if take_out else {}
        new = [place for place in places if place not in known]
        columns = [self.columns[place] for place in new]
        found = column_moves(self.task, columns, take_out=take_out) if new else []
        known.update(zip(new, found, strict=True))
        return known

    @cached_property
    def _known_moves(self) -> dict[int, Moves]:
        return {}

    def plot(self, ax: Axes | None = None, *, confidence: float | None = None) -> Axes:
        """Draw the curve with the best value marked; returns the matplotlib Axes.

        With a `confidence`, 0.95 for example, the band of `interval` is drawn as well (of a long
        learning curve at some of its values).
        """
        from allsplits.plots._curves import draw_curve

        return draw_curve(self, ax, confidence=confidence)

    def __repr__(self) -> str:
        values = f"{self.x[0]} … {self.x[-1]}" if len(self.x) > 1 else str(self.x[0])
        wide = f"; {self.n_wide} of {len(self.x)} known only to ± {self.error_bound:.1g}"
        wide = "" if self.search.approximate or not self.n_wide else wide
        bound = self.search.bound_text(self.error_bounds[self._choice.position])
        if self.standard_errors.any():
            n_sampled, largest = np.count_nonzero(self.standard_errors), self.standard_errors.max()
            wide = f"; {n_sampled} of {len(self.x)} sampled, standard error {largest:.1g}"
            bound = "" if self.standard_errors[self._choice.position] else bound
        also = f"; also {', '.join(self.names[1:])}" if self.others else ""
        return (
            f"Curve({self.scoring} for {self.parameter} = {values}: "
            f"best {in_digits(self.best_score)}{bound} at {self.best}"
            f"{wide}{also}{self.search.note})"
        )

    @property
    def n_wide(self) -> int:
        """How many scores are intervals rather than values."""
        return int(np.sum(self.error_bounds > KNOWN * np.abs(self.scores).max()))

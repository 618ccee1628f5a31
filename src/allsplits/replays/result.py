"""The result of `replay`: scores of many splits, and how sure what is made of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_count, check_fraction
from allsplits.exceptions import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]
#: Fewer runs cannot tell how much two scores go together.
_FEWEST_FOR_CONTROL = 30


class Sampled(NamedTuple):
    """A number from drawn splits and its standard error."""

    value: float
    standard_error: float


class Control(NamedTuple):
    """A score of the same runs whose mean is known.

    Attributes
    ----------
    name : str
    run_scores : ndarray of shape (n_runs,)
    mean : float
        Its exact mean.
    """

    name: str
    run_scores: Floats
    mean: float


@dataclass(frozen=True, eq=False, repr=False)
class Replay:
    """Scores of many splits from one neighbour search.

    A *run* is what one cross-validation shows: a split, or the mean over the folds of one shuffle.
    Numbers from drawn runs are sampled, and each has its standard error beside it.

    Attributes
    ----------
    scoring : str
        Name of the score.
    split_scores : ndarray of shape (n_runs, n_folds)
        The score of every split; NaN where it failed and ``error_score=np.nan``.
    sampled : bool
        Whether runs were drawn; False if these are all the splits there are.
    exact_mean : float or None
        The exact mean over all splits, where it has a closed form.
    error_bound : float
        What `exact_mean` may be off by.
    control : Control or None
        Another score with an exact mean, which sharpens the mean of this one.
    cv : str
        Which splits.
    n_neighbors : int
        Number of voters.
    seed : int
        What the runs were drawn from.
    stopped : bool
        Whether Ctrl-C ended it before all were scored.
    n_asked : int
        Runs that were asked for.
    until : float or None
        The standard error that was asked for.
    tied_share : float
        Share of the predictions for which equally distant neighbours were drawn.
    n_failed : int
        Splits that could not be scored.
    class_means : bool
        Whether the class of the nearest mean is given, not that of neighbours.
    n_lacking : int
        Splits that lack a class in training or in test, for scores of the shares of classes: a
        class that does not train has no votes, one that is not tested has no part in the score.
    """

    scoring: str
    split_scores: Floats
    sampled: bool
    exact_mean: float | None
    error_bound: float
    control: Control | None
    cv: str
    n_neighbors: int
    seed: int
    stopped: bool = False
    n_asked: int = 0
    until: float | None = None
    tied_share: float = 0.0
    n_failed: int = 0
    class_means: bool = False
    n_lacking: int = 0

    @property
    def n_runs(self) -> int:
        """Runs that were scored."""
        return len(self.split_scores)

    @property
    def n_folds(self) -> int:
        """Splits of a run."""
        return int(self.split_scores.shape[1])

    @property
    def n_splits(self) -> int:
        """Splits that were scored."""
        return int(self.split_scores.size)

    @property
    def run_scores(self) -> Floats:
        """The mean over the folds of each run; runs with a failed split are NaN."""
        means: Floats = self.split_scores.mean(axis=1)
        return means

    @property
    def _known(self) -> Floats:
        scores = self.run_scores
        return scores[~np.isnan(scores)]

    @property
    def sampled_mean(self) -> Sampled:
        """The plain mean over these runs; its standard error is 0 if there are no others."""
        known = self._known
        if not len(known):
            return Sampled(float("nan"), float("nan"))
        if not self.sampled and not self.stopped:
            return Sampled(float(known.mean()), 0.0)
        return Sampled(float(known.mean()), error_of_mean(known))

    @property
    def _best(self) -> Sampled:
        """The exact mean; or the plain one, less what the control's chance explains of it."""
        if self.exact_mean is not None:
            return Sampled(self.exact_mean, 0.0)
        runs, plain = self.run_scores, self.sampled_mean
        if self.control is None or not self.sampled:
            return plain
        there = ~np.isnan(runs)
        return _controlled(runs[there], self.control.run_scores[there], self.control.mean, plain)

    @property
    def mean(self) -> float:
        """The mean over all splits, as well as it is known: exact where there is a closed form.

        Where another score has one, its error on these runs is taken out of this mean (a control
        variate). `sampled_mean` is the plain one.
        """
        return self._best.value

    @property
    def standard_error(self) -> float:
        """Of `mean`, from drawing runs; 0 if the mean is exact or these are all splits."""
        return self._best.standard_error

    @property
    def std(self) -> Sampled:
        """Standard deviation between runs. For given splits: between these."""
        known = self._known
        if len(known) < 2:
            return Sampled(float("nan"), float("nan"))
        std = float(known.std(ddof=1))
        if not self.sampled or std == 0:
            return Sampled(std, 0.0)
        fourth = float(np.mean((known - known.mean()) ** 4))
        noise = sqrt(max(fourth - std**4, 0.0) / len(known))
        return Sampled(std, noise / (2 * std))

    def quantile(self, q: float) -> Sampled:
        """A quantile of the scores of runs, with its standard error.

        The error is half of what the ranks one standard deviation to either side differ by.

        Parameters
        ----------
        q : float
            Between 0 and 1.
        """
        check_fraction("q", q)
        known = np.sort(self._known)
        value = float(np.quantile(known, q))
        if not self.sampled:
            return Sampled(value, 0.0)
        away = sqrt(q * (1 - q) / len(known))
        low, high = np.quantile(known, np.clip([q - away, q + away], 0, 1))
        return Sampled(value, float(high - low) / 2)

    def histogram(self, bins: int | Sequence[float] = 20) -> DataFrame:
        """How the scores of runs are distributed: low, high, share and its standard error.

        Parameters
        ----------
        bins : int or sequence of float, default=20
            As in numpy.histogram.
        """
        known = self._known
        if isinstance(bins, int):
            check_count("bins", bins, at_least=1)
        counts, edges = np.histogram(known, bins)
        shares = counts / len(known)
        errors = np.sqrt(shares * (1 - shares) / len(known)) * self.sampled
        columns = {"low": edges[:-1], "high": edges[1:], "share": shares, "standard_error": errors}
        return make_frame(columns)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row for each split: run, fold, score."""
        run, fold = np.indices(self.split_scores.shape)
        columns = {
            "run": run.ravel(),
            "fold": fold.ravel(),
            self.scoring: self.split_scores.ravel(),
        }
        return make_frame(columns, backend)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the runs as a strip of dots, with the mean as a line, exact where it is known."""
        from allsplits.plots._replay import draw_replay

        return draw_replay(self, ax)

    @property
    def reached(self) -> bool:
        """Whether the standard error is what `until` asked for."""
        if self.until is None:
            return not self.stopped
        error = self.sampled_mean.standard_error if self.exact_mean is not None else None
        return (self.standard_error if error is None else error) <= self.until

    @property
    def _runs_in_words(self) -> str:
        number = f"{self.n_runs:,}"
        if not self.sampled:
            return (
                f"{number} of {self.n_asked:,} splits" if self.stopped else f"all {number} splits"
            )
        folds = f" of {self.n_folds} folds" if self.n_folds > 1 else ""
        return f"{number} drawn {'runs' + folds if folds else 'splits'}"

    def __repr__(self) -> str:
        mean, drawn, std = self._best, self.sampled_mean, self.std
        if self.exact_mean is not None:
            how = f"{_digits(mean.value)} exact, sampled {with_error(drawn)}"
        elif self.sampled:
            how = f"{with_error(mean)} SAMPLED"
        else:
            how = _digits(mean.value)
        spread = with_error(std) if self.sampled else _digits(std.value)
        notes = [f"Replay({self.scoring}={how} from {self._runs_in_words}", f"std {spread}"]
        if self.n_failed:
            notes.append(f"{self.n_failed:,} splits FAILED")
        if self.n_lacking:
            notes.append(f"{self.n_lacking:,} splits lack a class")
        if self.tied_share:
            notes.append(f"ties drawn in {self.tied_share:.1%} of the predictions")
        if self.stopped:
            notes.append("STOPPED by Ctrl-C")
        elif not self.reached:
            notes.append(f"until={self.until:g} NOT reached")
        model = "nearest class mean" if self.class_means else f"n_neighbors={self.n_neighbors}"
        return f"{'; '.join(notes)}; {model}, {self.cv})"


def error_of_mean(values: Floats) -> float:
    """The standard error of the mean of independent values."""
    return float(values.std(ddof=1) / sqrt(len(values))) if len(values) > 1 else float("nan")


def _controlled(runs: Floats, control: Floats, mean: float, plain: Sampled) -> Sampled:
    """The mean of runs, corrected by how far the control is off on the same runs.

    The slope is fitted to the runs themselves: what that adds is of the order of one over their
    number, and the residuals count two degrees of freedom less.
    """
    n = len(runs)
    if n < _FEWEST_FOR_CONTROL or (runs == runs[0]).all():
        return plain
    away = control - control.mean()
    square = float(away @ away)
    if square <= 1e-20 * n:
        return plain
    slope = float(away @ runs) / square
    rest = runs - slope * control
    error = sqrt(float(np.sum((rest - rest.mean()) ** 2)) / (n - 2) / n)
    off = float(control.mean()) - mean
    # The slope is uncertain, too: its error counts by how far the control is off.
    error = sqrt(error**2 * (1 + n * off**2 / square))
    return Sampled(float(runs.mean()) - slope * off, error)


def _digits(value: float) -> str:
    return f"{value:.6f}" if abs(value) < 1e6 else f"{value:.6g}"


def with_error(number: Sampled) -> str:
    """A number and its standard error, to as many digits as that allows."""
    if not number.standard_error > 0:
        return _digits(number.value)
    decimals = max(0, min(12, 1 - int(np.floor(np.log10(number.standard_error)))))
    return f"{number.value:.{decimals}f} ± {number.standard_error:.1g}"


def check_until(until: Any) -> float | None:
    """A positive number, or None."""
    if until is None:
        return None
    if isinstance(until, bool) or not isinstance(until, (int, float, np.floating)) or not until > 0:
        raise InvalidInputError(f"until must be a positive standard error or None; got {until!r}")
    return float(until)

"""The result of `simulate`: errors and chosen k of each strategy, round by round."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame


@dataclass(frozen=True, eq=False, repr=False)
class Simulation:
    """What `simulate` measured. Arrays have one row per repetition and one column per round.

    Attributes
    ----------
    n_labels : ndarray of shape (n_rounds + 1,)
        Labels after each round, the start first.
    errors : dict of ndarray of shape (n_repetitions, n_rounds + 1)
        Error rates, by strategy ("active", "passive").
    n_neighbors : dict of ndarray
        The k that exact leave-p-out chose.
    measured_on : str
        The samples that errors were measured on, in words.
    oracle_errors, oracle_neighbors : dict of ndarray, or None
        The smallest error that any candidate k would have had with the same labels, and that k
        (the smallest one, if several are as good); with ``oracle=True``.
    """

    n_labels: NDArray[np.int64]
    errors: Mapping[str, NDArray[np.float64]]
    n_neighbors: Mapping[str, NDArray[np.int64]]
    measured_on: str
    oracle_errors: Mapping[str, NDArray[np.float64]] | None = None
    oracle_neighbors: Mapping[str, NDArray[np.int64]] | None = None

    @property
    def strategies(self) -> tuple[str, ...]:
        """What was compared."""
        return tuple(self.errors)

    @property
    def final_errors(self) -> dict[str, float]:
        """Mean error after the last round, by strategy."""
        return {name: float(table[:, -1].mean()) for name, table in self.errors.items()}

    @property
    def standard_errors(self) -> dict[str, float]:
        """Standard error over the repetitions of each of the `final_errors`; NaN if only one."""
        return {name: float(standard_error(table)[-1]) for name, table in self.errors.items()}

    def frame(self, backend: str | None = None) -> Any:
        """One row per strategy, repetition and round, as a pandas or polars data frame."""
        columns: dict[str, list[Any]] = {"strategy": [], "repetition": [], "round": []}
        tables = {"n_labels": None, "error": self.errors, "n_neighbors": self.n_neighbors}
        if self.oracle_errors is not None and self.oracle_neighbors is not None:
            tables |= {
                "oracle_error": self.oracle_errors, "oracle_neighbors": self.oracle_neighbors
            }  # fmt: skip
        columns |= {name: [] for name in tables}
        for strategy, errors in self.errors.items():
            repetitions, rounds = errors.shape
            columns["strategy"] += [strategy] * errors.size
            columns["repetition"] += np.repeat(np.arange(repetitions), rounds).tolist()
            columns["round"] += np.tile(np.arange(rounds), repetitions).tolist()
            for name, table in tables.items():
                values = np.tile(self.n_labels, repetitions) if table is None else table[strategy]
                columns[name] += np.ravel(values).tolist()
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the error against the labels, and the chosen k, means over the repetitions.

        Bands are ± one standard error of that mean: how far other splits and starts would move it.
        Repetitions share their samples, so other samples could move it farther.

        Parameters
        ----------
        ax : pair of matplotlib Axes, default=None
            Where to draw; None makes a new figure.

        Returns
        -------
        pair of matplotlib Axes
        """
        from allsplits.plots._active import draw_simulation

        return draw_simulation(self, ax)

    def __repr__(self) -> str:
        repetitions, rounds = next(iter(self.errors.values())).shape
        spread = self.standard_errors if repetitions > 1 else {}
        finals = ", ".join(
            f"{name} {error:.2%}" + (f" ± {spread[name]:.2%}" if spread else "")
            for name, error in self.final_errors.items()
        )
        return (
            f"Simulation({repetitions} repetition{'s' * (repetitions > 1)} of {rounds - 1} rounds, "
            f"{self.n_labels[0]} to {self.n_labels[-1]} labels; final error on {self.measured_on}"
            f"{', ± standard error over repetitions' if spread else ''}: {finals})"
        )


def standard_error(table: Any) -> Any:
    """Of the mean over repetitions, for each round."""
    if len(table) < 2:
        return np.full(table.shape[1], np.nan)
    return table.std(axis=0, ddof=1) / np.sqrt(len(table))

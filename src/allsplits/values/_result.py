"""The result of `sample_values`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_count
from allsplits.exceptions import UnsupportedError
from allsplits.orders import SearchReport
from allsplits.values._source import Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SampleValues:
    """What each sample does, as a neighbour, for the score of all questions.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        In units of the score. A sample below 0 makes others wrong more often than right.
    method : str
        As asked for.
    scoring : str
        The score that is shared out.
    n_neighbors : int
        Voters, or the R of recall@R.
    error_bound : float
        Truncation and rounding have moved no value by more than this.
    y : ndarray
        Labels or targets.
    law : str
        Which training sets were averaged over.
    fractions : tuple of Fraction or None
        The values as fractions, with ``exact=True``.
    search : SearchReport
        How the neighbours were found.
    row_names : ndarray or None
        The index of X or y, if it is a pandas frame with one.
    source : Source or None
        What the influences are computed from when they are asked for.
    """

    values: Floats
    method: str
    scoring: str
    n_neighbors: int
    error_bound: float
    y: NDArray[Any]
    law: str
    fractions: tuple[Fraction, ...] | None = None
    search: SearchReport = field(default_factory=SearchReport)
    row_names: NDArray[Any] | None = None
    source: Source | None = None

    def worst(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the samples that do most harm, worst first.

        They count from 0 whatever the index of X is; `row_names` has the names.
        """
        check_count("n", n, at_least=0)
        return np.argsort(self.values, kind="stable")[:n]

    def best(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the samples that do most good, best first."""
        check_count("n", n, at_least=0)
        return np.argsort(-self.values, kind="stable")[:n]

    @cached_property
    def influence(self) -> csc_array:
        """Who teaches whom: ``influence[r, i]`` is what sample r does for question i.

        Computed when it is first asked for. Neighbours that are too far from a question to be told
        apart are not stored: each of them does next to nothing.
        """
        if self.source is None:
            raise UnsupportedError(
                "influence needs what was valued: use the result of sample_values as it came"
            )
        return self.source.influence()

    def culprits(self, question: int, n: int = 5) -> NDArray[np.intp]:
        """Row numbers of the samples that harm one question most, worst first.

        Parameters
        ----------
        question : int
            Row number of a sample, or of a row of X_test.
        n : int, default=5
            How many at most; samples that do no harm are not named.
        """
        n_questions = len(self.y) if self.source is None else self.source.n_questions
        check_count("question", question, at_least=0, at_most=n_questions - 1)
        check_count("n", n, at_least=0)
        column = self.influence[:, [question]].tocoo()
        rows, values = column.coords[0], column.data
        order = np.argsort(values, kind="stable")
        return rows[order][values[order] < 0][:n].astype(np.intp)

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per sample, the worst first, as a pandas or polars data frame.

        Row names are the index of the pandas frame, and a column "row" of the polars frame.
        """
        order = self.worst(len(self.values))
        columns = {"sample": order, "label": self.y[order], "value": self.values[order]}
        names = None if self.row_names is None else self.row_names[order]
        return make_frame(columns, backend, names)

    def plot(self, ax: Axes | None = None, n: int = 5) -> Axes:
        """Draw all values in order, the n worst with their row numbers."""
        from allsplits.plots._values import draw_values

        return draw_values(self, ax, n)

    def __repr__(self) -> str:
        harmful = int(np.sum(self.values < -self.error_bound))
        k = "" if self.scoring.startswith("recall@") else f", n_neighbors={self.n_neighbors}"
        worst = ", ".join(map(str, self.worst(5)))
        bound = self.search.bound_text(self.error_bound)
        return (
            f"SampleValues({len(self.values)} samples{bound}, {self.method} on {self.scoring}{k}, "
            f"{self.law}; {harmful} below 0, worst: {worst}{self.search.note})"
        )

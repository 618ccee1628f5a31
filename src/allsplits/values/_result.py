"""The result of `sample_values`."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from allsplits._frames import DataFrame, make_frame
from allsplits._ranking import rounding_of, smallest_first
from allsplits._tensors import to_array
from allsplits._validation import check_choice, check_count, check_groups, shown
from allsplits.exceptions import InvalidInputError, UnsupportedError
from allsplits.model_selection import Curve
from allsplits.orders import SearchReport
from allsplits.values._source import Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = NDArray[np.float64]

#: Shares of the samples that leave, as a removal curve shows them.
DEFAULT_SHARES = tuple(step / 20 for step in range(11))


@dataclass(frozen=True, eq=False, repr=False)
class SampleValues:
    """What each sample does, as a neighbour, for the score of all questions.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        In units of the score; of each group instead, under laws of whole groups. With Shapley's and
        Banzhaf's method 0 is a sample that does nothing; an influence compares with the sample that
        would be there instead, so that under training sets of one size they add up to 0.
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
    groups : ndarray or None
        The names of the groups, where whole groups are valued.
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
    groups: NDArray[Any] | None = None
    source: Source | None = None

    def worst(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the samples that do most harm, worst first.

        They count from 0 whatever the index of X is; `row_names` has the names. Those that differ
        by rounding alone stay in the order of the rows.
        """
        check_count("n", n, at_least=0)
        return smallest_first(self.values, self._rounding)[:n]

    def best(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the samples that do most good, best first."""
        check_count("n", n, at_least=0)
        return smallest_first(-self.values, self._rounding)[:n]

    @property
    def _rounding(self) -> float:
        """What is nearer to each other than this differs by rounding, and stays in row order."""
        return rounding_of(self.values, self.error_bound)

    def totals(self, groups: Any, backend: str | None = None) -> DataFrame:
        """Sums of the values of groups of samples: a source, an annotator; the worst first.

        Parameters
        ----------
        groups : array-like of shape (n_samples,)
            The group of each sample. It need not have played a part in the splits.
        backend : {"pandas", "polars"}, default=None
            The library of the frame; None takes the first that is installed.
        """
        numbers = check_groups(groups, len(self.values))
        names = np.unique(np.asarray(to_array(groups, "groups")))
        sizes = np.bincount(numbers)
        sums = np.asarray(np.bincount(numbers, self.values), dtype=np.float64)
        rounding = rounding_of(sums, self.error_bound * float(sizes.max()))
        order = smallest_first(sums, rounding)
        columns = {"group": names, "samples": sizes, "value": sums, "mean": sums / sizes}
        return make_frame({name: each[order] for name, each in columns.items()}, backend)

    @property
    def influence(self) -> csc_array:
        """Who teaches whom: ``influence[r, i]`` is what sample r does for question i.

        Computed when it is first asked for. Samples that are too far from a question to be told
        apart are not stored; what each of them does is in `far_influence`.
        """
        return self._influences[0]

    @property
    def far_influence(self) -> Floats:
        """What a sample does for each question, if it is too far away to be in `influence`.

        One line for each question; one column for all samples, or one for each class where the law
        draws from each class. It is 0 where sets of all sizes are possible; under training sets of
        one size a far sample takes the place of a nearer one.
        """
        return self._influences[1]

    @cached_property
    def _influences(self) -> tuple[csc_array, Floats]:
        return self._known_source("influence").influence()

    def culprits(self, question: int, n: int = 5) -> NDArray[np.intp]:
        """Row numbers of the samples that harm one question most, worst first.

        Parameters
        ----------
        question : int
            Row number of a sample, or of a row of X_test.
        n : int, default=5
            How many at most; samples that do no harm, or no more than `error_bound`, are not named.
        """
        most = self._known_source("culprits").n_questions - 1
        check_count("question", question, at_least=0, at_most=most)
        check_count("n", n, at_least=0)
        column = self.influence[:, [question]].tocoo()
        rows, values = column.coords[0], column.data
        harmful = values < -self.error_bound
        rows, values = rows[harmful], values[harmful]
        order = np.argsort(rows, kind="stable")
        order = order[smallest_first(values[order], rounding_of(values, self.error_bound))]
        found: NDArray[np.intp] = rows[order][:n].astype(np.intp)
        return found

    def removal_curve(
        self,
        X_test: Any = None,
        y_test: Any = None,
        *,
        shares: Any = DEFAULT_SHARES,
        first: str = "worst",
    ) -> Curve:
        """The score, exactly, as the worst (or the best) samples leave.

        All samples that are left answer. Pass questions that played no part in the values: samples
        that were chosen to make some questions right make just these right. Without, the samples
        themselves ask, those that have left as well, each answered by the others that are left; the
        curve then shows what the values are made of, and promises too much for new questions.

        Parameters
        ----------
        X_test : array-like of shape (n_questions, n_features), default=None
        y_test : array-like of shape (n_questions,), default=None
        shares : sequence of float, default=(0, 0.05, …, 0.5)
            Shares of the samples that leave, from 0 to below 1. To keep only the best fifth, let
            the worst 0.8 leave.
        first : {"worst", "best"}, default="worst"
            Who leaves first.

        Returns
        -------
        Curve
            Over the number of samples that have left.
        """
        check_choice("first", first, ("worst", "best"))
        if self.groups is not None:
            raise UnsupportedError("removal_curve is of samples; these are values of whole groups")
        source, n = self._known_source("removal_curve"), len(self.values)
        counts = sorted({int(n * _check_share(share)) for share in shares})
        ranked = self.worst(n) if first == "worst" else self.best(n)
        leaving = [ranked[:count] for count in counts]
        if X_test is None and y_test is None:
            found = source.scores_of_samples_without(leaving)
        else:
            found = source.scores_without(leaving, X_test, y_test)
        scores, doubts = np.array(found).T
        return Curve("removed", np.array(counts), scores, self.scoring, doubts)

    def _known_source(self, what: str) -> Source:
        if self.source is None:
            raise UnsupportedError(
                f"{what} needs what was valued: use the result of sample_values as it came"
            )
        return self.source

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per sample, the worst first, as a pandas or polars data frame.

        Row names are the index of the pandas frame, and a column "row" of the polars frame.
        """
        order = self.worst(len(self.values))
        if self.groups is not None:
            return make_frame({"group": self.groups[order], "value": self.values[order]}, backend)
        columns = {"sample": order, "label": self.y[order], "value": self.values[order]}
        names = None if self.row_names is None else self.row_names[order]
        return make_frame(columns, backend, names)

    def plot(self, ax: Axes | None = None, n: int = 5) -> Axes:
        """Draw all values in order, the n worst with their row numbers."""
        from allsplits.plots._values import draw_values

        drawn: Axes = draw_values(self, ax, n)
        return drawn

    def __repr__(self) -> str:
        k = "" if self.scoring.startswith("recall@") else f", n_neighbors={self.n_neighbors}"
        worst = self.worst(5)
        names = worst if self.groups is None else self.groups[worst]
        units = "samples" if self.groups is None else "groups"
        low, high = float(self.values.min()), float(self.values.max())
        bound = self.search.bound_text(self.error_bound)
        return (
            f"SampleValues({self.method} on {self.scoring}{k}: {len(self.values)} {units} from "
            f"{low:.3g} to {high:.3g}{bound}, {self.law}; worst: {', '.join(map(str, names))}"
            f"{self.search.note})"
        )


def _check_share(share: Any) -> float:
    if not isinstance(share, Real) or not 0 <= float(share) < 1:
        raise InvalidInputError(f"shares must be numbers from 0 to below 1; got {shown(share)}")
    return float(share)

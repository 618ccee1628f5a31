"""The result of `find_label_errors`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import DataFrame, make_frame
from allsplits._validation import check_count
from allsplits.exceptions import UnsupportedError
from allsplits.orders import SearchReport
from allsplits.values._doubt import Doubts, most_doubtful

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from allsplits.model_selection import Evaluation
    from allsplits.values._effects import Changes

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Suspects:
    """Labels that look wrong, the most doubtful first, and what speaks against them.

    Attributes
    ----------
    rows : ndarray of shape (n_suspects,)
        Row numbers of the suspects, the most doubtful first: as many as are expected to be wrong.
        They count from 0 whatever the index of X is; `row_names` has the names.
    n_expected : float
        How many labels are expected to be wrong: of the half of the samples whose neighbours agree
        most, the share that has another label, times the number of samples. It is about right for
        errors that fall on all samples alike; errors among samples that are hard anyway are not
        seen by it, and where classes overlap right labels are counted with the wrong ones.
    doubt : ndarray of shape (n_samples,)
        From -1 (all agree with the label) to 1 (all agree on another); -1 for the only sample of a
        class, which nobody can judge.
    suggested : ndarray of shape (n_samples,)
        The label that the neighbours give each sample, its own excepted.
    probability : ndarray of shape (n_samples,)
        How often a sample is given the suggested label, if it is held out and its nearest neighbour
        decides, over all training sets that take every sample with probability 1/5.
    own_probability : ndarray of shape (n_samples,)
        The same for its own label.
    nearest : ndarray of shape (n_samples, 5)
        Row numbers of the nearest samples (-1 where there are fewer).
    y : ndarray of shape (n_samples,)
        The given labels.
    error_bound : float
        The probabilities are off by no more than this: far neighbours are left out.
    search : SearchReport
        How the neighbours were found.
    row_names : ndarray or None
        The index of X or y, if it is a pandas frame with one.
    changes : Changes or None
        What the effects are computed from when they are asked for.
    """

    rows: NDArray[np.intp]
    n_expected: float
    doubt: Floats
    suggested: NDArray[Any]
    probability: Floats
    own_probability: Floats
    nearest: NDArray[np.int32]
    y: NDArray[Any]
    error_bound: float
    search: SearchReport = field(default_factory=SearchReport)
    row_names: NDArray[Any] | None = None
    changes: Changes | None = None

    @classmethod
    def of(
        cls, found: Doubts, y: NDArray[Any], classes: NDArray[Any],
        row_names: NDArray[Any] | None = None, changes: Changes | None = None,
    ) -> Suspects:  # fmt: skip
        """What the doubts come to, with the labels as users gave them."""
        return cls(
            rows=found.suspects,
            n_expected=found.rate * len(y),
            doubt=found.doubt,
            suggested=classes[found.suggested],
            probability=found.probability,
            own_probability=found.own,
            nearest=found.nearest,
            y=y,
            error_bound=found.error_bound,
            search=found.search,
            row_names=row_names,
            changes=changes,
        )

    def __len__(self) -> int:
        """How many suspects there are."""
        return len(self.rows)

    def first(self, n: int = 10) -> NDArray[np.intp]:
        """Row numbers of the n most doubtful labels, be they suspects or not."""
        check_count("n", n, at_least=0)
        return most_doubtful(self.doubt, self.error_bound)[:n]

    def neighbors(self, row: int) -> NDArray[np.intp]:
        """Row numbers of the samples nearest to one, nearest first."""
        check_count("row", row, at_least=0, at_most=len(self.y) - 1)
        found: NDArray[np.intp] = self.nearest[row].astype(np.intp)
        return found[found >= 0]

    @property
    def evaluation(self) -> Evaluation:
        """The score that `effects` compares with, computed when it is first asked for."""
        return self._known_changes("evaluation").before

    def effects(self, n: int = 10, backend: str | None = None) -> DataFrame:
        """What removing or relabelling each of the first n suspects would do to the score.

        Every change is evaluated anew over all splits, one at a time: ``removed`` is what
        ``evaluate`` gives without the sample, less ``evaluation.score``, and ``relabelled`` what it
        gives with the suggested label. A wrong label also costs its own sample; ``others_removed``
        and ``others_relabelled`` are what the scores of the other samples change alone. The score
        that goes up is no proof that a label was wrong.

        Parameters
        ----------
        n : int, default=10
            How many. Each takes about two evaluations without their search.
        backend : {"pandas", "polars"}, default=None
            The library of the frame; None takes the first that is installed.
        """
        check_count("n", n, at_least=0)
        changes, rows = self._known_changes("effects"), self.rows[:n]
        codes = np.searchsorted(np.unique(self.y), self.suggested[rows])
        found = changes.effects(rows.tolist(), codes.tolist())
        columns = {
            "sample": rows,
            "label": self.y[rows],
            "suggested": self.suggested[rows],
            "removed": np.array([removed.score for removed, _ in found]),
            "relabelled": np.array([relabelled.score for _, relabelled in found]),
            "others_removed": np.array([removed.others for removed, _ in found]),
            "others_relabelled": np.array([relabelled.others for _, relabelled in found]),
            "error_bound": np.array([max(a.error_bound, b.error_bound) for a, b in found]),
        }
        return make_frame(columns, backend, self._names(rows))

    def frame(self, backend: str | None = None) -> DataFrame:
        """One row per suspect, the most doubtful first, with the labels of its nearest neighbours.

        Row names are the index of the pandas frame, and a column "row" of the polars frame.
        """
        rows = self.rows
        near = [self.neighbors(row) for row in rows.tolist()]
        columns = {
            "sample": rows,
            "label": self.y[rows],
            "suggested": self.suggested[rows],
            "probability": self.probability[rows],
            "own_probability": self.own_probability[rows],
            "doubt": self.doubt[rows],
            "neighbors": [", ".join(map(str, each)) for each in near],
            "neighbor_labels": [", ".join(map(str, self.y[each])) for each in near],
        }
        return make_frame(columns, backend, self._names(rows))

    def plot(self, ax: Axes | None = None, n: int = 5) -> Axes:
        """Draw all doubts, the largest first, and how many labels are expected to be wrong."""
        from allsplits.plots._values import draw_suspects

        drawn: Axes = draw_suspects(self, ax, n)
        return drawn

    def _names(self, rows: NDArray[np.intp]) -> NDArray[Any] | None:
        return None if self.row_names is None else self.row_names[rows]

    def _known_changes(self, what: str) -> Changes:
        if self.changes is None:
            raise UnsupportedError(
                f"{what} needs what was judged: use the result of find_label_errors as it came"
            )
        return self.changes

    def __repr__(self) -> str:
        first = [
            f"row {row} ({self.y[row]}, looks like {self.suggested[row]})"
            for row in self.rows[:3].tolist()
        ]
        named = f"; first: {', '.join(first)}" if first else ""
        return (
            f"Suspects({len(self.rows)} of {len(self.y):,} labels, about {self.n_expected:.0f} "
            f"expected to be wrong{named}{self.search.note})"
        )

"""The result of choosing k and θ: one cross-validated score for each pair."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._frames import make_frame

#: Scores that differ by less than this are equal.
_EQUAL = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class ThetaScores:
    """Cross-validated scores of every number of neighbours and every θ.

    Attributes
    ----------
    n_neighbors : ndarray of shape (n_k,)
        Numbers of neighbours.
    thetas : ndarray of shape (n_thetas,)
        Shares of the examples that are kept.
    fold_scores : ndarray of shape (n_k, n_thetas, n_folds)
        The score on each fold.
    n_prototypes : ndarray of shape (n_k, n_thetas)
        Mean number of prototypes that were kept.
    scoring : str
        Name of the score.
    """

    n_neighbors: NDArray[np.int64]
    thetas: NDArray[np.float64]
    fold_scores: NDArray[np.float64]
    n_prototypes: NDArray[np.float64]
    scoring: str

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean scores over the folds, shape (n_k, n_thetas)."""
        return np.asarray(self.fold_scores.mean(axis=2))

    @property
    def best(self) -> dict[str, Any]:
        """The best pair; of equal ones that with the smaller θ, then the smaller k."""
        k, theta = np.meshgrid(self.n_neighbors, self.thetas, indexing="ij")
        equal = self.scores >= self.scores.max() - _EQUAL
        place = np.lexsort((k.ravel(), theta.ravel(), ~equal.ravel()))[0]
        return {"n_neighbors": int(k.flat[place]), "theta": float(theta.flat[place])}

    @property
    def best_score(self) -> float:
        """The best mean score."""
        return float(self.scores.max())

    def frame(self, backend: str | None = None) -> Any:
        """One row per pair, as a pandas or polars data frame."""
        k, theta = np.meshgrid(self.n_neighbors, self.thetas, indexing="ij")
        columns = {
            "n_neighbors": k.ravel(),
            "theta": theta.ravel(),
            self.scoring: self.scores.ravel(),
            "std": self.fold_scores.std(axis=2).ravel(),
            "n_prototypes": self.n_prototypes.ravel(),
        }
        return make_frame(columns, backend)

    def plot(self, ax: Any = None) -> Any:
        """Draw the score against θ, one line for each k; returns the matplotlib Axes."""
        from allsplits.plots._boosting import draw_theta_scores

        return draw_theta_scores(self, ax)

    def __repr__(self) -> str:
        best, n_folds = self.best, self.fold_scores.shape[2]
        return (
            f"ThetaScores({len(self.n_neighbors)} × {len(self.thetas)} pairs, {n_folds} folds: "
            f"best {self.scoring} {self.best_score:.4f} at n_neighbors={best['n_neighbors']}, "
            f"theta={best['theta']:g})"
        )

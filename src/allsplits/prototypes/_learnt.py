"""What an incremental learner knows after each step, and the facets of its classes."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from allsplits.prototypes._greedy import GreedyClassQuery
from allsplits.prototypes._voronoi import MOST_DIMENSIONS, facets_between


@dataclass(frozen=True)
class Step:
    """The state after one batch was learnt; `prototypes` are rows of the examples."""

    asked: int | None
    counts: NDArray[np.int64]
    prototypes: NDArray[np.intp]
    batch_error: float
    test_error: float


@dataclass(frozen=True)
class Learnt:
    """Examples so far, the steps that led here, and how facets are counted.

    Facets take time, so those of a step are counted when somebody asks for them, and only once:
    states that follow each other share what is `counted`.
    """

    complexity: str
    priors: NDArray[np.float64]
    points: NDArray[np.float64] = field(default_factory=lambda: np.empty((0, 0)))
    codes: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    n_contradictions: int = 0
    steps: tuple[Step, ...] = ()
    counted: dict[int, NDArray[np.int64]] = field(default_factory=dict)

    def facets(self, position: int) -> NDArray[np.int64]:
        """Voronoi facets between each class and the others after a step."""
        if position not in self.counted:
            self.counted[position] = self._count_facets(self.steps[position].prototypes)
        return self.counted[position]

    def bound(self, position: int) -> float:
        """The bound on the error after a step."""
        counts, n_features = self.steps[position].counts, self.points.shape[1]
        return GreedyClassQuery(self.priors).bound(counts, self.facets(position), n_features)

    def _count_facets(self, prototypes: NDArray[np.intp]) -> NDArray[np.int64]:
        n_classes = len(self.priors)
        if len(prototypes) < 2:
            return np.zeros(n_classes, dtype=np.int64)
        points, codes = self.points[prototypes], self.codes[prototypes]
        quick = self.complexity == "auto" and points.shape[1] > MOST_DIMENSIONS
        method = "bound" if quick or self.complexity == "bound" else "auto"
        pairs, _ = facets_between(points, codes, method)
        return np.bincount(codes[pairs].ravel(), minlength=n_classes)

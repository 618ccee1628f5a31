"""The loop of incremental learning: ask, draw, condense and reduce, note it down."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError
from allsplits.prototypes._condensing import choose_prototypes
from allsplits.prototypes._copies import uncontradicted
from allsplits.prototypes._learnt import Learnt, Step
from allsplits.prototypes._nearest import class_shares
from allsplits.prototypes._sources import ExampleSource

#: Names the class to ask for: what is learnt, which classes have examples left.
ClassQuery = Callable[[Learnt, NDArray[np.bool_]], int]


@dataclass
class IncrementalLoop:
    """Learns batch by batch. `state` is replaced as a whole, so it can be stopped at any time.

    With `shuffling` each condensing passes over the examples in a new random order, otherwise in
    the order they came.
    """

    source: ExampleSource
    query: ClassQuery
    reduce: str | None
    tests: tuple[NDArray[np.float64], NDArray[np.intp]] | None
    shuffling: np.random.RandomState | None
    state: Learnt

    @property
    def n_classes(self) -> int:
        """Classes that can be asked for."""
        return len(self.state.priors)

    @property
    def n_samples(self) -> int:
        """Examples learnt so far."""
        return len(self.state.points)

    def can_go_on(self) -> bool:
        """Whether any class has examples left."""
        return bool(self.source.available().any())

    def begin(self, initial: int, budget: int) -> None:
        """Draw and learn the first examples, some of each class."""
        count = min(initial, budget // self.n_classes)
        batches = [self.source.draw(code, count) for code in range(self.n_classes)]
        if not all(len(batch) for batch in batches):
            raise InvalidInputError("draw must have at least one example of each class; got none")
        self._check_tests(batches[0].shape[1])
        codes = np.repeat(np.arange(self.n_classes, dtype=np.int32), [len(b) for b in batches])
        self._learn(np.concatenate(batches), codes, None, float("nan"))

    def _check_tests(self, n_features: int) -> None:
        if self.tests is not None and self.tests[0].shape[1] != n_features:
            raise InvalidInputError(
                f"eval_set must have {n_features} features like the examples; "
                f"got {self.tests[0].shape[1]}"
            )

    def ask(self, count: int) -> None:
        """Choose a class, draw a batch of it and learn it."""
        code = self.query(self.state, self.source.available())
        batch = self.source.draw(code, count)
        if not len(batch):
            return
        known = self.state
        given = _classify(batch, known.points, known.codes, known.steps[-1].prototypes)
        points = np.concatenate([known.points, batch])
        codes = np.append(known.codes, np.full(len(batch), code, dtype=np.int32))
        self._learn(points, codes, code, float(np.mean(given != code)))

    def _learn(
        self,
        points: NDArray[np.float64],
        codes: NDArray[np.int32],
        asked: int | None,
        batch_error: float,
    ) -> None:
        rows = np.flatnonzero(uncontradicted(points, codes))
        visits = None if self.shuffling is None else self.shuffling.permutation(len(rows))
        chosen, n_wrong = choose_prototypes(
            points[rows], codes[rows], fast=False, reduce=self.reduce, visits=visits
        )
        prototypes = rows[chosen]
        step = Step(
            asked=asked,
            counts=np.bincount(codes, minlength=self.n_classes),
            prototypes=prototypes,
            batch_error=batch_error,
            test_error=self._test_error(points, codes, prototypes),
        )
        self.state = replace(
            self.state,
            points=points,
            codes=codes,
            n_contradictions=len(points) - len(rows) + n_wrong,
            steps=(*self.state.steps, step),
        )

    def _test_error(
        self, points: NDArray[np.float64], codes: NDArray[np.int32], prototypes: NDArray[np.intp]
    ) -> float:
        if self.tests is None:
            return float("nan")
        queries, expected = self.tests
        return float(np.mean(_classify(queries, points, codes, prototypes) != expected))


def _classify(
    queries: NDArray[np.float64],
    points: NDArray[np.float64],
    codes: NDArray[np.int32],
    prototypes: NDArray[np.intp],
) -> NDArray[np.int32]:
    """Class numbers of the nearest prototypes."""
    own = codes[prototypes]
    shares = class_shares(queries, points[prototypes], own, int(own.max()) + 1, n_jobs=1)
    found: NDArray[np.int32] = np.argmax(shares, axis=1).astype(np.int32)
    return found

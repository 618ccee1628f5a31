"""What is asked about influences: whose, by which method, on which questions.

Questions are the samples themselves, each answered by the others, or further ones that nobody
learns from. Further questions are numbered after the samples, so that votes find their classes in
one array.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.class_counts.weights import component_weights
from allsplits.exact.laws.fixed_size.vote import class_weights
from allsplits.exact.question import Question

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question about the samples, one column; the method; classes or targets of the tests.

    Attributes
    ----------
    question : Question
    method : {"influence", "shapley", "banzhaf", "soft_shapley"}
    tests : array or None
        Classes or targets of questions that are not samples; None if the samples are the questions.
    """

    question: Question
    method: str
    tests: NDArray[Any] | None = None

    @property
    def k(self) -> int:
        """Voters, or the R of recall@R."""
        return self.question.columns[0].k

    @property
    def law(self) -> Any:
        """The law of the training sets."""
        return self.question.columns[0].law

    @property
    def n_samples(self) -> int:
        """Samples that are valued."""
        return self.question.n_samples

    @property
    def n_candidates(self) -> int:
        """Candidates of a question."""
        return self.n_samples - (self.tests is None)

    @property
    def n_classes(self) -> int:
        """Classes; targets are taken for one."""
        return max(self.question.n_classes, 1)

    @cached_property
    def codes(self) -> Codes:
        """Classes of the samples and of the tests."""
        if not self.question.n_classes:
            n = self.n_samples + (0 if self.tests is None else len(self.tests))
            return np.zeros(n, dtype=np.int32)
        return self._with_tests(self.question.codes)

    @cached_property
    def targets(self) -> Floats:
        """Targets of the samples and of the tests."""
        return self._with_tests(self.question.targets)

    def _with_tests(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.tests is None else np.concatenate([values, self.tests])

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Samples of each class."""
        return np.bincount(self.codes[: self.n_samples], minlength=self.n_classes)

    @cached_property
    def class_weights(self) -> list[list[Fraction]]:
        """What a question of each class counts in the score, for each component of the law."""
        components = getattr(self.law, "components", ()) if self.by_class else ()
        if self.tests is not None:
            each = self._test_weights()
            shares = [c.weight for c in components] or [Fraction(1)]
            return [[share * w for w in each] for share in shares]
        if not self.question.n_classes:
            return [[Fraction(1, self.n_samples)]]
        if not components:
            return [class_weights(self.question)]
        return [[c.weight * w for w in component_weights(self.question, c)] for c in components]

    @property
    def by_class(self) -> bool:
        """Whether the law draws from each class."""
        return self.method == "influence" and self.law.kind == "class counts"

    def _test_weights(self) -> list[Fraction]:
        sizes = np.bincount(self.codes[self.n_samples :], minlength=self.n_classes).tolist()
        present = sum(1 for size in sizes if size)
        if self.question.balanced:
            return [Fraction(1, present * max(size, 1)) for size in sizes]
        return [Fraction(1, sum(sizes))] * len(sizes)

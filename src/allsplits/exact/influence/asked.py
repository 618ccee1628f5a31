"""What is asked about influences: whose, by which method, on which questions.

Questions are the samples themselves, each answered by the others, or points from outside, which
nobody learns from and which are numbered after the samples (see `Question`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits.exact.laws.class_counts.weights import component_weights
from allsplits.exact.question import Question, class_weights

Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Asked:
    """A question of one column, and the method.

    Attributes
    ----------
    question : Question
    method : {"influence", "shapley", "banzhaf", "soft_shapley"}
    """

    question: Question
    method: str

    @property
    def outside(self) -> bool:
        """Whether the questions are not samples."""
        return self.question.outside

    def of_tests(self, tests: NDArray[Any]) -> Asked:
        """The same about other questions from outside: their classes, or their targets."""
        question, n = self.question, self.n_samples
        column = question.columns[0]
        column = replace(column, law=column.law.without_tests())
        if question.n_classes:
            codes = np.concatenate([question.codes[:n], tests]).astype(np.int32)
            n_classes = max(question.n_classes, int(codes.max()) + 1)
            question = replace(question, codes=codes, columns=[column], n_classes=n_classes)
            return replace(self, question=question)
        targets = np.concatenate([question.targets[:n], tests])
        return replace(self, question=replace(question, targets=targets, columns=[column]))

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
        return self.question.n_candidates

    @property
    def n_classes(self) -> int:
        """Classes; targets are taken for one."""
        return max(self.question.n_classes, 1)

    @cached_property
    def codes(self) -> Codes:
        """Classes of the samples and of the tests."""
        if not self.question.n_classes:
            return np.zeros(len(self.question.targets), dtype=np.int32)
        return self.question.codes

    @property
    def targets(self) -> Floats:
        """Targets of the samples and of the tests."""
        return self.question.targets

    @property
    def class_sizes(self) -> NDArray[np.int64]:
        """Samples of each class."""
        return np.bincount(self.codes[: self.n_samples], minlength=self.n_classes)

    @cached_property
    def class_weights(self) -> list[list[Fraction]]:
        """What a question of each class counts in the score, for each component of the law."""
        components = getattr(self.law, "components", ()) if self.by_class else ()
        if not self.question.n_classes:
            return [[Fraction(1, self.question.n_questions)]]
        if not components:
            return [class_weights(self.question)]
        return [[c.weight * w for w in component_weights(self.question, c)] for c in components]

    @property
    def by_class(self) -> bool:
        """Whether the law draws from each class."""
        return self.method == "influence" and self.law.kind == "class counts"

"""A fixed test set beside the enumeration: every training set of the references, all questions.

The references come first, the questions after them; no question is ever in a training set.
"""

from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, product
from math import factorial, prod

import numpy as np

from oracle import enumerate as oracle
from oracle.datasets import Dataset, dataset
from oracle.enumerate import Answer, Law, Split, members_by


@dataclass(frozen=True)
class Asked:
    """References, and questions to them: one is a reference with another label, one is between."""

    references: Dataset
    X_test: np.ndarray
    y_test: np.ndarray

    @property
    def n(self) -> int:
        return self.references.n

    @property
    def points(self) -> np.ndarray:
        return np.concatenate([self.references.X, self.X_test])

    @property
    def labels(self) -> tuple:
        return tuple(self.references.y.tolist()) + tuple(self.y_test.tolist())

    @property
    def distances(self):
        return oracle.squared_distances(self.points)

    def test_set(self) -> dict:
        return {"X_test": self.X_test, "y_test": self.y_test}

    def __str__(self) -> str:
        return str(self.references)


def asked(points: str, labels: str, n: int = 8, unknown=None) -> Asked:
    """The first `n` samples of a data set, and four questions to them."""
    whole = dataset(points, labels)
    references = Dataset(whole.name, whole.X[:n], whole.y[:n])
    X, y = references.X, references.y
    X_test = np.array([X[0], X[1] + X[3], 0 * X[0], X[2] + 1])
    y_test = np.array([y[1], y[0], y[2], y[4]])
    if unknown is not None:
        y_test = np.array([y[1], unknown, y[2], y[4]])
    return Asked(references, X_test, y_test)


def everybody(data: Asked, law: Law) -> Law:
    """The training sets of a law, each asked all questions."""
    questions = tuple(range(data.n, len(data.labels)))
    return [Split(split.weight, split.train, questions) for split in law]


def independent(n: int, probability, at_least: int) -> Law:
    """Each reference is in training independently, given that `at_least` are."""
    q = Fraction(probability)
    chances = {
        train: q ** len(train) * (1 - q) ** (n - len(train))
        for size in range(at_least, n + 1)
        for train in combinations(range(n), size)
    }
    total = sum(chances.values())
    return [Split(chance / total, train, ()) for train, chance in chances.items()]


def bags(n: int) -> Law:
    """n draws with replacement from n references."""
    return [
        Split(
            Fraction(factorial(n), prod(factorial(c) for c in Counter(train).values()) * n**n),
            train,
            (),
        )
        for train in combinations_with_replacement(range(n), n)
    ]


def of_episodes(data: Asked, n_way: int, k_shot: int) -> Law:
    """Support sets among the references; queries are the questions of the classes chosen."""
    members = members_by(data.references.labels)
    questions = members_by(data.labels[data.n :])
    ways = list(combinations(members, n_way))
    law = []
    for way in ways:
        supports = list(product(*(combinations(members[label], k_shot) for label in way)))
        weight = Fraction(1, len(ways) * len(supports) * n_way)
        for support in supports:
            for label in way:
                queries = tuple(data.n + i for i in questions[label])
                law.append(Split(weight, sum(support, ()), queries))
    return law


def of_galleries(data: Asked, groups, groups_test, per_class: int, exclude: str) -> Law:
    """Galleries of the references for every question, without what it must not meet."""
    labels, both = data.labels, [*groups, *groups_test]
    law = []
    for query in range(data.n, len(labels)):
        allowed = [
            i
            for i in range(data.n)
            if both[i] != both[query] or (exclude == "identity" and labels[i] != labels[query])
        ]
        pools = members_by([labels[i] for i in allowed])
        if labels[query] not in pools:
            continue
        counts = {label: min(per_class, len(members)) for label, members in pools.items()}
        of_allowed = oracle.class_counts([labels[i] for i in allowed], counts)
        law += [Split(s.weight, tuple(allowed[i] for i in s.train), (query,)) for s in of_allowed]
    return [split._replace(weight=split.weight / len({s.test for s in law})) for split in law]


def of_questions(answer: Answer, n: int) -> Answer:
    """What an answer says of the questions."""
    proba = answer.prediction_proba
    return replace(
        answer,
        sample_weight=answer.sample_weight[n:],
        sample_scores=answer.sample_scores[n:],
        prediction_proba=None if proba is None else proba[n:],
    )

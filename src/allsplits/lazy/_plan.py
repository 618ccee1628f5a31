"""Which local models are tried: degrees, and for each the range of sizes.

Every check of the parameters that decide this is here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_choice, check_count, check_counts
from allsplits.exceptions import InvalidInputError


def count_terms(n_features: int, degree: int) -> int:
    """Number of terms of a polynomial: the constant, linear ones, squares and products."""
    return (1, n_features + 1, (n_features + 1) * (n_features + 2) // 2)[degree]


@dataclass(frozen=True)
class SizeRange:
    """Models of one degree, fitted to k_min, …, k_max neighbours."""

    degree: int
    k_min: int
    k_max: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """All sizes."""
        return np.arange(self.k_min, self.k_max + 1)

    def count_operations(self, n_features: int) -> int:
        """Roughly the multiplications for one query: but for constants, sizes change all before."""
        if self.degree == 0:
            return 8 * self.k_max
        return self.k_max**2 * count_terms(n_features, self.degree)


@dataclass(frozen=True)
class Plan:
    """All models tried for a query, in the order of degree and size."""

    ranges: tuple[SizeRange, ...]
    n_combined: int

    @property
    def depth(self) -> int:
        """How many neighbours are needed."""
        return max(part.k_max for part in self.ranges)

    @property
    def highest_degree(self) -> int:
        """The largest degree."""
        return max(part.degree for part in self.ranges)

    def count_operations(self, n_features: int) -> int:
        """Roughly the multiplications for one query and output."""
        return sum(part.count_operations(n_features) for part in self.ranges)

    def without_one(self, n_samples: int) -> Self:
        """The same models where one of so many samples is left out."""
        left = n_samples - 1
        ranges = tuple(
            SizeRange(part.degree, min(part.k_min, left), min(part.k_max, left))
            for part in self.ranges
        )
        n_models = sum(len(part.sizes) for part in ranges)
        return type(self)(ranges, min(self.n_combined, n_models))

    @property
    def degrees(self) -> NDArray[np.int64]:
        """Degree of each model."""
        return np.concatenate([np.full(len(part.sizes), part.degree) for part in self.ranges])

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of neighbours of each model."""
        return np.concatenate([part.sizes for part in self.ranges])


def make_plan(
    degrees: Any, k_min: Any, k_max: Any, combine: Any, n_samples: int, n_features: int
) -> Plan:
    """Read the parameters for a training set of this shape."""
    wanted = check_counts("degrees", degrees, at_least=0, at_most=2)
    lowest = _one_per_degree("k_min", k_min, wanted)
    highest = _one_per_degree("k_max", k_max, wanted)
    ranges = [
        _size_range(degree, low, high, n_samples, n_features)
        for degree, low, high in sorted(zip(wanted, lowest, highest, strict=True))
    ]
    n_models = sum(len(part.sizes) for part in ranges)
    return Plan(tuple(ranges), min(_check_combine(combine), n_models))


def _one_per_degree(name: str, value: Any, degrees: list[int]) -> list[int]:
    """A number for all degrees or one for each; 0 stands for the default."""
    if value is None:
        return [0] * len(degrees)
    several = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    values = list(value) if several else [value] * len(degrees)
    if len(values) != len(degrees):
        raise InvalidInputError(
            f"{name} must be None, an integer, or one integer for each of the degrees {degrees}; "
            f"got {value!r}"
        )
    return [check_count(name, one, at_least=2) for one in values]


def _size_range(degree: int, k_min: int, k_max: int, n_samples: int, n_features: int) -> SizeRange:
    terms = count_terms(n_features, degree)
    for name, k in (("k_max", k_max), ("k_min", k_min)):
        if k > n_samples:
            raise InvalidInputError(
                f"{name} must be at most {n_samples}, the number of training samples; got {k} for "
                f"degree {degree}"
            )
    if k_min and k_max and k_min > k_max:
        raise InvalidInputError(
            f"k_min must be at most k_max = {k_max} for degree {degree}; got {k_min}"
        )
    smallest, largest = (3, 30) if degree == 0 else (3 * terms, 8 * terms)
    high = k_max or min(max(largest, k_min), n_samples)
    return SizeRange(degree, k_min or min(smallest, high), high)


def _check_combine(combine: Any) -> int:
    if isinstance(combine, str):
        check_choice("combine", combine, ("best",))
        return 1
    return check_count("combine", combine, at_least=1, why=", or 'best'")

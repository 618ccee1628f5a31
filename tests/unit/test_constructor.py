"""Constructors are made from what classes list."""

import inspect
from dataclasses import KW_ONLY, is_dataclass

import pytest
from sklearn.base import BaseEstimator, clone

from allsplits._constructor import stores_parameters


@stores_parameters
class Shared(BaseEstimator):
    _: KW_ONLY
    metric: str = "minkowski"
    theta: float = 1.0


@stores_parameters
class Own(Shared):
    n_neighbors: int = 5
    _: KW_ONLY
    theta: float = 0.5


def test_own_parameters_come_before_those_of_bases():
    assert str(inspect.signature(Own)) == (
        "(n_neighbors: int = 5, *, theta: float = 0.5, metric: str = 'minkowski') -> None"
    )


def test_parameters_are_stored():
    made = clone(Own(3, metric="cosine"))
    assert made.get_params() == {"n_neighbors": 3, "theta": 0.5, "metric": "cosine"}


def test_parameters_behind_the_star_need_their_name():
    with pytest.raises(TypeError, match="positional"):
        Own(3, 0.1)


def test_estimators_are_more_than_their_fields():
    assert not is_dataclass(Own)

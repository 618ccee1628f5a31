"""The table of constraints: every name in it is a parameter, and refuses what it must."""

import inspect

import pytest

import allsplits
from allsplits._validation import check_parameters
from allsplits._validation.values import _CONSTRAINTS
from allsplits.active._utility import UTILITIES
from allsplits.boosting._boost import RULES
from unit.refused import refused


def public_parameters():
    for name in allsplits.__all__:
        thing = getattr(allsplits, name)
        members = vars(thing).values() if inspect.isclass(thing) else [thing]
        for member in members:
            if inspect.isfunction(member):
                yield from inspect.signature(member).parameters


@pytest.mark.parametrize("name", _CONSTRAINTS)
def test_nonsense_is_refused_by_name(name):
    refused(lambda: check_parameters(**{name: object()}), name, "must", "got")


def test_every_name_is_a_public_parameter():
    assert set(_CONSTRAINTS) <= set(public_parameters())


@pytest.mark.parametrize("chooser", RULES)
def test_every_chooser_is_allowed(chooser):
    check_parameters(chooser=chooser)


@pytest.mark.parametrize("utility", UTILITIES)
def test_every_utility_is_allowed(utility):
    check_parameters(utility=utility)

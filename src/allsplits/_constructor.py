"""Constructors of estimators, made from the parameters that their classes list."""

from dataclasses import KW_ONLY, make_dataclass
from inspect import get_annotations
from typing import Any, TypeVar, dataclass_transform

Estimator = TypeVar("Estimator")


@dataclass_transform(eq_default=False)
def stores_parameters(cls: type[Estimator]) -> type[Estimator]:
    """Give an estimator the constructor of a dataclass, which stores what its class lists.

    What its bases list comes after it. The estimator is no dataclass: it is more than its
    parameters once it is fitted, and tools that take dataclasses for their fields (dask, to name
    one) would not see that.
    """
    positional: dict[str, Any] = {}
    named: dict[str, Any] = {"_": ("_", KW_ONLY)}
    for base in cls.__mro__:
        place = positional
        for name, kind in get_annotations(base).items():
            if kind is KW_ONLY:
                place = named
            elif name in vars(base):
                place.setdefault(name, (name, kind, vars(base)[name]))
    made = make_dataclass(cls.__name__, [*positional.values(), *named.values()])
    cls.__init__ = made.__init__  # type: ignore[method-assign, misc]
    return cls

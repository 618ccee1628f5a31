"""Optional dependencies: a missing one becomes an error that names the extra to install."""

import importlib
from types import ModuleType

from allsplits.exceptions import MissingExtraError


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra provides it and what it is needed for."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise MissingExtraError(
            f"{purpose} needs {name}, which is not installed: pip install 'allsplits[{extra}]'"
        ) from error

"""Every error allsplits raises on purpose.

    AllSplitsError
    ├── InvalidInputError (ValueError)     a parameter or an array has a value that cannot work
    │   └── UnsupportedError               each part is fine, their combination has no formula
    ├── InvalidTypeError  (TypeError)      a parameter is of the wrong kind
    └── MissingExtraError (ImportError)    an optional dependency is not installed

Messages name the parameter, what is allowed and what was given. One warning has a class of its own,
so that it can be silenced or made an error: LongRunWarning, before a run of over a minute.
"""

__all__ = [
    "AllSplitsError",
    "InvalidInputError",
    "InvalidTypeError",
    "LongRunWarning",
    "MissingExtraError",
    "UnsupportedError",
]


#: What errors say where there is no closed form.
REPLAY_INSTEAD = "replay(...) takes any splitter and any score, sampled, with its error"


class AllSplitsError(Exception):
    """Base class of all errors raised by allsplits."""


class InvalidInputError(AllSplitsError, ValueError):
    """A parameter or an array has a value that cannot work."""


class UnsupportedError(InvalidInputError):
    """Each part is valid but no exact formula for the combination exists here."""


class InvalidTypeError(AllSplitsError, TypeError):
    """A parameter is of the wrong kind."""


class MissingExtraError(AllSplitsError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class LongRunWarning(UserWarning):
    """What was asked for is expected to take over a minute; the message says what is cheaper."""

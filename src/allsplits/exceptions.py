"""Every error allsplits raises on purpose.

    AllSplitsError
    ├── InvalidInputError (ValueError)     a parameter or an array has a value that cannot work
    │   ├── UnsupportedError               each part is fine, their combination has no formula
    │   └── ConflictError                  somebody else has answered in between
    ├── InvalidTypeError  (TypeError)      a parameter is of the wrong kind
    ├── StorageError      (OSError)        the disk did not take an answer; nothing has changed
    ├── DeviceError       (RuntimeError)   a GPU has too little memory, or no longer answers
    └── MissingExtraError (ImportError)    an optional dependency is not installed

Messages name the parameter, what is allowed and what was given. Four warnings have classes of
their own, so that they can be silenced or made errors: LongRunWarning, before a long run,
SampledWarning, for a plain number that is sampled, UnknownClassWarning, for test samples whose
class no reference has, and NothingRelevantWarning, for queries that find nothing relevant in any
gallery.
"""

__all__ = [
    "AllSplitsError",
    "ConflictError",
    "DeviceError",
    "InvalidInputError",
    "InvalidTypeError",
    "LongRunWarning",
    "MissingExtraError",
    "NothingRelevantWarning",
    "SampledWarning",
    "StorageError",
    "UnknownClassWarning",
    "UnsupportedError",
]


#: What errors say where there is no closed form.
REPLAY_INSTEAD = (
    "replay(...) takes any splitter and any score of predictions or votes, of k neighbours or "
    "class means, sampled, with its error"
)


class AllSplitsError(Exception):
    """Base class of all errors raised by allsplits."""


class InvalidInputError(AllSplitsError, ValueError):
    """A parameter or an array has a value that cannot work."""


class UnsupportedError(InvalidInputError):
    """Each part is valid but no exact formula for the combination exists here."""


class ConflictError(InvalidInputError):
    """Somebody else has answered in between: look again before answering."""


class StorageError(AllSplitsError, OSError):
    """The disk did not take an answer; nothing has changed."""


class DeviceError(AllSplitsError, RuntimeError):
    """A GPU has too little memory for what was asked, or no longer answers."""


class InvalidTypeError(AllSplitsError, TypeError):
    """A parameter is of the wrong kind."""


class MissingExtraError(AllSplitsError, ImportError):
    """An optional dependency is not installed; the message names the extra."""


class LongRunWarning(UserWarning):
    """What was asked for is expected to take over a minute; the message says what is cheaper.

    Samples that are left out one by one are announced from ten seconds on: they take much longer
    than the evaluation did.
    """


class SampledWarning(UserWarning):
    """A number that has no room for its error is sampled; the message has the error, and why."""


class UnknownClassWarning(UserWarning):
    """A fixed test set has classes that no reference has: such samples are counted as wrong."""


class NothingRelevantWarning(UserWarning):
    """No gallery can hold an item of the class of some queries: they score 0."""

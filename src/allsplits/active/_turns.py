"""One thread at a time, for objects that are copied, pickled and forked."""

import os
import threading
from typing import Any


class Turns:
    """A lock for ``with``. A copy, and a forked child, begins with a free one of its own."""

    def __init__(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        if self._process != os.getpid():  # in the parent a thread may have been inside
            self.__init__()  # type: ignore[misc]
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def __reduce__(self) -> tuple[Any, ...]:
        return Turns, ()

"""Long compiled work that Ctrl-C can end.

Python hears of Ctrl-C between its own steps only, and one call of a compiled function is one step.
Such a call runs beside, while the main thread listens.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Thread
from typing import TypeVar

__all__ = ["interruptible"]

_T = TypeVar("_T")


def interruptible(work: Callable[[], _T]) -> _T:
    """Do the work in a thread that ends with the process, and return what it returns."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = Thread(target=run, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
    if errors:
        raise errors[0]
    return results[0]

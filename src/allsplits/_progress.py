"""A progress bar that appears only when asked for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, Timer

#: Work shorter than this shows no bar; the command line waits for a second.
seconds_before_bar: ContextVar[float] = ContextVar("seconds_before_bar", default=0.0)


@contextmanager
def progress_bar(
    show: bool, description: str, total: int, unit: str = "samples"
) -> Iterator[Callable[[int], None]]:
    """Yield a function that moves the bar forward by a number of units."""
    if not show:
        yield lambda done: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        Remaining(),
    )
    progress = Progress(*columns)
    task = progress.add_task(description, total=total)
    with shown_late(progress.start, progress.stop):
        yield lambda done: progress.update(task, advance=done)


@contextmanager
def shown_late(start: Callable[[], None], stop: Callable[[], None]) -> Iterator[None]:
    """Start a display once `seconds_before_bar` have passed; stop it at the end."""
    started = Event()

    def begin() -> None:
        start()
        started.set()

    timer = Timer(seconds_before_bar.get(), begin)
    timer.daemon = True
    if timer.interval > 0:
        timer.start()
    else:
        begin()
    try:
        yield
    finally:
        timer.cancel()
        if timer.ident is not None:
            timer.join()
        if started.is_set():
            stop()

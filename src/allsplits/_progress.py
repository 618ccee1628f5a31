"""A progress bar that appears only when asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

__all__ = ["progress_bar"]


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
    with Progress(*columns) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done: progress.update(task, advance=done)

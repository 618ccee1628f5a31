"""Commands that read a table: the options that all of them share are written once, here."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, get_type_hints

from allsplits.cli import _options as options
from allsplits.cli._load import Source
from allsplits.cli._screen import Screen

#: Options with their defaults, in the order of the help: before a command's own, and after them.
_BEFORE = {"file": (options.File, inspect.Parameter.empty), "target": (options.Target, None)}
_AFTER = {
    "labels": (options.Labels, None),
    "row_names": (options.RowNames, None),
    "drop": (options.Drop, None),
    "one_hot": (options.OneHot, None),
    "standardize": (options.Standardize, False),
    "drop_missing": (options.DropMissing, False),
    "file_format": (options.Format, None),
    "no_header": (options.NoHeader, False),
    "quiet": (options.Quiet, False),
}


def reads_table(*without: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command ``(screen, source, *, own options)`` the options that these two are made of.

    `without` names those that make no sense for it.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            shared = {name: given.pop(name) for name in (*_BEFORE, *_AFTER) if name in given}
            screen = Screen(shared.pop("quiet"))
            source = Source(header=not shared.pop("no_header"), **shared)
            command(screen, source, **given)

        hints = get_type_hints(command, include_extras=True)
        own = list(inspect.signature(command).parameters.values())[2:]
        parameters = [
            *_shared(_BEFORE, without),
            *(parameter.replace(annotation=hints[parameter.name]) for parameter in own),
            *_shared(_AFTER, without),
        ]
        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def _shared(table: dict[str, tuple[Any, Any]], without: tuple[str, ...]) -> list[inspect.Parameter]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    return [
        inspect.Parameter(name, keyword, default=default, annotation=annotation)
        for name, (annotation, default) in table.items()
        if name not in without
    ]

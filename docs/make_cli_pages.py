"""Write the pages of the command line from the commands' own help.

Run ``python docs/make_cli_pages.py`` after changing a command; a test fails while a page is stale.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
START = "<!-- commands: written by make_cli_pages.py -->"
NOTICE = "<!-- written by docs/make_cli_pages.py from the command's help -->"


def pages() -> dict[str, str]:
    """The text of each page, by its path below docs/."""
    from typer.main import get_command

    from allsplits.cli._app import app

    commands: dict[str, Any] = get_command(app).commands
    found = {f"cli/{name}.md": page(name, command) for name, command in commands.items()}
    lines = [
        f"| [`{n}`](cli/{n}.md) | {c.help.partition(chr(10))[0]} |" for n, c in commands.items()
    ]
    kept = (FOLDER / "cli.md").read_text(encoding="utf-8").partition(START)[0]
    table = "\n".join(["| command | what it does |", "|---|---|", *lines])
    found["cli.md"] = f"{kept}{START}\n\n{table}\n"
    return found


def page(name: str, command: Any) -> str:
    """One command: what it does, examples, arguments and options."""
    words, _, examples = command.help.partition("\b")
    shown = [
        line.strip() for line in examples.splitlines() if line.strip().startswith(("alls", "zcat"))
    ]
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    parts = [
        f"# allsplits {name}",
        NOTICE,
        "\n\n".join(" ".join(text.split()) for text in words.strip().split("\n\n")),
        "\n".join(["```sh", *shown, "```"]),
        table("argument", arguments),
        table("option", options),
        "[All commands](../cli.md)",
    ]
    return "\n\n".join(parts) + "\n"


def table(kind: str, params: list[Any]) -> str:
    """A table of arguments or options."""
    rows = [f"| `{written(param)}` | {explained(param)} |" for param in params]
    return "\n".join([f"| {kind} | meaning |", "|---|---|", *rows])


def written(param: Any) -> str:
    """How the parameter is typed."""
    if param.param_type_name == "argument":
        return str(param.metavar)
    names = ", ".join(sorted(param.opts, key=len))
    if getattr(param, "is_flag", False):
        return names
    return f"{names} {param.metavar}".replace("|", "\\|")


def explained(param: Any) -> str:
    """The help of the parameter with its default."""
    text = re.sub(r"\s+", " ", param.help or "").replace("|", "\\|")
    default = getattr(param.default, "value", param.default)
    if default in (None, False, ()) or getattr(param, "is_flag", False):
        return text
    return f"{text} Default: `{default}`."


def main() -> None:
    """Write all pages."""
    for name, text in pages().items():
        path = FOLDER / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

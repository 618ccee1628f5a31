"""What the server answers: the page's three files, JSON about samples, pictures, the labels as CSV.

Requests have passed the guard. Whatever they hold is checked again by name, and is data: texts go
out as JSON and are put into the page as text.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from importlib.resources import files
from typing import Any

from allsplits.exceptions import AllSplitsError, ConflictError, InvalidInputError, StorageError
from allsplits.labelling._desk import Desk
from allsplits.labelling._labels import label_text

#: Larger requests are refused before they are read.
LARGEST_BODY = 16 * 1024
#: Answers and samples that a list shows.
_LONGEST_LIST = 60
#: Seconds that a request for news waits for some.
_PATIENCE = 10.0
#: What a spreadsheet takes for a number, and does not run.
_NUMBER = re.compile(r"[+-]?\d*[.,]?\d+([eE][+-]?\d+)?")
_FILES = {
    "/": ("page.html", "text/html; charset=utf-8"),
    "/page.js": ("page.js", "text/javascript; charset=utf-8"),
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}


def make_app(desk: Desk) -> Any:
    """The application; starlette is loaded here."""
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route

    requests = Requests(desk)

    def page(path: str) -> Any:
        name, kind = _FILES[path]
        content = (files("allsplits.labelling") / name).read_bytes()

        async def send(_: Request) -> Response:
            return Response(content, headers={"content-type": kind})

        return Route(path, send)

    def route(path: str, work: Callable[..., Any], method: str = "GET") -> Any:
        async def send(request: Request) -> Response:
            try:
                given = dict(request.query_params) | request.path_params
                if method == "POST":
                    given = await _body(request)
                found = await run_in_threadpool(work, given)
            except AllSplitsError as error:
                return JSONResponse({"error": str(error)}, status_code=_status(error))
            if isinstance(found, tuple):
                content, headers = found
                return Response(content, headers=headers)
            return JSONResponse(found)

        return Route(path, send, methods=[method])

    return Starlette(
        routes=[
            *(page(path) for path in _FILES),
            route("/api/next", requests.next),
            route("/api/state", requests.state),
            route("/api/sample", requests.sample),
            route("/api/earlier", requests.earlier),
            route("/api/answer", requests.answer, "POST"),
            route("/api/undo", requests.undo, "POST"),
            route("/api/class", requests.add_class, "POST"),
            route("/picture/{row}", requests.picture),
            route("/labels.csv", requests.labels),
        ]
    )


def _status(error: AllSplitsError) -> int:
    if isinstance(error, ConflictError):
        return 409
    return 507 if isinstance(error, StorageError) else 400


async def _body(request: Any) -> dict[str, Any]:
    """The JSON object that was sent, read no further than it may be long."""
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InvalidInputError("a request must hold JSON")
    data = b""
    async for part in request.stream():
        data += part
        if len(data) > LARGEST_BODY:
            raise InvalidInputError(f"a request must have at most {LARGEST_BODY:,} bytes")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise InvalidInputError("a request must hold JSON") from None
    if not isinstance(found, dict):
        raise InvalidInputError("a request must hold a JSON object")
    return found


class Requests:
    """What each request does, in a thread of its own."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def next(self, given: dict[str, Any]) -> dict[str, Any]:
        """The sample that a session is to label."""
        return {**self._desk.next(_text(given, "session")), "state": self._desk.state()}

    def state(self, given: dict[str, Any]) -> dict[str, Any]:
        """How far things are; with a version, as soon as there is more to say."""
        if "version" in given:
            if given.get("session"):
                self._desk.store.keep(_text(given, "session"))
            self._desk.wait(_number(given, "version"), _PATIENCE)
        return {"state": self._desk.state()}

    def sample(self, given: dict[str, Any]) -> dict[str, Any]:
        """A sample that was looked up."""
        return {**self._desk.look(self._row(given)), "state": self._desk.state()}

    def earlier(self, given: dict[str, Any]) -> dict[str, Any]:
        """Answers so far, or what a search finds."""
        return {"samples": self._desk.earlier(_text(given, "search", ""), _LONGEST_LIST)}

    def answer(self, given: dict[str, Any]) -> dict[str, Any]:
        """Keep an answer; hand out the next sample."""
        label = given.get("label")
        session = _text(given, "session")
        value = None
        if label is not None:
            value = self._desk.store.read_label(label)
        kept = self._desk.answer(
            sample=self._row(given, "row"), label=value, who=_text(given, "who"), session=session,
            seen=_number(given, "seen"), reason=_text(given, "reason"), nonce=_text(given, "nonce"),
        )  # fmt: skip
        return {"kept": kept.id, **self.next({"session": session})}

    def undo(self, given: dict[str, Any]) -> dict[str, Any]:
        """Take back the last answer of a session, and show its sample."""
        session = _text(given, "session")
        kept = self._desk.undo(who=_text(given, "who"), session=session)
        if kept.decided:  # a correction was taken back: the sample has its earlier answer
            return {"kept": kept.id, **self.sample({"row": kept.sample})}
        return {"kept": kept.id, **self.next({"session": session})}

    def add_class(self, given: dict[str, Any]) -> dict[str, Any]:
        """Add a class."""
        label = self._desk.store.add_class(self._desk.store.read_label(given.get("label")))
        return {"label": label_text(label), "state": self._desk.state()}

    def picture(self, given: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        """The picture of a sample; it may be kept by the browser for as long as it is open."""
        pictures = self._desk.views.pictures
        if pictures is None:
            raise InvalidInputError("these samples have no pictures")
        data, kind = pictures.read(self._row(given))
        return data, {"content-type": kind, "content-disposition": "inline"}

    def labels(self, _: dict[str, Any]) -> tuple[bytes, dict[str, str]]:
        """The labels so far as CSV."""
        kind = {
            "content-type": "text/csv; charset=utf-8",
            "content-disposition": 'attachment; filename="labels.csv"',
        }
        return labels_as_csv(self._desk), kind

    def _row(self, given: dict[str, Any], name: str = "row") -> int:
        row = _number(given, name)
        if not 0 <= row < self._desk.store.n_samples:
            raise InvalidInputError(
                f"{name} must be from 0 to {self._desk.store.n_samples - 1}; got {row}"
            )
        return row


def labels_as_csv(desk: Desk) -> bytes:
    """One line for each labelled or skipped sample; no cell that a spreadsheet would run."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["row", "name", desk.store.target, "status", "who", "at"])
    for row, answer in sorted(desk.store.current().items()):
        if answer.decided:
            label = "" if answer.label is None else label_text(answer.label)
            cells = [desk.views.name(row) or "", label, answer.status, answer.who, answer.at]
            writer.writerow([row, *map(_tame, cells)])
    return file.getvalue().encode("utf-8")


def _tame(text: str) -> str:
    """Text that a spreadsheet takes for text."""
    risky = text[:1] in ("=", "@", "+", "-", "\t", "\r") and not _NUMBER.fullmatch(text)
    return f"'{text}" if risky else text


def _text(given: dict[str, Any], name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str) or len(value) > 1000:
        raise InvalidInputError(f"{name} must be text of at most 1,000 characters")
    return value


def _number(given: dict[str, Any], name: str) -> int:
    value = given.get(name)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 16:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidInputError(f"{name} must be a whole number; got {value!r:.60}")
    return value

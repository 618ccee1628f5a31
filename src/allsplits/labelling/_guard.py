"""Nobody else gets in: every request passes here before anything looks at it.

**Host.** A name that is not this machine's is refused: a page of somebody else's whose name was
made to lead here (DNS rebinding) sends its own name. Numbers are fine, no other page has them.
**Origin.** What a browser sends on behalf of another page is refused, and requests that change
something must say where they come from. **Token.** The address holds it once; after that a cookie
does (HttpOnly, SameSite=Strict, and no other site's scripts can read it). Compared in constant
time. Programs send it as a bearer token. **Headers.** The page may load what this server sends and
nothing else, run no script but its own, be framed by nobody, and nobody else may embed what is
sent.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

#: A header that only a page of this server can send without asking first.
OWN_HEADER = "x-allsplits"
#: Files of the page: the same for everybody, and without anybody's data.
_PUBLIC = ("/page.js", "/page.css", "/icon.svg")
_HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}


class Guard:
    """An ASGI application around another one, which only sees requests that may pass."""

    def __init__(self, app: Any, token: str, names: set[str], port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._cookie = f"allsplits-{port}"
        # Whoever steals the cookie does not have the token.
        self._proof = hmac.new(self._token, b"cookie", hashlib.sha256).hexdigest()
        self._names = {name.lower() for name in names}
        self._port = port

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = _headers(scope)
        entering = self._has_token_in_address(scope)
        refusal = self._refusal(scope, headers, entering)
        if refusal is not None:
            await _answer(send, *refusal)
            return

        async def guarded(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = dict(_HEADERS)
                if entering:
                    extra["set-cookie"] = (
                        f"{self._cookie}={self._proof}; HttpOnly; SameSite=Strict; Path=/"
                    )
                message["headers"] = [
                    *message.get("headers", []),
                    *((k.encode(), v.encode()) for k, v in extra.items()),
                ]
            await send(message)

        await self._app(scope, receive, guarded)

    def _refusal(
        self, scope: Scope, headers: dict[str, str], entering: bool
    ) -> tuple[int, str] | None:
        """Why a request may not pass."""
        host, origin, method = headers.get("host", ""), headers.get("origin"), scope["method"]
        if not self._is_own_host(host):
            return 421, "This server does not have that name."
        if method not in ("GET", "HEAD", "POST"):
            return 405, "Only GET, HEAD and POST."
        if origin is not None and origin.lower() != f"http://{host}".lower():
            return 403, "Requests of other pages are refused."
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and (
            method == "POST" or headers.get("sec-fetch-mode") != "navigate"
        ):
            return 403, "Requests of other pages are refused."
        if scope["path"] in _PUBLIC:
            return None
        if self._is_bearer(headers.get("authorization", "")):
            return None
        if not (entering or self._has_cookie(headers.get("cookie", ""))):
            return 401, (
                "Open the address that was printed when the server was started: it holds the token."
            )
        if scope["path"].startswith("/api/") and OWN_HEADER not in headers:
            return 403, "Requests of other pages are refused."
        if method == "POST" and origin is None:
            return 403, "A request that changes something must say where it comes from."
        return None

    def _is_own_host(self, host: str) -> bool:
        name, port = _split_host(host)
        if name is None or port != self._port:
            return False
        if name in self._names:
            return True
        try:
            # The number of this machine in whatever network it was reached through.
            return "*" in self._names and ipaddress.ip_address(name) is not None
        except ValueError:
            return False

    def _is_bearer(self, value: str) -> bool:
        kind, _, token = value.partition(" ")
        return kind.lower() == "bearer" and hmac.compare_digest(token.encode(), self._token)

    def _has_token_in_address(self, scope: Scope) -> bool:
        if scope["path"] != "/" or scope["method"] not in ("GET", "HEAD"):
            return False
        query = parse_qs(scope.get("query_string", b"").decode("latin-1"), max_num_fields=10)
        return any(
            hmac.compare_digest(token.encode(), self._token) for token in query.get("token", [])
        )

    def _has_cookie(self, text: str) -> bool:
        try:
            morsel = SimpleCookie(text).get(self._cookie)
        except CookieError:
            return False
        return morsel is not None and hmac.compare_digest(
            morsel.value.encode(), self._proof.encode()
        )


def own_names(host: str) -> set[str]:
    """Names under which a server on this host may be addressed; * stands for any number."""
    names = {"127.0.0.1", "localhost", "::1"}
    if not is_loopback(host):
        names |= {host, "*", socket.gethostname(), socket.getfqdn()}
    return names


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on this host."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _split_host(host: str) -> tuple[str | None, int]:
    """Name and port of a Host header; None if it is no such thing."""
    name, _, port = host.rpartition(":")
    if not name:
        name, port = host, "80"
    if name.startswith("[") and name.endswith("]"):
        name = name[1:-1]
    elif ":" in name:
        return None, 0
    if not port.isascii() or not port.isdecimal() or len(port) > 5:
        return None, 0
    return name.lower(), int(port)


def _headers(scope: Scope) -> dict[str, str]:
    """Headers by their names; where one is sent twice, both: no such value is right."""
    found: dict[str, str] = {}
    for key, value in scope["headers"]:
        name, text = key.decode("latin-1").lower(), value.decode("latin-1")
        found[name] = f"{found[name]}, {text}" if name in found else text
    return found


async def _answer(send: Send, status: int, text: str) -> None:
    body = f"{text}\n".encode()
    headers = {**_HEADERS, "content-type": "text/plain; charset=utf-8",
               "content-length": str(len(body))}  # fmt: skip
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": body})

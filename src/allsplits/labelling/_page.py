"""`LabelPage`: a page for people who label, served from this machine."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from allsplits._optional import import_optional
from allsplits._validation import check_count, check_fraction
from allsplits.active._learner import ActiveLearner
from allsplits.active._store import fingerprint
from allsplits.exceptions import InvalidInputError
from allsplits.labelling._app import make_app
from allsplits.labelling._desk import Desk
from allsplits.labelling._guard import Guard, is_loopback, own_names
from allsplits.labelling._pictures import Folder, Pictures, Pixels
from allsplits.labelling._store import LabelStore
from allsplits.labelling._views import Views
from allsplits.orders import SparsePoints

#: A token that others can reach must have so many characters.
SHORTEST_TOKEN = 24
#: Seconds to wait for the first questions, and for the server.
_PATIENCE = 120.0
#: Connections at a time.
_MOST_CONNECTIONS = 200


class LabelPage:
    """A labelling page, running until it is stopped.

    It is served by uvicorn and starlette, from this machine and to this machine alone unless
    `host` says otherwise. The learner is taught what people answer.

    Parameters
    ----------
    learner : ActiveLearner
        Fitted to the samples.
    path : path
        The SQLite file of the answers; one that is there is gone on with.
    classes : iterable of labels, default=()
        What can be answered, in the order of the keys; more can be added on the page.
    names, texts : sequence of str, default=None
        What samples are called (None: the index of a pandas X), and what is to be read.
    columns : mapping of str to sequence, default=None
        A table of what is known of each sample; None: its features, if nothing else is shown.
    images : path, default=None
        A folder of pictures, whose file names are `files` (None: the names).
    files : sequence of str, default=None
        File names in `images`, one for each sample.
    image_shape : tuple, default=None
        (height, width) or (height, width, 3) of pictures whose pixels are the features.
    checks : float, default=0.2
        The share of questions that are drawn at random, to measure the accuracy by; 0 measures
        nothing.
    target : str, default="label"
        What the labels are called.
    host, port : str and int, default="127.0.0.1" and 0
        Where to listen; port 0 takes a free one. A host that others can reach needs a `token`.
    token : str, default=None
        What whoever comes must know; None makes one up.

    Attributes
    ----------
    address : str
        To be opened in a browser; it holds the token.
    store : LabelStore
        The answers.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_digits
    >>> from allsplits import ActiveLearner
    >>> X = load_digits().data[:200]
    >>> learner = ActiveLearner(random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "digits.sqlite"
    ...     with learner.serve(path, classes=range(10), image_shape=(8, 8)) as page:
    ...         page.address.startswith("http://127.0.0.1:")
    True
    """

    def __init__(
        self,
        learner: ActiveLearner,
        path: str | Path,
        *,
        classes: Any = (),
        names: Sequence[Any] | None = None,
        texts: Sequence[Any] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
        images: str | Path | None = None,
        files: Sequence[Any] | None = None,
        image_shape: Sequence[int] | None = None,
        checks: float = 0.2,
        target: str = "label",
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
    ) -> None:
        state = learner._fitted()
        self._uvicorn = import_optional("uvicorn", extra="label", purpose="a labelling page")
        import_optional("starlette", extra="label", purpose="a labelling page")
        share = 0.0 if checks == 0 else check_fraction("checks", checks)
        self._token = check_token(host, token)
        if names is None and learner._names is not None:
            names = learner._names.tolist()
        pictures = _pictures(learner, images, names if files is None else files, image_shape)
        if columns is None and texts is None and pictures is None:
            columns = _features(learner)
        views = Views(
            state.n_samples, None if names is None else [str(n) for n in names], texts, columns,
            pictures,
        )  # fmt: skip
        start = {i: label for i, label in state.labels.items() if label is not None}
        self._socket = _listen(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        try:
            self.store = LabelStore(
                path, fingerprint(learner._points), classes=classes, start=start, target=target,
                seed=learner.seed_ % 2**32,
            )  # fmt: skip
        except BaseException:
            self._socket.close()
            raise
        self._desk = Desk(learner, self.store, views, share)
        self._desk.start()
        self._serve()

    def _serve(self) -> None:
        """Start the server in a thread, and return when it answers and has questions."""
        app = Guard(make_app(self._desk), self._token, own_names(self.host), self.port)
        config = self._uvicorn.Config(
            app, http="h11", ws="none", lifespan="off", log_config=None, access_log=False,
            server_header=False, limit_concurrency=_MOST_CONNECTIONS, timeout_keep_alive=30,
            timeout_graceful_shutdown=2, h11_max_incomplete_event_size=32 * 1024,
            proxy_headers=False,
        )  # fmt: skip
        self._server = self._uvicorn.Server(config)
        # A thread that is joined when Ctrl-C comes says that it has ended (before Python 3.13).
        self._ended = threading.Event()
        threading.Thread(target=self._answer, name="allsplits page", daemon=True).start()
        self._desk.ready.wait(_PATIENCE)

    def _answer(self) -> None:
        try:
            asyncio.run(self._until_stopped())
        finally:
            self._ended.set()

    async def _until_stopped(self) -> None:
        await self._server.serve(sockets=[self._socket])
        # A request that outlives the patience of the server leaves its connection open, and a
        # browser would wait for the answer for ever.
        for connection in tuple(self._server.server_state.connections):
            connection.transport.abort()
        await asyncio.sleep(0)

    @property
    def address(self) -> str:
        """Where the page is; it holds the token."""
        host = socket.gethostname() if self.host in ("0.0.0.0", "::") else self.host
        name = f"[{host}]" if ":" in host else host
        return f"http://{name}:{self.port}/?token={self._token}"

    def stop(self) -> None:
        """End the page; every answer is in the file."""
        self._desk.leave()
        self._server.should_exit = True
        self._ended.wait(timeout=15)
        self._desk.stop()
        self._socket.close()
        self.store.close()

    def wait(self) -> None:
        """Return when the page has ended."""
        while not self._ended.wait(timeout=0.5):
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"LabelPage({self.address}, answers in {self.store.path.name})"


def check_token(host: str, token: str | None) -> str:
    """The token, or a new one; raises where others could guess it."""
    if token is None:
        if not is_loopback(host):
            raise InvalidInputError(
                f"host must be of this machine alone (127.0.0.1) without a token of your own; got "
                f"{host!r}: anybody who reaches it could read the samples and label them"
            )
        return secrets.token_urlsafe(32)
    allowed = token.isascii() and all(c.isalnum() or c in "-_.~" for c in token)
    if not allowed or len(token) < SHORTEST_TOKEN:
        raise InvalidInputError(
            f"token must have at least {SHORTEST_TOKEN} letters, digits or any of -_.~; "
            f"got {len(token)} characters"
        )
    return token


def _listen(host: str, port: int) -> socket.socket:
    check_count("port", port, at_most=65535)
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family)
    except (OSError, TypeError) as error:
        raise InvalidInputError(
            f"host and port must be free on this machine; {host}:{port}: {error}"
        ) from error


def _pictures(
    learner: ActiveLearner, images: Any, names: Sequence[Any] | None, shape: Any
) -> Pictures | None:
    if images is not None:
        if names is None:
            raise InvalidInputError("files must name a picture for each sample; got None")
        return Folder.of(images, names, len(learner._points))
    if shape is None:
        return None
    _check_dense(learner, "image_shape must be None")
    return Pixels.of(learner._points, shape)


def _features(learner: ActiveLearner) -> dict[str, Any]:
    """The features as a table, under the names that X had."""
    _check_dense(learner, "texts, columns or images must be given")
    names = getattr(learner, "feature_names_in_", None)
    if names is None:
        names = [f"feature {i}" for i in range(learner.n_features_in_)]
    return {str(name): learner._points[:, i] for i, name in enumerate(names)}


def _check_dense(learner: ActiveLearner, what: str) -> None:
    """Raise if the features are too many to be shown."""
    if isinstance(learner._points, SparsePoints):
        raise InvalidInputError(
            f"{what} for a sparse X of this size; got one of shape {learner._points.shape}"
        )

"""The server is killed at random moments: no answer that was acknowledged is lost.

By default a few times; ``ALLSPLITS_KILLS=200 python -m pytest tests/unit/labelling/test_crash.py``
does it 200 times.
"""

import http.client
import multiprocessing
import os
import random
import threading
from contextlib import contextmanager, suppress

import pytest

from allsplits.labelling import LabelStore
from unit.labelling.talk import Address, Client, serve_until_killed

pytest.importorskip("uvicorn", reason="the extra label is not installed")
pytest.importorskip("starlette", reason="the extra label is not installed")
if os.name != "posix":
    pytest.skip("kill -9 is POSIX's", allow_module_level=True)

KILLS = int(os.environ.get("ALLSPLITS_KILLS", "10"))
GONE = (OSError, http.client.HTTPException)


@pytest.fixture(scope="module")
def context():
    """Processes that have loaded everything when they start."""
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["unit.labelling.talk", "allsplits.labelling", "uvicorn"])
    return made


@contextmanager
def server(context, path, **options):
    """A server process and the pipe for its port; killed in the end."""
    here, there = context.Pipe()
    process = context.Process(target=serve_until_killed, args=(path, there), kwargs=options)
    process.start()
    there.close()
    try:
        yield process, here
    finally:
        process.kill()
        process.join()
        process.close()
        here.close()


def label_until_it_dies(client, rng, kept):
    """Answer, correct and undo; write down what was acknowledged."""
    with suppress(*GONE):
        while True:
            row, label = rng.randrange(60), rng.choice("abc")
            question = client.get(f"/api/sample?row={row}")["question"]
            found = client.answer(question, label, nonce=f"{rng.random()}")
            kept[found["kept"]] = (row, label)
            if rng.random() < 0.1:
                found = client.undo()
                kept[found["kept"]] = (row, ...)


def test_no_acknowledged_answer_is_lost(context, tmp_path):
    path, rng = tmp_path / "labels.sqlite", random.Random(0)
    kept, lives = {}, 0
    for life in range(KILLS):
        with server(context, path) as (process, pipe):
            if life % 5 == 4:  # in the middle of its start
                process.join(rng.uniform(0.0, 0.4))
            else:
                assert pipe.poll(120)
                client = Client(Address(pipe.recv()), session=f"s{life}")
                timer = threading.Timer(rng.uniform(0.0, 0.5), process.kill)
                timer.start()
                label_until_it_dies(client, rng, kept)
                timer.join()
                lives += 1
            process.kill()
        if path.exists() and kept:
            check(path, kept, lives)
    assert len(kept) >= KILLS / 2


def check(path, kept, lives):
    """Everything acknowledged is there as it was said; one more answer for each life at most."""
    with LabelStore(path) as store:
        found = {answer.id: answer for answer in store.history()}
        assert store._connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    for number, (row, label) in kept.items():
        assert found[number].sample == row
        assert label is ... or found[number].label == label
    assert len(found) <= len(kept) + lives


def test_a_disk_that_is_full(context, tmp_path):
    """The answer is refused with a reason, what was acknowledged before stays."""
    path = tmp_path / "labels.sqlite"
    with server(context, path) as (_, pipe):  # the file itself is made while there is room
        assert pipe.poll(120)
    with server(context, path, largest_file=200_000) as (_, pipe):
        assert pipe.poll(120)
        client = Client(Address(pipe.recv()))
        kept, status = {}, 200
        for i in range(3000):
            question = client.get(f"/api/sample?row={i % 60}")["question"]
            label = "abc"[i % 3]
            body = {
                "row": question["row"], "seen": question["seen"], "label": label, "who": "w" * 80,
                "session": "s", "reason": "chosen", "nonce": f"n{i}" + "x" * 900,
            }  # fmt: skip
            status, _, content = client.send("POST", "/api/answer", body)
            if status != 200:
                break
            kept[question["row"]] = label
        assert status == 507, content
        assert b"cannot write" in content
        assert client.get("/api/state")["state"]["n_labelled"] == len(kept)
    with LabelStore(path) as store:
        assert store.labels() == kept
        first = store.get(0)
        store.answer(0, "a", who="", session="s", seen=first.id)

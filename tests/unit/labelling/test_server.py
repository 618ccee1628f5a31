"""The page's server: who gets in, what is asked and answered, what is refused."""

import json
import os
import re
import signal
import socket
import threading

import numpy as np
import pytest

from allsplits import ActiveLearner
from allsplits.exceptions import InvalidInputError
from allsplits.labelling._app import LARGEST_BODY
from allsplits.labelling._page import check_token
from unit.labelling.talk import Client, learner, page, points

pytest.importorskip("uvicorn", reason="the extra label is not installed")
pytest.importorskip("starlette", reason="the extra label is not installed")

TOKEN = "a-token-of-my-own-0123456789"
ATTACK = "<img src=x onerror=alert(1)>"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("labels")
    (folder / "photos").mkdir()
    (folder / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "photos" / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nA")
    files = ["a.png", "../secret.png", "nowhere.png"] * 20
    names = [f"{ATTACK} {i}" for i in range(60)]
    with page(
        folder / "x.sqlite", names=names, texts=[ATTACK] * 60, images=folder / "photos",
        files=files, classes=["a", "b", "c", ATTACK],
    ) as one:  # fmt: skip
        yield one


@pytest.fixture
def client(served):
    return Client(served)


# ------------------------------------------------------------ who gets in


def browser_headers(client, cookie, **more):
    own = f"http://127.0.0.1:{client.port}"
    return {
        "Authorization": None, "Cookie": cookie, "X_Allsplits": "1", "Origin": own, **more,
    }  # fmt: skip


@pytest.fixture
def cookie(client):
    path = f"/?token={client.token}"
    status, headers, content = client.send("GET", path, Authorization=None)
    assert status == 200
    assert b"<title>Label</title>" in content
    return headers["set-cookie"].partition(";")[0]


def test_the_address_lets_in_and_leaves_a_cookie(client):
    _, headers, _ = client.send("GET", f"/?token={client.token}", Authorization=None)
    given = headers["set-cookie"]
    assert "HttpOnly" in given
    assert "SameSite=Strict" in given
    assert client.token not in given


def test_the_cookie_is_enough(client, cookie):
    path = "/api/next?session=z"
    status, _, content = client.send("GET", path, **browser_headers(client, cookie))
    assert status == 200
    assert json.loads(content)["question"] is not None


@pytest.mark.parametrize("path", ["/", "/api/next?session=z", "/picture/0", "/labels.csv"])
@pytest.mark.parametrize(
    "proof", [{}, {"Cookie": "allsplits-1=x"}, {"Authorization": "Bearer x"},
              {"Authorization": "Basic x"}],
)  # fmt: skip
def test_without_the_token_nothing_is_told(client, path, proof):
    status, headers, content = client.send("GET", path, **{"Authorization": None, **proof})
    assert status == 401
    assert b"address that was printed" in content
    assert "set-cookie" not in headers


def test_a_wrong_token_in_the_address(client):
    for token in ("", "x", client.token[:-1], client.token + "x", "%00"):
        assert client.send("GET", f"/?token={token}", Authorization=None)[0] == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "", "[::1",
             "10.0.0.1:{port}", "localhost:{port}@evil.example", "127.0.0.1:{port}, evil.example",
             "127.0.0.1.evil.example:{port}"],
)  # fmt: skip
def test_other_names_are_refused(client, host):
    """DNS rebinding: the name leads here, and is not ours."""
    status, _, content = client.send("GET", "/api/state", Host=host.format(port=client.port))
    assert status in (400, 421), content


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_own_names(client, host):
    assert client.send("GET", "/api/state", Host=f"{host}:{client.port}")[0] == 200


def test_two_hosts_are_none(client):
    with socket.create_connection(("127.0.0.1", client.port)) as wire:
        wire.sendall(
            f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{client.port}\r\nHost: evil.example\r\n"
            f"Authorization: Bearer {client.token}\r\nConnection: close\r\n\r\n".encode()
        )
        assert wire.recv(100).split()[1] in (b"400", b"421")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1",
               "http://localhost:{port}"],
)  # fmt: skip
def test_other_pages_are_refused(client, cookie, origin):
    headers = browser_headers(client, cookie, Origin=origin.format(port=client.port))
    for method, path, body in (
        ("GET", "/api/state", None), ("POST", "/api/undo", {"session": "s", "who": ""}),
    ):  # fmt: skip
        assert client.send(method, path, body, **headers)[0] == 403


def test_forms_of_other_pages_are_refused(client, cookie):
    """A cookie that a browser sends along is not enough to change something."""
    body = {"session": "s", "who": ""}
    without_origin = browser_headers(client, cookie, Origin=None)
    without_header = browser_headers(client, cookie, X_Allsplits=None)
    as_form = browser_headers(client, cookie, Content_Type="text/plain")
    elsewhere = browser_headers(client, cookie, Sec_Fetch_Site="cross-site")
    next_door = browser_headers(client, cookie, Sec_Fetch_Site="same-site")
    for headers in (without_origin, without_header, elsewhere, next_door):
        assert client.send("POST", "/api/undo", body, **headers)[0] == 403
    assert client.send("POST", "/api/undo", body, **as_form)[0] == 400


def test_pictures_are_not_for_other_pages(client, cookie):
    headers = {"Authorization": None, "Cookie": cookie}
    assert client.send("GET", "/picture/0", **headers, Sec_Fetch_Site="same-origin")[0] == 200
    for site in ("same-site", "cross-site"):
        found = client.send(
            "GET", "/picture/0", **headers, Sec_Fetch_Site=site, Sec_Fetch_Mode="no-cors"
        )
        assert found[0] == 403


def test_other_methods(client):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert client.send(method, "/api/state")[0] == 405
    assert client.send("GET", "/api/undo")[0] == 405
    assert client.send("GET", "/api/nothing")[0] == 404


@pytest.mark.parametrize("path", ["/", "/page.js", "/api/state", "/picture/0", "/nothing"])
def test_every_answer_has_the_headers(client, path):
    _, headers, _ = client.send("GET", path)
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers


def test_the_page_needs_no_other_server(client):
    for path in ("/", "/page.js", "/page.css"):
        content = client.send("GET", path)[2].decode()
        found = re.findall(r"https?://[\w./]+", content)
        assert set(found) <= {"http://www.w3.org/2000/svg"}
    script = client.send("GET", "/page.js")[2].decode()
    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "Function(",
    ):
        assert word not in script


def test_tokens_that_can_be_guessed_are_refused():
    assert len(check_token("127.0.0.1", None)) >= 40
    assert check_token("0.0.0.0", TOKEN) == TOKEN
    for host in ("0.0.0.0", "192.168.0.7", "example.org", "::"):
        with pytest.raises(InvalidInputError, match="of this machine alone"):
            check_token(host, None)
    for token in ("", "short", "x" * 23, "a token with spaces in it", "ü" * 30, TOKEN + "\n"):
        with pytest.raises(InvalidInputError, match="token must have"):
            check_token("127.0.0.1", token)


def test_a_page_for_others_takes_numbers_but_no_names(tmp_path):
    with page(tmp_path / "x.sqlite", host="0.0.0.0", token=TOKEN) as one:
        client = Client(one)
        assert client.token == TOKEN
        for host, status in (("10.1.2.3", 200), ("127.0.0.1", 200), ("evil.example", 421)):
            assert client.send("GET", "/api/state", Host=f"{host}:{one.port}")[0] == status


# ------------------------------------------------------------ sizes and shapes of requests


def test_large_requests_are_refused(client):
    found = client.send("POST", "/api/class", {"label": "x" * LARGEST_BODY})
    assert found[0] == 400
    assert b"at most" in found[2]
    try:
        status = client.send("GET", "/api/state", X_Large="x" * 2_000_000)[0]
    except OSError:  # the server has hung up
        status = 431
    assert status in (400, 431)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'"x"', b"\xff", b"[" * 9000, b'{"row": NaN}', b'{"label": 7}'],
)  # fmt: skip
def test_bodies_that_are_none(client, body):
    for path in ("/api/answer", "/api/undo", "/api/class"):
        assert client.send("POST", path, body)[0] == 400


WRONG = [
    {"row": 60}, {"row": -1}, {"row": "x"}, {"row": 1.5}, {"row": True}, {"row": None},
    {"seen": None}, {"seen": "x"}, {"label": "horse"}, {"label": 3}, {"label": ["a"]},
    {"reason": "because"},
    {"who": 3}, {"who": "x" * 5000}, {"session": None}, {"nonce": 7}, {"session": "a\0"},
]  # fmt: skip


@pytest.mark.parametrize("changed", WRONG, ids=str)
def test_answers_that_are_none(client, changed):
    body = {
        "row": 1, "seen": 0, "label": "a", "who": "", "session": "w", "reason": "chosen",
        "nonce": "w", **changed,
    }  # fmt: skip
    found = client.post("/api/answer", body, status=400)
    assert found["error"]


@pytest.mark.parametrize("row", ["60", "-1", "x", "../x", "%2e%2e%2fsecret.png", "1e1", "%D9%A3"])
def test_rows_that_are_none(client, row):
    assert client.send("GET", f"/picture/{row}")[0] in (400, 404)


# ------------------------------------------------------------ hostile texts, pictures


def test_texts_travel_as_data(client):
    status, headers, content = client.send("GET", "/api/sample?row=0")
    assert status == 200
    assert headers["content-type"] == "application/json"
    found = json.loads(content)["question"]
    assert found["name"] == f"{ATTACK} 0"
    assert found["text"] == ATTACK


def test_pictures_of_the_folder_only(client):
    assert client.send("GET", "/picture/0")[1]["content-type"] == "image/png"
    for row in (1, 2):
        status, headers, content = client.send("GET", f"/picture/{row}")
        assert status == 400
        assert headers["content-type"] == "application/json"
        assert b"PNG" not in content


def test_the_table_runs_nothing_in_a_spreadsheet(tmp_path):
    names = ["=1+1", "@x", "-2+3", "+1", *("plain" for _ in range(56))]
    with page(tmp_path / "x.sqlite", names=names, classes=["=cmd()", "-1"]) as one:
        client = Client(one)
        for row in range(5):
            client.answer(
                client.get(f"/api/sample?row={row}")["question"], ["=cmd()", "-1"][row % 2]
            )
        lines = client.send("GET", "/labels.csv")[2].decode().splitlines()
    assert lines[0] == "row,name,label,status,who,at"
    assert [line.split(",")[1:3] for line in lines[1:]] == [
        ["'=1+1", "'=cmd()"], ["'@x", "-1"], ["'-2+3", "'=cmd()"], ["+1", "-1"],
        ["plain", "'=cmd()"],
    ]  # fmt: skip


# ------------------------------------------------------------ asking and answering


def test_a_person_labels_undoes_and_goes_on(tmp_path):
    truth = points()[1]
    with page(tmp_path / "x.sqlite") as one:
        client = Client(one)
        for _ in range(25):
            question = client.next()
            client.answer(question, "abc"[truth[question["row"]]])
        state = client.settled()
        assert state["n_labelled"] == 25
        assert sum(c["n"] for c in state["classes"]) == 25
        assert state["measure"]["accuracy"]["n_checks"] >= 4
        assert state["failure"] is None
        back = client.undo()
        assert back["question"]["row"] == question["row"]
        assert back["question"]["answer"] is None
        assert client.settled()["n_labelled"] == 24
        skipped = client.answer(back["question"], None)
        assert skipped["question"]["row"] != question["row"]
        assert skipped["state"]["n_skipped"] == 1


def test_the_learner_of_the_notebook_is_taught(tmp_path):
    X, truth = points()
    mine = learner()
    with mine.serve(tmp_path / "x.sqlite", classes=["a", "b", "c"]) as one:
        client = Client(one)
        for _ in range(6):
            question = client.next()
            client.answer(question, "abc"[truth[question["row"]]])
        client.settled()
        assert len(mine.labelled_) == 6
        client.undo()
        client.settled()
        assert len(mine.labelled_) == 5
    with mine.serve(tmp_path / "x.sqlite") as again:
        assert len(again.store.labels()) == 5
        assert again.store.classes == ["a", "b", "c"]
    other = ActiveLearner(range(1, 6), tune_leave_out=3, random_state=0).fit(X)
    with other.serve(tmp_path / "x.sqlite") as again:
        Client(again).settled()
        assert other.labelled_.tolist() == mine.labelled_.tolist()


def test_labels_of_the_learner_are_the_start(tmp_path):
    X, truth = points()
    mine = ActiveLearner(range(1, 6), tune_leave_out=3, random_state=0)
    mine.fit(X, np.where(np.arange(60) < 12, truth, np.nan)).teach(20, None)
    with mine.serve(tmp_path / "x.sqlite") as one:
        state = Client(one).settled()
        assert (state["n_labelled"], state["n_skipped"], state["n_given"]) == (12, 1, 13)
        assert [c["label"] for c in state["classes"]] == ["0", "1", "2"]
        assert one.store.labels()[1] == 1


def test_two_people_get_different_samples_and_do_not_overwrite(tmp_path):
    with page(tmp_path / "x.sqlite") as one:
        ann, bob = Client(one, "a", "Ann"), Client(one, "b", "Bob")
        rows = set()
        for _ in range(10):
            first, second = ann.next(), bob.next()
            assert first["row"] != second["row"]
            assert ann.next()["row"] == first["row"]  # a reload shows the same
            rows |= {first["row"], second["row"]}
            ann.answer(first, "a")
            bob.answer(second, "b")
        assert len(rows) == 20
        seen = bob.get(f"/api/sample?row={first['row']}")["question"]
        assert seen["answer"]["who"] == "Ann"
        ann.answer(ann.get(f"/api/sample?row={first['row']}")["question"], "c")
        assert "by Ann" in bob.answer(seen, "b", status=409)["error"]
        assert one.store.labels()[first["row"]] == "c"


def test_a_check_is_asked_without_hints(tmp_path):
    truth = points()[1]
    with page(tmp_path / "x.sqlite", checks=0.5) as one:
        client = Client(one)
        reasons = []
        for _ in range(20):
            question = client.next()
            reasons.append(question["reason"])
            assert (question["hint"] is None) == (question["reason"] == "check")
            client.answer(question, "abc"[truth[question["row"]]])
            client.settled()
        drawn = one._desk.checks.drawn(20).tolist()
        assert reasons.count("check") >= 5
        assert all(i in one.store.labels() for i in drawn[:-1])


def test_without_checks_nothing_is_claimed(tmp_path):
    truth = points()[1]
    with page(tmp_path / "x.sqlite", checks=0) as one:
        client = Client(one)
        for _ in range(15):
            question = client.next()
            assert question["reason"] != "check"
            client.answer(question, "abc"[truth[question["row"]]])
        state = client.settled()
    assert state["measure"]["accuracy"] is None
    assert state["measure"]["forecast"] is None


def test_a_new_class(tmp_path):
    with page(tmp_path / "x.sqlite", classes=["a"]) as one:
        client = Client(one)
        found = client.post("/api/class", {"label": " new one "})
        assert found["label"] == "new one"
        assert [c["label"] for c in found["state"]["classes"]] == ["a", "new one"]
        client.answer(client.next(), "new one")
        for label in ("", " ", "x" * 201, "a\nb", None, 3):
            assert client.post("/api/class", {"label": label}, status=400)["error"]


def test_the_last_sample(tmp_path):
    with page(tmp_path / "x.sqlite", n=12) as one:
        client = Client(one)
        for _ in range(12):
            found = client.answer(client.next(), "a")
        assert found["done"]
        assert found["question"] is None
        assert client.settled()["failure"] is None


def test_earlier_answers_and_search(tmp_path):
    names = [f"photo {i}" for i in range(60)]
    with page(tmp_path / "x.sqlite", names=names) as one:
        client = Client(one)
        rows = []
        for label in "abc":
            question = client.next()
            rows.append(question["row"])
            client.answer(question, label)
        found = client.get("/api/earlier")["samples"]
        assert [s["row"] for s in found] == rows[::-1]
        assert [s["answer"]["label"] for s in found] == ["c", "b", "a"]
        found = client.get("/api/earlier?search=PHOTO%205")["samples"]
        assert {s["name"] for s in found} == {"photo 5", *(f"photo {i}" for i in range(50, 60))}
        assert client.get("/api/earlier?search=nothing")["samples"] == []


def test_a_suspect_that_is_confirmed_is_not_shown_again(tmp_path):
    truth = points()[1]
    with page(tmp_path / "x.sqlite") as one:
        client = Client(one)
        wrong = int(np.argmin(np.abs(points()[0][:50] - [6.0, 0.0]).sum(axis=1)))
        for row in range(50):
            label = truth[row] if row != wrong else (truth[row] + 1) % 3
            client.answer(client.get(f"/api/sample?row={row}")["question"], "abc"[label])
        suspects = client.settled()["suspects"]
        assert wrong in [s["row"] for s in suspects]
        again = client.get(f"/api/sample?row={wrong}")["question"]
        assert again["reason"] == "again"
        client.answer(again, "abc"[(truth[wrong] + 1) % 3])
        assert wrong not in [s["row"] for s in client.settled()["suspects"]]


def test_bad_options_are_refused_by_name(tmp_path):
    cases = [
        ({"checks": 2.0}, "checks"), ({"names": ["x"]}, "names"), ({"texts": ["x"]}, "texts"),
        ({"images": tmp_path / "none", "names": ["x"] * 60}, "images"),
        ({"images": tmp_path}, "files"),
        ({"image_shape": (3, 3)}, "image_shape"), ({"classes": [True]}, "classes"),
        ({"port": 99999}, "port"), ({"host": "0.0.0.0"}, "host"), ({"token": "x"}, "token"),
    ]  # fmt: skip
    for options, word in cases:
        with pytest.raises(InvalidInputError, match=word):
            learner().serve(tmp_path / "x.sqlite", **options)
    with pytest.raises(TypeError, match="colour"):
        learner().serve(tmp_path / "x.sqlite", colour="red")


def test_stopping_lets_nobody_wait(tmp_path):
    """A browser whose answer takes longer than the server lives is cut off, not left waiting."""
    begun, go_on = threading.Event(), threading.Event()

    def slow_state():
        begun.set()
        go_on.wait(60)
        return {}

    with page(tmp_path / "x.sqlite") as served, socket.create_connection(
        ("127.0.0.1", served.port), timeout=30
    ) as browser:  # fmt: skip
        served._desk.state = slow_state
        token = served.address.partition("token=")[2]
        browser.sendall(
            f"GET /api/state HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Authorization: Bearer {token}\r\n\r\n".encode()
        )
        assert begun.wait(30)
        stopping = threading.Thread(target=served.stop)
        stopping.start()
        try:
            assert browser.recv(100) == b""
        except ConnectionResetError:
            pass
        finally:
            go_on.set()
            stopping.join()


# ------------------------------------------------------------ how it ends


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_a_page_that_is_interrupted_answers_until_it_is_stopped(tmp_path):
    """Threads that are joined when Ctrl-C comes say that they have ended, and have not."""

    def threads():
        return [one.name for one in threading.enumerate() if one.name.startswith("allsplits")]

    before = threads()
    one = learner().serve(tmp_path / "x.sqlite", classes=["a", "b", "c"])
    try:
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            one.wait()
        timer.join()
        assert Client(one).send("GET", f"/?token={one.address.partition('token=')[2]}")[0] == 200
    finally:
        one.stop()
    assert threads() == before
    one.wait()
    one.stop()

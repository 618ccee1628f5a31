"""Talking to a labelling page as browsers and programs do."""

import http.client
import json
import time
from contextlib import contextmanager

import numpy as np

from allsplits import ActiveLearner

ORIGIN_HEADERS = {"X-Allsplits": "1"}


def points(n=60, seed=0):
    """Three groups in the plane, and the group of each."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 3
    return np.c_[3.0 * truth, truth % 2] + rng.normal(size=(n, 2)), truth


def learner(n=60, **parameters):
    return ActiveLearner(range(1, 6), tune_leave_out=3, random_state=0, n_jobs=1, **parameters).fit(
        points(n)[0]
    )


@contextmanager
def page(path, n=60, **options):
    """A page over three groups of points."""
    with learner(n).serve(path, **{"classes": ["a", "b", "c"], **options}) as served:
        yield served


class Client:
    """One browser: requests to a page, with the headers that it would send."""

    def __init__(self, served, session="s", who="Ann"):
        self.port, self.session, self.who = served.port, session, who
        self.token = served.address.partition("token=")[2]
        self.count = 0

    def send(self, method, path, body=None, **headers):
        """Status, headers and content; headers of value None are not sent."""
        sent = {
            "Host": f"127.0.0.1:{self.port}",
            "Authorization": f"Bearer {self.token}",
            **({"Content-Type": "application/json"} if body is not None else {}),
            **{key.replace("_", "-"): value for key, value in headers.items()},
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            data = None
            if body is not None:
                data = body if isinstance(body, bytes) else json.dumps(body).encode()
                sent.setdefault("Content-Length", str(len(data)))
            for key, value in sent.items():
                if value is not None:
                    connection.putheader(key, value)
            connection.endheaders(data)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        status, _, content = self.send("GET", path, **headers)
        assert status == 200, (status, content)
        return json.loads(content)

    def post(self, path, body, status=200, **headers):
        found, _, content = self.send("POST", path, body, **headers)
        assert found == status, (found, content)
        return json.loads(content)

    def next(self):
        return self.get(f"/api/next?session={self.session}")["question"]

    def answer(self, question, label, status=200, **changed):
        self.count += 1
        body = {
            "row": question["row"], "seen": question["seen"], "label": label, "who": self.who,
            "session": self.session, "reason": question["reason"],
            "nonce": f"{self.session}-{self.count}", **changed,
        }  # fmt: skip
        return self.post("/api/answer", body, status)

    def undo(self, status=200):
        return self.post("/api/undo", {"who": self.who, "session": self.session}, status)

    def settled(self):
        """The state when everything that was answered has been measured."""
        found = self.get("/api/state")["state"]
        while not found["fresh"]:
            found = self.get(f"/api/state?version={found['version']}")["state"]
        return found


#: A token that is the same after a restart.
TOKEN = "the-token-of-the-tests-0123456789"


def serve_until_killed(path, pipe, largest_file=None):
    """A server in a process of its own; its port goes through the pipe."""
    if largest_file is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
    with page(path, token=TOKEN) as served:
        pipe.send(served.port)
        time.sleep(600)


class Address:
    """A page in another process."""

    def __init__(self, port):
        self.port = port
        self.address = f"http://127.0.0.1:{port}/?token={TOKEN}"

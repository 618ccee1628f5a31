"""A labelling effort in a process that is killed: nothing taught is lost.

A process teaches one sample after the other and says so after each. It is killed with SIGKILL,
which no program can catch: from outside at any moment, or by itself at every step of a write. The
processes are forked from one that has everything imported, so that the test does not take minutes.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from allsplits import ActiveLearner

pytestmark = pytest.mark.skipif(os.name != "posix", reason="SIGKILL and fork are POSIX's")

N = 400
PROGRAM = """
import io, os, signal, sys
import numpy as np
from pathlib import Path
from allsplits import ActiveLearner

X = np.random.default_rng(0).standard_normal((400, 2))
truth = (X[:, 0] > 0).astype(int)

def die(*arguments, **keywords):
    os.kill(os.getpid(), signal.SIGKILL)

class Dying(io.FileIO):
    def write(self, data):
        super().write(data[:40])
        die()

def prepare_to_die(step):
    if step == "write":
        os.fdopen = Dying
    elif step == "flush":
        os.fsync = die
    elif step == "rename":
        Path.replace = die
    elif step == "after":
        rename = Path.replace
        Path.replace = lambda self, target: (rename(self, target), die())

def label(path, step, last):
    if Path(path).exists():
        learner = ActiveLearner.load(path, X)
    else:
        learner = ActiveLearner(range(1, 6), tune_leave_out=2, random_state=0, n_jobs=1)
        learner.set_params(autosave=path).fit(X)
    while len(learner.labelled_) < 400:
        asked = int(learner.ask()[0])
        if len(learner.labelled_) == last:
            prepare_to_die(step)
        learner.teach(asked, truth[asked])
        print("taught", asked, flush=True)

for line in sys.stdin:
    path, step, last = line.split()
    child = os.fork()
    if child == 0:
        label(path, step, int(last))
        os._exit(0)
    print("started", child, flush=True)
    status = os.waitpid(child, 0)[1]
    print("ended", os.waitstatus_to_exitcode(status), flush=True)
"""


class Labellers:
    """Starts labelling processes, one after the other, and hears what they say."""

    def __init__(self, process):
        self.process = process

    def start(self, path, step="none", last=-1):
        self.process.stdin.write(f"{path} {step} {last}\n")
        self.process.stdin.flush()
        return self.hear_until("started")

    def hear_taught(self, count):
        return [self.hear_until("taught") for _ in range(count)]

    def hear_until(self, word):
        while True:
            said, _, value = self.process.stdout.readline().partition(" ")
            assert said, "the process ended"
            if said == word:
                return int(value)

    def hear_to_the_end(self):
        """Samples taught from now on, and how the process ended."""
        taught = []
        while True:
            said, _, value = self.process.stdout.readline().partition(" ")
            if said == "ended":
                return taught, int(value)
            taught.append(int(value))


@pytest.fixture(scope="module")
def labellers():
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Labellers(process)
        process.stdin.close()


def points():
    X = np.random.default_rng(0).standard_normal((N, 2))
    return X, (X[:, 0] > 0).astype(int)


def check(path, confirmed):
    """All that was confirmed is in the file, in its order, and at most one more."""
    X, truth = points()
    learner = ActiveLearner.load(path, X)
    taught = [one.indices[0] for one in learner.rounds_[1:]]
    assert taught[: len(confirmed)] == confirmed
    assert len(taught) <= len(confirmed) + 1
    np.testing.assert_array_equal(learner.labels_, truth[learner.labelled_])
    return taught


def test_killed_from_outside_at_any_moment(tmp_path, labellers):
    """Killed and started again five times: the effort goes on where it was."""
    path = tmp_path / "labels.json"
    confirmed = []
    for wait in (0.0, 0.05, 0.013, 0.121, 0.037):
        child = labellers.start(path)
        confirmed += labellers.hear_taught(8)
        time.sleep(wait)
        os.kill(child, signal.SIGKILL)
        taught, status = labellers.hear_to_the_end()
        assert status == -signal.SIGKILL
        confirmed = check(path, confirmed + taught)
    assert len(confirmed) >= 40


@pytest.mark.parametrize(
    ("step", "kept"), [("write", 0), ("flush", 0), ("rename", 0), ("after", 1)]
)
def test_killed_at_every_step_of_a_write(tmp_path, labellers, step, kept):
    path = tmp_path / "labels.json"
    labellers.start(path, step, last=5)
    confirmed, status = labellers.hear_to_the_end()
    assert (len(confirmed), status) == (5, -signal.SIGKILL)
    assert len(check(path, confirmed)) == 5 + kept
    # What the dead process left beside the file is in nobody's way.
    X, truth = points()
    learner = ActiveLearner.load(path, X)
    asked = learner.ask()
    learner.teach(asked, truth[asked])
    assert len(ActiveLearner.load(path, X).rounds_) == len(learner.rounds_)
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]

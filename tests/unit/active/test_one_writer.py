"""One autosave file, several processes, threads, forks and copies: no label is lost.

Every label whose `teach` returned is in the file; every reader at every moment finds a whole
document; whoever comes second is told so.
"""

import copy
import json
import os
import pickle
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from allsplits import ActiveLearner
from allsplits.exceptions import InvalidInputError
from unit.refused import refused

posix = pytest.mark.skipif(os.name != "posix", reason="fork is POSIX's")

N = 400
X = np.random.default_rng(0).standard_normal((N, 2))
TRUTH = (X[:, 0] > 0).astype(int)

#: Children forked from one process that has everything imported say in one line what they did.
PROGRAM = """
import os, sys, time
import numpy as np
from allsplits import ActiveLearner
from allsplits.exceptions import InvalidInputError

X = np.random.default_rng(0).standard_normal((400, 2))
truth = (X[:, 0] > 0).astype(int)

def new(path):
    return ActiveLearner(1, autosave=path, random_state=0, n_jobs=1).fit(X)

def say(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def share(path, number):
    "Open, teach three of its own rows, close, until 24 are taught."
    rows = iter(range(100 * number, 100 * number + 24))
    for _ in range(8):
        while True:
            try:
                learner = ActiveLearner.load(path, X)
                break
            except InvalidInputError as error:
                assert "one writer" in str(error), error
                time.sleep(0.002)
        for row in (next(rows), next(rows), next(rows)):
            learner.teach(row, truth[row])
            say("taught", row)
        learner.close() if number % 2 else None
        del learner

def race(path, number):
    "All begin the same effort at the same moment."
    while time.time() < start:
        pass
    try:
        learner = new(path)
    except InvalidInputError as error:
        say("refused", number)
    else:
        learner.teach(number, truth[number])
        say("taught", number)
        time.sleep(0.5)

def hold(path, number):
    learner = new(path)
    learner.teach(0, truth[0])
    say("taught", 0)
    sys.stdin.readline()
    learner.teach(1, truth[1])
    say("taught", 1)
    sys.stdin.readline()

mode, path, count = sys.argv[1:]
if mode == "share":
    new(path).close()
start = time.time() + 0.3
children = []
for number in range(int(count)):
    child = os.fork()
    if child == 0:
        try:
            {"share": share, "race": race, "hold": hold}[mode](path, number)
        except BaseException as error:
            say("failed", number, repr(error))
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""


def program(mode, path, count, **options):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, mode, str(path), str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def started(path=None, **parameters):
    return ActiveLearner(1, autosave=path, random_state=0, n_jobs=1, **parameters).fit(X)


def taught_in(path):
    document = json.loads(path.read_text())
    return [row for one in document["rounds"][1:] for row in one["indices"]]


class LiveReader(threading.Thread):
    """Reads a file without a pause and counts what it finds."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.whole, self.broken, self.ended = path, 0, [], False

    def run(self):
        while not self.ended:
            try:
                text = self.path.read_text()
            except FileNotFoundError:
                if self.whole:
                    self.broken.append("gone")
                continue
            try:
                json.loads(text)
                self.whole += 1
            except json.JSONDecodeError as error:
                self.broken.append(str(error))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended = True
        self.join()
        assert self.whole
        assert not self.broken


@posix
def test_processes_that_take_turns_lose_nothing(tmp_path):
    path = tmp_path / "labels.json"
    with LiveReader(path), program("share", path, 4) as process:
        said = process.stdout.read().split("\n")[:-1]
    assert not [line for line in said if not line.startswith("taught")]
    assert len(said) == 4 * 24
    assert sorted(taught_in(path)) == sorted(int(line.split()[1]) for line in said)
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]


@posix
def test_of_processes_that_begin_together_one_begins(tmp_path):
    path = tmp_path / "labels.json"
    with program("race", path, 4) as process:
        said = [line.split() for line in process.stdout.read().split("\n")[:-1]]
    assert sorted(word for word, _ in said) == ["refused"] * 3 + ["taught"]
    assert taught_in(path) == [int(number) for word, number in said if word == "taught"]


@posix
def test_the_second_process_is_told_at_once_and_the_first_goes_on(tmp_path):
    path = tmp_path / "labels.json"
    with program("hold", path, 1, stdin=subprocess.PIPE) as process:
        assert process.stdout.readline() == "taught 0\n"
        before = path.read_bytes()
        for call in (
            lambda: ActiveLearner.load(path, X),
            lambda: started(path.with_name("other.json")).save(path),
        ):
            refused(call, "path", "one writer", str(path), "process ")
        looked = ActiveLearner.load(path, X, autosave=False)
        looked.teach(5, 1)
        assert path.read_bytes() == before
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "taught 1\n"
        assert taught_in(path) == [0, 1]
        process.stdin.write("\n")
    assert ActiveLearner.load(path, X).teach(2, 1).labelled_.tolist() == [0, 1, 2]


@posix
def test_what_happens_in_this_process_does_not_give_the_lock_away(tmp_path):
    """Closing any handle of a file ends POSIX locks on it: refused attempts must not."""
    path = tmp_path / "labels.json"
    learner = started(path).teach(0, 1)
    refused(lambda: copy.deepcopy(learner).teach(1, 1), "one writer")
    refused(lambda: started(path), "existing")
    refused(lambda: started().save(path), "one writer")
    ActiveLearner.load(path, X, autosave=False)
    refused(lambda: ActiveLearner.load(path, X[::-1]), "same order")
    learner.teach(1, 1)  # claims it again: the refused load had taken over
    program_text = PROGRAM.split("mode, path, count")[0] + "ActiveLearner.load(sys.argv[1], X)"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program_text, str(path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert f"process {os.getpid()} on" in ran.stderr
    assert taught_in(path) == [0, 1]


def test_threads_in_one_learner_lose_nothing(tmp_path):
    path = tmp_path / "labels.json"
    learner = started(path)
    failures = []

    def work(number):
        try:
            for row in range(100 * number, 100 * number + 25):
                learner.ask(2)
                learner.teach(row, TRUTH[row])
                learner.predict(X[:5])
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    with LiveReader(path):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures
    expected = sorted(100 * number + i for number in range(4) for i in range(25))
    assert learner.labelled_.tolist() == expected
    assert sorted(taught_in(path)) == expected
    undoing = [threading.Thread(target=learner.undo) for _ in range(4)]
    for thread in undoing:
        thread.start()
    for thread in undoing:
        thread.join()
    assert len(learner.rounds_) == 1 + 100 - 4
    assert len(taught_in(path)) == 96


def test_the_same_sample_from_two_threads_is_taken_once():
    learner = started()
    outcomes = []

    def work(label):
        try:
            learner.teach(7, label)
            outcomes.append(label)
        except InvalidInputError:
            outcomes.append("refused")

    threads = [threading.Thread(target=work, args=(label,)) for label in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert "refused" in outcomes
    assert learner.labels_.tolist() == [one for one in outcomes if one != "refused"]


def test_a_newer_learner_takes_over_and_the_older_is_told(tmp_path):
    """A notebook's cell that loads is run again; something still holds the first learner."""
    path = tmp_path / "labels.json"
    first = started(path).teach(0, 1)
    second = ActiveLearner.load(path, X)
    refused(lambda: first.teach(1, 1), "autosave", "one writer", "another learner")
    assert 1 in first.pool_
    second.teach(2, 1)
    second.close()
    refused(lambda: first.teach(1, 1), "autosave", "changed since", "save()")
    first.save(tmp_path / "first.json")
    assert taught_in(tmp_path / "first.json") == [0]
    assert taught_in(path) == [0, 2]


def test_closed_is_open_again_when_taught(tmp_path):
    path = tmp_path / "labels.json"
    learner = started(path).teach(0, 1)
    assert {file.name for file in tmp_path.iterdir()} == {"labels.json", ".labels.json.lock"}
    learner.close()
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]
    learner.close()
    learner.teach(1, 1)
    assert taught_in(path) == [0, 1]
    del learner
    assert [file.name for file in tmp_path.iterdir()] == ["labels.json"]


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_writes_only_when_the_original_does_not(tmp_path, duplicate):
    path = tmp_path / "labels.json"
    original = started(path).teach(0, 1)
    other = duplicate(original)
    refused(lambda: other.teach(1, 1), "autosave", "one writer")
    assert other.labelled_.tolist() == [0]
    original.teach(2, 1)
    original.close()
    refused(lambda: other.teach(1, 1), "autosave", "changed since")
    third = duplicate(original)
    third.teach(3, 1)
    assert taught_in(path) == [0, 2, 3]
    other.set_params(autosave=None).teach(1, 1)
    assert other.labelled_.tolist() == [0, 1]
    assert taught_in(path) == [0, 2, 3]


@posix
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_is_told_while_its_parent_writes(tmp_path):
    """Though a thread of the parent was inside `teach` when the child was born."""
    path = tmp_path / "labels.json"
    learner = started(path).teach(0, 1)
    inside, leave = threading.Event(), threading.Event()

    def wait_inside():
        with learner._turns:
            inside.set()
            leave.wait(30)

    thread = threading.Thread(target=wait_inside)
    thread.start()
    inside.wait(30)
    child = os.fork()
    if child == 0:
        try:
            learner.teach(1, 1)
        except InvalidInputError as error:
            os._exit(7 if f"process {os.getppid()} on" in str(error) else 8)
        os._exit(9)
    leave.set()
    thread.join()
    for _ in range(300):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.1)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        pytest.fail("the child hangs")
    assert os.waitstatus_to_exitcode(status) == 7
    learner.teach(2, 1)
    assert taught_in(path) == [0, 2]
    refused(lambda: copy.deepcopy(learner).teach(3, 1), "one writer")


def test_an_interruption_after_the_write_is_not_somebody_else(tmp_path, monkeypatch):
    path = tmp_path / "labels.json"
    learner = started(path)

    def interrupted(folder):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("allsplits._files._flush_folder", interrupted)
        with pytest.raises(KeyboardInterrupt):
            learner.teach(0, 1)
    assert learner.labelled_.tolist() == []
    learner.teach(1, 1)
    assert taught_in(path) == [1]


def test_a_file_that_somebody_edits_is_not_written_over(tmp_path):
    path = tmp_path / "labels.json"
    learner = started(path).teach(0, 1)
    edited = path.read_text().replace('"random_state": 0', '"random_state": 1')
    path.write_text(edited)
    refused(lambda: learner.teach(1, 1), "autosave", "changed since")
    assert path.read_text() == edited
    path.unlink()
    learner.teach(1, 1)
    assert taught_in(path) == [0, 1]


# ---------------------------------------------------------------- which file


def test_a_relative_path_stays_where_it_was(tmp_path, monkeypatch):
    home, elsewhere = tmp_path / "home", tmp_path / "elsewhere"
    home.mkdir()
    elsewhere.mkdir()
    monkeypatch.chdir(home)
    learner = started("labels.json").teach(0, 1)
    monkeypatch.chdir(elsewhere)
    learner.teach(1, 1)
    monkeypatch.chdir(home)
    again = ActiveLearner.load("labels.json", X)
    monkeypatch.chdir(elsewhere)
    again.teach(2, 1).undo().teach(3, 1)
    assert taught_in(home / "labels.json") == [0, 1, 3]
    assert list(elsewhere.iterdir()) == []


def test_autosave_may_be_set_and_dropped_later(tmp_path):
    learner = started().teach(0, 1)
    learner.set_params(autosave=tmp_path / "a.json").teach(1, 1)
    learner.set_params(autosave=str(tmp_path / "a.json")).teach(2, 1)
    learner.set_params(autosave=tmp_path / "b.json").teach(3, 1)
    learner.set_params(autosave=None).teach(4, 1)
    assert taught_in(tmp_path / "a.json") == [0, 1, 2]
    assert taught_in(tmp_path / "b.json") == [0, 1, 2, 3]
    learner.set_params(autosave=tmp_path / "a.json")
    refused(lambda: learner.teach(5, 1), "autosave", "existing")


@posix
def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.json", tmp_path / "link.json"
    link.symlink_to(target)
    learner = started(link).teach(0, 1)
    assert link.is_symlink()
    assert taught_in(target) == [0]
    refused(lambda: started(target), "autosave", "existing")
    learner.save(tmp_path / "copy.json")
    ActiveLearner.load(link, X).teach(1, 1)
    assert link.is_symlink()
    assert taught_in(target) == [0, 1]
    saved_through = tmp_path / "saved.json"
    saved_through.symlink_to(tmp_path / "copy.json")
    started().teach(9, 1).save(saved_through)
    assert saved_through.is_symlink()
    assert taught_in(tmp_path / "copy.json") == [9]


@posix
@pytest.mark.parametrize("name", [".labels.json.part", ".labels.json.lock"])
def test_a_planted_link_is_not_written_through(tmp_path, name):
    treasure = tmp_path / "treasure"
    treasure.write_text("mine")
    (tmp_path / name).symlink_to(treasure)
    path = tmp_path / "labels.json"
    if name.endswith("lock"):
        refused(lambda: started(path), "autosave", name)
    else:
        started(path).teach(0, 1)
    assert treasure.read_text() == "mine"


def test_leftovers_of_the_killed_are_removed_and_nothing_else(tmp_path):
    path = tmp_path / "labels.json"
    started(path).teach(0, 1)
    ours = [".labels.json.abcd_123.part"]
    others = [
        ".labels.json.part", ".labels.json.x.abcd_123.part", "labels.json.abcd_123.part",
        ".labelsxjson.abcd_123.part", ".labels.json.abcd_123.part.txt",
    ]  # fmt: skip
    for name in ours + others:
        (tmp_path / name).write_text("half")
    ActiveLearner.load(path, X, autosave=False)
    assert (tmp_path / ours[0]).exists()
    ActiveLearner.load(path, X)
    assert {file.name for file in tmp_path.iterdir()} == {"labels.json", *others}


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("os.open", PermissionError(13, "Permission denied"), ["can be written", "Permission"]),
        ("fcntl.lockf", OSError(37, "No locks available"), ["can be locked", "No locks available"]),
    ],
)
@posix
def test_a_folder_where_nothing_can_be_written_or_locked(tmp_path, monkeypatch, call, error, words):
    def fail(*arguments):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(call, fail)
        refused(lambda: started(tmp_path / "labels.json"), "autosave", "folder", *words)
    assert len(started(tmp_path / "labels.json").labelled_) == 0

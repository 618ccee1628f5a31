"""The file of answers: nothing is lost, nothing is overwritten, everything is kept."""

import sqlite3
import threading
import time

import pytest

from allsplits.exceptions import ConflictError, InvalidInputError, StorageError
from allsplits.labelling import LabelStore

SAMPLES = {"shape": [10, 2], "sha256": "0" * 64}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "labels.sqlite"


@pytest.fixture
def store(path):
    with LabelStore(path, SAMPLES, classes=["cat", "dog"], start={0: "cat"}, seed=7) as made:
        yield made


def say(store, sample, label, who="Ann", session="a", **more):
    return store.answer(sample, label, who=who, session=session, **more)


def test_a_new_file_holds_what_was_known(store):
    assert store.labels() == {0: "cat"}
    assert (store.kind, store.classes, store.seed, store.n_samples) == (
        "text",
        ["cat", "dog"],
        7,
        10,
    )
    assert [a.reason for a in store.history()] == ["start"]
    assert store.n_asked() == 0


def test_answers_are_there_when_the_file_is_opened_again(store, path):
    say(store, 3, "dog")
    say(store, 4, None, who="Bob", session="b")
    store.close()
    with LabelStore(path, SAMPLES) as again:
        assert again.labels() == {0: "cat", 3: "dog"}
        assert again.skipped() == {4}
        assert [(a.who, a.sample) for a in again.history()[1:]] == [("Ann", 3), ("Bob", 4)]
        assert again.classes == ["cat", "dog"]
        assert again.seed == 7  # of the file, whatever is asked for now


def test_an_answer_is_on_the_disk_before_it_is_acknowledged(store, path):
    say(store, 3, "dog")
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    # 2 is FULL: a commit waits for the disk.
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert not store._connection.in_transaction
    with LabelStore(path, SAMPLES) as other:
        assert other.labels()[3] == "dog"


def test_nobody_overwrites_what_they_have_not_seen(store):
    first = say(store, 3, "dog")
    with pytest.raises(ConflictError, match="'dog' by Ann since"):
        say(store, 3, "cat", who="Bob", session="b")
    second = say(store, 3, "cat", who="Bob", session="b", seen=first.id)
    assert store.labels()[3] == "cat"
    with pytest.raises(ConflictError):
        say(store, 3, "dog", seen=first.id)
    assert [a.label for a in store.history() if a.sample == 3] == ["dog", "cat"]
    assert second.id > first.id


def test_an_answer_that_is_sent_twice_counts_once(store):
    first = say(store, 3, "dog", nonce="n")
    assert say(store, 3, "dog", nonce="n") == first
    assert len(store.history()) == 2


def test_a_mark_of_somebody_else_is_no_answer(store):
    say(store, 3, "dog", nonce="n")
    with pytest.raises(StorageError):  # the mark is taken: nothing is kept under it
        say(store, 4, "dog", session="b", nonce="n")
    assert 4 not in store.labels()


def test_undo_takes_back_own_answers_one_by_one(store):
    first = say(store, 3, "dog")
    say(store, 5, "dog", who="Bob", session="b")
    say(store, 3, "cat", seen=first.id)
    back = store.undo(who="Ann", session="a")
    assert (back.sample, back.label, back.reason) == (3, "dog", "undo")
    back = store.undo(who="Ann", session="a")
    assert (back.sample, back.status) == (3, "open")
    with pytest.raises(InvalidInputError, match="nothing to take back"):
        store.undo(who="Ann", session="a")
    assert store.labels() == {0: "cat", 5: "dog"}
    assert len(store.history()) == 6  # all of it is kept


def test_undo_does_not_undo_others(store):
    first = say(store, 3, "dog")
    say(store, 3, "cat", who="Bob", session="b", seen=first.id)
    with pytest.raises(ConflictError, match="by Bob"):
        store.undo(who="Ann", session="a")
    assert store.labels()[3] == "cat"


def test_what_was_taken_back_can_be_answered_again(store):
    say(store, 3, "dog")
    back = store.undo(who="Ann", session="a")
    say(store, 3, "cat", seen=back.id)
    assert store.labels()[3] == "cat"
    assert store.n_asked() == 1


def test_two_sessions_get_different_samples(store):
    candidates = [0, 3, 4, 5]  # 0 has a label
    assert store.lease("a", candidates) == 3
    assert store.lease("b", candidates) == 4
    assert store.leased("a") == 3
    say(store, 3, "dog")
    assert store.leased("a") is None
    assert store.lease("a", candidates) == 5
    assert store.lease("c", candidates) is None


def test_a_lease_ends_and_can_be_kept(store):
    assert store.lease("a", [3], seconds=0.05) == 3
    store.keep("a", seconds=0.05)
    assert store.lease("b", [3]) is None
    time.sleep(0.1)
    assert store.lease("b", [3]) == 3
    assert store.leased("a") is None


def test_a_late_answer_counts_if_nobody_was_faster(store):
    store.lease("a", [3], seconds=0.0)
    time.sleep(0.01)
    assert store.lease("b", [3]) == 3
    say(store, 3, "dog", session="a")
    with pytest.raises(ConflictError):
        say(store, 3, "cat", who="Bob", session="b")


def test_two_processes_see_each_other(store, path):
    with LabelStore(path, SAMPLES) as other:
        assert store.lease("a", [3, 4]) == 3
        assert other.lease("b", [3, 4]) == 4
        say(other, 4, "dog", session="b")
        assert store.labels()[4] == "dog"
        with pytest.raises(ConflictError):
            say(store, 4, "cat")


def test_many_threads_lose_nothing(path):
    with LabelStore(path, {"shape": [200, 2], "sha256": ""}, classes=["x"]) as store:

        def work(session):
            while (row := store.lease(session, range(200))) is not None:
                say(store, row, "x", session=session)

        threads = [threading.Thread(target=work, args=(f"s{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        rows = [a.sample for a in store.history()]
        assert sorted(rows) == list(range(200))


def test_classes_keep_their_order_and_their_kind(store, path):
    store.add_class(" bird ")
    store.add_class("cat")
    assert store.classes == ["cat", "dog", "bird"]
    with pytest.raises(InvalidInputError, match="must be a text"):
        store.add_class(3)
    store.close()
    with LabelStore(path, SAMPLES, classes=["fish", "dog"]) as again:
        assert again.classes == ["cat", "dog", "bird", "fish"]


def test_numbers_stay_numbers(tmp_path):
    with LabelStore(tmp_path / "n.sqlite", SAMPLES, classes=range(3), start={1: 2.0}) as store:
        assert store.kind == "number"
        assert store.read_label("2") == 2
        assert store.read_label("7") == 7
        say(store, 2, store.add_class(store.read_label("1.5")))
        assert store.labels() == {1: 2, 2: 1.5}
        for text in ("seven", "nan", "1e999", "", "٣x"):
            with pytest.raises(InvalidInputError):
                store.read_label(text)


HOSTILE = [
    "<script>alert(1)</script>",
    "'; DROP TABLE answers; --",
    '"',
    "=1+1",
    "🐈‍⬛",
    "ünï",
    "a\u202eb",
]


@pytest.mark.parametrize("label", HOSTILE)
def test_hostile_labels_are_labels(store, path, label):
    store.add_class(label)
    say(store, 3, label, who="<b>'\"", session="x")
    store.close()
    with LabelStore(path, SAMPLES) as again:
        assert again.labels()[3] == label
        assert again.history()[-1].who == "<b>'\""


BAD = {
    "empty": " ", "long": "x" * 201, "null": "a\0b", "line": "a\nb", "half": "a\ud800",
    "truth": True, "nothing": None, "list": ["a"], "not finite": float("nan"), "large": 2**70,
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_is_no_class_is_refused(store, name):
    with pytest.raises(InvalidInputError, match="class"):
        store.add_class(BAD[name])


def test_bad_answers_are_refused_by_name(store):
    right = {"sample": 1, "label": "cat", "who": "Ann", "session": "a"}
    wrong = [
        ("sample", 10), ("sample", -1), ("label", "horse"), ("who", "x" * 81), ("who", "a\nb"),
        ("session", "a\0"), ("reason", "x"),
    ]  # fmt: skip
    for name, value in wrong:
        with pytest.raises(InvalidInputError, match=name):
            store.answer(**{**right, name: value})
    assert len(store.history()) == 1


def test_mixed_kinds_are_refused(tmp_path):
    with pytest.raises(InvalidInputError, match="text or numbers"):
        LabelStore(tmp_path / "x.sqlite", SAMPLES, classes=["a", 1])


def test_labels_of_elsewhere_fill_gaps_only(store):
    say(store, 3, "dog")
    assert store.import_labels({0: "dog", 3: "cat", 4: "bird", 5: None}) == 2
    assert store.labels() == {0: "cat", 3: "dog", 4: "bird"}
    assert store.skipped() == {5}
    assert store.n_asked() == 1  # what was given was not asked


def test_answers_cannot_be_changed_behind_the_store(store, path):
    say(store, 3, "dog")
    other = sqlite3.connect(path)
    for statement in ("DELETE FROM answers", "UPDATE answers SET label = '\"cat\"'"):
        with pytest.raises(sqlite3.IntegrityError, match="answers are never"):
            other.execute(statement)
    other.close()


def test_the_history_is_a_frame(store):
    say(store, 3, "dog")
    frame = store.frame("pandas")
    assert frame["label"].tolist() == ["cat", "dog"]
    assert frame["reason"].tolist() == ["start", "chosen"]


def test_a_full_disk_keeps_nothing_and_says_so(store):
    """SQLite's own limit of pages stands for the disk's."""
    say(store, 3, "dog")
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")

    def fill():
        for _ in range(400):
            seen = store.get(4)
            say(store, 4, "dog", seen=0 if seen is None else seen.id, who="w" * 80)

    with pytest.raises(StorageError, match="full"):
        fill()
    kept = len(store.history())
    store._connection.execute("PRAGMA max_page_count = 100000")
    seen = store.get(4)
    say(store, 4, "cat", seen=0 if seen is None else seen.id)
    assert len(store.history()) == kept + 1
    assert store.labels()[4] == "cat"

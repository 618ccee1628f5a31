"""`allsplits label`: the page from the command line, and what was said as a table."""

import re
import signal
import subprocess
from contextlib import contextmanager, nullcontext

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_digits, load_iris

from allsplits import ActiveLearner
from allsplits.active._store import fingerprint
from allsplits.cli._load import Source
from allsplits.cli.label import label
from allsplits.exceptions import AllSplitsError
from allsplits.labelling import LabelStore
from cli.command import COMMAND, environment, iris_frame, refused, run
from unit.labelling.talk import Client

pytest.importorskip("uvicorn", reason="the extra label is not installed")
pytest.importorskip("starlette", reason="the extra label is not installed")

TRUTH = iris_frame()


class Started:
    """The page that a command has started."""

    def __init__(self, address):
        self.address = address
        self.port = int(re.search(r":(\d+)/", address)[1])


@contextmanager
def labelling(*arguments):
    """Run the command until the end of the block, and stop it as a person does."""
    process = subprocess.Popen(
        [COMMAND, "label", *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(), text=True,
    )  # fmt: skip
    try:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:"), process.communicate()
        yield Started(address)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
        assert "Traceback" not in err
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


@pytest.fixture
def flowers(tmp_path):
    path = tmp_path / "flowers.csv"
    some = pl.when(pl.int_range(pl.len()) % 10 == 0).then("species")
    TRUTH.with_columns(species=some).write_csv(path)
    return path


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_from_a_table_to_labels_and_back(flowers, tmp_path):
    truth = TRUTH["species"].to_list()
    with labelling(flowers, "-t", "species") as started:
        client = Client(started)
        state = client.settled()
        assert (state["n_labelled"], state["target"]) == (15, "species")
        assert [c["label"] for c in state["classes"]] == ["setosa", "versicolor", "virginica"]
        asked = []
        for _ in range(8):
            question = client.next()
            assert [name for name, _ in question["columns"]] == TRUTH.columns[:4]
            asked.append(question["row"])
            client.answer(question, truth[question["row"]])
    store = tmp_path / "flowers.csv.labels.sqlite"
    assert store.exists()
    out = tmp_path / "done.csv"
    run("label", flowers, "-t", "species", "--export", out)
    done = pl.read_csv(out)
    assert done["species"].is_not_null().sum() == 23
    assert all(done["species"][row] == truth[row] for row in asked)
    assert done["labelled_by"].drop_nulls().to_list().count("Ann") == 8
    assert done.columns == [*TRUTH.columns, "labelled_by", "labelled_at"]
    for ending in ("parquet", "tsv"):
        run("label", flowers, "-t", "species", "--export", tmp_path / f"done.{ending}")
    assert pl.read_parquet(tmp_path / "done.parquet")["species"].equals(done["species"])
    history = tmp_path / "history.csv"
    run("label", flowers, "-t", "species", "--history", history)
    kept = pl.read_csv(history)
    assert kept["reason"].to_list().count("start") == 15
    assert kept["sample"].to_list()[-8:] == asked
    saved = tmp_path / "learner.json"
    run("label", flowers, "-t", "species", "--export", saved)
    learner = ActiveLearner.load(saved, load_iris().data)
    assert len(learner.labelled_) == 23
    assert len(learner.rounds_) == 2
    assert set(learner.rounds_[1].indices) == set(asked)


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_the_same_command_goes_on_and_takes_a_saved_learner(tmp_path):
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names
    TRUTH.drop("species").write_csv(tmp_path / "bare.csv")
    learner = ActiveLearner(tune_leave_out=3, random_state=0).fit(X)
    learner.teach([3, 60, 120], names[y[[3, 60, 120]]]).teach(7, None).save(tmp_path / "old.json")
    given = (tmp_path / "bare.csv", "-t", "species", "--classes", ",".join(names))
    with labelling(*given, "--import", tmp_path / "old.json") as started:
        client = Client(started)
        state = client.settled()
        assert (state["n_labelled"], state["n_skipped"]) == (3, 1)
        client.answer(client.next(), "setosa")
    with labelling(*given) as started:
        assert Client(started).settled()["n_labelled"] == 4


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_small_images_of_an_npz_file(tmp_path):
    digits = load_digits()
    np.savez(tmp_path / "digits.npz", images=digits.images[:150])
    with labelling(tmp_path / "digits.npz", "-t", "digit", "--classes", "0,1,2,3") as started:
        client = Client(started)
        question = client.next()
        assert question["picture"]
        assert question["columns"] == []
        assert client.send("GET", f"/picture/{question['row']}")[2].startswith(b"\x89PNG")
        client.answer(question, "3")
    run("label", tmp_path / "digits.npz", "-t", "digit", "--export", tmp_path / "x.parquet")
    assert pl.read_parquet(tmp_path / "x.parquet")["digit"].drop_nulls().to_list() == [3]


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_pictures_texts_and_embeddings(tmp_path):
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "<b>1.png").write_bytes(b"\x89PNG\r\n\x1a\n1")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n2")
    files = ["<b>1.png", "../secret.png", *(f"{i}.png" for i in range(38))]
    frame = pl.DataFrame({"file": files, "review": ["<script>alert(1)</script>"] * 40})
    frame.write_csv(tmp_path / "photos.csv")
    np.save(tmp_path / "embeddings.npy", np.random.default_rng(0).normal(size=(40, 5)))
    with labelling(
        tmp_path / "photos.csv", "-t", "mood", "--features", tmp_path / "embeddings.npy",
        "--images", tmp_path / "photos", "--image-column", "file", "--text", "review",
        "--classes", "good,bad", "--id", "file",
    ) as started:  # fmt: skip
        client = Client(started)
        found = client.get("/api/sample?row=0")["question"]
        assert (found["name"], found["text"]) == (files[0], "<script>alert(1)</script>")
        assert client.send("GET", "/picture/0")[0] == 200
        assert client.send("GET", "/picture/1")[0] == 400
        assert client.send("GET", "/picture/2")[0] == 400


@pytest.mark.usefixtures("ctrl_c_is_heard")
def test_a_token_of_ones_own(flowers, tmp_path):
    token = tmp_path / "token"
    token.write_text("a-token-of-my-own-0123456789\n")
    token.chmod(0o600)
    with labelling(flowers, "-t", "species", "--token-file", token) as started:
        assert started.address.endswith("?token=a-token-of-my-own-0123456789")


class Mute:
    """A screen that shows nothing."""

    def waiting(self, _):
        return nullcontext()

    def note(self, *_):
        pass

    def line(self, address):
        raise AssertionError(f"a page was started: {address}")


def refusal(file, target=None, **options):
    """What the command says, called in this process."""
    with pytest.raises(AllSplitsError) as caught:
        label.__wrapped__(Mute(), Source(str(file), target), **options)
    return str(caught.value)


def test_wrong_usage_is_refused_before_anything_is_started(flowers, tmp_path):
    weak, open_to_all = tmp_path / "weak", tmp_path / "open"
    weak.write_text("secret")
    weak.chmod(0o600)
    open_to_all.write_text("a-token-of-my-own-0123456789")
    open_to_all.chmod(0o644)
    np.save(tmp_path / "few.npy", np.zeros((3, 2)))
    (tmp_path / "other.sqlite").write_text("a,b\n" * 100)
    folder = str(tmp_path)
    cases = [
        ({"target": None}, "--target"),
        ({"file": "-"}, "must be a file"),
        ({"target": "specie"}, "did you mean 'species'"),
        ({"host": "0.0.0.0"}, "--token-file"),
        ({"host": "0.0.0.0", "token_file": str(open_to_all)}, "by you alone"),
        ({"token_file": str(weak)}, "at least 24"),
        ({"token_file": str(tmp_path / "none")}, "--token-file"),
        ({"images": folder}, "together"),
        ({"images": folder, "image_column": "x"}, "--image-column"),
        ({"text": "x"}, "--text"),
        ({"features": str(tmp_path / "few.npy")}, "one row for each row"),
        ({"classes": " , "}, "--classes"),
        ({"export": str(tmp_path / "x.csv")}, "nothing to export"),
        ({"export": str(flowers)}, "must not be the file that is read"),
        ({"store": str(tmp_path / "other.sqlite")}, "not a file of labels"),
        ({"import_": str(flowers)}, "must be a saved"),
    ]
    for options, words in cases:
        assert words in refusal(**{"file": flowers, "target": "species", **options}), words


def test_the_command_says_why_it_does_not_listen(flowers):
    error = refused("label", flowers, "-t", "species", "--host", "0.0.0.0")
    assert "--host 0.0.0.0 can be reached by others" in error


def test_labels_of_other_rows_are_not_taken(flowers, tmp_path):
    store = tmp_path / "x.sqlite"
    LabelStore(store, fingerprint(np.zeros((150, 4)))).close()
    assert "other samples" in refusal(flowers, "species", store=str(store))

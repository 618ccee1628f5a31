"""Every block of code on the pages is run, as a doctest or here; commands are read."""

import re
import shlex
import sys
import textwrap
import types

import numpy as np
import pytest
from sklearn.metrics import pairwise_distances

from cli.command import iris_frame, run, write
from docs import pages

#: Studies and benchmarks are written by scripts that have run, on data that tests do not have.
WRITTEN = ("studies", "benchmarks")
PAGES = [page for page in pages.PAGES if page.parts[-2] not in WRITTEN]
BY_NAME = {pages.name_of(page): page.read_text(encoding="utf-8") for page in PAGES}
_FENCES = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_INDENTED = re.compile(r"^    .*\n(?:    .*\n|\n)*", re.MULTILINE)


def python_blocks(text):
    """Fenced blocks of Python, and indented ones that begin with an import."""
    outside = _FENCES.sub("", text)
    indented = [textwrap.dedent(block) for block in _INDENTED.findall(outside)]
    return [code for word, code in _FENCES.findall(text) if word in ("python", "py")] + [
        block for block in indented if re.match(r"(from|import) \w", block)
    ]


def commands(text):
    """Lines and code spans that call the command on a file."""
    text = text.replace("\\\n", " ")
    lines = re.findall(r"^(?:    )?(?:\$ |.*\| )?(allsplits \w.*)$", text, re.MULTILINE)
    spans = re.findall(r"(?<!`)`(allsplits [^`\n]+)`(?!`)", text)
    found = (re.split(r" +# | \| | > |  +\(", line)[0] for line in lines + spans)
    return [line for line in found if re.match(r"allsplits \w+ (- |[^-])[^…]*$", line)]


def block_of(name, beginning):
    (found,) = (code for code in python_blocks(BY_NAME[name]) if beginning in code)
    return found


def test_blocks_of_python_are_doctests_or_run_below():
    others = {
        (name, code.splitlines()[0])
        for name, text in BY_NAME.items()
        for code in python_blocks(text)
        if not code.startswith(">>> ")
    }
    assert others == {
        ("docs/demos/label_verdicts.md", "from allsplits import find_label_errors"),
        ("docs/demos/lucky_split.md", "from aeon.distances import dtw_pairwise_distance"),
        ("docs/labelling.md", "# features.py: pip install pillow"),
        ("docs/probes.md", "import pytorch_lightning as pl"),
        ("docs/scale.md", "from distributed import Client"),
    }


def test_no_doctest_ends_with_its_fence():
    """Without an empty line the fence would be taken for expected output."""
    for name, text in BY_NAME.items():
        for code in python_blocks(text):
            assert not code.startswith(">>> ") or code.endswith("\n\n"), (name, code)


@pytest.mark.parametrize("name", [name for name, text in BY_NAME.items() if commands(text)])
def test_commands_are_understood(name):
    """Every option exists and has a value that it may have; nothing is run."""
    from typer.main import get_command

    from allsplits.cli._app import app

    app_commands = get_command(app).commands
    for line in commands(BY_NAME[name]):
        _, word, *arguments = shlex.split(line)
        app_commands[word].make_context(word, arguments)


def test_the_check_of_commands_notices_an_option_that_is_not_there():
    from typer.main import get_command

    from allsplits.cli._app import app

    (line,) = commands("    $ allsplits evaluate a.csv --taget y   # a comment\n")
    with pytest.raises(Exception, match="--taget"):
        get_command(app).commands["evaluate"].make_context("evaluate", shlex.split(line)[2:])


def test_rounds_of_labelling_with_tables(tmp_path, monkeypatch):
    """Docs/cli.md: query, fill in, merge, query again."""
    monkeypatch.chdir(tmp_path)
    iris = iris_frame()
    species = iris["species"].to_list()
    given = [name if row % 5 == 0 else None for row, name in enumerate(species)]
    write(iris.with_columns(species=type(iris["species"])("species", given)), tmp_path / "pool.csv")
    lines = [line for line in commands(BY_NAME["docs/cli.md"]) if re.search(r" (ask|pool-2)", line)]
    assert [line.split()[1] for line in lines] == ["query", "merge", "query"]
    run(*shlex.split(lines[0])[1:])
    asked = (tmp_path / "ask.csv").read_text().splitlines()
    names = asked[0].split(",")
    row, target = names.index("row"), names.index("species")
    for number, line in enumerate(asked[1:], start=1):
        cells = line.split(",")
        cells[target] = species[int(cells[row])]
        asked[number] = ",".join(cells)
    (tmp_path / "ask.csv").write_text("\n".join(asked) + "\n")
    run(*shlex.split(lines[1])[1:])
    run(*shlex.split(lines[2])[1:])
    assert len((tmp_path / "ask.csv").read_text().splitlines()) == 21


def test_a_table_from_r(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(iris_frame().rename({"species": "Species"}), tmp_path / "iris.csv")
    (line,) = commands(BY_NAME["docs/coming_from/r.md"])
    assert "averaged over all splits" in run(*shlex.split(line)[1:]).out


def test_features_of_photos(tmp_path, monkeypatch):
    """Docs/labelling.md: the program that makes features, and the export afterwards."""
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    (tmp_path / "photos").mkdir()
    rng = np.random.default_rng(0)
    for number in range(4):
        pixels = rng.integers(0, 255, (20, 30, 3), dtype=np.uint8)
        image.fromarray(pixels).save(tmp_path / "photos" / f"{number}.png")
    monkeypatch.chdir(tmp_path)
    exec(block_of("docs/labelling.md", "photos.csv"), {})
    assert np.load("embeddings.npy").shape == (4, 16 * 16 * 3)
    assert (tmp_path / "photos.csv").read_text().splitlines()[:2] == ["file", "0.png"]


def test_suspects_of_a_demonstration():
    """Docs/demos/label_verdicts.md, with a few made images in the place of MNIST."""
    rng = np.random.default_rng(0)
    labels = np.repeat([3, 5], 150)
    images = 50.0 * labels[:, None, None] + rng.normal(size=(300, 28, 28))
    labels[7] = 5
    names = {"images": images, "labels": labels, "is_test": np.arange(300) < 200}
    code = block_of("docs/demos/label_verdicts.md", "find_label_errors")
    *lines, last = code.strip().splitlines()
    exec("\n".join(lines), names)
    assert eval(last, names)[0] == 7


def test_a_split_of_a_demonstration(monkeypatch):
    """Docs/demos/lucky_split.md, with Euclidean distances in the place of aeon's."""
    given = types.ModuleType("aeon.distances")
    given.dtw_pairwise_distance = lambda series: pairwise_distances(series[:, 0])
    monkeypatch.setitem(sys.modules, "aeon", types.ModuleType("aeon"))
    monkeypatch.setitem(sys.modules, "aeon.distances", given)
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    names = {"series": y[:, None, None] + rng.normal(size=(40, 1, 30)), "y": y, "y_train": y[:15]}
    *lines, last = block_of("docs/demos/lucky_split.md", "aeon").strip().splitlines()
    exec("\n".join(lines), names)
    score, spread = eval(last, names)
    assert 0.5 < score < 1
    assert 0 < spread < 0.2


def test_a_cluster(tmp_path):
    """Docs/scale.md, with a cluster inside of this process."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    array = pytest.importorskip("dask.array", reason="dask is not installed")
    from sklearn.neighbors import KNeighborsClassifier

    from allsplits import evaluate

    points = np.random.default_rng(0).normal(size=(60, 3))
    folder = tmp_path / "embeddings"
    array.to_npy_stack(folder, array.from_array(points, chunks=(30, 3)))
    names = {"evaluate": evaluate, "KNeighborsClassifier": KNeighborsClassifier}
    names["y"] = np.arange(60) % 2
    code = block_of("docs/scale.md", "Client()").replace("evaluate(KN", "found = evaluate(KN")
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        names["cluster"] = cluster
        code = code.replace("Client()", "Client(cluster)").replace(
            '"embeddings"', repr(str(folder))
        )
        exec(code, names)
        names["client"].close()
    alone = evaluate(KNeighborsClassifier(5), points, names["y"])
    assert names["found"].score == alone.score

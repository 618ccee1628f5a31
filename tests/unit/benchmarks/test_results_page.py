"""The page of the benchmarks: complete, honest about what is missing, and never half written."""

import platform
import re
import sys
from datetime import date
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

from benchmarks import __main__ as program  # noqa: E402
from benchmarks import _r, _report, growth, peers  # noqa: E402
from benchmarks._before import Before  # noqa: E402
from benchmarks._timing import Result, Rows  # noqa: E402

GOOD = Result("ours / theirs", 1.0, 100.0, 1 / 60)
BAD = Result("a | b", 3.0, None, 2.0)
TABLE = Rows("growth with n", ("n", "search, s"), [("1,000", "0.1")])


@pytest.fixture
def measured():
    return _report.Measured([GOOD, BAD], [TABLE], seconds=12.3, load=0.25)


@pytest.fixture
def topics(monkeypatch, tmp_path):
    """Topics that take no time, and a place that is not the repository's."""
    calls = []

    def topic(name):
        return lambda: calls.append(name) or [Result(name, 1.0)]

    monkeypatch.setattr(program, "TOPICS", {name: topic(name) for name in ("one", "two")})
    monkeypatch.setattr(program, "RESULTS", tmp_path / "RESULTS.md")
    return calls


def test_the_page_says_what_when_where_and_with_what(measured):
    text = _report.page(measured, before=Before(""))
    assert date.today().isoformat() in text
    assert "12 s" in text
    assert "0.2 processes" in text
    assert f"Python {platform.python_version()}" in text
    assert "scikit-learn 1." in text
    assert re.search(r"\d+ cores, \d+ GiB", text)
    assert "| ours / theirs | 1 s | 100 s | 0.01x | ≤ 0.0167x | PASS |  |" in text
    assert "| a \\| b | 3 s |  |  | ≤ 2 s | OVER |  |" in text
    assert "1 over the goal: a | b." in text
    assert "## Growth with n\n\n| n | search, s |\n| --- | ---: |\n| 1,000 | 0.1 |" in text
    assert "Incomplete" not in text


def test_the_page_says_what_stood_in_the_same_line_before(measured, tmp_path):
    path = tmp_path / "RESULTS.md"
    older = [Result("ours / theirs", 2.0, 100.0, 1 / 60), Result("a | b", 7.0, None, 2.0)]
    headings = ("n", "k ≤", "p", "classes", "depth", "search, s", "evaluation, s")
    same = ("1,000", "15", "200", "2", "55")
    grown = Rows("growth with n", headings, [(*same, "0.1", "0.8")])
    _report.write_page(path, _report.Measured(older, [grown]))
    # A column has come since, and a line that is new.
    headings = (*headings[:4], "copies", *headings[4:])
    lines = [(*same[:4], copies, same[4], "0.1", "0.3") for copies in ("1", "2")]
    new = _report.Measured(
        [*measured.results, Result("new", 1.0)], [Rows(grown.title, headings, lines)]
    )
    _report.write_page(path, new)
    text = path.read_text(encoding="utf-8")
    assert "| ours / theirs | 1 s | 100 s | 0.01x | ≤ 0.0167x | PASS | 0.02x |" in text
    assert "| a \\| b | 3 s |  |  | ≤ 2 s | OVER | 7 s |" in text
    assert "| new | 1 s |  |  |  |  |  |" in text
    assert "| 1,000 | 15 | 200 | 2 | 1 | 55 | 0.1 | 0.3 | 0.8 |" in text
    assert "| 1,000 | 15 | 200 | 2 | 2 | 55 | 0.1 | 0.3 |  |" in text


def test_the_page_names_neither_host_nor_folders(measured):
    text = _report.page(measured, before=Before(""))
    assert not re.search(r"(^|\s)/\w+/", text)
    if len(platform.node()) > 3:
        assert platform.node() not in text


def test_a_complete_run_writes_the_page(topics, capsys):
    assert program.main([]) == 0
    assert topics == ["one", "two"]
    text = program.RESULTS.read_text(encoding="utf-8")
    assert "| one |" in text
    assert "| two |" in text
    assert "Incomplete" not in text
    assert [path.name for path in program.RESULTS.parent.iterdir()] == ["RESULTS.md"]
    assert "RESULTS.md" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--only", "two"], ["--no-write"]])
def test_nothing_is_written_unless_asked(topics, arguments):
    program.RESULTS.write_text("as it was", encoding="utf-8")
    assert program.main(arguments) == 0
    assert program.RESULTS.read_text(encoding="utf-8") == "as it was"
    assert len(list(program.RESULTS.parent.iterdir())) == 1


def test_a_part_is_written_where_it_is_asked_for(topics, tmp_path):
    assert program.main(["--only", "two", "--output", str(tmp_path / "part.md")]) == 0
    assert topics == ["two"]
    assert "**Incomplete: only two.**" in (tmp_path / "part.md").read_text(encoding="utf-8")
    assert not program.RESULTS.exists()


@pytest.mark.parametrize("arguments", [["--only", "three"], ["--output", "x", "--no-write"]])
def test_strange_arguments(topics, arguments, capsys):
    with pytest.raises(SystemExit):
        program.main(arguments)
    assert topics == []


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_was_measured_outlives_the_end_of_a_run(topics, error, monkeypatch, capsys):
    def fail():
        raise error

    monkeypatch.setitem(program.TOPICS, "two", fail)
    program.RESULTS.write_text("as it was", encoding="utf-8")
    if error is KeyboardInterrupt:
        assert program.main([]) == 130
    else:
        with pytest.raises(RuntimeError):
            program.main([])
    assert program.RESULTS.read_text(encoding="utf-8") == "as it was"
    beside = program.RESULTS.with_name("RESULTS.incomplete.md").read_text(encoding="utf-8")
    assert f"**Incomplete: the run ended early with {error.__name__}.**" in beside
    assert "| one |" in beside
    assert "one" in capsys.readouterr().out


def test_tables_of_growth_that_are_done_are_kept(topics, monkeypatch):
    def tables():
        yield TABLE
        raise KeyboardInterrupt

    monkeypatch.setitem(program.TOPICS, "growth", tables)
    assert program.main([]) == 130
    beside = program.RESULTS.with_name("RESULTS.incomplete.md").read_text(encoding="utf-8")
    assert "| 1,000 | 0.1 |" in beside


def test_growth_shows_exponents(monkeypatch):
    monkeypatch.setattr(growth, "times", lambda case: (case.n**2 * 1e-6, case.n * 1e-3))
    cases = [growth.Case(n=n) for n in (100, 200, 1000)]
    lines = list(growth.growth("n", cases))
    assert [line[7] for line in lines] == ["", "2.00", "2.00"]
    assert [line[9] for line in lines] == ["", "1.00", "1.00"]
    assert all(len(line) == len(growth.HEADINGS) for line in lines)


def test_without_r_nothing_is_invented(monkeypatch):
    monkeypatch.setattr(_r.shutil, "which", lambda name: None)
    assert _r.r_versions() == []
    assert not _r.has_package("ExactSampling")
    assert ("R", "not installed") in _report.versions()
    monkeypatch.setattr(peers, "interleaved", lambda rivals: [0.2])
    (line,) = peers.beside_exact_sampling()
    assert "R ExactSampling is not installed here" in line.what
    assert "known figure from elsewhere: 1.8 s" in line.what
    assert (line.peer, line.goal) == (None, None)


def test_every_topic_is_there():
    here = {path.stem for path in (ROOT / "benchmarks").glob("[!_]*.py")}
    # The GPU's is run by hand on a machine that has one.
    assert set(program.TOPICS) == here - {"gpu"}

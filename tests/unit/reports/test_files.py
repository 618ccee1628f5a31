"""Reports on the disk: complete or not there, and clear words when they cannot be written."""

import json
import os
import stat
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier

from allsplits import evaluate, report
from unit.refused import refused


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(KNeighborsClassifier(3), *load_iris(return_X_y=True))


def test_path_saves_the_page(evaluation, tmp_path):
    path = tmp_path / "report.html"
    made = report(evaluation, path=path)
    assert path.read_text(encoding="utf-8") == made.html()
    assert made.save(tmp_path / "again.htm") == tmp_path / "again.htm"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.htm", "report.html"]


def test_json_by_its_ending(evaluation, tmp_path):
    made = report(evaluation, path=tmp_path / "report.JSON")
    assert json.loads((tmp_path / "report.JSON").read_text()) == json.loads(made.json())


def test_the_umask_and_the_old_mode_are_kept(evaluation, tmp_path):
    path = tmp_path / "report.html"
    old = os.umask(0o027)
    try:
        report(evaluation, path=path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o600)
    report(evaluation, path=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_an_interrupted_write_leaves_the_old_file(evaluation, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")

    def interrupt(handle):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        report(evaluation, path=path)
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_places_that_cannot_be_written_are_named(evaluation, tmp_path):
    made = report(evaluation)
    refused(lambda: made.save(tmp_path), "path", str(tmp_path))
    refused(lambda: made.save(tmp_path / "no" / "report.html"), "path", "No such file")
    refused(lambda: made.save(None), "path", "None")
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to(evaluation):
    assert report(evaluation).save("/dev/null") == Path("/dev/null")
    assert not Path("/dev/null").is_file()

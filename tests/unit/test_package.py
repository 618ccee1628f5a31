"""The package as it is published: one version, complete files."""

import re
from importlib.resources import files
from pathlib import Path

import pytest

import allsplits

ROOT = Path(__file__).parents[2]
DATA = (
    "py.typed", "labelling/page.html", "labelling/page.js", "labelling/page.css",
    "labelling/icon.svg", "reports/page.html.jinja", "reports/page.js", "reports/page.css",
)  # fmt: skip


@pytest.mark.parametrize("name", DATA)
def test_files_that_are_no_code_are_installed(name):
    assert files("allsplits").joinpath(name).is_file()


def test_the_citation_has_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.+)$", text, re.MULTILINE)[1] == allsplits.__version__


def test_the_changelog_begins_with_this_version_or_what_follows_it():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(.+?)\](?: - (\d{4}-\d\d-\d\d))?$", text, re.MULTILINE)
    released = [(name, date) for name, date in headings if name != "Unreleased"]
    assert headings[0][0] in ("Unreleased", allsplits.__version__)
    assert released[0][0] == allsplits.__version__
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"date-released: {released[0][1]}" in citation


def test_the_licence_allows_what_the_metadata_says():
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("BSD 3-Clause License")

"""The front page: its chart is what the example prints, and nothing on it needs the repository."""

import re
import runpy

from docs import pages

README = (pages.ROOT / "README.md").read_text(encoding="utf-8")


def test_the_chart_is_what_its_example_prints():
    made = runpy.run_path(str(pages.ROOT / "examples" / "readme_chart.py"))["chart"]()
    assert f"```text\n{made}\n```" in README


def test_pictures_have_an_address_where_packages_are_published():
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)|<img[^>]*src=\"([^\"]+)\"", README)
    assert [one or two for one, two in pictures if not (one or two).startswith("https://")] == []


def test_it_stays_a_front_page():
    """A screen and a half: a hundred lines, most of them shorter than a hundred characters."""
    lines = README.splitlines()
    assert len(lines) <= 100
    for command in ("pip install allsplits", "make demo", "make test", "make docs"):
        assert command in README

"""Links between pages lead somewhere, and every page can be found."""

import pytest

from docs import pages


@pytest.mark.parametrize("page", pages.PAGES, ids=pages.name_of)
def test_every_link_resolves(page):
    assert pages.broken_links(page) == []


def test_every_page_of_the_docs_can_be_reached_from_the_readme():
    reached, waiting = set(), {pages.ROOT / "README.md"}
    while waiting:
        page = waiting.pop()
        reached.add(page)
        waiting |= pages.linked_pages(page) - reached
    lost = [pages.name_of(page) for page in (pages.ROOT / "docs").rglob("*.md")
            if page not in reached]  # fmt: skip
    assert lost == []


def test_the_check_notices_what_leads_nowhere(tmp_path):
    page = tmp_path / "page.md"
    (tmp_path / "other.md").write_text("# A heading, with more\n")
    page.write_text(
        "[a](other.md) [b](other.md#a-heading-with-more) [c](https://example.org) [d](#here)\n"
        "[e](missing.md) [f](other.md#nowhere) ![g\nh](missing.png)\n\n# Here\n\n"
        "```\n[in an example](missing.md)\n```\n"
    )
    assert pages.broken_links(page) == ["missing.md", "other.md#nowhere", "missing.png"]

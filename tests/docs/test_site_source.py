"""What the site is made of, without building it: public names, links, the tree of pages."""

import importlib.util
import re

import allsplits
from allsplits import exceptions
from docs import pages

_FILE = pages.ROOT / "docs" / "make_site.py"
_SPEC = importlib.util.spec_from_file_location("make_site", _FILE)
make_site = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(make_site)


def test_the_page_of_the_reference_lists_every_public_name_once():
    text = (pages.ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    names = re.findall(r"^   (\w+)$", text, re.MULTILINE)
    assert sorted(names) == sorted([*allsplits.__all__, *exceptions.__all__])


def test_links_lead_to_addresses_on_the_site():
    page = pages.ROOT / "docs" / "jobs" / "choose_k.md"
    text = "[a](../../CHANGELOG.md) [b](../laws.md#scores) [c](../../studies/README.md) "
    text += "[d](../../studies)\n"
    assert make_site.turned(text, page) == (
        "[a](../changelog.md) [b](../laws.md#scores) [c](../studies/README.md) "
        "[d](../studies/README.md)\n"
    )
    untouched = "[e](https://example.org) [f](#here)\n```\n[g](../../CHANGELOG.md)\n```\n"
    assert make_site.turned(untouched, page) == untouched
    front = make_site.turned("[guide](docs/guide.md)", pages.ROOT / "README.md")
    assert front == "[guide](guide.md)"


def test_every_page_has_one_place():
    shown = {make_site.address(path).as_posix(): path for path in make_site.files()}
    texts = {
        name: make_site.turned(path.read_text(encoding="utf-8"), path)
        for name, path in shown.items()
        if path.suffix == ".md"
    }
    below = make_site.below(texts)
    placed = [name for names in below.values() for name in names]
    parts = [f"{part}.md" for part in make_site.PARTS if f"{part}.md" in texts]
    assert sorted([*placed, *parts, "index.md"]) == sorted(texts)
    assert "jobs/choose_k.md" in below["guide.md"]
    assert "cli/evaluate.md" in below["cli.md"]


def test_demonstrations_are_taken_as_they_are_there():
    texts = dict.fromkeys(make_site.LEADING, "")
    assert make_site.below(texts)["demos.md"] == []
    assert make_site.below({**texts, "demos/one.md": ""})["demos.md"] == ["demos/one.md"]

"""Files, rooms and names that the pages on architecture, words and mathematics speak of."""

import tomllib

import pytest

from docs import pages

DOCS = pages.ROOT / "docs"
ARCHITECTURE, GLOSSARY, MATH = (DOCS / f"{n}.md" for n in ("architecture", "glossary", "math"))


def files_of(page):
    return pages.named_files(page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", [ARCHITECTURE, GLOSSARY, MATH], ids=pages.name_of)
def test_every_file_that_is_named_exists(page):
    assert {path for path in files_of(page) if not pages.is_there(path)} == set()


def test_every_room_and_every_folder_of_tests_is_described():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rooms = [path.parent for path in pages.SOURCE.glob("*/__init__.py")]
    assert [room.name for room in rooms if f"| `{room.name}/` |" not in text] == []
    ideas = [path for path in (pages.ROOT / "tests").iterdir() if any(path.glob("**/test_*.py"))]
    assert [idea.name for idea in ideas if f"| `tests/{idea.name}/` |" not in text] == []


def test_the_import_direction_is_the_one_that_is_checked():
    project = tomllib.loads((pages.ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    drawn = "```\n" + "\n".join(contract["layers"]) + "\n```"
    assert drawn in ARCHITECTURE.read_text(encoding="utf-8")


def test_names_of_the_glossary_are_in_the_code():
    words, defined = pages.names_in_code()
    names = pages.glossary_names(GLOSSARY.read_text(encoding="utf-8"))
    assert "NeighborOrder" in names
    assert {name for name in names if name not in words} == set()
    classes = {name for name in names if name[0].isupper()}
    assert classes - defined == set()


def test_the_checks_notice_what_is_not_there():
    text = "`orders/nowhere.py` `src/allsplits/` `exact/*.py` `a/b` `n/2`\n```\nlost.py\n```\n"
    named = pages.named_files(text)
    assert named == {"orders/nowhere.py", "src/allsplits/", "exact/*.py", "lost.py"}
    assert {path for path in named if not pages.is_there(path)} == {"orders/nowhere.py", "lost.py"}
    table = "| word | meaning | in code |\n|---|---|---|\n| **a** | `this` | `Here`, `there` |\n"
    assert pages.glossary_names(table) == {"Here", "there"}

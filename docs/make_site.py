"""Build the site: ``python docs/make_site.py [FOLDER]`` gathers pages, and has Sphinx make a site.

Pages are written to be read where they lie in the repository, too. The front page of the site is
the README; studies, benchmarks and the changelog belong to it. So pages are first copied to
FOLDER/site-source, each to its address on the site, and links between them are turned accordingly.
The site is in FOLDER/site. FOLDER is build, unless it is given.
"""

from __future__ import annotations

import posixpath
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What is on the site, by patterns below the root of the repository.
SHOWN = [
    "*.md",
    "docs/**/*.md",
    "docs/**/*.rst",
    "docs/*.png",
    "docs/demos/*.png",
    "studies/*.md",
    "studies/*.png",
    "benchmarks/*.md",
]
#: The parts of the site, in the order of its bar.
PARTS = ["guide", "gallery/index", "demos", "reference", "coming_from", "faq", "development"]
#: Pages that lead to others: what they link to first, unless it has its place, stands below them.
LEADING = [
    "guide.md",
    "demos.md",
    "reference.md",
    "cli.md",
    "coming_from.md",
    "development.md",
    "studies/README.md",
]

_FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")


def files() -> list[Path]:
    """All files of the site that lie in the repository."""
    found = {path for pattern in SHOWN for path in ROOT.glob(pattern)}
    return sorted(path for path in found if "_templates" not in path.parts)


def address(path: Path) -> Path:
    """Where a file of the repository lies below the source of the site."""
    inside = path.relative_to(ROOT)
    if inside == Path("README.md"):
        return Path("index.md")
    if inside.parts[0] == "docs":
        return inside.relative_to("docs")
    return inside.with_name(inside.name.lower()) if len(inside.parts) == 1 else inside


def turned(text: str, page: Path) -> str:
    """The text of a page, its links leading to addresses on the site instead of files."""

    def turn(match: re.Match[str]) -> str:
        before, link, after = match.groups()
        target = (page.parent / link).resolve()
        if re.match(r"[a-z]+:", link) or not target.exists():
            return match[0]
        if target.is_dir():
            target = target / "README.md"
        here = address(page).parent.as_posix()
        return f"{before}{posixpath.relpath(address(target).as_posix(), here)}{after}"

    pieces = _FENCE.split(text)
    return "".join(
        piece if number % 2 else _LINK.sub(turn, piece) for number, piece in enumerate(pieces)
    )


def below(pages: dict[str, str]) -> dict[str, list[str]]:
    """What stands below each leading page, in the order of its links; the rest is development."""
    placed = {"index.md", *(f"{part}.md" for part in PARTS)}
    found = {}
    for page in LEADING:
        folder = posixpath.dirname(page)
        links = [link for _, link, _ in _LINK.findall(_FENCE.sub("", pages[page]))]
        linked = [posixpath.normpath(posixpath.join(folder, link)) for link in links]
        if page == "demos.md":  # all that are there, linked or not
            linked += sorted(name for name in pages if name.startswith("demos/"))
        found[page] = [n for n in dict.fromkeys(linked) if n in pages and n not in placed]
        placed |= set(found[page])
    found["development.md"] += sorted(name for name in pages if name not in placed)
    return found


def toctree(names: list[str]) -> str:
    """A table of contents for the bars of the site; the page itself has its links."""
    entries = "\n".join("/" + name.removesuffix(".md") for name in names)
    return f"\n\n```{{toctree}}\n:hidden:\n\n{entries}\n```\n"


def gather(source: Path) -> None:
    """Bring the source of the site up to date; what has not changed keeps its date."""
    shown = {address(path).as_posix(): path for path in files()}
    pages = {
        name: turned(path.read_text(encoding="utf-8"), path)
        for name, path in shown.items()
        if path.suffix == ".md"
    }
    for page, names in {**below(pages), "index.md": PARTS}.items():
        if names:
            pages[page] += toctree(names)
    wanted = {
        name: pages[name].encode() if name in pages else path.read_bytes()
        for name, path in shown.items()
    }
    for name, content in wanted.items():
        path = source / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    for path in source.rglob("*.md"):  # what Sphinx makes there is rst
        if path.relative_to(source).as_posix() not in wanted:
            path.unlink()


def build(folder: Path) -> int:
    """Build the site, with warnings as errors; the exit code of Sphinx."""
    from sphinx.cmd.build import main as sphinx

    source = folder / "site-source"
    gather(source)
    options = ["-W", "--keep-going", "-q", "-c", ROOT / "docs", "-d", folder / "site-doctrees"]
    return sphinx([str(option) for option in (*options, source, folder / "site")])


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1]).resolve() if len(sys.argv) > 1 else ROOT / "build"))

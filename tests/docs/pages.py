"""What pages say about the project: links, paths of files, names in code."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "allsplits"
FOLDERS = ("docs", "studies", "benchmarks")
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
)

_FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_FILE = re.compile(r"[\w./*-]*[\w*]\.(?:py|md|toml)|[\w.*-]+(?:/[\w.*-]+)*/")


def name_of(page: Path) -> str:
    """A page as it is called in messages."""
    return page.relative_to(ROOT).as_posix()


def links(text: str) -> list[str]:
    """Targets of the links of a page that lead to files, outside examples."""
    found = _LINK.findall(_FENCE.sub("", text))
    return [link for link in found if not re.match(r"[a-z]+:", link)]


def anchors(text: str) -> set[str]:
    """Headings as GitHub makes anchors of them."""
    headings = re.findall(r"^#+ (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    text = page.read_text(encoding="utf-8")
    broken = []
    for link in links(text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        there = target.exists()
        if there and anchor:
            there = anchor in anchors(target.read_text(encoding="utf-8"))
        if not there:
            broken.append(link)
    return broken


def linked_pages(page: Path) -> set[Path]:
    """Pages that a page leads to."""
    found = (page.parent / link.partition("#")[0] for link in links(page.read_text("utf-8")))
    return {target.resolve() for target in found if target.suffix == ".md"}


def named_files(text: str) -> set[str]:
    """Files and folders (which end with a slash) that are named in code style or in a drawing."""
    spans = re.findall(r"`([^`\n]+)`", _FENCE.sub("", text))
    files = {span for span in spans if _FILE.fullmatch(span)}
    drawings = "".join(_FENCE.findall(text))
    return files | set(re.findall(r"[\w/*-]+\.py\b", drawings))


def is_there(path: str, root: Path = ROOT) -> bool:
    """Whether a file or folder exists, from the root or below the source; * stands for any."""
    starts = (root, root / "src" / "allsplits")
    return any(next(start.glob(path.rstrip("/")), None) is not None for start in starts)


def glossary_names(text: str) -> set[str]:
    """Names in the column "in code" of the tables of the glossary."""
    cells = re.findall(r"^\|.*\|.*\|([^|]*)\|$", text, re.MULTILINE)
    return {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}


def names_in_code() -> tuple[set[str], set[str]]:
    """Words of the source, and its classes and names of types."""
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    defined = re.findall(r"^(?:class )?([A-Z]\w*)(?:\(|:| =)", text, re.MULTILINE)
    return set(re.findall(r"\w+", text)), set(defined)

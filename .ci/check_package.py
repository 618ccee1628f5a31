"""What is in dist/, and what it says about itself; `make package` runs this after the build.

A wheel has the package, file by file as in src/, its metadata and its licence, and nothing else: no
tests, no studies. The one for this Python has compiled kernels as well, the one for all has none.
The sdist has what is needed to test and to build again.
"""

import ast
import re
import sys
import tarfile
import tomllib
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

from packaging.tags import sys_tags

ROOT = Path(__file__).parents[1]
METADATA = {"METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE"}
IN_SDIST = (
    "pyproject.toml", "LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "SECURITY.md",
    "Makefile", "compiling/first_calls.py", "tests/conftest.py", "docs/math.md",
    "studies/README.md",
)  # fmt: skip
COMPILED = re.compile(r"allsplits/_compiled/[^/]+\.nbc")


def version() -> str:
    """The version, from the one place where it is written."""
    tree = ast.parse((ROOT / "src" / "allsplits" / "__init__.py").read_text(encoding="utf-8"))
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__version__":
            return ast.literal_eval(statement.value)
    raise SystemExit("src/allsplits/__init__.py has no __version__")


def source_files() -> set[str]:
    """Files of the package, but not what was compiled from them."""
    source = ROOT / "src"
    kept = (path for path in source.rglob("*") if path.is_file())
    compiled = {".pyc", ".nbi", ".nbc"}
    return {path.relative_to(source).as_posix() for path in kept if path.suffix not in compiled}


def wrong_in_wheel(wheel: zipfile.ZipFile, *, compiled: bool) -> list[str]:
    """What the wheel lacks, has too much, or says wrongly."""
    about = f"allsplits-{version()}.dist-info/"
    wanted = source_files() | {about + name for name in METADATA}
    there = set(wheel.namelist())
    if compiled:
        kernels = {name for name in there if COMPILED.fullmatch(name)}
        wanted |= kernels or {"compiled kernels"}
    wrong = [f"the wheel lacks {name}" for name in sorted(wanted - there)]
    wrong += [f"the wheel should not have {name}" for name in sorted(there - wanted)]
    if wrong:
        return wrong
    licence = (ROOT / "LICENSE").read_bytes()
    if wheel.read(about + "licenses/LICENSE") != licence:
        wrong.append("the wheel's licence is not the one of the repository")
    metadata = Parser().parsestr(wheel.read(about + "METADATA").decode("utf-8"))
    return wrong + wrong_in_metadata(metadata)


def wrong_in_metadata(metadata: Message) -> list[str]:
    """Lines of the metadata that do not say what pyproject.toml says."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {
        "Name": "allsplits", "Version": version(), "Summary": project["description"],
        "License-Expression": "BSD-3-Clause", "License-File": "LICENSE",
        "Requires-Python": project["requires-python"],
        "Description-Content-Type": "text/markdown",
    }  # fmt: skip
    wrong = [
        f"{name} is {metadata[name]!r} in the metadata, not {value!r}"
        for name, value in wanted.items() if metadata[name] != value
    ]  # fmt: skip
    required = {line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line}
    if required != set(project["dependencies"]):
        wrong.append(f"dependencies are {sorted(required)} in the metadata")
    extras = {name.replace("_", "-") for name in project["optional-dependencies"]}
    if set(metadata.get_all("Provides-Extra", [])) != extras:
        wrong.append(f"extras are {metadata.get_all('Provides-Extra')} in the metadata")
    return wrong


def main() -> None:
    """Check dist/; what is wrong is printed, and the exit code is 1."""
    name = f"allsplits-{version()}"
    dist = ROOT / "dist"
    for_all = f"{name}-py3-none-any.whl"
    for_this = f"{name}-{next(sys_tags()).interpreter}-*.whl"
    wheels = [*dist.glob(for_this), *dist.glob(for_all)]
    there = {path.name for path in dist.iterdir()} - {".gitignore"}
    if len(wheels) != 2 or there != {f"{name}.tar.gz", *(wheel.name for wheel in wheels)}:
        raise SystemExit(f"dist/ has {sorted(there)}, not {for_this}, {for_all} and {name}.tar.gz")
    wrong = []
    for path in wheels:
        with zipfile.ZipFile(path) as wheel:
            wrong += wrong_in_wheel(wheel, compiled=path.name != for_all)
    with tarfile.open(dist / f"{name}.tar.gz") as sdist:
        files = set(sdist.getnames())
    wrong += [f"the sdist lacks {file}" for file in IN_SDIST if f"{name}/{file}" not in files]
    if wrong:
        raise SystemExit("\n".join(wrong))
    sys.stdout.write(f"dist/ holds {name}: files, metadata and licence as they should be\n")


if __name__ == "__main__":
    main()

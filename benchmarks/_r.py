"""R as a peer: programs that read X.csv and y.csv and print numbers, where R is installed."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

__all__ = ["PACKAGES", "answer_of_r", "has_package", "r_versions"]

#: Packages of R that some topic compares with.
PACKAGES = ("class", "ExactSampling")

_READ = """
folder <- commandArgs(TRUE)[1]
X <- as.matrix(read.csv(file.path(folder, "X.csv"), header = FALSE))
y <- factor(read.csv(file.path(folder, "y.csv"), header = FALSE)[, 1])
"""


def _run(*arguments: str) -> str | None:
    """What Rscript prints, or None where it is not installed or fails."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return None if done.returncode else done.stdout


def has_package(package: str) -> bool:
    """Whether R is here and can load the package."""
    return _run("-e", f"library({package})") is not None


def r_versions() -> list[tuple[str, str]]:
    """Names and versions of R and of the packages compared with; empty without R."""
    names = ", ".join(f'"{package}"' for package in PACKAGES)
    printed = _run(
        "-e",
        'cat("R", as.character(getRversion()), "\\n");'
        f"for (name in c({names})) if (requireNamespace(name, quietly = TRUE)) "
        'cat(name, as.character(packageVersion(name)), "\\n")',
    )
    found = [line.split() for line in (printed or "").splitlines()]
    return [(name if name == "R" else f"R {name}", version) for name, version in found]


def answer_of_r(program: str, X: np.ndarray, y: np.ndarray) -> list[float] | None:
    """Numbers that a program prints about the samples X and the classes y; None if it cannot."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder, "X.csv"), X, delimiter=",")
        np.savetxt(Path(folder, "y.csv"), y, fmt="%d")
        Path(folder, "program.R").write_text(_READ + program, encoding="utf-8")
        printed = _run(str(Path(folder, "program.R")), folder)
    return None if printed is None else [float(number) for number in printed.split()]

"""Running the real command, and small files to run it on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.datasets import load_iris

COMMAND = str(Path(sys.executable).parent / "allsplits")
TRACEBACK = "Traceback (most recent call last)"


def environment(**extra: str) -> dict[str, str]:
    """This process's surroundings, with what `extra` adds."""
    if "PYTHONPATH" in extra:
        extra["PYTHONPATH"] = os.pathsep.join(
            [extra["PYTHONPATH"], *filter(None, [os.environ.get("PYTHONPATH")])]
        )
    return {**os.environ, **extra}


def run(*arguments: str, stdin: bytes = b"", code: int | None = 0, **extra: str):
    """Run the command; `code` is the exit code it must have."""
    done = subprocess.run(
        [COMMAND, *map(str, arguments)], input=stdin, capture_output=True, check=False,
        env=environment(**extra), timeout=300,
    )  # fmt: skip
    done.out, done.err = done.stdout.decode(), done.stderr.decode()
    assert TRACEBACK not in done.err, done.err
    if code is not None:
        assert done.returncode == code, (done.returncode, done.out, done.err)
    return done


def refused(*arguments: str, **options) -> str:
    """Run the command on bad input: nothing on standard output, the reason on standard error."""
    done = run(*arguments, code=2, **options)
    assert done.out == "", done.out
    assert done.err.strip()
    return done.err


def iris_frame() -> pl.DataFrame:
    data = load_iris()
    names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
    frame = pl.DataFrame(dict(zip(names, data.data.T, strict=True)))
    return frame.with_columns(species=pl.Series(data.target_names[data.target].tolist()))


def write(frame: pl.DataFrame, path: Path) -> Path:
    """Write a frame in the format of the file's ending."""
    writers = {
        ".csv": lambda: frame.write_csv(path),
        ".tsv": lambda: frame.write_csv(path, separator="\t"),
        ".parquet": lambda: frame.write_parquet(path),
        ".feather": lambda: frame.write_ipc(path),
    }
    if path.suffix in writers:
        writers[path.suffix]()
    elif path.suffix == ".npz":
        features = frame.drop("species").to_numpy()
        np.savez(path, X=features, species=np.array(frame["species"].to_list()))
    else:
        np.save(path, frame.drop("species").to_numpy())
    return path

"""Arrays that hold small pictures: their shape, which tables forget."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any


def image_shape_of(file: str, n_features: int) -> tuple[int, ...] | None:
    """(height, width) or (height, width, 3) of the one array of pictures of an NPZ or NPY file.

    None if there is none, or it is not all of the features. Only headers are read.
    """
    if Path(file).suffix.lower() not in (".npz", ".npy"):
        return None
    shapes = [shape[1:] for shape in _shapes(file) if len(shape) in (3, 4)]
    shapes = [s for s in shapes if len(s) == 2 or s[2] == 3]
    if len(shapes) != 1:
        return None
    sides = shapes[0]
    area = sides[0] * sides[1] * (sides[2] if len(sides) == 3 else 1)
    return sides if area == n_features else None


def _shapes(file: str) -> list[tuple[int, ...]]:
    from numpy.lib import format as npy

    def shape(stream: Any) -> tuple[int, ...]:
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        return tuple(read(stream)[0])

    if Path(file).suffix.lower() == ".npy":
        with Path(file).open("rb") as stream:
            return [shape(stream)]
    found = []
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            with archive.open(name) as member:
                found.append(shape(member))
    return found

"""Pictures of samples: files of one folder, or rows of numbers. Nothing else is ever read.

A file is named by the data, never by the browser, which sends the number of a row. The name must
lead to a regular file inside the folder, links followed; what is in it must begin as a picture of a
kind that cannot run anything (so no SVG), and be of a size that a page can show.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from allsplits.exceptions import InvalidInputError
from allsplits.plots._images import check_image_shape, png_bytes

#: Larger files are not shown.
LARGEST_PICTURE = 20 * 2**20
#: How files of each kind begin; WEBP and AVIF have their name after a length.
_BEGINNINGS = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}


class Pictures(Protocol):
    """Where pictures of samples come from."""

    def read(self, row: int) -> tuple[bytes, str]:
        """The picture of a row, and what kind it is; InvalidInputError says why there is none."""


@dataclass(frozen=True)
class Folder:
    """Pictures that are files of a folder, one name for each row."""

    folder: Path
    names: Sequence[str]

    @classmethod
    def of(cls, folder: Any, names: Sequence[Any], n_samples: int) -> Folder:
        """Check that the folder is there and that each row has a name."""
        place = Path(folder).resolve()
        if not place.is_dir():
            raise InvalidInputError(f"images must be a folder; got {str(folder)!r}")
        if len(names) != n_samples:
            raise InvalidInputError(
                f"images must have one file name for each of the {n_samples:,} samples; "
                f"got {len(names):,}"
            )
        return cls(place, [str(name) for name in names])

    def find(self, row: int) -> Path:
        """The file of a row, inside the folder, links followed."""
        name = self.names[row]
        try:
            path = (self.folder / name).resolve(strict=True)
        except (OSError, ValueError, RuntimeError):  # not there, a null character, a ring of links
            raise InvalidInputError(f"there is no picture {name!r:.200}") from None
        if not path.is_relative_to(self.folder):
            raise InvalidInputError(f"the picture {name!r:.200} is outside of the folder")
        return path

    def read(self, row: int) -> tuple[bytes, str]:
        """The picture of a row, and what kind it is."""
        path = self.find(row)
        try:
            # The last part is no link any more; a device or a pipe is not waited for.
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            handle = os.open(path, flags)
            with os.fdopen(handle, "rb") as file:
                about = os.fstat(file.fileno())
                if not stat.S_ISREG(about.st_mode):
                    raise InvalidInputError(f"{path.name!r:.200} is not a file")
                if about.st_size > LARGEST_PICTURE:
                    raise InvalidInputError(
                        f"{path.name!r:.200} has {about.st_size:,} bytes, and pictures at most "
                        f"{LARGEST_PICTURE:,}"
                    )
                data = file.read(LARGEST_PICTURE)
        except OSError as error:
            raise InvalidInputError(f"cannot read {path.name!r:.200}: {error.strerror}") from None
        return data, _kind(data, path.name)


def _kind(data: bytes, name: str) -> str:
    for beginning, kind in _BEGINNINGS.items():
        if data.startswith(beginning):
            return kind
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    raise InvalidInputError(f"{name!r:.200} is no PNG, JPEG, GIF, BMP, WEBP or AVIF picture")


@dataclass(frozen=True)
class Pixels:
    """Pictures whose pixels are the features."""

    X: NDArray[Any]
    shape: tuple[int, ...]
    low: float
    high: float

    @classmethod
    def of(cls, X: NDArray[Any], shape: Any) -> Pixels:
        """Check that the shape fits; the darkest pixel of all is black, the lightest white."""
        sides = check_image_shape(shape, X.shape[1])
        if sides is None:
            raise InvalidInputError("image_shape must be given")
        return cls(X, sides, float(np.nanmin(X)), float(np.nanmax(X)))

    def read(self, row: int) -> tuple[bytes, str]:
        """The picture of a row."""
        return png_bytes(self.X[row], self.shape, self.low, self.high), "image/png"

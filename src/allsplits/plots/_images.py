"""Small pictures of samples as PNG, written with zlib alone."""

import base64
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from allsplits._validation import check_count
from allsplits.exceptions import InvalidInputError, InvalidTypeError


def check_image_shape(image_shape: Any, n_features: int) -> tuple[int, ...] | None:
    """Return (height, width) or (height, width, 3), or None; it must use up all features."""
    if image_shape is None:
        return None
    if not isinstance(image_shape, (tuple, list)) or len(image_shape) not in (2, 3):
        raise InvalidTypeError(
            f"image_shape must be (height, width) or (height, width, 3); got {image_shape!r}"
        )
    sides = tuple(check_count("each side of image_shape", side, at_least=1) for side in image_shape)
    if len(sides) == 3 and sides[2] != 3:
        raise InvalidInputError(
            f"image_shape must have 3 colours where it has a third entry; got {sides}"
        )
    if int(np.prod(sides)) != n_features:
        raise InvalidInputError(
            f"image_shape must multiply to the {n_features} features of X; got {sides}"
        )
    return sides


def png_address(row: NDArray[np.float64], shape: tuple[int, ...], low: float, high: float) -> str:
    """One sample as a picture in an address that holds it."""
    picture = png_bytes(row, shape, low, high)
    return "data:image/png;base64," + base64.b64encode(picture).decode("ascii")


def png_bytes(row: NDArray[np.float64], shape: tuple[int, ...], low: float, high: float) -> bytes:
    """One sample as a picture; `low` is black and `high` is white."""
    scaled = (row.reshape(shape) - low) / ((high - low) or 1.0)
    pixels = np.rint(255 * np.clip(np.nan_to_num(scaled), 0, 1)).astype(np.uint8)
    height, width = shape[:2]
    # Each line of a PNG begins with the number of its filter: 0, none.
    lines = np.zeros((height, 1 + pixels.size // height), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    colours = 2 if len(shape) == 3 else 0
    header = struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0)
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(lines.tobytes(), 9)),
            _chunk(b"IEND", b""),
        ]
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    checked = kind + data
    return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

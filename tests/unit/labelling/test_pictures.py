"""Pictures come from the folder and from nowhere else, whatever the names are."""

import os

import numpy as np
import pytest

from allsplits.exceptions import InvalidInputError
from allsplits.labelling import _pictures
from allsplits.labelling._pictures import Folder, Pixels
from allsplits.labelling._views import Views

PNG = b"\x89PNG\r\n\x1a\n" + b"rest"


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "photos"
    (place / "more").mkdir(parents=True)
    (place / "a.png").write_bytes(PNG)
    (place / "more" / "b ü<b>.png").write_bytes(PNG)
    (tmp_path / "secret.png").write_bytes(PNG)
    (tmp_path / "photos-of-others").mkdir()
    (tmp_path / "photos-of-others" / "c.png").write_bytes(PNG)
    return place


def read(folder, name):
    return Folder.of(folder, [name], 1).read(0)


@pytest.mark.parametrize("name", ["a.png", "more/b ü<b>.png", "./more/../a.png"])
def test_files_of_the_folder(folder, name):
    assert read(folder, name) == (PNG, "image/png")


OUTSIDE = [
    "../secret.png", "more/../../secret.png", "../photos-of-others/c.png", "/etc/passwd",
    "//etc/passwd", "..", ".", "", "more", "nowhere.png", "a.png\0.txt", "a.png/..",
    "..\\secret.png", "%2e%2e/secret.png", "a" * 5000,
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_nothing_else(folder, name):
    with pytest.raises(InvalidInputError):
        read(folder, name)


def test_an_absolute_name_outside(folder, tmp_path):
    with pytest.raises(InvalidInputError, match="outside"):
        read(folder, str(tmp_path / "secret.png"))


def test_links_lead_out_of_nowhere(folder, tmp_path):
    (folder / "out.png").symlink_to(tmp_path / "secret.png")
    (folder / "away").symlink_to(tmp_path / "photos-of-others")
    (folder / "in.png").symlink_to(folder / "a.png")
    (folder / "ring.png").symlink_to(folder / "ring.png")
    for name in ("out.png", "away/c.png"):
        with pytest.raises(InvalidInputError, match="outside"):
            read(folder, name)
    with pytest.raises(InvalidInputError, match="no picture"):
        read(folder, "ring.png")
    assert read(folder, "in.png") == (PNG, "image/png")


def test_a_folder_that_is_a_link_itself(folder, tmp_path):
    (tmp_path / "short").symlink_to(folder)
    assert read(tmp_path / "short", "a.png") == (PNG, "image/png")


@pytest.mark.parametrize(
    "content", [b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", b"<html>", b"", b"PK"]
)
def test_only_pictures_are_shown(folder, content):
    (folder / "a.png").write_bytes(content)
    with pytest.raises(InvalidInputError, match="is no PNG"):
        read(folder, "a.png")


def test_kinds(folder):
    for beginning, kind in (
        (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"), (b"BMxx", "image/bmp"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image/webp"), (b"\0\0\0\x20ftypavif", "image/avif"),
    ):  # fmt: skip
        (folder / "x").write_bytes(beginning)
        assert read(folder, "x")[1] == kind


def test_large_files_and_pipes_are_refused(folder, monkeypatch):
    monkeypatch.setattr(_pictures, "LARGEST_PICTURE", 10)
    with pytest.raises(InvalidInputError, match="at most 10"):
        read(folder, "a.png")
    os.mkfifo(folder / "pipe.png")
    with pytest.raises(InvalidInputError, match="not a file"):
        read(folder, "pipe.png")


def test_a_name_for_each_sample(folder):
    with pytest.raises(InvalidInputError, match="one file name for each of the 3"):
        Folder.of(folder, ["a.png"], 3)
    with pytest.raises(InvalidInputError, match="must be a folder"):
        Folder.of(folder / "a.png", ["a.png"], 1)


def test_pixels_are_pictures():
    X = np.arange(12.0).reshape(2, 6)
    data, kind = Pixels.of(X, (2, 3)).read(1)
    assert kind == "image/png"
    assert data.startswith(b"\x89PNG")
    with pytest.raises(InvalidInputError, match="image_shape"):
        Pixels.of(X, (2, 2))


def test_texts_are_readable_and_cut():
    views = Views(
        2, names=["a\x1b[2J", "b" * 400], texts=["x" * 30_000, "\ud800 half"],
        columns={"n": [1.23456789, None], "t": ["<b>", float("nan")]},
    )  # fmt: skip
    first, second = views.whole(0), views.whole(1)
    assert first["name"] == "a\\x1b[2J"
    assert first["text"].endswith("…")
    assert len(first["text"]) == 20_001
    assert first["columns"] == [["n", "1.23457"], ["t", "<b>"]]
    assert second["columns"] == [["n", ""], ["t", ""]]
    assert "ud800" in second["text"]
    with pytest.raises(InvalidInputError, match="names must have one entry"):
        Views(3, names=["a"])


def test_search_finds_numbers_names_and_texts():
    views = Views(30, names=[f"Photo {i}" for i in range(30)], texts=["dog"] * 29 + ["Cat"])
    assert views.search("7", 5)[:3] == [7, 17, 27]
    assert views.search("cat", 5) == [29]
    assert views.search("photo", 5) == [0, 1, 2, 3, 4]
    assert views.search("  ", 5) == []
    assert views.search("99999999999999999999", 5) == []

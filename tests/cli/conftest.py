"""One copy of the small files for all tests of the command line."""

import pytest

from cli.command import iris_frame, write


@pytest.fixture(scope="session")
def iris(tmp_path_factory):
    return write(iris_frame(), tmp_path_factory.mktemp("data") / "iris.csv")


@pytest.fixture
def table(tmp_path):
    """Write text to a CSV file."""

    def make(text, name="table.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make

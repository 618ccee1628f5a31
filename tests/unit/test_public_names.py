"""What `import allsplits` offers, and what it must not do."""

import subprocess
import sys
from importlib import import_module

import pytest

import allsplits
from allsplits import exceptions

#: Rooms that offer public names only; orders and splits have names for other rooms as well.
PUBLIC_ROOMS = [
    "active",
    "boosting",
    "labelling",
    "lazy",
    "model_selection",
    "plots",
    "probes",
    "prototypes",
    "reports",
    "values",
]
OFFERED = {room: names.split() for room, names in allsplits._OFFERED.items()}


def test_names_are_sorted_and_stand_once():
    listed = [name for names in OFFERED.values() for name in names]
    assert len(set(listed)) == len(listed)
    assert allsplits.__all__ == sorted(listed)
    assert set(allsplits.__all__) <= set(dir(allsplits))
    for names in OFFERED.values():
        assert names == sorted(names)


@pytest.mark.parametrize("room", OFFERED)
def test_public_names_are_what_their_room_offers(room):
    offered = import_module(f"allsplits.{room}").__all__
    assert set(OFFERED[room]) <= set(offered)
    if room in PUBLIC_ROOMS:
        assert sorted(offered) == OFFERED[room]
    for name in OFFERED[room]:
        assert getattr(allsplits, name).__module__.startswith(f"allsplits.{room}")


def test_other_names_are_refused():
    with pytest.raises(AttributeError, match="no attribute 'evaluated'"):
        allsplits.evaluated  # noqa: B018


def test_public_objects_say_where_they_belong_and_what_they_do():
    for name in allsplits.__all__:
        thing = getattr(allsplits, name)
        assert thing.__module__.startswith("allsplits"), name
        assert thing.__doc__, name


def test_the_version_is_a_version():
    assert allsplits.__version__[0].isdigit()


def test_errors_are_one_family():
    for name in exceptions.__all__:
        family = UserWarning if name.endswith("Warning") else exceptions.AllSplitsError
        assert issubclass(getattr(exceptions, name), family)
    assert issubclass(exceptions.InvalidInputError, ValueError)
    assert issubclass(exceptions.UnsupportedError, ValueError)
    assert issubclass(exceptions.InvalidTypeError, TypeError)
    assert issubclass(exceptions.MissingExtraError, ImportError)


def test_import_is_light_and_silent():
    """No output, and nothing that only some calls need (pandas comes with scikit-learn)."""
    program = (
        "import sys, allsplits;"
        "heavy = {'matplotlib', 'polars', 'torch', 'faiss', 'dask', 'jinja2', 'typer'};"
        "sys.exit(', '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")

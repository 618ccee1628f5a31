"""Compiled kernels: kept where that is safe, and never in the way of a result."""

import ctypes
import os
import re
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import llvmlite
import numba
import pytest
from numba import types
from numba.core.codegen import JITCPUCodegen
from numba.core.registry import cpu_target

import allsplits
from allsplits import _kernel_files
from allsplits._kernel_cache import only_ours_to_write
from allsplits._kernel_files import KernelFiles, load_shipped, shipped_target
from allsplits.orders.kernels import mirror_rows

SOURCE = Path(allsplits.__file__).parent
#: Compiles one small kernel and says where its code is kept and whether it was there.
PROGRAM = """
import os, resource
import numpy as np
from allsplits.orders.kernels import mirror_rows
if "LARGEST_FILE" in os.environ:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(os.environ["LARGEST_FILE"]),) * 2)
out = np.array([[0.0, 1.0], [2.0, 0.0]])
mirror_rows(0, 2, out)
hits = sum(mirror_rows.stats.cache_hits.values())
print(out[0, 1] == out[1, 0], hits, mirror_rows.stats.cache_path, sep=";")
"""
#: Not even the administrator can make a folder there.
NO_HOME = "/proc/nobody"
#: Compiles the same kernel for shipping.
SHIP = f"""
import sys
from pathlib import Path
from allsplits._kernel_cache import ship_kernels
ship_kernels(Path(sys.argv[1]))
{PROGRAM}
"""
#: What shipped code uses and a processor may lack.
FEATURES = [name for name in shipped_target()["NUMBA_CPU_FEATURES"].split(",") if name]
_PR_CAPBSET_DROP = 24
_OVERRIDES = range(4)  # of owners, permissions to write and to read, and both


def bound_by_permissions():
    """Of a new process: permissions bind it, even if it is the administrator's."""
    if os.geteuid() == 0:
        for capability in _OVERRIDES:
            ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


@pytest.fixture
def installed(tmp_path):
    """The package where its user cannot write, and a temporary directory for all."""
    package = tmp_path / "site" / "allsplits"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__", "_compiled"))
    _take_write_permission(package)
    (tmp_path / "tmp").mkdir()
    (tmp_path / "tmp").chmod(0o1777)
    yield tmp_path
    for path in [tmp_path, *tmp_path.rglob("*")]:  # so that pytest can tidy up
        if path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.geteuid():
            path.chmod(0o755)


def _take_write_permission(package):
    for path in [package, *package.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


def start(place, *command, **variables):
    """Run the kernel in a process of its own."""
    environment = {
        "PATH": os.environ["PATH"], "PYTHONPATH": str(place / "site"),
        "TMPDIR": str(place / "tmp"), "PYTHONDONTWRITEBYTECODE": "1", **variables,
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", *(command or [PROGRAM])], env=environment, cwd="/", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, preexec_fn=bound_by_permissions,
    )  # fmt: skip


def finish(process):
    """How often the compiled code was found, and where it is kept."""
    output, error = process.communicate(timeout=300)
    assert (process.returncode, error) == (0, "")
    right, hits, where = output.strip().split(";")
    assert right == "True"
    return int(hits), where


def use(place, **options):
    return finish(start(place, **options))


@pytest.mark.parametrize("home", ["none", "read-only"])
def test_without_a_place_in_the_home_the_code_is_kept_privately(home, installed):
    folder = installed / "home"
    folder.mkdir(mode=0o555)
    variables = {
        # not the home of the account, which this test must not write to
        "none": {"XDG_CACHE_HOME": NO_HOME},
        "read-only": {"HOME": str(folder)},
    }
    hits, where = use(installed, **variables[home])
    root = Path(where).parent
    assert (hits, root.parent) == (0, (installed / "tmp").resolve())
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert use(installed, **variables[home]) == (1, where)


def test_a_folder_that_somebody_else_prepared_is_not_used(installed):
    _, where = use(installed, HOME=NO_HOME)
    root = Path(where).parent
    root.chmod(0o777)  # others could have written there
    assert use(installed, HOME=NO_HOME) == (0, "None")
    root.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(root, 65534, 65534)  # somebody else's
        assert use(installed, HOME=NO_HOME) == (0, "None")
        os.chown(root, 0, 0)
    moved = root.with_name("elsewhere")
    root.rename(moved)
    root.symlink_to(moved)
    assert use(installed, HOME=NO_HOME) == (0, "None")


def test_a_home_that_all_can_write_is_not_used(installed):
    home = installed / "home"
    home.mkdir()
    home.chmod(0o777)
    _, where = use(installed, HOME=str(home))
    assert Path(where).is_relative_to((installed / "tmp").resolve())
    home.chmod(0o755)
    shutil.rmtree(home / ".cache")
    _, where = use(installed, HOME=str(home))
    assert Path(where).is_relative_to(home)


def test_nowhere_at_all(installed):
    (installed / "tmp").chmod(0o555)
    # what is asked for by name and cannot be had is no error either
    variables = {"HOME": NO_HOME, "NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}
    assert use(installed, **variables) == (0, "None")


def test_a_full_disk(installed):
    """Files of more than no byte cannot be written: a full home, as far as Python can tell."""
    assert use(installed, LARGEST_FILE="0", HOME=NO_HOME)[0] == 0
    assert use(installed, HOME=NO_HOME)[0] == 0
    assert use(installed, HOME=NO_HOME)[0] == 1


def test_truncated_files_are_written_anew(installed):
    _, where = use(installed, HOME=NO_HOME)
    (file,) = Path(where).glob("*mirror_rows*.nbc")
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert use(installed, HOME=NO_HOME) == (0, where)
    assert use(installed, HOME=NO_HOME) == (1, where)


@pytest.mark.parametrize("damage", [b"", b"\0" * 5000, b"\x80\x05K\x01.", "half", "one byte"])
def test_damaged_files_are_as_good_as_none(damage, tmp_path):
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    files.save("int", "code for int")
    assert files.load("int") == "code for int"
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    one_byte = whole.replace(b"code for int", b"code for ant")
    file.write_bytes({"half": whole[: len(whole) // 2], "one byte": one_byte}.get(damage, damage))
    assert files.load("int") is None
    files.save("int", "new code")
    assert files.load("int") == "new code"


def test_another_file_of_kernels_empties_the_cache(installed):
    """Compiled code contains what it calls, from whichever file."""
    assert use(installed, HOME=NO_HOME)[0] == 0
    assert use(installed, HOME=NO_HOME)[0] == 1
    other = installed / "site" / "allsplits" / "exact" / "_kernels_draws.py"
    other.chmod(0o644)
    other.write_text(other.read_text() + "\n# changed\n")
    assert use(installed, HOME=NO_HOME)[0] == 0


def test_several_processes_at_once(installed):
    processes = [start(installed, HOME=NO_HOME) for _ in range(3)]
    assert len({finish(process)[1] for process in processes}) == 1
    assert use(installed, HOME=NO_HOME)[0] == 1


def test_two_writers_never_exchange_their_code(tmp_path):
    first, second = (KernelFiles(str(tmp_path), "kernel", "stamp") for _ in range(2))
    first.save("int", "code for int")
    second.save("float", "code for float")
    assert [first.load("float"), second.load("int")] == ["code for float", "code for int"]
    # even if two keys had the same name
    first._path = second._path = lambda key: tmp_path / "one"
    first.save("int", "code for int")
    assert (first.load("int"), second.load("float")) == ("code for int", None)


def test_code_of_another_make_is_not_unpickled(tmp_path, monkeypatch):
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    files.save("int", "code for int")
    monkeypatch.setattr("pickle.loads", lambda *_: pytest.fail("unpickled"))
    assert KernelFiles(str(tmp_path), "kernel", "another stamp").load("int") is None


def test_flushing_removes_the_files_of_this_kernel(tmp_path):
    files = KernelFiles(str(tmp_path), "kernel", "stamp")
    other = KernelFiles(str(tmp_path), "another", "stamp")
    for kept in (files, other):
        kept.save("int", "code for int")
        kept.save("float", "code for float")
    files.flush()
    assert [files.load("int"), files.load("float")] == [None, None]
    assert [other.load("int"), other.load("float")] == ["code for int", "code for float"]


def test_every_kernel_has_this_cache_whichever_is_imported_first():
    """A room with kernels must import the cache before them."""
    files = [path for path in SOURCE.rglob("*kernels*.py") if "triton" not in path.name]
    rooms: dict[str, list[str]] = {}
    for path in sorted(files):
        room = ".".join(("allsplits", *path.parent.relative_to(SOURCE).parts))
        rooms.setdefault(room, []).append(f"{room}.{path.stem}")
    program = (
        "import sys, importlib; [importlib.import_module(name) for name in sys.argv[1:]];"
        "from numba.core.dispatcher import Dispatcher;"
        "found = [value for name, module in list(sys.modules.items()) if 'kernels' in name"
        "         for value in vars(module).values() if isinstance(value, Dispatcher)];"
        "kinds = {type(kernel._cache).__name__ for kernel in found};"
        "assert kinds == {'KernelCache'}, kinds"
    )
    for room, kernels in rooms.items():
        command = [sys.executable, "-c", program, room, *kernels]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, (room, done.stderr)


def test_other_packages_keep_the_cache_of_numba(tmp_path, monkeypatch):
    (tmp_path / "another_package.py").write_text("def same(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    import another_package
    from numba import njit
    from numba.core.caching import FunctionCache

    assert type(njit(cache=True)(another_package.same)._cache) is FunctionCache


def test_whose_folders_are_read(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    assert only_ours_to_write(folder)
    for mode in (0o777, 0o1777, 0o702):
        other = tmp_path / f"{mode:o}"
        other.mkdir()
        other.chmod(mode)
        assert not only_ours_to_write(other)
        inside = other / "cache"
        inside.mkdir(mode=0o700)
        # where all may write, only a sticky folder keeps its entries
        assert only_ours_to_write(inside) is (mode == 0o1777)
    assert not only_ours_to_write(tmp_path / "absent")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A folder with the kernel as it is shipped, compiled from this source."""
    folder = tmp_path_factory.mktemp("compiled")
    command = [sys.executable, "-c", SHIP, str(folder)]
    subprocess.run(command, env={**os.environ, **shipped_target()}, check=True, cwd="/")
    return folder


def test_shipped_kernels_need_no_place_of_their_own(installed, compiled):
    """Nothing is compiled, nothing is written; nor is there a need for a place to write."""
    package = installed / "site" / "allsplits"
    package.chmod(0o755)
    shutil.copytree(compiled, package / "_compiled")
    _take_write_permission(package)
    processes = [start(installed, HOME=NO_HOME) for _ in range(2)]
    assert {finish(process)[0] for process in processes} == {1}
    assert not list((installed / "tmp").rglob("*.nbc"))
    # as on an old processor
    assert use(installed, HOME=NO_HOME, NUMBA_CPU_NAME="generic")[0] == (0 if FEATURES else 1)
    nowhere = {"HOME": NO_HOME, "NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    assert use(installed, **nowhere) == (1, "None")


@pytest.fixture
def is_found(compiled, tmp_path, monkeypatch):
    """Whether the shipped kernel is found, by this process."""
    folder = shutil.copytree(compiled, tmp_path / "compiled")
    monkeypatch.setattr(_kernel_files, "_FOLDER", folder)
    table = types.Array(types.float64, 2, "C")
    context = cpu_target.target_context

    def found():
        _kernel_files.kernel_stamp.cache_clear()
        code = load_shipped(mirror_rows.py_func, (types.int64, types.int64, table), context)
        return code is not None

    assert found()
    yield found
    monkeypatch.undo()
    _kernel_files.kernel_stamp.cache_clear()


@pytest.mark.parametrize("feature", FEATURES)
def test_shipped_kernels_are_not_for_processors_that_lack_something(feature, is_found, monkeypatch):
    triple, name, features = cpu_target.target_context.codegen().magic_tuple()
    lacking = features.replace(f"{feature},", f"-{feature[1:]},")
    assert lacking != features
    monkeypatch.setattr(JITCPUCodegen, "magic_tuple", lambda _: (triple, name, lacking))
    assert not is_found()


def test_shipped_kernels_of_another_platform_are_not_used(is_found, monkeypatch):
    _, name, features = cpu_target.target_context.codegen().magic_tuple()
    triple = "x86_64-another-system"
    monkeypatch.setattr(JITCPUCodegen, "magic_tuple", lambda _: (triple, name, features))
    assert not is_found()


def test_shipped_kernels_of_another_make_are_not_used(is_found, installed, monkeypatch):
    for package in (numba, llvmlite):
        with monkeypatch.context() as now:
            now.setattr(package, "__version__", "9.9")
            assert not is_found()
    with monkeypatch.context() as now:
        now.setattr(_kernel_files, "EXTENSION_SUFFIXES", [".cpython-399.so"])
        assert not is_found()
    assert is_found()
    package = installed / "site" / "allsplits"
    monkeypatch.setattr(_kernel_files, "_PACKAGE", package)
    assert is_found()
    other = package / "exact" / "_kernels_draws.py"
    other.chmod(0o644)
    other.write_text(other.read_text() + "\n# changed\n")
    assert not is_found()


def test_damaged_shipped_kernels_are_as_good_as_none(is_found):
    (file,) = _kernel_files._FOLDER.glob("*mirror_rows*")
    whole = file.read_bytes()
    middle = len(whole) // 2
    one_bit = bytes([whole[middle] ^ 1])
    for damaged in (b"", whole[:middle], whole[:middle] + one_bit + whole[middle + 1 :]):
        file.write_bytes(damaged)
        assert not is_found()
    file.unlink()
    assert not is_found()
    file.mkdir()  # it cannot be read
    assert not is_found()


def test_code_for_this_processor_alone_is_not_shipped(installed, tmp_path):
    process = start(installed, SHIP, str(tmp_path))
    assert "cannot be shipped" in process.communicate(timeout=300)[1]
    assert process.returncode != 0


def test_kernels_that_are_imported_too_early_are_not_left_out_in_silence(tmp_path):
    """They would be compiled by every user's first call."""
    program = f"import allsplits.orders.kernels\n{SHIP}"
    command = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(command, env={**os.environ, **shipped_target()}, capture_output=True)
    assert done.returncode
    assert b"imported before they could be shipped: ['allsplits.orders.kernels" in done.stderr
    assert not list(tmp_path.iterdir())


def test_kernels_depend_on_files_of_kernels_alone():
    """Else a change elsewhere would leave code that was compiled before it."""
    for file in SOURCE.rglob("*kernels*.py"):
        imported = re.findall(r"^(?:from|import) (allsplits\S*)", file.read_text(), re.MULTILINE)
        assert all("kernel" in name for name in imported), (file, imported)

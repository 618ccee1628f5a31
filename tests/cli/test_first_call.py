"""A wheel comes with the kernels of a first call: nothing is compiled for it."""

from pathlib import Path

import pytest
from numba.core.registry import cpu_target

import allsplits
from allsplits._kernel_files import shipped_target
from cli.command import iris_frame, run, write

SOURCE = Path(allsplits.__file__).parent


@pytest.mark.parametrize("cv", [(), ("--cv", "kfold:5")])
@pytest.mark.parametrize("k", [(), ("--k", "5"), ("--k", "1")])
def test_a_first_evaluation_compiles_nothing(k, cv, tmp_path):
    compiled = list((SOURCE / "_compiled").glob("*.nbc"))
    if not compiled:
        pytest.skip("this installation came without compiled kernels")
    made = max(path.stat().st_mtime for path in compiled)
    if made < max(path.stat().st_mtime for path in SOURCE.rglob("*kernel*.py")):
        pytest.skip("kernels were changed after the installation: those that came are not used")
    wanted = filter(None, shipped_target()["NUMBA_CPU_FEATURES"].split(","))
    if not set(wanted) <= set(cpu_target.target_context.codegen().magic_tuple()[2].split(",")):
        pytest.skip("this processor lacks what compiled kernels may use")
    file = write(iris_frame(), tmp_path / "iris.csv")
    cache = tmp_path / "cache"
    run("evaluate", file, "--target", "species", *k, *cv, NUMBA_CACHE_DIR=str(cache))
    assert not [path.name for path in cache.rglob("*.nbc")]

"""Who waits for the compiler is told so, once, where somebody looks."""

import sys

import pytest
from numba import njit

from allsplits import _compile_notice
from allsplits._compile_notice import CompileNotice
from allsplits._progress import seconds_before_bar


class Found:
    """What numba tells of a kernel that it compiles."""

    def __init__(self, module="allsplits.exact._kernels"):
        def kernel():
            return 0

        kernel.__module__ = module
        self.data = {"dispatcher": njit(kernel)}


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when they are added."""
    now = [0.0]
    monkeypatch.setattr(_compile_notice, "perf_counter", lambda: now[0])
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    return now


def compile_for(notice, clock, *seconds, module="allsplits.exact._kernels"):
    """A kernel that calls one more after each of these times."""
    found = Found(module)
    notice.on_start(found)
    for some in seconds:
        clock[0] += some
        notice.on_start(found)
        notice.on_end(found)
    notice.on_end(found)


def test_a_second_of_compiling_is_announced_once(clock, capsys):
    notice = CompileNotice()
    compile_for(notice, clock, 0.6)
    clock[0] += 60  # nothing was compiled meanwhile
    compile_for(notice, clock, 0.3)
    assert capsys.readouterr().err == ""
    compile_for(notice, clock, 0.3, 5.0)
    assert capsys.readouterr().err.count("compiles") == 1
    compile_for(notice, clock, 5.0)
    assert capsys.readouterr() == ("", "")


def test_kernels_of_others_do_not_count(clock, capsys):
    compile_for(CompileNotice(), clock, 5.0, module="somebody.kernels")
    assert capsys.readouterr().err == ""


def test_nobody_looks_at_a_pipe(clock, capsys, monkeypatch):
    monkeypatch.delattr(sys, "ps1")
    compile_for(CompileNotice(), clock, 5.0)
    assert capsys.readouterr().err == ""


def test_the_command_line_has_its_own_words(clock, capsys):
    token = seconds_before_bar.set(1.0)
    try:
        compile_for(CompileNotice(), clock, 5.0)
    finally:
        seconds_before_bar.reset(token)
    assert capsys.readouterr().err == ""

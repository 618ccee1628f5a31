"""Kernels without reference counts allocate nothing: numba would not notice, and crash."""

import ast
from pathlib import Path

import allsplits

SOURCE = Path(allsplits.__file__).parent
#: What makes arrays, of numpy and of arrays themselves.
MAKERS = {
    "empty", "zeros", "ones", "full", "array", "arange", "copy", "sort", "argsort", "unique",
    "where", "cumsum", "concatenate", "astype", "empty_like", "zeros_like", "repeat", "append",
}  # fmt: skip


def is_uncounted(function):
    return any(
        isinstance(wrapper, ast.Call)
        and any(word.arg == "_nrt" and word.value.value is False for word in wrapper.keywords)
        for wrapper in function.decorator_list
    )


def makes_arrays(function):
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    lists = (ast.List, ast.ListComp, ast.Dict, ast.Set)
    return any(isinstance(call, ast.Attribute) and call.attr in MAKERS for call in calls) or any(
        isinstance(node, lists) for node in ast.walk(function)
    )


def test_kernels_without_reference_counts_make_no_arrays():
    found, makers = [], set()
    for file in SOURCE.rglob("*kernel*.py"):
        for node in ast.parse(file.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                if is_uncounted(node):
                    found.append(node)
                elif makes_arrays(node):
                    makers.add(node.name)
    assert len(found) > 50
    for kernel in found:
        called = {
            node.func.id
            for node in ast.walk(kernel)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not makes_arrays(kernel), kernel.name
        assert not called & makers, kernel.name

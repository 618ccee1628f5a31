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


def writes_code(function):
    """Whether it is an intrinsic: what it does itself is not compiled."""
    return any(getattr(wrapper, "id", None) == "intrinsic" for wrapper in function.decorator_list)


def makes_arrays(function):
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    lists = (ast.List, ast.ListComp, ast.Dict, ast.Set)
    return any(isinstance(call, ast.Attribute) and call.attr in MAKERS for call in calls) or any(
        isinstance(node, lists) for node in ast.walk(function)
    )


def module_of(file):
    return ".".join(("allsplits", *file.relative_to(SOURCE).with_suffix("").parts))


def kernels_of(tree):
    """What is compiled of a file, by name."""
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return {node.name: node for node in functions if node.decorator_list}


def meanings(tree, module):
    """The function that each name of a file stands for: (module, name)."""
    names = {name: (module, name) for name in kernels_of(tree)}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: (node.module, alias.name) for alias in node.names}
    return names


def test_kernels_without_reference_counts_make_no_arrays():
    found, makers = [], set()
    for file in SOURCE.rglob("*kernel*.py"):
        tree, module = ast.parse(file.read_text(encoding="utf-8")), module_of(file)
        for name, kernel in kernels_of(tree).items():
            if is_uncounted(kernel):
                found.append((kernel, meanings(tree, module)))
            elif makes_arrays(kernel) and not writes_code(kernel):
                makers.add((module, name))
    assert len(found) > 50
    assert ("allsplits.exact.laws.class_counts._kernels_mean", "_add_group") in makers
    for kernel, names in found:
        called = {
            names.get(node.func.id)
            for node in ast.walk(kernel)
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert not makes_arrays(kernel), kernel.name
        assert not called & makers, kernel.name

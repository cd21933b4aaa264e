"""Every function of the Python layer has type annotations that mypy can check.

Numba infers the types of kernels.
"""

import ast

from repository import ROOT

PACKAGES = ROOT / "xmlc", ROOT / "benchmarks"
KERNEL_DECORATORS = {"njit", "intrinsic", "overload"}


def decorators(function):
    calls = (node.func if isinstance(node, ast.Call) else node for node in function.decorator_list)
    return {
        node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "") for node in calls
    }


def overloaded(tree):
    """Return the names of functions that get a kernel from `@overload(name)`."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {call.args[0].id for call in calls if getattr(call.func, "id", "") == "overload"}


def without_types(tree, kernels=frozenset()):
    """Yield each function outside kernels that has a parameter or a result without a type."""
    kernels = kernels or overloaded(tree)
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if decorators(node) & KERNEL_DECORATORS or node.name in kernels:
                continue  # this also skips the functions inside it
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            given += [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
            typed = [one.annotation is not None or one.arg in ("self", "cls") for one in given]
            if not all(typed) or (node.returns is None and node.name != "__init__"):
                yield f"{node.name}, line {node.lineno}"
        yield from without_types(node, kernels)


def test_every_function_except_kernels_has_types():
    found = {}
    for folder in PACKAGES:
        for file in sorted(folder.rglob("*.py")):
            names = list(without_types(ast.parse(file.read_text(encoding="utf-8"))))
            if names:
                found[str(file.relative_to(ROOT))] = names
    assert not found

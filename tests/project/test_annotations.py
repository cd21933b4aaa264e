"""Every function of the Python layer has type annotations that mypy can check.

Numba infers the types of kernels.
"""

import ast

from repository import ROOT

KERNEL_DECORATORS = {"njit", "intrinsic", "overload"}


def untyped(tree):
    """Yield the line and name of each parameter or function without a type, outside kernels.

    `@overload(name)` makes a kernel of the function `name`.
    """
    functions = []
    overloaded = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            functions.append(node)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "overload":
            overloaded.add(node.args[0].id)
    inside = set()
    for function in functions:  # an outer function comes before those inside it
        called = [ast.unparse(one).partition("(")[0] for one in function.decorator_list]
        names = {name.rpartition(".")[2] for name in called}
        if names & KERNEL_DECORATORS or function.name in overloaded:
            inside.update(ast.walk(function))
        if function in inside:
            continue
        for parameter in ast.walk(function.args):
            if isinstance(parameter, ast.arg) and parameter.arg not in ("self", "cls"):
                if parameter.annotation is None:
                    yield function.lineno, parameter.arg
        if function.returns is None and function.name != "__init__":
            yield function.lineno, function.name


def test_every_function_except_kernels_has_types():
    found = {}
    for file in [*ROOT.glob("xmlc/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]:
        missing = [*untyped(ast.parse(file.read_text(encoding="utf-8")))]
        if missing:
            found[str(file.relative_to(ROOT))] = missing
    assert found == {}

"""Every function of the Python layer has type annotations that mypy can check.

Numba infers the types of kernels.
"""

import ast

from repository import ROOT

KERNEL_DECORATORS = {"njit", "intrinsic", "overload"}


def names_of_decorators(function):
    names = set()
    for decorator in function.decorator_list:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        names.add(ast.unparse(called).rpartition(".")[2])
    return names


class Untyped(ast.NodeVisitor):
    """Collects functions outside kernels that have a parameter or a result without a type."""

    def __init__(self, tree):
        self.found = []
        self.overloaded = set()  # `@overload(name)` makes a kernel of the function `name`
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "overload":
                self.overloaded.add(node.args[0].id)
        self.visit(tree)

    def visit_FunctionDef(self, function):
        is_kernel = names_of_decorators(function) & KERNEL_DECORATORS
        if is_kernel or function.name in self.overloaded:
            return  # this also skips the functions inside it
        given = function.args
        parameters = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        for parameter in filter(None, parameters):
            if parameter.annotation is None and parameter.arg not in ("self", "cls"):
                self.found.append(f"line {function.lineno}: {parameter.arg}")
        if function.returns is None and function.name != "__init__":
            self.found.append(f"line {function.lineno}: {function.name}")
        self.generic_visit(function)

    visit_AsyncFunctionDef = visit_FunctionDef


def test_every_function_except_kernels_has_types():
    found = {}
    for file in [*ROOT.glob("xmlc/**/*.py"), *ROOT.glob("benchmarks/**/*.py")]:
        untyped = Untyped(ast.parse(file.read_text(encoding="utf-8"))).found
        if untyped:
            found[str(file.relative_to(ROOT))] = untyped
    assert found == {}

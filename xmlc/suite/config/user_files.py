"""Check users' Python files by their syntax trees, without running them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from pathlib import Path

from xmlc.core.errors import XmlcError
from xmlc.suite.schemas import nearest


def check_file(estimator: str, given: Iterable[str]) -> None:
    """Check that a user's file exists, is valid Python and defines the class of an estimator.

    If the class has its own `__init__`, check that this method accepts the given hyperparameters.
    """
    file, _, kind = estimator.rpartition(":")
    text, tree = python_of(file)
    if not re.search(rf"\b{re.escape(kind)}\b", text):  # The word may name a class or an import.
        expected = nearest(kind, re.findall(r"^class (\w+)", text, re.MULTILINE) or ["the name of one of its classes"])
        raise XmlcError(f"{file}: found no class {kind}, expected {expected}")
    for node in tree.body:
        takes = _arguments(node) if isinstance(node, ast.ClassDef) and node.name == kind else None
        if takes is not None and (unknown := [key for key in given if key.partition("__")[0] not in takes]):
            expected = nearest(unknown[0], takes) or "none"
            raise XmlcError(f"found no hyperparameter {unknown[0]} of {estimator}, expected {expected}")
        if isinstance(node, ast.ClassDef) and node.name == kind and not node.bases:
            missing = [name for name in ("fit", "predict_proba") if not re.search(rf"\b{name}\b", ast.unparse(node))]
            for method in missing:
                raise XmlcError(f"{file}:{node.lineno}: found no {method} in {kind}, expected fit and predict_proba")


def _arguments(node: ast.ClassDef) -> list[str] | None:
    """Return the arguments of a class's own `__init__`.

    Return None if there is no `__init__` or it takes any arguments.
    """
    own = (part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__")
    if not (method := next(own, None)) or method.args.kwarg:
        return None
    return [argument.arg for argument in (*method.args.args[1:], *method.args.kwonlyargs)]


def python_of(file: str, where: str = "") -> tuple[str, ast.Module]:
    """Return the text and the syntax tree of a user's Python file."""
    path = Path(file)
    if not path.is_file():
        near = nearest(path.name, [other.name for other in path.parent.glob("*.py")] or ["an existing Python file"])
        raise XmlcError(f"{where}found no file {file}, expected {near}")
    text = path.read_text(encoding="utf-8")
    try:
        return text, ast.parse(text)
    except SyntaxError as error:
        raise XmlcError(f"{where}{file}:{error.lineno}: {error.msg}, expected a Python file") from error

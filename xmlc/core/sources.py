"""Imports of source files, and digests that identify their code.

Imports are read from the syntax tree, also inside functions, but not under TYPE_CHECKING, because
these never run.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from xmlc.core.errors import XmlcError

# Resolved, so that digests are the same if the folder of the package is a link
PACKAGE = Path(__file__).resolve().parents[1]
#: Fields of a syntax tree that the digest leaves out, because they do not affect results or follow
#: from others. Some versions of Python lack some of them.
LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_params"})


def source_digest(files: Iterable[str], *texts: str) -> str:
    """Return 16 hexadecimal digits that change with the code in files, and with the list of files.

    Python files count by their syntax tree without docstrings, the same in every version of Python,
    and others by their bytes, each read only once. Neither the location of the package nor the
    times of files matter: paths are relative to the package, or to the working directory outside of
    it. Other relevant content, such as a printed docstring, goes in ``texts``.
    """
    digest = hashlib.sha256()
    for name_and_content in sorted(map(content_digest, files)):
        digest.update(name_and_content.encode())
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


@cache
def content_digest(file: str) -> str:
    """Return a file's name and the digest of its code or bytes."""
    path = Path(file).resolve()
    if path.suffix == ".py":
        content = parsed(path)[1]
    else:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{short_name(short_name(path, PACKAGE.parent), Path.cwd())}\0{content}\0"


@cache
def parsed(file: Path) -> tuple[frozenset[str], str]:
    """Return the imports of a file and the digest of its code, from a single parse."""
    if file.suffix != ".py":  # the imports of a compiled module cannot be read
        return frozenset(), ""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except FileNotFoundError as error:
        raise XmlcError(
            f"{file}: found no such file, expected Python code. Create it or correct the path"
        ) from error
    except SyntaxError as error:
        raise XmlcError(
            f"{file}:{error.lineno}: found a syntax error ({error.msg}), expected valid Python"
        ) from error
    return _imports(tree), hashlib.sha256(_code(tree).encode()).hexdigest()


def _code(tree: ast.AST) -> str:
    """Return a syntax tree without docstrings as text, three times as fast as `ast.dump`."""
    written: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        # Only Python 3.12.1 and later add empty parts of f-strings
        if isinstance(node, ast.JoinedStr):
            node.values = [part for part in node.values if getattr(part, "value", None) != ""]
        if isinstance(node, ast.AST):
            written.append(type(node).__name__)
            waiting += [getattr(node, part) for part in node._fields if part not in LEFT_OUT]
        elif isinstance(node, list):
            parts = [
                part
                for part in node
                if not (type(part) is ast.Expr and type(part.value) is ast.Constant)
            ]
            written.append(str(len(parts)))
            waiting += parts
        else:
            written.append(repr(node))
    return "\0".join(written)


def _imports(tree: ast.Module) -> frozenset[str]:
    names: set[str] = set()
    for node in _running_statements(tree.body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level
            if node.module:
                start += f"{node.module}."
            if not node.level:
                names.add(str(node.module))
            names.update(f"{start}{alias.name}" for alias in node.names)
    return frozenset(names)


def _running_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a module that may run, nested ones included.

    Those under TYPE_CHECKING and in ``__getattr__`` are left out, and expressions, which cannot
    contain an import.
    """
    for node in body:
        parts = ["body", "handlers", "orelse", "finalbody", "cases"]
        if isinstance(node, ast.If) and re.fullmatch(
            r"(\w+\.)*TYPE_CHECKING", ast.unparse(node.test)
        ):
            parts = ["orelse"]
        elif isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            continue
        yield node
        for part in parts:
            yield from _running_statements(getattr(node, part, ()))


@cache
def short_name(file: Path | str, here: Path) -> str:
    """Return the path of a file, relative to ``here`` if it is inside."""
    found = Path(file).resolve()
    if found.is_relative_to(here):
        return str(found.relative_to(here))
    return str(file)

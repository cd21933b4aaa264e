"""Read the imports of source files, and identify their code by a digest.

Imports are read from the syntax tree, including imports inside functions. Imports under
TYPE_CHECKING never run and are ignored.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from xmlc.core.errors import XmlcError

# The digests are the same if the folder of the package is a link.
PACKAGE = Path(__file__).resolve().parents[1]
#: Fields of a syntax tree that are left out of the digest, because they do not affect results or
#: follow from other fields. Some versions of Python lack some of the fields in LEFT_OUT.
LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_params"})


def source_digest(files: Iterable[str], *texts: str) -> str:
    """Return 16 hexadecimal digits that change with the code in the given files, and with the list
    of files.

    For a Python file, the digest uses its syntax tree without docstrings, which is the same in
    every version of Python. For a file that is not Python, the digest uses the bytes. The digest
    does not depend on the location of the package or on the times of files. For files of xmlc, the
    digest uses paths relative to the package, and for other files, paths relative to the working
    directory. Each process reads a file only once. Pass other relevant content, such as a printed
    docstring, in ``texts``.
    """
    digest = hashlib.sha256()
    for name_and_content in sorted(map(content_digest, files)):
        digest.update(name_and_content.encode())
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


@cache
def content_digest(file: str) -> str:
    """Return the name of a file and the digest of its code or bytes."""
    path = Path(file).resolve()
    if path.suffix == ".py":
        content = parsed(path)[1]
    else:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{short_name(short_name(path, PACKAGE.parent), Path.cwd())}\0{content}\0"


@cache
def parsed(file: Path) -> tuple[frozenset[str], str]:
    """Return the imports of a file and the digest of its code.

    The imports and the digest are computed together, because parsing a file twice would be slow.
    """
    if file.suffix != ".py":  # A compiled module has no imports that can be read.
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
    """Return a syntax tree without docstrings as text.

    `ast.dump` would take three times as long as this function.
    """
    written: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        # Drop empty parts of f-strings, which only Python 3.12.1 and later add.
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
    """Return the dotted names that a file imports.

    The names of relative imports keep their leading dots.
    """
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
    """Yield the statements of a module that may run, including nested statements.

    Statements under TYPE_CHECKING and in ``__getattr__`` are not yielded. Expressions are not
    visited, because an expression cannot contain an import.
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
    """Return the path of a file, relative to the folder ``here`` if the file is inside it."""
    found = Path(file).resolve()
    if found.is_relative_to(here):
        return str(found.relative_to(here))
    return str(file)

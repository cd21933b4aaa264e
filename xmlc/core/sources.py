"""Which source files a module depends on: the closure of its imports within the package.

Each rule of the workflow has a digest of them among its parameters, so that an edit reruns the steps that it concerns
and no others. Imports are read from the syntax tree, those inside functions included; those under TYPE_CHECKING never
run and do not count. Names that a package's ``__getattr__`` imports on demand are not followed, which is how
`xmlc.models` keeps one estimator's code out of another's closure.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def command_files(*commands: str) -> list[str]:
    """Return the files that steps of `xmlc` depend on, each step by its name, such as ``train``."""
    return source_files(*(f"{PACKAGE.name}.cli.steps.{name}" for name in commands))


def source_digest(files: Iterable[str]) -> str:
    """Return 16 hexadecimal digits that change with the content of any of these files, or with which they are.

    Where the package lies and when a file was written do not matter: files of the package go by their places in it.
    Each file is read once in a process.
    """
    digest = hashlib.sha256()
    for name, content in sorted(map(_content_digest, files)):
        digest.update(f"{name}\0{content}\0".encode())
    return digest.hexdigest()[:16]


def commit() -> str:
    """Name the commit of this clone, with "-dirty" if files were edited since; empty without git."""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def _content_digest(file: str) -> tuple[str, str]:
    return _short(Path(file), PACKAGE.parent), hashlib.sha256(Path(file).read_bytes()).hexdigest()


def source_files(*modules: str) -> list[str]:
    """Return the files that the named modules import, directly or not, themselves included, sorted.

    Parameters
    ----------
    *modules : str
        Dotted names within the package, or paths of Python files outside it.

    Returns
    -------
    list of str
        Paths; relative to the working directory where they lie below it.
    """
    return list(_closure(modules, Path.cwd()))


@cache
def _closure(modules: tuple[str, ...], here: Path) -> tuple[str, ...]:
    files: set[Path] = set()
    outside = [Path(name) for name in modules if name.endswith(".py")]
    waiting = outside + [_module_file(name) for name in _with_packages(n for n in modules if not n.endswith(".py"))]
    while waiting:
        file = waiting.pop()
        if file is None or file in files:
            continue
        files.add(file)
        waiting += [_module_file(name) for name in imported_modules(file)]
    return tuple(sorted({_short(file, here) for file in files}))


@cache
def imported_modules(file: Path) -> frozenset[str]:
    """Return the dotted names of the package's modules that one file imports, with their parent packages."""
    names: set[str] = set()
    for node in _running_statements(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return _with_packages(name for name in names if name.split(".")[0] == PACKAGE.name)


def _with_packages(names: Iterable[str]) -> frozenset[str]:
    """Add the packages that a module lies in: importing it runs their `__init__` first."""
    parts = [name.split(".") for name in names]
    return frozenset(".".join(name[:i]) for name in parts for i in range(1, len(name) + 1))


def _running_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Walk through statements, nested ones included; no expression holds an import."""
    for node in body:
        if isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _running_statements(node.orelse)
            continue
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            continue
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _running_statements(getattr(node, part, ()))


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


@cache
def _module_file(name: str) -> Path | None:
    """Return the file of a dotted name, or None if the name is an attribute rather than a module."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    for file in (path.with_suffix(".py"), path / "__init__.py"):
        if file.exists():
            return file
    return None


@cache
def _short(file: Path, here: Path) -> str:
    try:
        return str(file.resolve().relative_to(here))
    except ValueError:
        return str(file)

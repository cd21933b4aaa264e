"""Find the source files that a module imports, directly or indirectly, in the package or next to a user's file.

Imports are read from the syntax tree, including imports inside functions. Imports under TYPE_CHECKING never run and are
ignored. Imports on demand by a package's ``__getattr__`` are not followed to other files. After an edit of one
estimator in `xmlc.models`, the files of other estimators are therefore unchanged.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from xmlc.core.errors import XmlcError

PACKAGE = Path(__file__).resolve().parents[1]  # The digests are the same if the folder of the package is a link.
#: Fields of a syntax tree that are left out of the digest, because they do not affect results or follow from other
#: fields. Some versions of Python lack some of the fields in LEFT_OUT.
LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_params"})


def forget_sources() -> None:
    """Forget what this process has read of source files, so that edits are noticed."""
    for remembered in (_content_digest, _parsed, _closure, _module_file):
        remembered.cache_clear()


def source_digest(files: Iterable[str], *texts: str) -> str:
    """Return 16 hexadecimal digits that change with the code in the given files, and with the list of files.

    For a Python file, the digest uses its syntax tree without docstrings, which is the same in every version of Python.
    For a file that is not Python, the digest uses the bytes. The digest does not depend on the location of the package
    or on the times of files. For files of xmlc, the digest uses paths relative to the package, and for other files,
    paths relative to the working directory. Each process reads a file only once. Pass other relevant content, such as a
    printed docstring, in ``texts``.
    """
    digest = hashlib.sha256()
    for name_and_content in sorted(map(_content_digest, files)):
        digest.update(name_and_content.encode())
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


@cache
def _content_digest(file: str) -> str:
    path = Path(file).resolve()
    if path.suffix == ".py":
        content = _parsed(path)[1]
    else:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{_short(_short(path, PACKAGE.parent), Path.cwd())}\0{content}\0"


@cache
def _parsed(file: Path) -> tuple[frozenset[str], str]:
    """Return the imports of a file and the digest of its code.

    The imports and the digest are computed together, because parsing a file twice would be slow.
    """
    if file.suffix != ".py":  # A compiled module has no imports that can be read.
        return frozenset(), ""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except FileNotFoundError as error:
        raise XmlcError(f"{file}: found no such file, expected Python code. Create it or correct the path") from error
    except SyntaxError as error:
        raise XmlcError(f"{file}:{error.lineno}: found a syntax error ({error.msg}), expected valid Python") from error
    return _imports(tree), hashlib.sha256(_code(tree).encode()).hexdigest()


def _code(tree: ast.AST) -> str:
    """Return a syntax tree without docstrings as text. `ast.dump` would take three times as long as this function."""
    written: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):  # Drop empty parts of f-strings, which only Python 3.12.1 and later add.
            node.values = [part for part in node.values if getattr(part, "value", None) != ""]
        if isinstance(node, ast.AST):
            written.append(type(node).__name__)
            waiting += [getattr(node, part) for part in node._fields if part not in LEFT_OUT]
        elif isinstance(node, list):
            parts = [part for part in node if not (type(part) is ast.Expr and type(part.value) is ast.Constant)]
            written.append(str(len(parts)))
            waiting += parts
        else:
            written.append(repr(node))
    return "\0".join(written)


def source_files(*modules: str, package: bool = True, without: tuple[str, ...] = ()) -> list[str]:
    """Return the sorted files that modules import, directly or indirectly.

    The result includes the files of the given modules, and the `__init__` of each package that contains an imported
    module, because importing a module runs the `__init__` of its packages first.

    Imports of modules in the folder of a user's file are followed. Imports of other installed packages are not
    followed.

    Parameters
    ----------
    *modules : str
        Dotted names within the package, or paths of Python files.
    package : bool
        Whether to include the files of xmlc that users' files import.
    without : tuple of str
        Modules and packages whose import by a module of xmlc is not followed. A user's import of
        them is followed.

    Returns
    -------
    list of str
        Paths of the files. Paths inside the working directory are returned relative to the working directory.
    """
    here = Path.cwd()
    return sorted(_short(file, here) for file in _closure(modules, here, package, without))


@cache
def _closure(modules: tuple[str, ...], here: Path, package: bool, without: tuple[str, ...]) -> set[Path]:
    waiting: list[tuple[Path, tuple[Path, ...]]] = []
    for name in modules:
        if not name.endswith(".py"):
            waiting += [(file, ()) for file in _package_files([name])]
            continue
        file = Path(name).resolve()
        top = import_folders(file)[-1]
        inits = [folder / "__init__.py" for folder in file.parents if top in folder.parents]
        waiting += [(own, import_folders(own)) for own in (file, *inits)]
    left_out = tuple(f"{name}." for name in without)
    files: set[Path] = set()
    while waiting:
        file, folders = waiting.pop()
        if file in files:
            continue
        files.add(file)
        imported = _parsed(file)[0]
        waiting += [(found, folders) for found in _files_beside(file, folders, imported)]
        if package:
            ours = [name for name in imported if _is_ours(name)]
            if PACKAGE in file.parents:
                ours = [name for name in ours if not f"{name}.".startswith(left_out)]
            waiting += [(found, ()) for found in _package_files(ours)]
    return files


def import_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders from which a user's file imports: its own folder, and the folder of its package, if any."""
    top = file.resolve().parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return tuple(dict.fromkeys((file.resolve().parent, top)))


def _package_files(names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of modules of xmlc, and the `__init__` files of the packages that contain them."""
    for name in names:
        parts = name.split(".")
        for length in range(1, len(parts) + 1):
            file = _module_file(".".join(parts[:length]))
            if file is not None:
                yield file


def _files_beside(file: Path, folders: tuple[Path, ...], names: Iterable[str]) -> Iterator[Path]:
    """Yield the files of the modules that a user's file imports from ``folders``.

    The `__init__` files of the packages that contain the modules are included.
    """
    for name in names:
        if not folders or _is_ours(name):
            continue
        level = len(name) - len(name.lstrip("."))  # The number of leading dots of a relative import.
        search = [str(folder) for folder in folders]
        if level:
            search = [str(file.resolve().parents[level - 1])]
        for part in name[level:].split("."):
            spec = PathFinder.find_spec(part, search)
            if spec is None:  # This part of the dotted name is an attribute, or a module that is installed elsewhere.
                break
            if spec.origin:
                yield Path(spec.origin)
            search = spec.submodule_search_locations or []


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE.name


def _imports(tree: ast.Module) -> frozenset[str]:
    """Return the dotted names that a file imports. The names of relative imports keep their leading dots."""
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

    Statements under TYPE_CHECKING and in ``__getattr__`` are not yielded. Expressions are not visited, because an
    expression cannot contain an import.
    """
    for node in body:
        parts = ["body", "handlers", "orelse", "finalbody", "cases"]
        if isinstance(node, ast.If) and ast.unparse(node.test).rpartition(".")[2] == "TYPE_CHECKING":
            parts = ["orelse"]
        elif isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            continue
        yield node
        for part in parts:
            yield from _running_statements(getattr(node, part, ()))


@cache
def _module_file(name: str) -> Path | None:
    """Return the file of a dotted name, or None if the name is an attribute rather than a module."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


@cache
def _short(file: Path | str, here: Path) -> str:
    found = Path(file).resolve()
    if found.is_relative_to(here):
        return str(found.relative_to(here))
    return str(file)

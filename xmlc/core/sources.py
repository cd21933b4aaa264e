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
    for name, content in sorted(map(_content_digest, files)):
        digest.update(f"{name}\0{content}\0".encode())
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


@cache
def _content_digest(file: str) -> tuple[str, str]:
    path = Path(file).resolve()
    if path.suffix == ".py":
        content = _parsed(path)[1]
    else:
        content = hashlib.sha256(path.read_bytes()).hexdigest()
    return _short(Path(_short(path, PACKAGE.parent)), Path.cwd()), content


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


def source_files(
    *modules: str, packages: bool = True, package: bool = True, without: tuple[str, ...] = ()
) -> list[str]:
    """Return the sorted files that modules import, directly or indirectly.

    The result includes the files of the given modules.

    Imports of modules in the folder of a user's file are followed. Imports of other installed packages are not
    followed.

    Parameters
    ----------
    *modules : str
        Dotted names within the package, or paths of Python files.
    packages : bool
        Whether to include the `__init__` of each package that contains an imported module. Importing a module runs the
        `__init__` of its packages first. Files with kernels do not depend on any `__init__`, because they import each
        name from the module that defines it.
    package : bool
        Whether to include the files of xmlc. If ``package`` is false, only users' files are returned.
    without : tuple of str
        Modules and packages whose import by a module of xmlc is not followed. A user's import of
        them is followed.

    Returns
    -------
    list of str
        Paths of the files. Paths inside the working directory are returned relative to the working directory.
    """
    found = _closure(modules, Path.cwd(), packages, package, without)
    if package:
        return list(found)
    return [file for file in found if PACKAGE not in Path(file).resolve().parents]


@cache
def _closure(
    modules: tuple[str, ...], here: Path, packages: bool, package: bool, without: tuple[str, ...]
) -> tuple[str, ...]:
    files: set[Path] = set()
    dotted = tuple(f"{name}." for name in without)
    waiting = [(file, import_folders(file)) for name in modules if name.endswith(".py") for file in _with_inits(name)]
    waiting += [(file, ()) for file in _package_files((n for n in modules if not n.endswith(".py")), packages)]
    while waiting:
        file, folders = waiting.pop()
        if file not in files:
            files.add(file)
            imported = _parsed(file)[0]
            if package:
                names = set(filter(_is_ours, imported))
                if PACKAGE in file.parents:
                    names -= {name for name in names if f"{name}.".startswith(dotted)}
                waiting += [(found, ()) for found in _package_files(names, packages)]
            waiting += [(found, folders) for found in _files_beside(file, folders, imported)]
    return tuple(sorted({_short(file, here) for file in files}))


def _with_inits(name: str) -> list[Path]:
    """Return a user's file and the `__init__` files of the packages that contain it."""
    file = Path(name).resolve()
    top = import_folders(file)[-1]
    return [file, *(folder / "__init__.py" for folder in file.parents if top in folder.parents)]


def import_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders from which a user's file imports: its own folder, and the folder of its package, if any."""
    top = file.resolve().parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return tuple(dict.fromkeys((file.resolve().parent, top)))


def _package_files(names: Iterable[str], packages: bool) -> Iterator[Path]:
    return filter(None, map(_module_file, _with_packages(names) if packages else names))


def _files_beside(file: Path, folders: tuple[Path, ...], names: Iterable[str]) -> Iterator[Path]:
    """Return the files of the modules that a user's file imports from ``folders``.

    The `__init__` files of the packages that contain the modules are included.
    """
    for name in names if folders else ():
        level = len(name) - len(name.lstrip("."))  # The number of leading dots of a relative import.
        if level:
            search = [str(file.resolve().parents[level - 1])]
        else:
            search = [*map(str, folders)]
        for part in name[level:].split("."):
            if _is_ours(name) or not search:
                spec = None
            else:
                spec = PathFinder.find_spec(part, search)
            if spec is None:  # This part of the dotted name is an attribute, or a module that is installed elsewhere.
                break
            if spec.origin:
                yield Path(spec.origin)
            search = list(spec.submodule_search_locations or ())


def imported_modules(file: Path) -> frozenset[str]:
    """Return the dotted names of the modules of xmlc that a file imports, and of these modules' parent packages."""
    return _with_packages(filter(_is_ours, _parsed(file)[0]))


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE.name


def _imports(tree: ast.Module) -> frozenset[str]:
    """Return the dotted names that a file imports. The names of relative imports keep their leading dots."""
    names: set[str] = set()
    for node in _running_statements(tree.body):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = "." * node.level + (f"{node.module}." if node.module else "")
            names.update(f"{start}{alias.name}" for alias in node.names)
            names.update([node.module] if node.module and not node.level else [])
    return frozenset(names)


def _with_packages(names: Iterable[str]) -> frozenset[str]:
    """Return the names of the given modules, and of all packages whose `__init__` runs when they are imported."""
    parts = [name.split(".") for name in names]
    return frozenset(".".join(name[:i]) for name in parts for i in range(1, len(name) + 1))


def _running_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield the statements of a module that may run, including nested statements.

    Statements under TYPE_CHECKING and in ``__getattr__`` are not yielded. Expressions are not visited, because an
    expression cannot contain an import.
    """
    for node in body:
        if isinstance(node, ast.If) and getattr(node.test, "attr", getattr(node.test, "id", "")) == "TYPE_CHECKING":
            yield from _running_statements(node.orelse)
            continue
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__":
            continue
        yield node
        for part in ("body", "handlers", "orelse", "finalbody", "cases"):
            yield from _running_statements(getattr(node, part, ()))


@cache
def _module_file(name: str) -> Path | None:
    """Return the file of a dotted name, or None if the name is an attribute rather than a module."""
    path = PACKAGE.parent.joinpath(*name.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)


@cache
def _short(file: Path, here: Path) -> str:
    found = file.resolve()
    return str(found.relative_to(here) if found.is_relative_to(here) else file)

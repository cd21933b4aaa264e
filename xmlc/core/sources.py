"""Find the source files that a module imports, directly or indirectly, in the package or next to a user's file.

Each workflow rule has a digest of these files among its parameters. An edit therefore reruns only the steps that it
affects. Edits of comments, docstrings or layout rerun none. Imports are read from the syntax tree, including imports
inside functions. Imports under TYPE_CHECKING never run and do not count. Imports on demand by a package's
``__getattr__`` are not followed. In this way `xmlc.models` keeps each estimator's code out of the others' closures.
"""

from __future__ import annotations

import ast
import hashlib
import subprocess
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

from xmlc.core.errors import XmlcError

PACKAGE = Path(__file__).parents[1]
#: No result depends on these modules: the display of progress, and this module.
WITHOUT_RESULT = frozenset(PACKAGE / "core" / name for name in ("progress.py", "sources.py"))
#: Parts of a syntax tree that do not affect results or follow from other parts. Some versions of Python lack them.
LEFT_OUT = frozenset({"ctx", "kind", "type_comment", "type_params"})


def command_files(*commands: str) -> list[str]:
    """Return the files that steps of `xmlc` depend on. Steps are given by their names, such as ``train``.

    Raises
    ------
    XmlcError
        There is no such step. Without this error, edits of a step could have no effect.
    """
    for name in commands:
        if not (PACKAGE / "suite/steps" / f"{name}.py").is_file():
            raise XmlcError(f"found no step {name}, expected a command in xmlc/suite/steps/")
    return source_files(*(f"{PACKAGE.name}.suite.steps.{name}" for name in commands))


def source_digest(files: Iterable[str], *texts: str) -> str:
    """Return 16 hexadecimal digits that change with the code in these files, and with the list of files.

    A Python file counts as its syntax tree without docstrings, which is the same in every version of Python. Another
    file counts as its bytes. The location of the package and the times of files do not matter. Files of the package
    count by their paths in it, others by their paths in the working directory. A process reads each file once. Pass
    other relevant content, such as a printed docstring, in ``texts``.
    """
    digest = hashlib.sha256()
    for name, content in sorted(map(_content_digest, files)):
        digest.update(f"{name}\0{content}\0".encode())
    digest.update("\0".join(texts).encode())
    return digest.hexdigest()[:16]


def commit() -> str:
    """Return the commit of this clone, with "-dirty" after edits. The text is empty elsewhere and without git."""
    if not (PACKAGE.parent / ".git").exists():  # An installed package may lie in another project's repository.
        return ""
    command = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, cwd=PACKAGE, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


@cache
def _content_digest(file: str) -> tuple[str, str]:
    path = Path(file).resolve()
    content = _parsed(path)[1] if path.suffix == ".py" else hashlib.sha256(path.read_bytes()).hexdigest()
    return _short(Path(_short(path, PACKAGE.parent)), Path.cwd()), content


@cache
def _parsed(file: Path) -> tuple[frozenset[str], str]:
    """Return the imports of a file and the digest of its code. Both use one tree, because parsing is slow."""
    if file.suffix != ".py":  # The file is compiled.
        return frozenset(), ""
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except SyntaxError as error:
        raise XmlcError(f"{file}:{error.lineno}: found a syntax error ({error.msg}), expected valid Python") from error
    return _imports(tree), hashlib.sha256(_code(tree).encode()).hexdigest()


def _code(tree: ast.AST) -> str:
    """Return a syntax tree without docstrings as text, in a third of the time of `ast.dump` and for all versions."""
    written: list[str] = []
    waiting: list[object] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.JoinedStr):  # Python 3.12.1 adds empty parts.
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


def source_files(*modules: str, packages: bool = True, package: bool = True) -> list[str]:
    """Return the sorted files that modules import, directly or indirectly, including the modules themselves.

    Imports of modules next to a user's file are followed. Imports of other installed packages are not.

    Parameters
    ----------
    *modules : str
        Dotted names within the package, or paths of Python files.
    packages : bool
        Whether to include the `__init__` of each package that contains an imported module, which runs first. Kernels
        do not need it, because they import everything they use by name.
    package : bool
        Whether to include this package's files. Otherwise only users' files are returned.

    Returns
    -------
    list of str
        Paths, relative to the working directory if they lie in it.
    """
    found = _closure(modules, Path.cwd(), packages, package)
    return list(found) if package else [file for file in found if PACKAGE not in Path(file).resolve().parents]


def user_digest(files: Iterable[str]) -> str:
    """Return the digest of users' files and of their imported neighbouring modules, or an empty text without files."""
    own = source_files(*(file for file in files if PACKAGE not in Path(file).resolve().parents), package=False)
    return source_digest(own) if own else ""


@cache
def _closure(modules: tuple[str, ...], here: Path, packages: bool, package: bool) -> tuple[str, ...]:
    files: set[Path] = set()
    waiting = [(file, import_folders(file)) for name in modules if name.endswith(".py") for file in _with_inits(name)]
    waiting += [(file, ()) for file in _package_files((n for n in modules if not n.endswith(".py")), packages)]
    while waiting:
        file, folders = waiting.pop()
        if file not in files and file not in WITHOUT_RESULT:
            files.add(file)
            imported = _parsed(file)[0]
            if package:
                waiting += [(found, ()) for found in _package_files(filter(_is_ours, imported), packages)]
            waiting += [(found, folders) for found in _files_beside(file, folders, imported)]
    return tuple(sorted({_short(file, here) for file in files}))


def _with_inits(name: str) -> list[Path]:
    """Return a user's file, and the `__init__` of each package that contains it."""
    file = Path(name).resolve()
    top = import_folders(file)[-1]
    return [file, *(folder / "__init__.py" for folder in file.parents if top in folder.parents)]


def import_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders from which a user's file imports: its own folder, and its package's folder if there is one."""
    top = file.resolve().parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return tuple(dict.fromkeys((file.resolve().parent, top)))


def _package_files(names: Iterable[str], packages: bool) -> Iterator[Path]:
    return filter(None, map(_module_file, _with_packages(names) if packages else names))


def _files_beside(file: Path, folders: tuple[Path, ...], names: Iterable[str]) -> Iterator[Path]:
    """Find the modules that a user's file imports from its folders, and the packages that contain them."""
    for name in names if folders else ():
        level = len(name) - len(name.lstrip("."))  # The number of leading dots of a relative import.
        search = [str(file.resolve().parents[level - 1])] if level else [*map(str, folders)]
        for part in name[level:].split("."):
            spec = None if _is_ours(name) or not search else PathFinder.find_spec(part, search)
            if spec is None:  # The name is an attribute, or installed elsewhere.
                break
            if spec.origin:
                yield Path(spec.origin)
            search = list(spec.submodule_search_locations or ())


def imported_modules(file: Path) -> frozenset[str]:
    """Return the dotted names of the package's modules that one file imports, and of their parent packages."""
    return _with_packages(filter(_is_ours, _parsed(file)[0]))


def _is_ours(name: str) -> bool:
    return name.split(".")[0] == PACKAGE.name


def _imports(tree: ast.Module) -> frozenset[str]:
    """Return the dotted names that a file imports. Relative names keep their leading dots."""
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
    """Add the packages that contain each module, because importing it runs their `__init__` first."""
    parts = [name.split(".") for name in names]
    return frozenset(".".join(name[:i]) for name in parts for i in range(1, len(name) + 1))


def _running_statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements, including nested ones. Expressions are skipped, because they contain no import."""
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

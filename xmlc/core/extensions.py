"""Import Python files of users, which define models, threshold methods and inference methods."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from xmlc.core.errors import XmlcError
from xmlc.core.sources import parsed


def import_file(file: str | Path) -> ModuleType:
    """Run a Python file and return it as a module.

    The module gets the name of the file, unless another module already has this name.

    The file may import modules in the same folder, like a script. If the file is in a package, it
    may use relative imports. The module needs a name, because pickled objects of its classes
    contain the module's name.

    Raises
    ------
    XmlcError
        The file does not exist or is not Python, or it imports a package that is not installed. The
        error is also raised if the file imports a module in its folder, but this process has
        already imported another module of that name.
    """
    file = Path(file)
    if not file.is_file() or file.suffix != ".py":
        raise XmlcError(f"{file}: found no such Python file. Check the path in the configuration.")
    folders = import_folders(file)
    name = _name_in(folders[-1], file)
    other = None
    if name.isidentifier():
        other = importlib.util.find_spec(name)
    if other is not None and Path(other.origin or "").resolve() != file.resolve():
        name = ""
    _check_helpers(file.resolve(), folders, set())
    with _imports_from(folders):
        try:
            if "." in name:
                return importlib.import_module(name)
            return _run(file, name)
        except SyntaxError as error:
            found = f"{error.filename}:{error.lineno}: found a syntax error ({error.msg})"
            raise XmlcError(f"{found}, expected valid Python") from error
        except ImportError as error:
            remedy = "Install the package in this environment."
            if "relative import" in str(error):
                remedy = (
                    "Write `import name` without a dot, or add an empty __init__.py to its folder."
                )
            raise XmlcError(f"{file}: found an error in an import ({error}). {remedy}") from error


def import_folders(file: Path) -> tuple[Path, ...]:
    """Return the folders from which a user's file imports: its own folder, and the folder of its
    package, if any.
    """
    top = file.resolve().parent
    while (top / "__init__.py").is_file():
        top = top.parent
    return tuple(dict.fromkeys((file.resolve().parent, top)))


def _check_helpers(file: Path, folders: tuple[Path, ...], checked: set[Path]) -> None:
    """Raise an error if a file imports a module next to it, but another module of that name is
    already imported.

    The function also checks the imports of these modules, and adds all files whose imports it reads
    to ``checked``.
    """
    checked.add(file)
    for helper, name in _helpers_of(file, folders):
        if helper in checked or not helper.is_file():
            continue
        other = getattr(sys.modules.get(name), "__file__", None) or "Python"
        if name in sys.modules and Path(other).resolve() != helper.resolve():
            raise XmlcError(
                f"{file}: found {other} for `import {name}`, expected {helper}. Rename it."
            )
        _check_helpers(helper, folders, checked)


def _helpers_of(file: Path, folders: tuple[Path, ...]) -> Iterator[tuple[Path, str]]:
    """Yield the files that a file may import from some folders, and their module names.

    Some files may not exist.
    """
    top = folders[-1]
    package = ".".join(file.parent.relative_to(top).parts)
    for given in sorted({package, *parsed(file)[0]} - {""}):
        parts = given.lstrip(".").split(".")
        level = len(given) - len(given.lstrip("."))
        places: Sequence[Path] = folders
        if level > 0:
            places = [
                folder for folder in file.parents[level - 1 : level] if folder.is_relative_to(top)
            ]
        for folder in places:
            packages: list[str] = []
            if level > 0:
                packages += folder.relative_to(top).parts
            for end in range(1, len(parts) + 1):
                name = ".".join([*packages, *parts[:end]])
                place = folder.joinpath(*parts[:end])
                yield place.with_name(f"{place.name}.py"), name
                yield place / "__init__.py", name


def _name_in(folder: Path, file: Path) -> str:
    """Return the module name with which a file can be imported from a folder."""
    return ".".join(file.resolve().relative_to(folder).with_suffix("").parts).removesuffix(
        ".__init__"
    )


def _run(file: Path, name: str) -> ModuleType:
    """Run a Python file as a module.

    Register the module under ``name`` in `sys.modules` unless the name is empty.
    """
    spec = importlib.util.spec_from_file_location(name or file.stem, file)
    if spec is None or spec.loader is None:
        raise XmlcError(f"{file}: found a file that Python cannot import")
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    if name:
        sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        if before is not None:
            sys.modules[name] = before
        raise
    return module


@contextmanager
def _imports_from(folders: tuple[Path, ...]) -> Iterator[None]:
    """Put folders at the start of Python's import path during a ``with`` block.

    After the block, the folders are at the end of the import path. Python writes no bytecode into a
    user's folder.
    """
    places = [str(folder) for folder in folders]
    sys.path[:0] = places
    writes_none = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        yield
    finally:
        sys.dont_write_bytecode = writes_none
        for place in places:
            # Remove only the first occurrence of the folder, which this function added.
            sys.path.remove(place)
        sys.path += [place for place in places if place not in sys.path]
